/**
 * @file The tool environment. It has the domains that the caller names; their worlds are tables or sessions. docs/domains.md
 * has the contract.
 */
import { type DomainDefinition, type DomainSource, hasSessions, initialStateOf, type TableDomain } from './domain.ts';
import { canonicalJson } from '../base/json.ts';
import { storageError } from '../base/storage-error.ts';
import type { EpisodeStore, FindDomain, LogEntry } from './episode-store.ts';
import { MemoryStore } from './memory-store.ts';
import { OverlayStore } from './overlay-store.ts';
import { SessionWorlds } from './session-worlds.ts';
import type { Json } from '../records/json.ts';
import { type RowChange, SPLITS, type Task, type ToolCall, type Verdict } from '../records/task.ts';
import type { Domain, Environments, TaskQuery, ToolResult, TurnChange } from './types.ts';
import { compareOverlays, replayGold } from './verifier.ts';

export interface EnvironmentOptions {
  /** The name of the IndexedDB database. Each name is a separate store. */
  databaseName?: string;
  /** The domains that the caller wants to play. A source is loaded when a task needs it for the first time. */
  domains: readonly (DomainDefinition | DomainSource)[];
  /** Finds further domains, such as those that a visitor adds later. */
  find?: FindDomain;
  /** Whether to store nothing. The episodes end with the process. */
  inMemory?: boolean;
}

const GOALS_IN_MEMORY = 4096;

export class OverlayEnvironments implements Environments {
  private readonly store: EpisodeStore;
  private readonly stored: OverlayStore | null = null;
  private readonly sessions = new SessionWorlds();
  /** The changes of the gold actions. The key contains everything on which they depend. */
  private readonly goals = new Map<string, RowChange[]>();

  constructor({ databaseName = 'mua-environments', domains, find, inMemory = false }: EnvironmentOptions) {
    const definitions = new Map(domains.map((one) => [one.name, one]));
    if (!inMemory) this.stored = new OverlayStore(databaseName, definitions, find);
    this.store = this.stored ?? new MemoryStore(definitions, find);
  }

  /** @throws if the domain or the level is unknown; all methods below do this too */
  async domain(name: string, level: string): Promise<Domain> {
    const definition = await this.store.definition(name);
    const domain = await definition.domain(level);
    return hasSessions(definition) ? { ...domain, promises: definition.promises } : domain;
  }

  async tasks(query: TaskQuery): Promise<Task[]> {
    for (const [field, value] of [
      ['count', query.count],
      ['from', query.from ?? 0],
      ['seed', query.seed],
    ] as const) {
      if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${field}: ${value} is not a whole number ≥ 0`);
    }
    const definition = await this.store.definition(query.domain);
    const splits = SPLITS.filter((split) => (split !== 'unseen' && split !== 'attacks') || definition[split]);
    if (!splits.includes(query.split))
      throw new Error(`split: '${String(query.split)}' is no split of ${query.domain}; expected ${splits.join(' or ')}`);
    if (query.select && !definition.selects)
      throw new Error(`select: tasks of '${query.domain}' are generated, they have no ids or splits of a benchmark`);
    return definition.tasks(definition.conditions ? query : { ...query, conditions: undefined });
  }

  async start(task: Task): Promise<string> {
    const definition = await this.store.definition(task.domain);
    if (hasSessions(definition)) return this.sessions.start(definition, task);
    return this.store.start(task).catch(noRoom);
  }

  call(episode: string, call: ToolCall): Promise<ToolResult> {
    if (this.sessions.has(episode)) return this.sessions.call(episode, call);
    return this.store.call(episode, call).catch(noRoom);
  }

  async turn(episode: string, n: number): Promise<TurnChange | null> {
    if (this.sessions.has(episode)) return this.sessions.turn(episode, n);
    await this.store.state(episode);
    return null;
  }

  async verify(episode: string, said: readonly string[] = [], met?: readonly boolean[]): Promise<Verdict> {
    if (this.sessions.has(episode)) return this.sessions.verify(episode, said, met);
    const { task, definition, overlay } = await this.store.state(episode);
    const verdict = compareOverlays(overlay.changes(), await this.goal(task, definition));
    if (!definition.judge) return verdict;
    const [world, calls] = await Promise.all([this.store.world(definition, task.world), this.store.log(episode)]);
    return { ...verdict, ...(await definition.judge({ task, rows: overlay, world, calls, said, ...(met && { met }) })) };
  }

  close(episode: string): Promise<void> {
    if (this.sessions.has(episode)) return this.sessions.close(episode);
    return this.store.close(episode).catch(noRoom);
  }

  /** The tool calls of an episode with tables, in order. */
  log(episode: string): Promise<LogEntry[]> {
    return this.store.log(episode);
  }

  /** Deletes the episodes that were left by pages that crashed. */
  async deleteAbandoned(): Promise<void> {
    await this.stored?.deleteAbandoned();
  }

  private async goal(task: Task, definition: TableDomain): Promise<RowChange[]> {
    const key = canonicalJson([task.domain, task.level, task.world, task.actions, (initialStateOf(task) ?? null) as Json]);
    let goal = this.goals.get(key);
    if (!goal) {
      goal = replayGold(definition, await this.store.base(definition, task), task);
      this.goals.set(key, goal);
      if (this.goals.size > GOALS_IN_MEMORY) this.goals.delete(this.goals.keys().next().value!);
    }
    return goal;
  }
}

function noRoom(cause: unknown): never {
  throw storageError(cause, 'the tool database');
}

export function createEnvironments(options: EnvironmentOptions): OverlayEnvironments {
  return new OverlayEnvironments(options);
}
