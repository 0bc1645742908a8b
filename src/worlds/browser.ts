/**
 * @file Answers the questions of the World views: domains, tables, tasks and imports. It runs in a separate worker, because
 * reading a large import would delay the episodes of a training run. Tables and tasks are sent to the page a few rows at a
 * time.
 */
import '../base/content-policy.ts';
import { benchmarkLoader } from '../benchmarks/import/loader.ts';
import type { BenchmarkDatabase, StoredBenchmark } from '../benchmarks/import/database.ts';
import { importedName, importedParts, resetName } from '../benchmarks/imported-benchmark.ts';
import { importedDomains } from '../benchmarks/imported-domain.ts';
import { BENCHMARKS } from '../benchmarks/index.ts';
import { rulesFor } from '../benchmarks/rules.ts';
import { criteriaOf, toldBy, goldTurns } from '../benchmarks/tasks.ts';
import { conditionsOf } from '../environments/conditions.ts';
import type { DomainDefinition } from '../environments/domain.ts';
import { GENERATED_DOMAINS, IMPORTED_LEVEL, isOwn } from '../domains/registry.ts';
import { createEnvironments } from '../environments/index.ts';
import type { BenchmarkFiles } from '../exchange/file-source.ts';
import type { Json } from '../records/json.ts';
import type { GrpoConfig } from '../records/run.ts';
import type { Split, Task } from '../records/task.ts';
import { Importer, type Progress } from './imports.ts';
import { FIRST, generatedDomains, generatedWorld, hostedDomains, openGenerated, openImported, type Opened, titleOf } from './open-world.ts';
import { relations } from './references.ts';
import { OwnScenarios } from '../storage/own-scenarios.ts';
import { Scenarios } from './scenarios.ts';
import { firstRows, rowCounts, tableInfos, tableOf, tableRows } from './tables.ts';
import { labelOf, searchTasks, taskSummary } from './tasks.ts';
import type {
  Found,
  GoldRun,
  ImportableBenchmark,
  OwnScenario,
  TableRelations,
  TableRow,
  TaskSummary,
  TrainingTasks,
  WorldInfo,
  WorldRef,
  WorldSummary,
  WorldTask,
} from './types.ts';
import { wordSearch } from './word-search.ts';

/** The number of worlds that stay open. */
const OPEN_WORLDS = 4;

export class WorldBrowser {
  private readonly load;
  private readonly environments;
  /** The definitions of imported domains. */
  private readonly definitions: ReadonlyMap<string, DomainDefinition>;
  private readonly opened = new Map<string, Promise<Opened>>();
  /** The last search. It is kept so that scrolling through its results needs no new search. */
  private lastSearch: { world: Opened; list: string; keys: readonly string[] } | null = null;
  private readonly importer;
  private readonly scenarios;

  constructor(
    private readonly database: BenchmarkDatabase,
    databaseName?: string,
    private readonly own = new OwnScenarios(),
  ) {
    this.scenarios = new Scenarios(own);
    this.load = benchmarkLoader(database);
    this.importer = new Importer(database);
    const imports = importedDomains(this.load);
    this.definitions = new Map(imports.map((definition) => [definition.name, definition]));
    this.environments = createEnvironments({
      domains: [...GENERATED_DOMAINS, ...imports],
      find: (name) => own.find(name),
      ...(databaseName !== undefined && { databaseName }),
    });
  }

  /** All worlds except those of the visitor's own scenarios. The generated ones come first, then the imports. */
  async list(): Promise<WorldSummary[]> {
    const isOurs = (name: string) => !isOwn(name);
    const [domains, hosted] = await Promise.all([generatedDomains(isOurs), hostedDomains(isOurs)]);
    const generated = await Promise.all(
      [...domains, ...hosted].flatMap((domain) =>
        domain.definition.levels.map(async (level): Promise<WorldSummary> => {
          const { definition, title, tasksPerWorld: tasks, worldId: idOf } = domain;
          const rows = rowCounts(await definition.world(idOf(level, FIRST)));
          const place = { domain: title, level, hosted: hosted.includes(domain) };
          return { name: `${definition.name}-${level}`, title: `${title}, ${level}`, rows, tasks, generated: place };
        }),
      ),
    );
    return [...generated, ...(await this.imports())];
  }

