/**
 * @file One episode: user, agent and tools take turns until something ends it (MUA-RL's rollout, arXiv 2508.18669).
 *
 *     user opens ─> agent samples ─┬─ a tool call ─> environment ─┐
 *                        ^         └─ speech ─────> user ─────────┤
 *                        └────────────────────────────────────────┘ turns += 1
 *
 * Token in, token out: sampled ids are kept verbatim, everything else is appended as rendered deltas with mask 0. Sampling
 * stops at the first `</tool_call>` (one call a turn) or `<|im_end|>`; the template adds what is missing to close the turn.
 * Every ending but a failed user or an abort is scored by the database.
 */
import type { Sampler } from '../engine/types.ts';
import { historyFor } from '../environments/exact/history.ts';
import { unjudgedAssertions } from '../environments/exact/unjudged.ts';
import type { Domain, Environments, Json, Task, ToolCall, Verdict } from '../environments/types.ts';
import { auditEpisode, type AuditEvent } from '../environments/violations.ts';
import type { UserSession, UserSimulator } from '../users/types.ts';
import { END_OF_TEXT, GENERATION_PROMPT, IM_END, TOOL_CALL_END, renderAssistant, renderClosing, renderOpening, renderToolResponses, renderUser } from './chat-template.ts';
import type { Act } from './expert.ts';
import { type Prefix, type PrefixState, readPrefix } from './prefix.ts';
import { rulesOf, tau2Ending, type EpisodeRules } from './rules.ts';
import { parseTurn, spoken } from './tool-call.ts';
import { Transcript } from './transcript.ts';
import type { EpisodeLimits, Sampling, TerminationReason, Tokenizer, Trajectory, UserCall } from './types.ts';

export interface EpisodeOptions {
  task: Task;
  domain: Domain;
  environments: Environments;
  users: UserSimulator;
  /** May be missing where somebody else plays the agent in every turn. */
  sampler?: Sampler;
  tokenizer: Tokenizer;
  limits: EpisodeLimits;
  sampling: Sampling;
  /** Seed and stream of the sampler: with the weights they fix every sample. */
  seed: number;
  stream: number;
  /** Seed of the user's phrasing, shared by a group; default `seed`. */
  userSeed?: number;
  group: string;
  index: number;
  /** Departures from the rules of the domain's benchmark. */
  rules?: Partial<EpisodeRules>;
  /** A conversation to go on from. `users` must give sessions that have had it (see `users/resumed.ts`). */
  prefix?: Prefix;
  /** Asked in each of the agent's turns: an act in the model's stead, or `model`. */
  agent?: () => Promise<Act | 'model'>;
  signal?: AbortSignal;
}

/**
 * Thrown by a party whose turn it is and that has nothing to say yet: the conversation rests there, unscored, as one that
 * was aborted between two messages. It can be gone on with from its nodes.
 */
export class Rest extends Error {}

interface Turn {
  text: string;
  content: string;
  call?: ToolCall;
  error?: string;
}

const isProper = (termination: TerminationReason) => termination === 'user_stop' || termination === 'terminal_tool';

/** An ending that leaves the episode without a score. */
class Unscored extends Error {
  constructor(readonly termination: 'user_error' | 'aborted', message: string) {
    super(message);
  }
}

/**
 * Plays one episode. A failing user gives termination `user_error`, an abort `aborted`, both with reward null.
 * @throws whatever the sampler or the environment throws.
 */
export async function runEpisode(options: EpisodeOptions): Promise<Trajectory> {
  const episode = new Episode(options);
  try {
    return await episode.run();
  } finally {
    await episode.close();
  }
}

