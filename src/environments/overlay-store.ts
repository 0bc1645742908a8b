/**
 * @file The tool database on Dexie: immutable base worlds, and for each episode the rows it changed and the log of its
 * tool calls. Rows of worlds and of running episodes are mirrored in memory; what counts is what the transactions wrote.
 */
import { Dexie, type Table } from 'dexie';
import { runDrafted, type DomainDefinition } from './domain.ts';
import { canonicalJson } from './json.ts';
import { Overlay, World, type WorldTables } from './overlay.ts';
import { sha256 } from './sha256.ts';
import { beginningWith } from '../storage/key-range.ts';
import type { Domain, Json, RowChange, Task, ToolCall, ToolResult } from './types.ts';

/** One tool call of an episode. `hash` is SHA-256 over the canonical JSON of all other fields, `previous` among them. */
export interface LogEntry {
  episode: string;
  index: number;
  call: ToolCall;
  text: string;
  error: boolean;
  /** Rows the call changed, if only in the order of their keys, as they were before and after it. */
  changes: RowChange[];
  /** Hash of the entry before; of the task's id and world for the first. */
  previous: string;
  hash: string;
}

interface WorldRow { id: string; version: number; tables: string[]; usedAt: number }
interface BaseRow { world: string; table: string; key: string; order: number; value: Json }
interface EpisodeRow { id: string; task: Task; startedAt: number }
interface ChangeRow { episode: string; table: string; key: string; value: Json; deleted: boolean; call: number }

class EnvironmentDatabase extends Dexie {
  declare worlds: Table<WorldRow, string>;
  declare rows: Table<BaseRow, [string, string, string]>;
  declare episodes: Table<EpisodeRow, string>;
  declare changes: Table<ChangeRow, [string, string, string]>;
  declare log: Table<LogEntry, [string, number]>;

  constructor(name: string) {
    // Episodes are short-lived: losing the last ones in a power cut is no harm, waiting for the disk is. Nobody observes queries.
    super(name, { chromeTransactionDurability: 'relaxed', cache: 'disabled' });
    this.version(1).stores({
      worlds: 'id',
      // Ranges of these compound keys serve for all queries: fewer indices, faster writes.
      rows: '[world+table+key]',
      episodes: 'id, startedAt',
      changes: '[episode+table+key]',
      log: '[episode+index]',
    });
    // Worlds of the first version are made anew: among them are copies of imports.
    this.version(2).stores({ worlds: 'id, usedAt' }).upgrade((transaction) => Promise.all([transaction.table('worlds').clear(), transaction.table('rows').clear()]));
  }
}

/** An episode as it is in memory. */
interface Episode {
  id: string;
  task: Task;
  definition: DomainDefinition;
  domain: Domain;
  overlay: Overlay;
  /** Length of the log, and the hash of its last entry. */
  calls: number;
  head: string;
}

/** The hash a log begins with. */
function firstHash(task: Task): string {
  return sha256(canonicalJson({ task: task.id, world: task.world }));
}

function entryHash(entry: Omit<LogEntry, 'hash' | 'episode'>): string {
  const { index, call, text, error, changes, previous } = entry;
  return sha256(canonicalJson({ index, call, text, error, changes, previous }));
}

/** Index of the first entry that was altered, is out of order or does not follow from the one before; −1 if the chain holds. */
export function brokenLink(task: Task, log: readonly LogEntry[]): number {
  let previous = firstHash(task);
  for (const [i, entry] of log.entries()) {
    if (entry.index !== i || entry.previous !== previous || entry.hash !== entryHash(entry)) return i;
    previous = entry.hash;
  }
  return -1;
}

const WORLDS_IN_MEMORY = 128;
/** A world that is not among the last ones used is made anew from its id. */
const WORLDS_STORED = 64;
const ABANDONED_MS = 24 * 3600_000;

export class OverlayStore {
  private readonly db: EnvironmentDatabase;
  private readonly worlds = new Map<string, Promise<World>>();
  private readonly episodes = new Map<string, Promise<Episode>>();
  /** Last promise of each episode's queue: calls of one episode run one after another. */
  private readonly queues = new Map<string, Promise<unknown>>();

  /** @param definitions domains by name. */
  constructor(databaseName: string, private readonly definitions: ReadonlyMap<string, DomainDefinition>) {
    this.db = new EnvironmentDatabase(databaseName);
  }

