/**
 * @file One episode: user, agent and tools take turns until a rule ends the episode (MUA-RL's rollout, arXiv 2508.18669).
 *
 *     user opens ─> agent samples ─┬─ a tool call ─> environment ─┐
 *                        ^         └─ speech ─────> user ─────────┤
 *                        └────────────────────────────────────────┘ turns += 1
 *
 * Token in, token out: sampled ids are kept unchanged. All other text is rendered, appended and has mask 0. The environment
 * scores every ending except a failed user, a failed server of the agent, a failed simulator of a tool, and an abort.
 */
import { isSimulatorFault } from '../environments/simulator-fault.ts';
import type { Environments } from '../environments/types.ts';
import { callsOf } from '../base/message-path.ts';
import { type ToolCall, toolsOf } from '../records/task.ts';
import type { MessageNode, TerminationReason, Trajectory, UserCall } from '../records/trajectory.ts';
import { type Turn, type TurnOptions, TurnSampler, type WrittenTurn } from './agent-turn.ts';
import { EpisodeLog } from './episode-log.ts';
import { type Outcome, recordOf } from './episode-record.ts';
import { judgeEpisodeCustomer, verifyEpisode } from './episode-verdict.ts';
import { appendHistory, callTurnsOf, checkReplays, checkWhole, repeat } from './earlier.ts';
import type { Act } from './acts.ts';
import { heardBy } from './players.ts';
import { type LiveAct, liveActs, type PlayedEpisode } from './live.ts';
import { type BegunTurn, checkPrefix, type Prefix, type PrefixState, readPrefix } from './prefix.ts';
import { endsByAgent, endsByUser, type EpisodeRules, isProper } from './rules.ts';
import type { StartAgent } from './server/agents.ts';
import { ServerTurns } from './server/server-turns.ts';
import { spoken, withoutThoughts } from './tool-call.ts';
import { Transcript } from './transcript.ts';
import { checkAbort, Rest, Unscored } from './unscored.ts';
import { type UserOptions, UserSide } from './user-turn.ts';
import { WorldSide } from './world-side.ts';

export interface EpisodeOptions extends TurnOptions, UserOptions {
  environments: Environments;
  group: string;
  index: number;
  /** The version of the agent's weights, for the audit log. */
  weights?: string | undefined;
  /** A stored conversation to continue. The user sessions of `users` must already contain this conversation (see `users/resumed.ts`). */
  prefix?: Prefix;
  /** Begins the agent's side, if a model behind a server plays the agent. */
  agents?: StartAgent;
  /** Called in each turn of the agent. Returns an act to play instead of a sampled turn, or `model` to let the model sample. */
  agent?: () => Promise<Act | WrittenTurn | 'model'>;
  /** Gets the episode before its first act, so that a viewer can watch it. */
  onStart?: ((episode: PlayedEpisode) => void) | undefined;
}

/**
 * Plays one episode. If the user fails, the termination is `user_error`; if the agent's server fails, it is `agent_error`; if the
 * simulator of a tool fails, it is `tool_error`; after an abort, it is `aborted`. All four have reward null.
 * @throws errors of the sampler and of the environment
 */
export async function runEpisode(given: EpisodeOptions): Promise<Trajectory> {
  const domain = { ...given.domain, tools: toolsOf(given.task, given.domain), policy: given.task.policy ?? given.domain.policy };
  const episode = new Episode({ ...given, domain });
  given.onStart?.(episode);
  try {
    return await episode.run();
  } finally {
    await episode.close();
  }
}

class Episode implements PlayedEpisode {
  readonly #rules: EpisodeRules;
  readonly #transcript: Transcript;
  readonly #log: EpisodeLog;
  readonly #agent: TurnSampler;
  readonly #user: UserSide;
  /** The first tokens of the agent's next turn, if they are given. */
  #begun: BegunTurn | undefined;
  readonly #world: WorldSide;

  constructor(private readonly options: EpisodeOptions) {
    const { domain, limits, rules, sampler, tokenizer } = options;
    this.#rules = rules;
    this.#world = new WorldSide(options.environments, options.task, options.weights ?? '');
    this.#begun = options.prefix?.turn;
    if (options.prefix) checkPrefix(options.prefix, sampler !== undefined);
    this.#log = new EpisodeLog(rules);
    this.#transcript = new Transcript(tokenizer, Math.min(limits.max_model_len, sampler?.maxModelLen ?? Infinity), limits.enable_thinking);
    this.#user = new UserSide(options, this.#transcript, this.#log, (call) => this.#world.call(call));
    const names = rules.passUnknownTools ? null : domain.tools.map((tool) => tool.function.name);
    this.#agent = options.agents
      ? new ServerTurns(options.agents, options, domain.tools, names, rules)
      : new TurnSampler(options, names, rules);
  }