  /** The benchmarks that can be imported. */
  benchmarks(): ImportableBenchmark[] {
    return BENCHMARKS.map(({ title, domains, files }) => ({ title, domains: domains.map(({ name }) => name), files: files.help }));
  }

  ownScenarios(): Promise<OwnScenario[]> {
    return this.scenarios.list();
  }

  importScenario(file: Blob, name: string, onProgress?: (done: number) => void): Promise<OwnScenario> {
    return this.scenarios.add(file, name, onProgress);
  }

  scenarioText(name: string): Promise<string> {
    return this.scenarios.text(name);
  }

  async removeScenario(name: string): Promise<void> {
    await this.scenarios.remove(name);
    this.opened.clear();
    this.lastSearch = null;
  }

  private async imports(): Promise<WorldSummary[]> {
    const seen = new Set<string>();
    return (await this.database.list()).map(({ id, benchmark, domain, importedAt, tasks, rows }) => {
      const name = importedName(benchmark, domain);
      const used = !seen.has(name);
      seen.add(name);
      return {
        name,
        title: titleOf(benchmark, domain),
        rows: Object.entries(rows).map(([table, count]) => ({ table, count })),
        tasks,
        imported: { id, importedAt, used },
      };
    });
  }

  /** @throws if the world does not exist; all methods below do this too */
  async info(ref: WorldRef): Promise<WorldInfo> {
    const { definition, level, title, tables, generated, splits } = await this.open(ref);
    const { tools, userTools = [], terminalTools, policy, benchmark = null } = await definition.domain(level);
    return {
      title,
      benchmark,
      tools,
      userTools,
      terminalTools,
      policy,
      splits,
      generated,
      tables: tableInfos(tables),
    };
  }

  /** The tables, with the references between them. */
  async relations(ref: WorldRef): Promise<TableRelations[]> {
    return relations((await this.open(ref)).tables);
  }

  /** The number of rows that match the query, and the position of the row with this key among them. */
  async find(ref: WorldRef, table: string, query: string, key: string): Promise<Found> {
    const keys = await this.keys(ref, table, query);
    const at = key === '' ? -1 : keys.indexOf(key);
    return { total: keys.length, at: at < 0 ? null : at };
  }

  /** Of the rows that match the query, those from index `from` to `to` (exclusive). */
  async rows(ref: WorldRef, table: string, query: string, from: number, to: number): Promise<TableRow[]> {
    const { tables } = await this.open(ref);
    return tableRows(tableOf(tables, table), (await this.keys(ref, table, query)).slice(from, to));
  }

  /** A complete row. Null if there is no such row. */
  async row(ref: WorldRef, table: string, key: string): Promise<{ value: Json } | null> {
    const value = tableOf((await this.open(ref)).tables, table).get(key);
    return value === undefined ? null : { value };
  }

  /** The first `most` rows of a table. Their values are not shortened. */
  async wholeRows(ref: WorldRef, table: string, most: number): Promise<[key: string, row: Json][]> {
    return firstRows(tableOf((await this.open(ref)).tables, table), most);
  }

  async findTasks(ref: WorldRef, query: string): Promise<Found> {
    const tasks = await this.tasksOf(ref, query);
    const at = tasks.findIndex(({ id }) => id === ref.task);
    return { total: tasks.length, at: at < 0 ? null : at };
  }

  async tasks(ref: WorldRef, query: string, from: number, to: number): Promise<TaskSummary[]> {
    return (await this.tasksOf(ref, query)).slice(from, to).map(taskSummary);
  }

  /** The task `ref.task`. Undefined if there is no such task. */
  async task(ref: WorldRef): Promise<WorldTask | undefined> {
    const world = await this.open(ref);
    const task = (await world.tasks()).find(({ id }) => id === ref.task);
    return task && { task, label: labelOf(task), splits: world.splitsOf(task), criteria: criteriaOf(task) as Json };
  }

  /** At most `count` tasks of those on which a run with this configuration trains. They have the names that `mua env-serve` uses. */
  async trainingTasks(config: GrpoConfig, count: number): Promise<TrainingTasks> {
    const { level, seed } = config;
    const domain = await this.environments.domain(config.domain, level);
    const tasks = async (split: Split, wanted: number, side: 'train' | 'val') => {
      const conditions = conditionsOf(config, side);
      return (await this.environments.tasks({ domain: config.domain, level, split, seed, count: wanted, conditions })).map(resetName);
    };
    const { greeting } = rulesFor(domain, config.conversation_rules);
    return {
      domain,
      greeting,
      tasks: await tasks(config.train_split, count, 'train'),
      validation: await tasks(config.val_split, config.val_tasks, 'val'),
    };
  }