class Episode {
  readonly #rules: EpisodeRules;
  readonly #transcript: Transcript;
  readonly #toolNames: string[] | null;
  readonly #user: UserSession;
  readonly #stopTokenIds: number[];
  readonly #events: AuditEvent[] = [];
  readonly #seconds = { generate: 0, tool: 0, user: 0 };
  readonly #toolCalls: Record<string, number> = {};
  readonly #userCalls: UserCall[] = [];
  readonly #said: string[] = [];
  #turns = 0;
  #steps = 0;
  #failures = 0;
  #parseErrors = 0;
  #handle: string | null = null;
  #sequence: Awaited<ReturnType<Sampler['open']>> | null = null;

  constructor(private readonly options: EpisodeOptions) {
    const { domain, limits, sampler, task, tokenizer, users } = options;
    this.#rules = { ...rulesOf(domain), ...options.rules };
    this.#transcript = new Transcript(tokenizer, Math.min(limits.max_model_len, sampler?.maxModelLen ?? Infinity));
    this.#toolNames = this.#rules.passUnknownTools ? null : domain.tools.map((tool) => tool.function.name);
    const tools = domain.userTools?.length ? { schemas: domain.userTools, call: (calls: ToolCall[]) => this.#useUserTools(calls) } : undefined;
    this.#user = users.session(task.scenario, options.userSeed ?? options.seed, tools);
    this.#stopTokenIds = [TOOL_CALL_END, IM_END, END_OF_TEXT].map((token) => tokenizer.id(token));
  }

  async run(): Promise<Trajectory> {
    let termination: TerminationReason;
    let verdict: Verdict | null = null;
    let error: string | undefined;
    try {
      termination = await this.#play();
      verdict = await this.#verify(isProper(termination));
    } catch (cause) {
      if (cause instanceof Unscored) {
        termination = cause.termination;
        error = cause.message;
      } else if (cause instanceof Rest || this.options.signal?.aborted) {
        termination = 'aborted';
      } else throw cause;
    }
    const { domain, task, group, index, seed, userSeed, limits } = this.options;
    return {
      id: `${group}-${index}`,
      task,
      group,
      index,
      seed,
      ...(userSeed !== undefined && { userSeed }),
      nodes: this.#transcript.nodes,
      leaf: this.#transcript.leaf,
      termination,
      ...(domain.benchmark === 'tau2' && { ending: tau2Ending(termination, this.#failures >= this.#rules.maxErrors) }),
      ...(this.#userCalls.length > 0 && { userCalls: this.#userCalls }),
      turns: this.#turns,
      reward: verdict && ((limits.require_done || this.#rules.requireDone) && !isProper(termination) ? 0 : verdict.reward),
      verdict,
      // The audit knows retail's tools only.
      violations: domain.benchmark && !domain.name.endsWith('retail') ? [] : auditEpisode(this.#events),
      toolCalls: this.#toolCalls,
      parseErrors: this.#parseErrors,
      seconds: this.#seconds,
      ...(error !== undefined && { error }),
    };
  }

  /** Frees the sampler's slot, the user's session and the environment's overlay. */
  async close(): Promise<void> {
    this.#user.close?.();
    if (this.#sequence) this.options.sampler!.close(this.#sequence);
    if (this.#handle !== null) await this.options.environments.close(this.#handle);
  }

  /** The outcome. What only a reader of the conversation can say of it (tau2-bench's NL_ASSERTION), the user's model is asked. */
  async #verify(proper: boolean): Promise<Verdict> {
    const { environments, users, signal } = this.options;
    const verdict = await environments.verify(this.#handle!, this.#said);
    const open = unjudgedAssertions(verdict.reward_info);
    if (open.length === 0 || !users.judge || !proper) return verdict;
    const conversation = this.#transcript.nodes.flatMap(({ role, text }) => (role === 'system' || role === 'template' ? [] : [{ role, text: text.replace(IM_END, '') }]));
    const met = await this.#time('user', () => users.judge!(open, conversation, signal)).catch((cause: unknown) => {
      this.#checkAbort();
      throw new Unscored('user_error', cause instanceof Error ? cause.message : String(cause));
    });
    return met ? environments.verify(this.#handle!, this.#said, met) : verdict;
  }

  async #play(): Promise<TerminationReason> {
    const begun = await this.#begin();
    if (begun) return begun;
    while (this.#turns < (this.#rules.maxTurns ?? this.options.limits.max_turns)) {
      this.#checkAbort();
      const act = (await this.options.agent?.()) ?? 'model';
      const turn = act === 'model' ? await this.#sampleTurn() : this.#giveTurn(act);
      const ending = typeof turn === 'string' ? turn : await this.#act(turn);
      if (ending) return ending;
    }
    return 'max_turns';
  }

  /** All that comes before the agent's first turn, or before it goes on. Gives the reason when the episode ends there. */
  async #begin(): Promise<TerminationReason | null> {
    const { domain, environments, prefix, task } = this.options;
    const state = prefix && readPrefix(prefix, task, this.#rules);
    if (prefix) this.#transcript.adopt(prefix.nodes);
    else this.#transcript.given('system', domain.policy, renderOpening(domain.policy, domain.tools));
    if (state?.opened) return this.#takeUp(state, prefix!);
    const history = task.scenario.history;
    if (!state?.begun) {
      if (history) this.#resume(history);
      else if (this.#rules.greeting !== null) this.#greet(this.#rules.greeting);
    }
    // The user and the environment come first: a slot of the sampler is not held while they get ready.
    if (domain.userTools?.length) this.#handle = await environments.start(task);
    const opening = await this.#hear(() => this.#user.open(this.options.signal));
    if (opening === 'user_stop' && this.#rules.openingStop === 'error') throw new Unscored('user_error', 'the simulated user ended the conversation in its first message');
    this.#handle ??= await environments.start(task);
    return opening === 'user_stop' && this.#rules.openingStop === 'ignored' ? null : opening;
  }

  /** Goes on from a conversation in which the user has spoken: its counts, the world its calls made, and a reaction that is due. */
  async #takeUp({ calls, pending, past, ...state }: PrefixState, { nodes, userCalls = [] }: Prefix): Promise<TerminationReason | null> {
    const { environments, task } = this.options;
    this.#turns = state.turns;
    this.#steps = state.steps;
    this.#failures = state.failures;
    this.#parseErrors = state.parseErrors;
    Object.assign(this.#toolCalls, state.toolCalls);
    this.#events.push(...state.events);
    this.#said.push(...state.said);
    this.#userCalls.push(...userCalls);
    this.#handle = await environments.start(task);
    for (const [i, { call, text }] of calls.entries()) {
      const result = await environments.call(this.#handle, call);
      if (result.text !== text) throw new Error(`tool call ${i + 1} (${call.name}) of the stored conversation is answered otherwise by this world: its task or tools have changed since`);
    }
    const full = this.#full();
    if (full) return full;
    const last = nodes.at(-1)!;
    if (pending) {
      if (last === pending || last.role !== 'template') this.#transcript.given('template', '', renderClosing(last.tokens.at(-1) === this.options.tokenizer.id(IM_END)));
      return this.#act({ text: pending.text, content: pending.content ?? spoken(pending.text), call: pending.toolCall, error: pending.parseError });
    }
    if (last.toolResult && this.#ends(last.toolResult.name, last.toolResult.error)) return 'terminal_tool';
    const stopped = last.role === 'user' && this.#rules.stopWords.some((word) => last.text.includes(word));
    return this.#limit() ?? (stopped && !(past.length === 1 && this.#rules.openingStop === 'ignored') ? 'user_stop' : null);
  }

  #greet(greeting: string): void {
    this.#transcript.given('template', '', GENERATION_PROMPT);
    this.#transcript.given('assistant', greeting, renderAssistant(greeting, []), { content: greeting });
    this.#transcript.given('template', '', renderClosing(false));
  }

  /** What the agent has seen of a conversation that the task begins in the midst of. */
  #resume(history: readonly Json[]): void {
    for (const { role, content, calls } of historyFor('assistant', history)) {
      if (role === 'user') this.#transcript.given('user', content, renderUser(content));
      else if (role === 'tool') this.#transcript.given('tool', content, renderToolResponses([content]));
      else {
        this.#transcript.given('template', '', GENERATION_PROMPT);
        const [call] = calls;
        this.#transcript.given('assistant', content, renderAssistant(content, calls), { content, ...(call && { toolCall: { name: call.name, arguments: call.arguments } }) });
        this.#transcript.given('template', '', renderClosing(false));
      }
    }
  }

  /** Samples one assistant turn and closes it. Gives the reason when the episode ends with it. */
  async #sampleTurn(): Promise<Turn | TerminationReason> {
    const { limits, sampler, sampling, seed, signal, stream, tokenizer } = this.options;
    const transcript = this.#transcript;
    if (!sampler) throw new Error('no model is loaded that could play the agent');
    this.#sequence ??= await sampler.open({ seed, stream });
    const prompt = tokenizer.encode(GENERATION_PROMPT).length;
    if (transcript.length + prompt + 1 >= transcript.capacity) return 'context_full';
    transcript.given('template', '', GENERATION_PROMPT);
    sampler.append(this.#sequence!, transcript.takePending());
    const generation = await this.#time('generate', () =>
      sampler.generate(
        this.#sequence!,
        {
          maxNewTokens: Math.min(limits.response_length_one_turn, transcript.capacity - transcript.length),
          temperature: sampling.temperature,
          topP: sampling.top_p,
          topK: sampling.top_k,
          stopTokenIds: this.#stopTokenIds,
        },
        signal,
      ),
    );
    const text = tokenizer.decode(generation.tokens);
    if (generation.finishReason !== 'stop') {
      transcript.sampled(generation, text, { content: spoken(text) });
      if (generation.finishReason === 'context_full' || transcript.length >= transcript.capacity) return 'context_full';
      transcript.given('template', '', renderClosing(false));
      return 'turn_length';
    }
    const turn = { text, ...parseTurn(text, this.#toolNames) };
    transcript.sampled(generation, text, { content: turn.content, ...(turn.call && { toolCall: turn.call }), ...(turn.error !== undefined && { parseError: turn.error }) });
    transcript.given('template', '', renderClosing(generation.tokens.at(-1) === tokenizer.id(IM_END)));
    return turn;
  }

  /** Appends a turn that was not sampled. */
  #giveTurn(act: Act): Turn | TerminationReason {
    const [content, call] = 'call' in act ? ['', act.call] : [act.say.trim(), undefined];
    const text = renderAssistant(content, call ? [call] : []);
    this.#transcript.given('template', '', GENERATION_PROMPT);
    this.#transcript.given('assistant', text, text, { content, by: 'person', ...(call && { toolCall: call }) });
    this.#transcript.given('template', '', renderClosing(false));
    return this.#full() ?? { text, content, call };
  }

  /** Carries out a turn: a tool call, an error fed back, or speech to the user. */
  async #act({ text, content, call, error }: Turn): Promise<TerminationReason | null> {
    this.#steps += 1;
    if (call) {
      if (content && this.#rules.countsProse) this.#said.push(content);
      return this.#callTool(call);
    }
    if (error === undefined) return content === '' && this.#rules.emptyTurnEnds ? 'malformed_call' : this.#speak(content);
    this.#parseErrors += 1;
    switch (this.options.limits.malformed_policy) {
      case 'end':
        return 'malformed_call';
      case 'as_text':
        return this.#speak(spoken(text));
      case 'feedback': {
        this.#turns += 1;
        this.#count(true);
        const message = `Error: ${error}`;
        this.#transcript.given('tool', message, renderToolResponses([message]));
        return this.#full() ?? this.#limit();
      }
    }
  }

  async #callTool(call: ToolCall): Promise<TerminationReason | null> {
    const start = performance.now();
    const result = await this.#time('tool', () => this.options.environments.call(this.#handle!, call));
    this.#turns += 1;
    this.#toolCalls[call.name] = (this.#toolCalls[call.name] ?? 0) + 1;
    this.#events.push({ kind: 'tool', call, result });
    const { index, error, changes } = result;
    this.#count(error);
    this.#transcript.given('tool', result.text, renderToolResponses([result.text]), {
      toolResult: { name: call.name, error, index, changes, ms: performance.now() - start },
    });
    // As upstream: the test of the context comes before that of the tool.
    return this.#full() ?? (this.#ends(call.name, error) ? 'terminal_tool' : this.#limit());
  }

  async #speak(content: string): Promise<TerminationReason | null> {
    this.#events.push({ kind: 'agent', text: content });
    this.#said.push(content);
    const limit = this.#limit();
    if (limit) return limit;
    const ending = await this.#hear(() => this.#user.reply(content, this.options.signal));
    this.#turns += 1;
    return ending;
  }

  /** One message of the user's that holds calls, and their results. The agent hears of neither. */
  async #useUserTools(calls: ToolCall[]): Promise<{ text: string; error: boolean }[]> {
    this.#steps += 1;
    const results: { text: string; error: boolean }[] = [];
    for (const [i, { name, arguments: args }] of calls.entries()) {
      const call: ToolCall = { name, arguments: args, requestor: 'user' };
      const { index, text, error, changes } = await this.options.environments.call(this.#handle!, call);
      if (error) this.#failures += 1;
      this.#userCalls.push({ after: this.#transcript.leaf, call, text, error, index, changes, ...(i > 0 && { sameMessage: true as const }) });
      results.push({ text, error });
    }
    this.#steps += 1;
    if (this.#limit()) throw new Error('the conversation has reached its limit');
    return results;
  }

  /** Appends what the user says; the reason when the conversation ends with it. @throws Unscored when the simulator fails */
  async #hear(say: () => Promise<string>): Promise<TerminationReason | null> {
    this.#checkAbort();
    let text: string;
    try {
      text = await this.#time('user', say);
    } catch (cause) {
      if (cause instanceof Rest) throw cause;
      this.#checkAbort();
      // The user was stopped amid its calls.
      const limit = this.#limit();
      if (limit) return limit;
      throw new Unscored('user_error', cause instanceof Error ? cause.message : String(cause));
    }
    if (text.trim() === '') throw new Unscored('user_error', 'the simulated user said nothing');
    this.#transcript.given('user', text, renderUser(text));
    this.#events.push({ kind: 'user', text });
    this.#steps += 1;
    // As upstream: a limit that is reached with the user's goodbye overrides it.
    return this.#limit() ?? (this.#rules.stopWords.some((word) => text.includes(word)) ? 'user_stop' : null);
  }

  /** Counts a tool's answer. */
  #count(error: boolean): void {
    this.#steps += 1;
    if (error) this.#failures += 1;
  }

  /** Whether a call that was carried out ends the episode. */
  #ends(tool: string, error: boolean): boolean {
    return this.#rules.terminalTools.includes(tool) && (!error || this.#rules.failedToolEnds);
  }

  #limit(): 'max_turns' | null {
    return this.#steps >= this.#rules.maxSteps || this.#failures >= this.#rules.maxErrors ? 'max_turns' : null;
  }

  #full(): 'context_full' | null {
    return this.#transcript.length >= this.#transcript.capacity ? 'context_full' : null;
  }

  #checkAbort(): void {
    if (this.options.signal?.aborted) throw new Unscored('aborted', 'aborted');
  }

  async #time<T>(what: 'generate' | 'tool' | 'user', work: () => Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      return await work();
    } finally {
      this.#seconds[what] += (performance.now() - start) / 1000;
    }
  }
}