  definition(name: string): DomainDefinition {
    const definition = this.definitions.get(name);
    if (!definition) throw new Error(`domain: '${name}' is unknown; expected one of ${[...this.definitions.keys()].join(', ')}`);
    return definition;
  }

  /** The base world, from memory, from the database, or generated and written once. */
  world(definition: DomainDefinition, id: string): Promise<World> {
    const key = `${definition.name}\n${id}`;
    let world = this.worlds.get(key);
    if (world) this.worlds.delete(key); // moves it to the end: the map is in order of last use
    else world = this.loadWorld(definition, id);
    this.worlds.set(key, world);
    world.catch(() => this.worlds.delete(key));
    if (this.worlds.size > WORLDS_IN_MEMORY) this.worlds.delete(this.worlds.keys().next().value!);
    return world;
  }

  async start(task: Task): Promise<string> {
    const definition = this.definition(task.domain);
    if (!definition.levels.includes(task.level)) throw new Error(`task.level: '${task.level}' is unknown; expected one of ${definition.levels.join(', ')}`);
    const [domain, base] = await Promise.all([definition.domain(task.level), this.base(definition, task)]);
    const id = newId();
    await this.db.episodes.add({ id, task, startedAt: Date.now() });
    this.episodes.set(id, Promise.resolve({ id, task, definition, domain, overlay: new Overlay(base), calls: 0, head: firstHash(task) }));
    return id;
  }

  /** What an episode's rows lie over: the world in the task's initial state. It is never stored: the task says it all. */
  async base(definition: DomainDefinition, task: Task): Promise<World | Overlay> {
    const world = await this.world(definition, task.world);
    if (!definition.initialize) return world;
    const base = new Overlay(world);
    definition.initialize(base, task);
    return base;
  }

  /** Runs one tool call as one transaction: log entry and changed rows are written together or not at all. */
  call(id: string, call: ToolCall): Promise<ToolResult> {
    return this.inTurn(id, async () => {
      for (let attempt = 0; ; attempt++) {
        const episode = await this.episode(id);
        const index = episode.calls;
        const { text, error, written, changes } = runDrafted(episode.definition, episode.overlay, call, episode.task.level, index);
        const unsigned = { index, call, text, error, changes: written, previous: episode.head };
        const entry: LogEntry = { episode: id, ...unsigned, hash: entryHash(unsigned) };
        try {
          // `add` refuses an index that another worker has written meanwhile: nobody's call is lost or run twice.
          if (!written.length) await this.db.log.add(entry); // a transaction of its own
          else {
            await this.db.transaction('rw', this.db.changes, this.db.log, async () => {
              await Promise.all([this.db.log.add(entry), this.db.changes.bulkPut(written.map((change) => changeRow(id, change)))]);
            });
          }
        } catch (cause) {
          this.episodes.delete(id);
          if ((cause as Error).name === 'ConstraintError' && attempt < 8) continue;
          throw cause;
        }
        episode.overlay.apply(written);
        episode.calls = index + 1;
        episode.head = entry.hash;
        return { index, text, error, changes, terminal: !error && episode.domain.terminalTools.includes(call.name) };
      }
    });
  }

  /** The task and the current overlay, once every call under way is done. */
  state(id: string): Promise<{ task: Task; definition: DomainDefinition; overlay: Overlay }> {
    return this.inTurn(id, () => this.episode(id));
  }

  log(id: string): Promise<LogEntry[]> {
    return this.inTurn(id, async () => {
      await this.episode(id);
      return this.logOf(id).toArray();
    });
  }

  /** A new episode with the first `calls` entries of this one's log, and the state they made. */
  async fork(id: string, calls: number): Promise<string> {
    const log = await this.log(id);
    if (!Number.isInteger(calls) || calls < 0 || calls > log.length) throw new Error(`calls: ${calls} is not in 0…${log.length}, the calls of episode ${id}`);
    const { task } = await this.state(id);
    const fork = newId();
    const kept = log.slice(0, calls);
    const last = new Map(kept.flatMap((entry) => entry.changes).map((change) => [`${change.table}\n${change.key}`, change]));
    await this.db.transaction('rw', this.db.episodes, this.db.changes, this.db.log, async () => {
      await this.db.episodes.add({ id: fork, task, startedAt: Date.now() });
      await this.db.log.bulkAdd(kept.map((entry) => ({ ...entry, episode: fork })));
      await this.db.changes.bulkAdd([...last.values()].map((change) => changeRow(fork, change)));
    });
    return fork;
  }

