/** @file What a domain folder gives to the store. The store, the log and the verifier know nothing else of it. */
import type { Domain, Task, TaskQuery, ToolCall } from './types.ts';
import type { Rows, WorldTables } from './overlay.ts';

export interface DomainDefinition {
  name: string;
  levels: readonly string[];
  /** Raised whenever the generator makes other worlds of the same ids: stored worlds of other versions are made anew. */
  version: number;
  domain(level: string): Domain;
  tasks(query: TaskQuery): Task[];
  /** Makes a base world from its id, deterministically. @throws on an id that is not its own. */
  world(id: string): WorldTables;
  /** Runs one call. Synchronous, so that it fits in a transaction. On `error` whatever it wrote is dropped. */
  execute(rows: Rows, call: ToolCall, level: string): { text: string; error: boolean };
}
