/** @file Records what has happened in an episode so far: counters, seconds, what the agent said, and the events that the audit needs. */
import { auditEpisode, type AuditEvent } from './violations.ts';
import type { ToolResult } from '../environments/types.ts';
import type { ToolCall, ToolSchema, Violation } from '../records/task.ts';
import type { Trajectory, UserCall } from '../records/trajectory.ts';
import type { PrefixState } from './prefix.ts';
import type { EpisodeRules } from './rules.ts';

export class EpisodeLog {
  /** The number of tool results and user replies. */
  turns = 0;
  /** The number of messages of agent, user and tools. The results of one turn count as one. */
  steps = 0;
  /** The number of failed tool calls of agent and user. */
  failures = 0;
  parseErrors = 0;
  /** The number of the agent's turns with calls after the user's last message. */
  callTurns = 0;
  readonly toolCalls: Record<string, number> = {};
  readonly userCalls: UserCall[] = [];
  /** What the agent said to the user, in order. */
  readonly said: string[] = [];
  readonly seconds: Trajectory['seconds'] = { generate: 0, tool: 0, user: 0 };
  /** The number of the user's messages. */
  userMessages = 0;
  readonly #events: AuditEvent[] = [];

  constructor(private readonly rules: Pick<EpisodeRules, 'maxSteps' | 'maxErrors' | 'callTurns' | 'audit'>) {}

  /** Continues counting from the counts of a stored conversation. */
  resume(state: PrefixState, userCalls: readonly UserCall[], callTurns: number): void {
    const { turns, steps, failures, parseErrors } = state;
    Object.assign(this, { turns, steps, failures, parseErrors, userMessages: state.past.length, callTurns });
    Object.assign(this.toolCalls, state.toolCalls);
    this.#events.push(...state.events);
    this.said.push(...state.said);
    this.userCalls.push(...userCalls);
  }

  get tooManyErrors(): boolean {
    return this.failures >= this.rules.maxErrors;
  }

  get limit(): 'max_turns' | null {
    const { maxSteps, callTurns = Infinity } = this.rules;
    return this.steps >= maxSteps || this.callTurns > callTurns || this.tooManyErrors ? 'max_turns' : null;
  }

  agentSaid(text: string): void {
    this.#events.push({ kind: 'agent', text });
    this.said.push(text);
  }

  /** The agent ended the conversation. @param text what it said to the user; null if it wrote calls */
  agentStopped(text: string | null): 'agent_stop' {
    if (text !== null) this.agentSaid(text);
    return 'agent_stop';
  }

  userSaid(text: string): void {
    this.#events.push({ kind: 'user', text });
    this.userMessages += 1;
    this.callTurns = 0;
    this.steps += 1;
  }

  /** @param first whether it is the first result of its turn: all results of a turn are one step, as in tau2-bench */
  toolAnswered(call: ToolCall, result: ToolResult, first: boolean): void {
    this.#events.push({ kind: 'tool', call, result });
    this.toolCalls[call.name] = (this.toolCalls[call.name] ?? 0) + 1;
    this.#answered(result.error, first);
  }

  /** Counts the error of a malformed call that was sent back to the agent. */
  errorAnswered(): void {
    this.#answered(true, true);
  }

  userCalled(call: UserCall): void {
    this.userCalls.push(call);
    if (call.error) this.failures += 1;
  }

  #answered(error: boolean, first: boolean): void {
    this.turns += 1;
    if (first) this.steps += 1;
    if (error) this.failures += 1;
  }

  /** The violations that the audit finds. Empty for a domain without audit rules. */
  async violations(tools: readonly ToolSchema[]): Promise<Violation[]> {
    const audit = await this.rules.audit?.();
    return audit ? auditEpisode(this.#events, audit, tools).violations : [];
  }

  /** Adds the time of `work` to `seconds`. */
  async time<T>(what: keyof Trajectory['seconds'], work: () => Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      return await work();
    } finally {
      this.seconds[what] += (performance.now() - start) / 1000;
    }
  }
}