  /** Plays the task's gold actions in a new episode. The agent also says the texts that the task requires. */
  async runGold(ref: WorldRef): Promise<GoldRun> {
    const found = await this.task(ref);
    if (!found) throw new Error(`task: there is no '${ref.task}' in this world`);
    const { task } = found;
    const episode = await this.environments.start({ ...task, faults: undefined }); // the gold actions are defined for tools without faults
    try {
      const calls: GoldRun['calls'] = [];
      for (const [n, actions] of goldTurns(task).entries()) {
        await this.environments.turn(episode, n);
        for (const call of actions) {
          const { text, error, changes } = await this.environments.call(episode, call);
          calls.push({ call, text, error, changed: changes.length });
        }
      }
      return { calls, verdict: await this.environments.verify(episode, toldBy(task)) };
    } finally {
      await this.environments.close(episode);
    }
  }

  importFiles(files: BenchmarkFiles, onProgress?: Progress): Promise<StoredBenchmark[]> {
    return this.importer.importFiles(files, onProgress);
  }

  cancelImport(): void {
    this.importer.cancel();
  }

  async removeImport(id: string): Promise<void> {
    this.opened.clear();
    this.lastSearch = null;
    await this.database.remove(id);
  }

  /** The tasks that match the query. For an import: only those of the split `ref.split`, if it is not ''. */
  private async tasksOf(ref: WorldRef, query: string): Promise<readonly Task[]> {
    const world = await this.open(ref);
    const tasks = await world.tasks();
    const inSplit = world.generated || ref.split === '' ? tasks : tasks.filter((task) => world.splitsOf(task).includes(ref.split));
    return searchTasks(inSplit, query);
  }

  /** The keys of the rows that match the query. */
  private async keys(ref: WorldRef, table: string, query: string): Promise<readonly string[]> {
    const world = await this.open(ref);
    const list = JSON.stringify([table, query.trim()]);
    if (this.lastSearch?.world === world && this.lastSearch.list === list) return this.lastSearch.keys;
    const rows = tableOf(world.tables, table);
    const matches = wordSearch(query);
    const keys =
      query.trim() === ''
        ? [...rows.keys()]
        : [...rows].filter(([key, row]) => matches(`${key} ${JSON.stringify(row)}`)).map(([key]) => key);
    this.lastSearch = { world, list, keys };
    return keys;
  }

  private async open(ref: WorldRef): Promise<Opened> {
    if (isOwn(ref.name)) await this.own.learn();
    for (const domain of await generatedDomains((name) => ref.name === name || ref.name.startsWith(`${name}-`))) {
      const { name, levels } = domain.definition;
      // A domain's name without a level means the level of the given task. Without a task, it means the first level.
      const level =
        levels.find((of) => ref.name === `${name}-${of}`) ??
        (ref.name === name ? (levels.find((of) => ref.task.startsWith(`${name}/${of}/`)) ?? levels[0]!) : undefined);
      if (level === undefined) continue;
      const world = generatedWorld(domain, level, ref);
      return this.remembered(JSON.stringify([name, level, world]), () => openGenerated(domain, level, world));
    }
    const definition = this.definitions.get(ref.name);
    const imports = importedParts(ref.name);
    if (!definition || definition.levels[0] !== IMPORTED_LEVEL || !imports) throw new Error(`world: there is no '${ref.name}'`);
    const { id, imported } = await this.load(imports.benchmark, imports.domain);
    return this.remembered(id, () => openImported(definition, imported, id));
  }

  private remembered(key: string, open: () => Opened | Promise<Opened>): Promise<Opened> {
    const known = this.opened.get(key) ?? Promise.resolve(open());
    this.opened.delete(key); // moves the world to the end: the map is sorted by last use
    this.opened.set(key, known);
    known.catch(() => this.opened.delete(key));
    if (this.opened.size > OPEN_WORLDS) this.opened.delete(this.opened.keys().next().value!);
    return known;
  }
}
