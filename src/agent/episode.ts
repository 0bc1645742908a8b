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
import type { Domain, Environments, Task, ToolCall, Verdict } from '../environments/types.ts';
import { auditEpisode, type AuditEvent } from '../environments/violations.ts';
import { STOP, type UserSession, type UserSimulator } from '../users/types.ts';
import { END_OF_TEXT, GENERATION_PROMPT, IM_END, TOOL_CALL_END, renderAssistant, renderClosing, renderOpening, renderToolResponses, renderUser } from './chat-template.ts';
import { parseTurn, spoken } from './tool-call.ts';
import { Transcript } from './transcript.ts';
import type { EpisodeLimits, Sampling, TerminationReason, Tokenizer, Trajectory } from './types.ts';

/** What differs between benchmarks. Defaults are tau-bench's. */
export interface EpisodeRules {
  /** What ends the conversation when the user says it. */
  stopWords: readonly string[];
  /** Executing one ends the episode; default: those of the domain. */
  terminalTools: readonly string[];
  /** A greeting that the agent's context begins with, not sampled (tau2-bench); null: the user speaks first. */
  greeting: string | null;
}

export interface EpisodeOptions {
  task: Task;
  domain: Domain;
  environments: Environments;
  users: UserSimulator;
  sampler: Sampler;
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
  rules?: Partial<EpisodeRules>;
  signal?: AbortSignal;
}

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
  readonly #toolNames: string[];
  readonly #user: UserSession;
  readonly #stopTokenIds: number[];
  readonly #events: AuditEvent[] = [];
  readonly #seconds = { generate: 0, tool: 0, user: 0 };
  readonly #toolCalls: Record<string, number> = {};
  #turns = 0;
  #parseErrors = 0;
  #handle: string | null = null;
  #sequence: Awaited<ReturnType<Sampler['open']>> | null = null;

  constructor(private readonly options: EpisodeOptions) {
    const { domain, limits, sampler, task, tokenizer, users } = options;
    this.#rules = { stopWords: [STOP], terminalTools: domain.terminalTools, greeting: null, ...options.rules };
    this.#transcript = new Transcript(tokenizer, Math.min(limits.max_model_len, sampler.maxModelLen));
    this.#toolNames = domain.tools.map((tool) => tool.function.name);
    this.#user = users.session(task.scenario, options.userSeed ?? options.seed);
    this.#stopTokenIds = [TOOL_CALL_END, IM_END, END_OF_TEXT].map((token) => tokenizer.id(token));
  }

  async run(): Promise<Trajectory> {
    let termination: TerminationReason;
    let verdict: Verdict | null = null;
    let error: string | undefined;
    try {
      termination = await this.#play();
      verdict = await this.options.environments.verify(this.#handle!);
    } catch (cause) {
      if (cause instanceof Unscored) {
        termination = cause.termination;
        error = cause.message;
      } else if (this.options.signal?.aborted) {
        termination = 'aborted';
      } else throw cause;
    }
    const { task, group, index, seed, limits } = this.options;
    const done = termination === 'user_stop' || termination === 'terminal_tool';
    return {
      id: `${group}-${index}`,
      task,
      group,
      index,
      seed,
      nodes: this.#transcript.nodes,
      leaf: this.#transcript.leaf,
      termination,
      turns: this.#turns,
      reward: verdict && (limits.require_done && !done ? 0 : verdict.reward),
      verdict,
      violations: auditEpisode(this.#events),
      toolCalls: this.#toolCalls,
      parseErrors: this.#parseErrors,
      seconds: this.#seconds,
      ...(error !== undefined && { error }),
    };
  }

  /** Frees the sampler's slot and the environment's overlay. */
  async close(): Promise<void> {
    if (this.#sequence) this.options.sampler.close(this.#sequence);
    if (this.#handle !== null) await this.options.environments.close(this.#handle);
  }

  async #play(): Promise<TerminationReason> {
    const { domain, environments, limits, sampler, seed, stream, task } = this.options;
    this.#transcript.given('system', domain.policy, renderOpening(domain.policy, domain.tools));
    if (this.#rules.greeting !== null) this.#greet(this.#rules.greeting);
    // The user and the environment come first: a slot of the sampler is not held while they get ready.
    if (await this.#hear(() => this.#user.open(this.options.signal))) {
      throw new Unscored('user_error', 'the simulated user ended the conversation in its first message');
    }
    this.#handle = await environments.start(task);
    this.#sequence = await sampler.open({ seed, stream });

    while (this.#turns < limits.max_turns) {
      this.#checkAbort();
      const turn = await this.#sampleTurn();
      const ending = typeof turn === 'string' ? turn : await this.#act(turn);
      if (ending) return ending;
    }
    return 'max_turns';
  }

  #greet(greeting: string): void {
    this.#transcript.given('template', '', GENERATION_PROMPT);
    this.#transcript.given('assistant', greeting, renderAssistant(greeting, []), { content: greeting });
    this.#transcript.given('template', '', renderClosing(false));
  }

  /** Samples one assistant turn and closes it. Gives the reason when the episode ends with it. */
  async #sampleTurn(): Promise<{ text: string; content: string; call?: ToolCall; error?: string } | TerminationReason> {
    const { limits, sampler, sampling, signal, tokenizer } = this.options;
    const transcript = this.#transcript;
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

  /** Carries out a turn: a tool call, an error fed back, or speech to the user. */
  async #act({ text, content, call, error }: { text: string; content: string; call?: ToolCall; error?: string }): Promise<TerminationReason | null> {
    if (call) return this.#callTool(call);
    if (error === undefined) return this.#speak(content);
    this.#parseErrors += 1;
    switch (this.options.limits.malformed_policy) {
      case 'end':
        return 'malformed_call';
      case 'as_text':
        return this.#speak(spoken(text));
      case 'feedback': {
        this.#turns += 1;
        const message = `Error: ${error}`;
        this.#transcript.given('tool', message, renderToolResponses([message]));
        return this.#full();
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
    this.#transcript.given('tool', result.text, renderToolResponses([result.text]), {
      toolResult: { name: call.name, error, index, changes, ms: performance.now() - start },
    });
    // As upstream: the test of the context comes before that of the tool.
    return this.#full() ?? (!error && this.#rules.terminalTools.includes(call.name) ? 'terminal_tool' : null);
  }

  async #speak(content: string): Promise<TerminationReason | null> {
    this.#events.push({ kind: 'agent', text: content });
    const stopped = await this.#hear(() => this.#user.reply(content, this.options.signal));
    this.#turns += 1;
    return stopped ? 'user_stop' : null;
  }

  /** Appends what the user says; true when it ends the conversation. @throws Unscored when the simulator fails */
  async #hear(say: () => Promise<string>): Promise<boolean> {
    this.#checkAbort();
    let text: string;
    try {
      text = await this.#time('user', say);
    } catch (cause) {
      this.#checkAbort();
      throw new Unscored('user_error', cause instanceof Error ? cause.message : String(cause));
    }
    if (text.trim() === '') throw new Unscored('user_error', 'the simulated user said nothing');
    this.#transcript.given('user', text, renderUser(text));
    this.#events.push({ kind: 'user', text });
    return this.#rules.stopWords.some((word) => text.includes(word));
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