  close(id: string): Promise<void> {
    return this.inTurn(id, async () => {
      this.episodes.delete(id);
      await this.deleteEpisodes([id]);
    });
  }

  /** Deletes episodes that were never closed (a page that crashed or was shut) more than a day ago. */
  async deleteAbandoned(): Promise<void> {
    const ids = await this.db.episodes.where('startedAt').below(Date.now() - ABANDONED_MS).primaryKeys();
    if (ids.length) await this.deleteEpisodes(ids);
  }

  private deleteEpisodes(ids: string[]): Promise<void> {
    return this.db.transaction('rw', this.db.episodes, this.db.changes, this.db.log, async () => {
      await this.db.episodes.bulkDelete(ids);
      await Promise.all(ids.flatMap((id) => [this.changesOf(id).delete(), this.logOf(id).delete()]));
    });
  }

  private changesOf(id: string) {
    return beginningWith(this.db.changes, id);
  }

  private logOf(id: string) {
    return beginningWith(this.db.log, id);
  }

  private rowsOf(world: string) {
    return beginningWith(this.db.rows, world);
  }

  /** Runs `work` after everything that was asked of the episode before. */
  private inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const result = (this.queues.get(id) ?? Promise.resolve()).then(work);
    const settled = result.then(() => {}, () => {});
    this.queues.set(id, settled);
    void settled.then(() => {
      if (this.queues.get(id) === settled) this.queues.delete(id);
    });
    return result;
  }

  private episode(id: string): Promise<Episode> {
    let episode = this.episodes.get(id);
    if (!episode) {
      episode = this.loadEpisode(id);
      this.episodes.set(id, episode);
      episode.catch(() => this.episodes.delete(id));
    }
    return episode;
  }

  private async loadEpisode(id: string): Promise<Episode> {
    const [row, changes, last] = await this.db.transaction('r', this.db.episodes, this.db.changes, this.db.log, async () => [
      await this.db.episodes.get(id),
      await this.changesOf(id).toArray(),
      await this.logOf(id).last(),
    ] as const);
    if (!row) throw new Error(`episode: '${id}' does not exist or was closed`);
    const definition = this.definition(row.task.domain);
    const [domain, base] = await Promise.all([definition.domain(row.task.level), this.base(definition, row.task)]);
    const overlay = new Overlay(base);
    overlay.apply(changes.map(({ table, key, value, deleted, call }) => ({ table, key, before: null, after: deleted ? null : value, call })));
    return { id, task: row.task, definition, domain, overlay, calls: last ? last.index + 1 : 0, head: last?.hash ?? firstHash(row.task) };
  }

  private async loadWorld(definition: DomainDefinition, id: string): Promise<World> {
    if (definition.imported) return new World(id, await definition.world(id));
    const stored = await this.db.transaction('rw', this.db.worlds, this.db.rows, async () => {
      const world = await this.db.worlds.get(id);
      if (world?.version !== definition.version) return null;
      await this.db.worlds.update(id, { usedAt: Date.now() });
      return { tables: world.tables, rows: await this.rowsOf(id).toArray() };
    });
    if (stored) {
      const tables: WorldTables = new Map(stored.tables.map((table) => [table, new Map()]));
      for (const row of stored.rows.sort((a, b) => a.order - b.order)) tables.get(row.table)!.set(row.key, row.value);
      return new World(id, tables);
    }
    const tables = await definition.world(id);
    const rows = [...tables].flatMap(([table, content]) => [...content].map(([key, value], order) => ({ world: id, table, key, order, value })));
    await this.db.transaction('rw', this.db.worlds, this.db.rows, async () => {
      await this.rowsOf(id).delete();
      await this.db.rows.bulkPut(rows);
      await this.db.worlds.put({ id, version: definition.version, tables: [...tables.keys()], usedAt: Date.now() });
      const old = await this.db.worlds.orderBy('usedAt').reverse().offset(WORLDS_STORED).primaryKeys();
      await Promise.all(old.map((world) => this.rowsOf(world).delete()));
      await this.db.worlds.bulkDelete(old);
    });
    return new World(id, tables);
  }
}

function changeRow(episode: string, { table, key, after, call }: RowChange): ChangeRow {
  return { episode, table, key, value: after, deleted: after === null, call };
}

function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(16).padStart(8, '0')).join('');
}
