/** @file What all stores of episodes share: domains by name, base worlds in memory, and the code that runs a tool call. */
import { didYouMean } from '../base/did-you-mean.ts';
import { Recent } from '../base/recent.ts';
import {
  checkLevel,
  type DomainDefinition,
  type DomainSource,
  type DraftedCall,
  hasSessions,
  runDrafted,
  type TableDomain,
} from './domain.ts';
import { faultOf, OUTAGE, TIMEOUT } from './faults.ts';
import { Overlay, type World } from './overlay.ts';
import type { RowChange, Task, ToolCall } from '../records/task.ts';
import type { Domain, ToolResult } from './types.ts';

/** An episode, as it is in memory. */
export interface Episode {
  id: string;
  task: Task;
  definition: TableDomain;
  domain: Domain;
  overlay: Overlay;
  /** The number of calls in the log. */
  calls: number;
}

/** One tool call of an episode, with its result. */
export interface LogEntry {
  episode: string;
  index: number;
  call: ToolCall;
  text: string;
  error: boolean;
  /**
   * The rows that the call changed, with their values before and after the call. A row whose keys have another order also counts
   * as changed.
   */
  changes: RowChange[];
}

const WORLDS_IN_MEMORY = 128;

/** Finds a domain that is not in the list. */
export type FindDomain = (name: string) => Promise<DomainSource | undefined>;

export abstract class EpisodeStore {
  private readonly worlds = new Recent<string, Promise<World>>(WORLDS_IN_MEMORY);

  /** @param definitions the domains, by name */
  constructor(
    private readonly definitions: ReadonlyMap<string, DomainDefinition | DomainSource>,
    private readonly find?: FindDomain,
  ) {}

  abstract start(task: Task): Promise<string>;
  /** Runs one tool call. Its log entry and its changed rows are stored together, or neither is stored. */
  abstract call(id: string, call: ToolCall): Promise<ToolResult>;
  /** The task and the overlay after all calls that are running now. */
  abstract state(id: string): Promise<Pick<Episode, 'task' | 'definition' | 'overlay'>>;
  abstract log(id: string): Promise<LogEntry[]>;
  abstract close(id: string): Promise<void>;
  protected abstract loadWorld(definition: TableDomain, id: string): Promise<World>;

  /** @throws if no domain has that name */
  async definition(name: string): Promise<DomainDefinition> {
    const definition = this.definitions.get(name) ?? (await this.find?.(name));
    if (!definition) {
      const known = [...this.definitions.keys()];
      throw new Error(`domain: '${name}' is unknown${didYouMean(name, known)}; expected one of ${known.join(', ')}`);
    }
    return 'load' in definition ? definition.load() : definition;
  }

  protected async tables(name: string): Promise<TableDomain> {
    const definition = await this.definition(name);
    if (hasSessions(definition)) throw new Error(`domain: '${name}' has sessions; expected a domain with tables`);
    return definition;
  }

  /** The base world. It is loaded once and then kept in memory. */
  world(definition: TableDomain, id: string): Promise<World> {
    const key = `${definition.name}\n${id}`;
    const world = this.worlds.get(key, () => this.loadWorld(definition, id));
    world.catch(() => this.worlds.delete(key));
    return world;
  }

  /**
   * The layer below an episode's rows: the world in the task's initial state. It is not stored, because it can be computed from
   * the task.
   */
  async base(definition: TableDomain, task: Task): Promise<World | Overlay> {
    const world = await this.world(definition, task.world);
    if (!definition.initialize) return world;
    const base = new Overlay(world);
    definition.initialize(base, task);
    return base;
  }

  /** @throws if the domain or the level is unknown */
  protected async begin(id: string, task: Task): Promise<Episode> {
    const definition = await this.tables(task.domain);
    checkLevel(definition, task);
    const [domain, base] = await Promise.all([definition.domain(task.level), this.base(definition, task)]);
    return { id, task, definition, domain, overlay: new Overlay(base), calls: 0 };
  }
}

/** Runs a call with the task's faults of tools. A transfer never fails, so a conversation can always end. */
export function runWithFaults({ definition, domain, overlay, task }: Episode, call: ToolCall, index: number): DraftedCall {
  const fault = domain.terminalTools.includes(call.name) ? null : faultOf(task, index);
  if (fault === 'outage' || fault === 'timeout')
    return { text: fault === 'outage' ? OUTAGE : TIMEOUT, error: true, written: [], changes: [] };
  const result = runDrafted(definition, overlay, call, task.level, index);
  if (fault === 'late') return { ...result, text: TIMEOUT, error: true };
  if (fault === null || result.error || result.written.length > 0) return result;
  const stale = runDrafted(definition, overlay.below, call, task.level, index);
  return stale.written.length > 0 ? result : stale;
}

export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(16).padStart(8, '0')).join('');
}
