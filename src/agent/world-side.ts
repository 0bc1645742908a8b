/**
 * @file The environment's side of an episode: it starts the world, runs calls and logs them for the audit, and reports what
 * changes between turns.
 */
import type { Environments, ToolResult, TurnChange } from '../environments/types.ts';
import type { Task, ToolCall } from '../records/task.ts';
import { AuditChain } from './audit-log.ts';

export class WorldSide {
  readonly #audit: AuditChain;
  #handle: string | null = null;

  /** @param weights the version of the agent's weights, for the audit log */
  constructor(
    private readonly environments: Environments,
    private readonly task: Task,
    weights: string,
  ) {
    this.#audit = new AuditChain(task, weights);
  }

  get log() {
    return this.#audit.log;
  }

  /** The environment's id of this episode. Available only after `start`. */
  get handle(): string {
    return this.#handle!;
  }

  /** Begins the episode in the environment, if it has not begun yet. */
  async start(): Promise<void> {
    this.#handle ??= await this.environments.start(this.task);
  }

  async call(call: ToolCall): Promise<ToolResult> {
    const result = await this.environments.call(this.handle, call);
    this.#audit.add({ call, ...result });
    return result;
  }

  /** What changes in the environment after message `n` of the user, from 0. */
  async changes(n: number): Promise<TurnChange> {
    return (await this.environments.turn?.(this.handle, n)) ?? {};
  }

  async close(): Promise<void> {
    if (this.#handle !== null) await this.environments.close(this.#handle);
  }
}
