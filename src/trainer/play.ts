/**
 * @file Conversations in which a visitor takes part, or which a visitor inspects. A request continues the messages of a prefix
 * until one party has no move to make. Between requests only the model on the GPU is kept.
 */
import type { SessionParts } from './session-parts.ts';
import type { AgentMove, EngineInfo, PlayRequest, Progress, Rescored, RescoreRequest, Viewer } from './messages.ts';
import { inMemory, type ModelParts } from '../exchange/model-folder.ts';
import { runEpisode } from '../agent/episode.ts';
import { readPrefix } from '../agent/prefix.ts';
import { collectRollouts, mapConcurrently } from '../agent/rollouts.ts';
import type { ModelRef } from '../records/model.ts';
import type { Trajectory } from '../records/trajectory.ts';
import type { EpisodeRules } from '../agent/rules.ts';
import { openTokenizer } from '../agent/tokenizer.ts';
import { Rest } from '../agent/unscored.ts';
import { rulesFor } from '../benchmarks/rules.ts';
import type { Gpu } from '../engine/gpu.ts';
import type { Engine } from '../engine/types.ts';
import { ResumedUsers } from '../users/resumed.ts';
import type { UserSession, UserSimulator } from '../users/types.ts';
import { rescore } from './commands.ts';
import type { EngineHost } from './engine-host.ts';
import { fittedLimits } from './fitted.ts';
import type { GpuTurns } from './gpu-turns.ts';
import type { GpuUse } from './gpu-uses.ts';
import { showActs } from './live.ts';
import { firstFiles, withCheckpoint } from './model-ref.ts';

/** Episodes that one engine plays at the same time. */
const SLOTS = 16;

/** The model that stays on the GPU between the requests of one conversation. */
interface Loaded {
  key: string;
  engine: Engine;
}

export class Plays {
  readonly #parts: SessionParts;
  readonly #host: EngineHost;
  readonly #turns: GpuTurns;
  #abort: AbortController | null = null;
  #done: Promise<unknown> = Promise.resolve();
  #loaded: Loaded | null = null;

  constructor(parts: SessionParts, host: EngineHost, turns: GpuTurns) {
    this.#parts = parts;
    this.#host = host;
    this.#turns = turns;
  }

  /** Whether the request needs the GPU. */
  static needsModel({ agent }: Pick<PlayRequest, 'agent'>): boolean {
    return agent === undefined || agent === 'model';
  }

