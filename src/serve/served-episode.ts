/** @file An episode whose agent is the model of another engine. It runs the code of episodes in training, and waits for each turn. */
import type { WrittenTurn } from '../agent/agent-turn.ts';
import { runEpisode } from '../agent/episode.ts';
import type { PlayedEpisode } from '../agent/live.ts';
import type { EpisodeRules } from '../agent/rules.ts';
import { NO_TOKENS } from '../agent/server/server-turns.ts';
import { toMessages } from '../agent/trajectory.ts';
import { Rest } from '../agent/unscored.ts';
import { canonicalJson } from '../base/json.ts';
import { sha256 } from '../base/sha256.ts';
import type { Domain, Environments } from '../environments/types.ts';
import type { EpisodeLimits } from '../records/episode.ts';
import type { Json } from '../records/json.ts';
import { type RowChange, type Task, type ToolSchema, toolsOf } from '../records/task.ts';
import type { MessageNode, Trajectory } from '../records/trajectory.ts';
import type { UserSimulator } from '../users/types.ts';
import { type EpisodeState, type Observation, ProtocolError, type StepResult } from './protocol.ts';

/** The parts that all episodes of a server share. */
export interface ServedStage {
  domain: Domain;
  environments: Environments;
  users: UserSimulator;
  rules: EpisodeRules;
  limits: EpisodeLimits;
}

export interface EpisodeStart {
  id: string;
  task: Task;
  /** The random seed of the customer's words. */
  seed: number;
}

interface Waiting<T> {
  resolve(value: T): void;
  reject(error: unknown): void;
}

export class ServedEpisode {
  /** The agent's tools. */
  readonly tools: readonly ToolSchema[];
  readonly #start: EpisodeStart;
  readonly #abort = new AbortController();
  readonly #ended: Promise<void>;
  #episode!: PlayedEpisode;
  /** Number of messages that the agent has seen. */
  #seen = 0;
  #steps = 0;
  #agent: Waiting<WrittenTurn> | null = null;
  #caller: Waiting<StepResult> | null = null;
  #trajectory: Trajectory | null = null;
  #failure: Error | null = null;

  private constructor(stage: ServedStage, start: EpisodeStart, onEnd: (trajectory: Trajectory | null) => void) {
    this.#start = start;
    const { id, task, seed } = start;
    const { domain, environments, users, rules, limits } = stage;
    this.tools = toolsOf(task, domain);
    this.#ended = runEpisode({
      domain,
      environments,
      users,
      rules,
      limits: { ...limits, max_model_len: Number.MAX_SAFE_INTEGER },
      task,
      tokenizer: NO_TOKENS,
      sampling: { temperature: 1, top_p: 1, top_k: 0 },
      seed,
      userSeed: seed,
      stream: 0,
      group: id,
      index: 0,
      signal: this.#abort.signal,
      onStart: (episode) => (this.#episode = episode),
      agent: () =>
        new Promise((resolve, reject) => {
          if (this.#abort.signal.aborted) return reject(new Rest());
          this.#agent = { resolve, reject };
          this.#answer();
        }),
    }).then(
      (trajectory) => {
        this.#trajectory = trajectory;
        onEnd(trajectory);
        if (trajectory.reward === null) this.#failure = new Error(trajectory.error ?? trajectory.termination);
        this.#answer();
      },
      (error: unknown) => {
        this.#failure = error instanceof Error ? error : new Error(String(error));
        onEnd(null);
        this.#answer();
      },
    );
  }

  /**
   * Starts an episode. `first` is the observation before the agent's first turn. `onEnd` gets the conversation when it ends in any way,
   * also by `close`; null if it ended with an error.
   * @throws ProtocolError if the customer fails
   */
  static async begin(
    stage: ServedStage,
    start: EpisodeStart,
    onEnd: (trajectory: Trajectory | null) => void,
  ): Promise<{ episode: ServedEpisode; first: StepResult }> {
    const episode = new ServedEpisode(stage, start, onEnd);
    const first = await episode.#next();
    const { nodes } = episode.#episode;
    Object.assign(first.observation, {
      messages: toMessages({ nodes: [...nodes], leaf: nodes.length - 1 }).messages,
      tools: episode.tools,
      task_id: start.task.id,
      seed: start.seed,
    });
    return { episode, first };
  }

  get done(): boolean {
    return this.#trajectory !== null || this.#failure !== null;
  }

  /** The whole conversation. Null until it has ended. */
  get trajectory(): Trajectory | null {
    return this.#trajectory;
  }

  /** Plays a turn of the agent. @throws ProtocolError if the episode is over, or is not scored */
  step(turn: WrittenTurn): Promise<StepResult> {
    if (this.done) throw new ProtocolError('EXECUTION_ERROR', 'the episode is over: expected a reset');
    const agent = this.#agent;
    if (!agent) throw new ProtocolError('EXECUTION_ERROR', 'the episode plays an act: expected no other before its answer');
    this.#agent = null;
    this.#steps += 1;
    const result = this.#next();
    agent.resolve(turn);
    return result;
  }

  state(): EpisodeState {
    const { nodes, userCalls } = this.#episode;
    const rows = new Map<string, RowChange>();
    const changes = [...nodes.flatMap(({ toolResult }) => toolResult?.changes ?? []), ...userCalls.flatMap((call) => call.changes)];
    for (const change of changes.sort((a, b) => a.call - b.call)) rows.set(`${change.table}\n${change.key}`, change);
    const state = [...rows.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, { after }]) => [key, after]);
    return {
      episode_id: this.#start.id,
      step_count: this.#steps,
      task_id: this.#start.task.id,
      db_hash: sha256(canonicalJson(state as Json)),
      n_tool_calls: nodes.filter(({ toolResult }) => toolResult).length,
      n_user_turns: nodes.filter(({ role }) => role === 'user').length,
    };
  }

  /** Ends the episode, and frees its resources. If a turn is being played, its `step` fails with an error. */
  async close(): Promise<void> {
    this.#abort.abort(new Error('the session was closed'));
    this.#agent?.reject(new Rest());
    this.#agent = null;
    await this.#ended;
  }

  #next(): Promise<StepResult> {
    return new Promise((resolve, reject) => {
      this.#caller = { resolve, reject };
      if (this.#agent || this.done) this.#answer();
    });
  }

  #answer(): void {
    const caller = this.#caller;
    this.#caller = null;
    if (!caller) return;
    if (this.#failure)
      return caller.reject(new ProtocolError('EXECUTION_ERROR', `the episode ended without a score: ${this.#failure.message}`));
    const observation = this.#observe();
    if (!this.#trajectory) return caller.resolve({ observation, reward: null, done: false });
    const { termination, reward, verdict } = this.#trajectory;
    const { reward_info, progress } = verdict ?? {};
    caller.resolve({
      observation: { ...observation, termination, reward_info: (reward_info ?? { progress: progress ?? null }) as Json },
      reward,
      done: true,
    });
  }

  /** The newest message of the customer or a tool, if the agent has not seen it. */
  #observe(): Observation {
    const { nodes, turns } = this.#episode;
    const news = nodes.slice(this.#seen).findLast(({ role }: MessageNode) => role === 'user' || role === 'tool');
    this.#seen = nodes.length;
    if (!news) return { role: 'system', content: '', turn: turns };
    const { role, text, toolResult } = news;
    return { role: role as 'user' | 'tool', content: text, ...(toolResult && { tool_name: toolResult.name }), turn: turns };
  }
}
