/**
 * @file Conversations that a visitor takes part in, or looks into. A request plays on from messages that were there before
 * until it is the turn of somebody who has nothing to say yet; nothing is kept between requests but the model on the GPU.
 */
import { Rest, runEpisode } from '../agent/episode.ts';
import type { Act } from '../agent/expert.ts';
import { type Prefix, readPrefix } from '../agent/prefix.ts';
import { collectRollouts } from '../agent/rollouts.ts';
import { type ConversationRules, departures, rulesOf } from '../agent/rules.ts';
import { loadTokenizer } from '../agent/tokenizer.ts';
import type { EpisodeLimits, Sampling, Trajectory } from '../agent/types.ts';
import type { Engine } from '../engine/types.ts';
import type { Task } from '../environments/types.ts';
import type { ModelRef } from '../evaluation/types.ts';
import { ResumedUsers } from '../users/resumed.ts';
import type { UserConfig, UserSession, UserSimulator } from '../users/types.ts';
import type { ModelFiles, Progress } from './api.ts';
import { rescore, type Rescored, type RescoreRequest } from './commands.ts';
import type { EngineHost, SessionParts } from './engine-host.ts';
import { firstFiles, withCheckpoint } from './model-ref.ts';

export type AgentMove = Act | 'model';
export type UserMove = { say: string } | 'simulated';

export interface PlayRequest {
  task: Task;
  /** What has been said; null: the conversation begins. */
  prefix: Prefix | null;
  /** What the agent does in its next turn, and no more; null: the conversation rests there; absent: the model plays it to the end. */
  agent?: AgentMove | null;
  /** The same of the customer, whom the simulator plays to the end. */
  user?: UserMove | null;
  /** Whose weights play the agent, and whose tokenizer reads what a person writes. */
  model: ModelRef;
  simulator: UserConfig;
  limits: EpisodeLimits;
  sampling: Sampling;
  /** Whose rules of conversation hold; absent: the domain's. */
  rules?: ConversationRules;
  seed: number;
  userSeed: number;
  /** Stream of the sampler: another one samples otherwise. */
  stream: number;
  /** Play it this many times from here. */
  n?: number;
}

/** Rollouts at once on one engine. */
const SLOTS = 16;

/** The model stays on the GPU between the requests of one game. */
interface Loaded {
  key: string;
  engine: Engine;
}

export class Plays {
  readonly #parts: SessionParts;
  readonly #host: EngineHost;
  #abort: AbortController | null = null;
  #done: Promise<unknown> = Promise.resolve();
  #loaded: Loaded | null = null;

  constructor(parts: SessionParts, host: EngineHost) {
    this.#parts = parts;
    this.#host = host;
  }

  /** Whether a request can be answered without the GPU. */
  static needsModel({ agent }: Pick<PlayRequest, 'agent'>): boolean {
    return agent === undefined || agent === 'model';
  }

  /**
   * One trajectory, or `n`. One that rests is unscored, with `termination` `aborted` and no error.
   * @throws when cancelled, when a request is under way, or when the stored calls have other results now
   */
  async play(request: PlayRequest, progress: Progress): Promise<Trajectory[]> {
    return this.#alone((signal) => this.#play(request, progress, signal));
  }

  /** Scores a conversation by the weights of `model`, which stay on the GPU as for a turn. @throws as `play` */
  async rescore(request: RescoreRequest): Promise<Rescored> {
    return this.#alone(async (signal) => {
      const engine = await this.#engine(request.model, request.max_model_len, await firstFiles(this.#parts, request.model));
      return rescore(engine, request, signal);
    });
  }

  async #alone<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#abort && !this.#abort.signal.aborted) throw new Error('a turn is being played: wait for it or stop it');
    const abort = (this.#abort = new AbortController());
    // Whoever leaves a conversation stops its turn, and does not wait before asking for the next, which may be stopped as well.
    const working = this.#done
      .then(() => {
        abort.signal.throwIfAborted();
        return work(abort.signal);
      })
      .finally(() => {
        if (this.#abort === abort) this.#abort = null;
      });
    this.#done = working.catch(() => {});
    return working;
  }

  /** Ends the request under way, if any; resolves when the GPU is free. */
  async stop(): Promise<void> {
    this.#abort?.abort(new Error('stopped'));
    await this.#done;
  }

  async #play(request: PlayRequest, progress: Progress, signal: AbortSignal): Promise<Trajectory[]> {
    const { environments } = this.#parts;
    const { task, prefix, limits, sampling, seed, userSeed, stream, n = 1 } = request;
    const files = await firstFiles(this.#parts, request.model);
    const tokenizer = loadTokenizer(files);
    const sampler = Plays.needsModel(request) ? (await this.#engine(request.model, limits.max_model_len, files)).sampler : undefined;
    const domain = await environments.domain(task.domain, task.level);
    const rules = departures(request.rules ?? 'domain');
    const users = await this.#users(request, { ...rulesOf(domain), ...rules });
    signal.throwIfAborted();
    const start = prefix && { prefix, userSeed };
    if (n > 1) {
      let done = 0;
      progress(0, n, 'rollouts');
      const { groups, dropped } = await collectRollouts(
        { domain, environments, users, sampler: sampler!, tokenizer },
        { tasks: [task], n, limits, sampling, rules, seed, firstStream: stream, label: 'play', ...(start && { from: start }), signal, concurrency: SLOTS, onDone: () => progress(++done, n, 'rollouts') },
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
    const trajectory = await runEpisode({
      task, domain, environments, users, tokenizer, limits, sampling, rules, seed, userSeed, stream, signal,
      ...(sampler && { sampler }), ...(prefix && { prefix }), agent: act, group: 'play', index: 0,
    });
    signal.throwIfAborted();
    if (typeof request.user === 'object' && request.user) {
      const said = trajectory.nodes.find(({ role }, i) => role === 'user' && i >= (prefix?.nodes.length ?? 0));
      if (said) said.by = 'person';
    }
    return [trajectory];
  }

  async #users({ prefix, task, user, simulator }: PlayRequest, rules: ReturnType<typeof rulesOf>): Promise<UserSimulator> {
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
        };
      },
      judge: async (...asked) => (await resumed?.judge(...asked)) ?? null,
    };
  }

  async #engine(model: ModelRef, maxModelLen: number, files: ModelFiles): Promise<Engine> {
    const key = JSON.stringify([model, maxModelLen]);
    if (this.#loaded?.key !== key || this.#host.engine !== this.#loaded.engine) {
      this.#loaded = null;
      const weights = await withCheckpoint(this.#parts, model, files);
      this.#loaded = { key, engine: await this.#host.open(weights, { maxModelLen, slots: SLOTS }) };
    }
    return this.#loaded.engine;
  }
}
