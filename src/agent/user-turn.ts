/** @file The simulated user's side of an episode: the user's messages, tool calls and failures. */
import type { Domain, ToolResult } from '../environments/types.ts';
import type { Task, ToolCall } from '../records/task.ts';
import type { UserSession, UserSimulator } from '../users/types.ts';
import type { EpisodeLog } from './episode-log.ts';
import { endsByUser, type EpisodeRules } from './rules.ts';
import type { Transcript } from './transcript.ts';
import { checkAbort, Rest, Unscored } from './unscored.ts';

export interface UserOptions {
  task: Task;
  domain: Domain;
  users: UserSimulator;
  rules: EpisodeRules;
  seed: number;
  /** Seed of the user's phrasing, which all rollouts of a group share. Default: `seed`. */
  userSeed?: number;
  signal?: AbortSignal;
}

export class UserSide {
  readonly #session: UserSession;

  constructor(
    private readonly options: UserOptions,
    private readonly transcript: Transcript,
    private readonly log: EpisodeLog,
    /** Runs one tool call of the user. */
    private readonly call: (call: ToolCall) => Promise<ToolResult>,
  ) {
    const { task, domain, users, rules, seed, userSeed } = options;
    const { scenario } = task;
    const { userTools = [] } = domain;
    const tools = userTools.length ? { schemas: userTools, call: (calls: ToolCall[]) => this.#useTools(calls) } : undefined;
    this.#session = users.session(
      { ...scenario, domain: task.domain, prompt: rules.customerPrompt(scenario.instruction, userTools.length > 0) },
      userSeed ?? seed,
      tools,
    );
  }

  /** Appends the user's first message. Returns the termination reason if the conversation ends with it. @throws Unscored, Rest */
  open(): Promise<'max_turns' | 'user_stop' | null> {
    return this.#hear(() => this.#session.open(this.options.signal));
  }

  /** Appends the user's reply to the agent. Returns the termination reason if the conversation ends with it. @throws Unscored, Rest */
  reply(text: string): Promise<'max_turns' | 'user_stop' | null> {
    return this.#hear(() => this.#session.reply(text, this.options.signal));
  }

  /** The requests to an endpoint so far. Empty if the customer is not an endpoint's model. */
  get requests() {
    return this.#session.requests ?? [];
  }

  close(): void {
    this.#session.close?.();
  }

  async #hear(say: () => Promise<string>): Promise<'max_turns' | 'user_stop' | null> {
    checkAbort(this.options.signal);
    let text: string;
    try {
      text = await this.log.time('user', say);
    } catch (cause) {
      if (cause instanceof Rest) throw cause;
      checkAbort(this.options.signal);
      // If the user's own calls reached a limit, this limit ends the conversation, and the error is ignored.
      if (this.log.limit) return this.log.limit;
      throw Unscored.after(cause, 'user_error');
    }
    if (text.trim() === '') throw new Unscored('user_error', 'the simulated user said nothing');
    this.transcript.user(text);
    this.log.userSaid(text);
    // If the user's last message reaches a limit and also has a stop word, the limit counts, as in tau2-bench.
    return this.log.limit ?? (endsByUser(text, this.options.rules, this.log.steps) ? 'user_stop' : null);
  }

  /** Runs the calls of one message of the user. The agent sees neither the calls nor their results. */
  async #useTools(calls: ToolCall[]): Promise<{ text: string; error: boolean }[]> {
    this.log.steps += 1;
    const results: { text: string; error: boolean }[] = [];
    for (const [i, { name, arguments: args }] of calls.entries()) {
      const call: ToolCall = { name, arguments: args, requestor: 'user' };
      const { index, text, error, changes } = await this.call(call);
      const sameMessage = i > 0 && { sameMessage: true as const };
      this.log.userCalled({ after: this.transcript.leaf, call, text, error, index, changes, ...sameMessage });
      results.push({ text, error });
    }
    this.log.steps += 1;
    if (this.log.limit) throw new Error('the conversation has reached its limit');
    return results;
  }
}