  get group(): string {
    return this.options.group;
  }

  get index(): number {
    return this.options.index;
  }

  get nodes(): readonly MessageNode[] {
    return this.#transcript.nodes;
  }

  get userCalls(): readonly UserCall[] {
    return this.#log.userCalls;
  }

  get turns(): number {
    return this.#log.turns;
  }

  get size(): number {
    return this.#transcript.length + this.#agent.sampling.length + this.#log.userCalls.length;
  }

  acts(last: number, from?: number): LiveAct[] {
    return liveActs(this.#transcript.nodes, this.#log.userCalls, this.options.tokenizer.decode(this.#agent.sampling), last, from);
  }

  async run(): Promise<Trajectory> {
    const outcome = await this.#outcome();
    const played = { transcript: this.#transcript, log: this.#log, audit: this.#world.log };
    return recordOf(this.options, { ...played, userRequests: this.#user.requests, agentRequests: this.#agent.requests }, outcome);
  }

  async #outcome(): Promise<Outcome> {
    const unscored = { verdict: null, customerJudgement: null };
    try {
      const termination = await this.#play();
      const verdict = await verifyEpisode(this.options, this.#world.handle, this.#log, this.#transcript.nodes, isProper(termination));
      const customerJudgement = await judgeEpisodeCustomer(this.options, this.#log, this.#transcript.nodes);
      return { termination, verdict, customerJudgement, error: undefined };
    } catch (cause) {
      if (cause instanceof Unscored) return { ...unscored, termination: cause.termination, error: cause.message };
      if (isSimulatorFault(cause) && !cause.final) return { ...unscored, termination: 'tool_error', error: cause.message };
      if (cause instanceof Rest || this.options.signal?.aborted) return { ...unscored, termination: 'aborted', error: undefined };
      throw cause;
    }
  }

  /** Frees the sampler's slot, the user's session and the environment's overlay of this episode. */
  async close(): Promise<void> {
    this.#user.close();
    this.#agent.close();
    await this.#world.close();
  }

  async #play(): Promise<TerminationReason> {
    const begun = await this.#begin();
    if (begun) return begun;
    while (this.#log.turns < (this.#rules.maxTurns ?? this.options.limits.max_turns)) {
      checkAbort(this.options.signal);
      const ending = (await this.#changeTools()) ?? (await this.#takeTurn());
      if (ending) return ending;
    }
    return 'max_turns';
  }

  /** Plays everything before the agent's first turn. Returns the termination reason if the episode ends before that turn. */
  async #begin(): Promise<TerminationReason | null> {
    const { domain, prefix, task } = this.options;
    const state = prefix && readPrefix(prefix, task, this.#rules);
    if (prefix) {
      this.#transcript.adopt(prefix.nodes);
      this.#agent.learn(this.#transcript.laterTools);
    } else this.#transcript.open(domain.policy, domain.tools);
    if (state?.opened) checkReplays(domain);
    if (state?.opened) return this.#continue(state, prefix!);
    const [{ history }, { greeting }] = [task.scenario, this.#rules];
    if (!state?.begun) {
      if (history) appendHistory(this.#transcript, history);
      else if (greeting !== null) this.#transcript.agent(greeting, this.#transcript.rendered(greeting, []), { content: greeting });
    }
    // User and environment start first. They can take long, and no sampler slot should be held in this time.
    if (domain.userTools?.length) await this.#world.start();
    const opening = await this.#user.open();
    if (opening === 'user_stop' && this.#rules.openingStop === 'error')
      throw new Unscored('user_error', 'the simulated user ended the conversation in its first message');
    await this.#world.start();
    return opening === 'user_stop' && this.#rules.openingStop === 'ignored' ? null : opening;
  }

  /**
   * Continues a conversation in which the user has already spoken: restores the counters, repeats the tool calls, and plays a
   * turn that has no answer yet.
   */
  async #continue(state: PrefixState, { nodes, userCalls = [] }: Prefix): Promise<TerminationReason | null> {
    const { past, pending } = state;
    this.#log.resume(state, userCalls, callTurnsOf(nodes));
    await this.#world.start();
    await repeat(state, this.#world);
    if (this.#transcript.full) return 'context_full';
    const last = nodes.at(-1)!;
    if (pending) {
      if (last === pending || last.role !== 'template') this.#transcript.closeTurn(last.tokens.at(-1));
      const { text, content = spoken(text), parseError: error } = pending;
      return this.#act({ text, content, calls: [...callsOf(pending)], error });
    }
    if (last.toolResult && this.#endsWith(last.toolResult.name, last.toolResult.error)) return 'terminal_tool';
    checkWhole(state);
    const stopped = last.role === 'user' && endsByUser(last.text, this.#rules, this.#log.steps);
    return this.#log.limit ?? (stopped && !(past.length === 1 && this.#rules.openingStop === 'ignored') ? 'user_stop' : null);
  }

  /** If the last message is the user's: asks the world for changes, and tells the agent the tools that appear now. */
  async #changeTools(): Promise<TerminationReason | null> {
    if (this.#transcript.nodes.findLast(({ role }) => role !== 'template')?.role !== 'user') return null;
    const { tools = [] } = await this.#log.time('tool', () => this.#world.changes(this.#log.userMessages - 1));
    if (tools.length === 0) return null;
    this.#transcript.tools(tools);
    this.#agent.learn(tools);
    return this.#transcript.full ? 'context_full' : null;
  }

  async #takeTurn(): Promise<TerminationReason | null> {
    const act = (await this.options.agent?.()) ?? this.options.player?.act?.(heardBy(this.#transcript.nodes)) ?? 'model';
    const begun = this.#begun;
    this.#begun = undefined;
    if (act === 'model') {
      const turn = await this.#agent.sample(this.#transcript, this.#log, begun);
      return typeof turn === 'string' ? turn : this.#act(turn);
    }
    const turn = this.#agent.give(act, this.#transcript);
    return this.#transcript.full ? 'context_full' : this.#act(turn);
  }

  /** Executes a turn: runs its tool calls, or sends its error back, or says its text to the user. */
  async #act({ text, content, calls, error }: Turn): Promise<TerminationReason | null> {
    this.#log.steps += 1;
    if (endsByAgent(withoutThoughts(text), this.#rules, this.#log.steps)) return this.#log.agentStopped(calls.length > 0 ? null : content);
    if (calls.length > 0) {
      this.#log.callTurns += 1;
      if (content && this.#rules.countsProse) this.#log.said.push(content);
      return this.#callTools(calls);
    }
    if (error === undefined) return content === '' && this.#rules.emptyTurnEnds ? 'malformed_call' : this.#speak(content);
    this.#log.parseErrors += 1;
    switch (this.options.limits.malformed_policy) {
      case 'end':
        return 'malformed_call';
      case 'as_text':
        return this.#speak(spoken(text));
      case 'feedback':
        this.#log.errorAnswered();
        this.#transcript.tool(`Error: ${error}`);
        return this.#transcript.full ? 'context_full' : this.#log.limit;
    }
  }

  /** Runs the calls of one turn in order. After the answer of a terminal tool, the episode ends. Limits are checked after the last call. */
  async #callTools(calls: readonly ToolCall[]): Promise<TerminationReason | null> {
    for (const [i, call] of calls.entries()) {
      const start = performance.now();
      const result = await this.#log.time('tool', () => this.#world.call(call));
      const { index, error, changes, text } = result;
      this.#log.toolAnswered(call, result, i === 0);
      const ends = this.#endsWith(call.name, error);
      const place = { first: i === 0, last: ends || i === calls.length - 1 };
      this.#transcript.tool(text, { name: call.name, error, index, changes, ms: performance.now() - start }, place);
      // Like MUA-RL, check the context length first and the terminal tool second.
      if (this.#transcript.full) return 'context_full';
      if (ends) return 'terminal_tool';
    }
    return this.#log.limit;
  }

  async #speak(content: string): Promise<TerminationReason | null> {
    this.#log.agentSaid(content);
    if (this.#log.limit) return this.#log.limit;
    const ending = await this.#user.reply(content);
    this.#log.turns += 1;
    return ending;
  }

  #endsWith(tool: string, error: boolean): boolean {
    return this.#rules.terminalTools.includes(tool) && (!error || this.#rules.failedToolEnds);
  }
}
