/**
 * @file The store of tool databases: immutable base worlds and, for each episode, the rows that it changed and the log of its
 * tool calls. Rows of worlds and of running episodes are also in memory, but only written transactions count.
 */
import { takeLock } from '../base/lock.ts';
import type { DomainDefinition, DomainSource, TableDomain } from './domain.ts';
import { type Episode, EpisodeStore, type FindDomain, type LogEntry, newId, runWithFaults } from './episode-store.ts';
import { Overlay, World, type WorldTables } from './overlay.ts';
import type { Task, ToolCall } from '../records/task.ts';
import type { ToolResult } from './types.ts';
import { changeRow, EnvironmentDatabase } from './environment-database.ts';

/** The number of worlds that are stored: those that were used last. Other worlds are generated again from their ids. */
const WORLDS_STORED = 64;
/** The age at which the page of an episode has certainly gone. Used in browsers without Web Locks. */
const ABANDONED_MS = 24 * 3600_000;

export class OverlayStore extends EpisodeStore {
  private readonly db: EnvironmentDatabase;
  private readonly episodes = new Map<string, Promise<Episode>>();
  /** The last promise in the queue of each episode. The calls of one episode run one after another. */
  private readonly queues = new Map<string, Promise<unknown>>();
  private readonly owner: Promise<{ owner?: string }>;

  /** @param definitions the domains, by name */
  constructor(databaseName: string, definitions: ReadonlyMap<string, DomainDefinition | DomainSource>, find?: FindDomain) {
    super(definitions, find);
    this.db = new EnvironmentDatabase(databaseName);
    this.owner = this.holdLock();
  }

  /**
   * Takes a lock for this store. The browser frees it when the worker ends, so the lock shows which episodes are still running.
   * The time would be less reliable, because a clock can be changed.
   */
  private async holdLock(): Promise<{ owner?: string }> {
    if (!globalThis.navigator?.locks) return {};
    const owner = `mua-episodes/${newId()}`;
    await takeLock(owner);
    return { owner };
  }

  async start(task: Task): Promise<string> {
    const episode = await this.begin(newId(), task);
    await this.db.episodes.add({ id: episode.id, task, startedAt: Date.now(), ...(await this.owner) });
    this.episodes.set(episode.id, Promise.resolve(episode));
    return episode.id;
  }

  /** Runs one tool call in one transaction: the log entry and the changed rows are written together, or neither is written. */
  call(id: string, call: ToolCall): Promise<ToolResult> {
    return this.inTurn(id, async () => {
      for (let attempt = 0; ; attempt++) {
        const episode = await this.episode(id);
        const index = episode.calls;
        const { text, error, written, changes } = runWithFaults(episode, call, index);
        const entry: LogEntry = { episode: id, index, call, text, error, changes: written };
        try {
          // `add` refuses a number that another worker has already written, so no call is lost or runs twice.
          if (!written.length)
            await this.db.log.add(entry); // without an explicit transaction
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
        return { index, text, error, changes, terminal: !error && episode.domain.terminalTools.includes(call.name) };
      }
    });
  }

  /** The task and the overlay after all calls that are running now. */
  state(id: string): Promise<{ task: Task; definition: TableDomain; overlay: Overlay }> {
    return this.inTurn(id, () => this.episode(id));
  }

  log(id: string): Promise<LogEntry[]> {
    return this.inTurn(id, async () => {
      await this.episode(id);
      return this.db.logOf(id).toArray();
    });
  }

  close(id: string): Promise<void> {
    return this.inTurn(id, async () => {
      this.episodes.delete(id);
      await this.deleteEpisodes([id]);
    });
  }

  /** Deletes episodes that were not closed, because their page crashed or was closed. */
  async deleteAbandoned(): Promise<void> {
    const locks = await globalThis.navigator?.locks?.query();
    const living = new Set(locks?.held?.map(({ name }) => name));
    const ids = await this.db.episodes
      .filter(({ owner, startedAt }) => (locks && owner !== undefined ? !living.has(owner) : startedAt < Date.now() - ABANDONED_MS))
      .primaryKeys();
    if (ids.length) await this.deleteEpisodes(ids);
  }

  private deleteEpisodes(ids: string[]): Promise<void> {
    return this.db.transaction('rw', this.db.episodes, this.db.changes, this.db.log, async () => {
      await this.db.episodes.bulkDelete(ids);
      await Promise.all(ids.flatMap((id) => [this.db.changesOf(id).delete(), this.db.logOf(id).delete()]));
    });
  }

  /** Runs `work` after all earlier requests to the episode have ended. */
  private inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const result = (this.queues.get(id) ?? Promise.resolve()).then(work);
    const settled = result.then(
      () => {},
      () => {},
    );
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
    const [row, changes, last] = await this.db.transaction(
      'r',
      this.db.episodes,
      this.db.changes,
      this.db.log,
      async () => [await this.db.episodes.get(id), await this.db.changesOf(id).toArray(), await this.db.logOf(id).last()] as const,
    );
    if (!row) throw new Error(`episode: '${id}' does not exist or was closed`);
    const definition = await this.tables(row.task.domain);
    const [domain, base] = await Promise.all([definition.domain(row.task.level), this.base(definition, row.task)]);
    const overlay = new Overlay(base);
    overlay.apply(
      changes.map(({ table, key, value, deleted, call }) => ({ table, key, before: null, after: deleted ? null : value, call })),
    );
    return { id, task: row.task, definition, domain, overlay, calls: last ? last.index + 1 : 0 };
  }

  protected async loadWorld(definition: TableDomain, id: string): Promise<World> {
    if (definition.imported) return new World(id, await definition.world(id));
    const stored = await this.db.transaction('rw', this.db.worlds, this.db.rows, async () => {
      const world = await this.db.worlds.get(id);
      if (world?.version !== definition.version) return null;
      await this.db.worlds.update(id, { usedAt: Date.now() });
      return { tables: world.tables, rows: await this.db.rowsOf(id).toArray() };
    });
    if (stored) {
      const tables: WorldTables = new Map(stored.tables.map((table) => [table, new Map()]));
      for (const row of stored.rows.sort((a, b) => a.order - b.order)) tables.get(row.table)!.set(row.key, row.value);
      return new World(id, tables);
    }
    const tables = await definition.world(id);
    const rows = [...tables].flatMap(([table, content]) =>
      [...content].map(([key, value], order) => ({ world: id, table, key, order, value })),
    );
    await this.db.transaction('rw', this.db.worlds, this.db.rows, async () => {
      await this.db.rowsOf(id).delete();
      await this.db.rows.bulkPut(rows);
      await this.db.worlds.put({ id, version: definition.version, tables: [...tables.keys()], usedAt: Date.now() });
      const old = await this.db.worlds.orderBy('usedAt').reverse().offset(WORLDS_STORED).primaryKeys();
      await Promise.all(old.map((world) => this.db.rowsOf(world).delete()));
      await this.db.worlds.bulkDelete(old);
    });
    return new World(id, tables);
  }
}