  /**
   * Plays one episode, whose acts `viewer` gets while it is played, or plays `n` episodes. An episode that stops because a party
   * has no move is not scored: its `termination` is `aborted`, without an error.
   * @throws if the request is stopped, if another request is in progress, or if a stored call now has another result
   */
  async play(request: PlayRequest, progress: Progress, viewer?: Viewer): Promise<Trajectory[]> {
    return this.alone(Plays.needsModel(request) ? 'play' : null, (signal) => this.#play(request, progress, viewer, signal));
  }

  /** Scores a conversation with the weights of `model`. The weights stay on the GPU afterwards. @throws as `play` */
  async rescore(request: RescoreRequest): Promise<Rescored> {
    return this.alone('score', async (signal) => {
      const engine = await this.#engine(request.model, request.max_model_len, await firstFiles(this.#parts, request.model));
      return rescore(engine, request, signal);
    });
  }

  /** Calls `work` with the device. No model is on the device during this time. @throws as `play`; errors of `work` */
  async measure<T>(work: (gpu: Gpu, info: EngineInfo, signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.alone('bench', async (signal) => {
      this.#loaded = null;
      this.#host.close();
      return work(await this.#host.device(), await this.#host.info(), signal);
    });
  }

  /** Runs one request at a time. @param use what the request uses the GPU for; null if it needs no GPU */
  async alone<T>(use: GpuUse | null, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (use) this.#turns.check(use);
    if (this.#abort && !this.#abort.signal.aborted) throw new Error('another request is in progress: wait for it or stop it');
    const abort = (this.#abort = new AbortController());
    // A visitor who leaves a conversation stops its turn, and may ask for another turn at once. The new turn waits here until the
    // old one has ended.
    const working = this.#done
      .then(async () => {
        abort.signal.throwIfAborted();
        const release = use && (await this.#turns.take(use, abort));
        try {
          abort.signal.throwIfAborted();
          return await work(abort.signal);
        } finally {
          await release?.();
        }
      })
      .finally(() => {
        if (this.#abort === abort) this.#abort = null;
      });
    this.#done = working.catch(() => {});
    return working;
  }

  /** Ends the request in progress, if there is one. Resolves when the GPU is free. */
  async stop(): Promise<void> {
    this.#abort?.abort(new Error('stopped'));
    await this.#done;
  }

  async #play(request: PlayRequest, progress: Progress, viewer: Viewer | undefined, signal: AbortSignal): Promise<Trajectory[]> {
    const { environments } = this.#parts;
    const { task, prefix, sampling, seed, userSeed, stream, n = 1 } = request;
    const files = await firstFiles(this.#parts, request.model);
    const limits = await fittedLimits(environments, files, task, request.limits);
    const tokenizer = await openTokenizer(inMemory(files));
    const sampler = Plays.needsModel(request) ? (await this.#engine(request.model, limits.max_model_len, files)).sampler : undefined;
    const domain = await environments.domain(task.domain, task.level);
    const rules = rulesFor(domain, request.rules ?? 'domain');
    const users = await this.#users(request, rules);
    signal.throwIfAborted();
    const start = prefix && { prefix, userSeed };
    if (n > 1 && request.user !== undefined) {
      // These end at the next turn of the customer, so they are not scored.
      const played: Trajectory[] = [];
      await mapConcurrently(
        Array.from({ length: n }, (_, index) => index),
        SLOTS,
        async (index) => {
          played[index] = await runEpisode({
            task,
            domain,
            environments,
            users,
            tokenizer,
            limits,
            sampling,
            rules,
            seed,
            userSeed,
            sampler: sampler!,
            ...(prefix && { prefix }),
            stream: stream + index,
            group: 'play',
            index,
            signal,
          });
          signal.throwIfAborted();
          progress(played.filter(Boolean).length, n, 'answers');
        },
      );
      return played;
    }
    if (n > 1) {
      let done = 0;
      progress(0, n, 'rollouts');
      const { groups, dropped } = await collectRollouts(
        { domain, environments, users, sampler: sampler!, tokenizer, rules },
        {
          tasks: [task],
          n,
          limits,
          sampling,
          seed,
          firstStream: stream,
          label: 'play',
          ...(start && { from: start }),
          signal,
          concurrency: SLOTS,
          onDone: () => progress(++done, n, 'rollouts'),
        },
      );
      return [...groups[0]!, ...dropped];
    }
    let { agent } = request;
    const act = async (): Promise<AgentMove> => {
      if (agent === null) throw new Rest();
      const move = agent ?? 'model';
      if (agent !== undefined) agent = null;
      return move;
    };
    let endShow = () => {};
    const trajectory = await runEpisode({
      task,
      domain,
      environments,
      users,
      tokenizer,
      limits,
      sampling,
      rules,
      seed,
      userSeed,
      stream,
      signal,
      ...(sampler && { sampler }),
      ...(prefix && { prefix }),
      agent: act,
      group: 'play',
      index: 0,
      onStart: (episode) => {
        if (viewer) endShow = showActs(episode, prefix?.nodes.length ?? 0, viewer);
      },
    }).finally(() => endShow());
    signal.throwIfAborted();
    if (typeof request.user === 'object' && request.user) {
      const said = trajectory.nodes.find(({ role }, i) => role === 'user' && i >= (prefix?.nodes.length ?? 0));
      if (said) said.by = 'person';
    }
    return [trajectory];
  }

  async #users({ prefix, task, user, simulator }: PlayRequest, rules: EpisodeRules): Promise<UserSimulator> {
    const simulated = user === undefined || user === 'simulated' ? await this.#parts.users(simulator) : null;
    const past = prefix ? readPrefix(prefix, task, rules).past : [];
    const resumed = simulated && new ResumedUsers(simulated, past, simulator.mode === 'scripted' ? 'replay' : 'tell');
    return {
      session(scenario, seed, tools) {
        const session: UserSession | undefined = resumed?.session(scenario, seed, tools);
        let next = user;
        const turn = async (ask: (session: UserSession) => Promise<string>): Promise<string> => {
          if (next === null) throw new Rest();
          const move = next ?? 'simulated';
          if (next !== undefined) next = null;
          return move === 'simulated' ? ask(session!) : move.say;
        };
        return {
          open: (signal) => turn((asked) => asked.open(signal)),
          reply: (text, signal) => turn((asked) => asked.reply(text, signal)),
          close: () => session?.close?.(),
          get requests() {
            return session?.requests ?? [];
          },
        };
      },
      judge: async (...asked) => (await resumed?.judge(...asked)) ?? null,
      customerJudge: resumed?.customerJudge,
    };
  }

  async #engine(model: ModelRef, maxModelLen: number, start: ModelParts): Promise<Engine> {
    const key = JSON.stringify([model, maxModelLen]);
    if (this.#loaded?.key !== key || this.#host.engine !== this.#loaded.engine) {
      this.#loaded = null;
      const { files, ...storedAs } = await withCheckpoint(this.#parts, model, start);
      this.#loaded = { key, engine: await this.#host.open(files, { maxModelLen, slots: SLOTS }, storedAs) };
    }
    return this.#loaded.engine;
  }
}
