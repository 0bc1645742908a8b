/**
 * @file Domains, tables, tasks and imports for the pages of worlds. Lives in a worker of its own: reading a large import
 * would hold up the episodes of a training run. Tables and tasks leave it a few rows at a time.
 */
import type { ImportedBenchmark } from '../../environments/exact/benchmark-task.ts';
import type { DomainDefinition } from '../../environments/domain.ts';
import type { Benchmark, ExactDomain } from '../../environments/exact/types.ts';
import { exactDomain, exactDomainNames } from '../../environments/exact/domains.ts';
import { importedDomain, importedName, IMPORTED_LEVEL, storeTask } from '../../environments/exact/imported.ts';
import { createEnvironments } from '../../environments/index.ts';
import { World, type WorldTables } from '../../environments/overlay.ts';
import { retail } from '../../environments/retail/index.ts';
import { TASKS_PER_WORLD, worldId } from '../../environments/retail/world.ts';
import type { Level } from '../../environments/retail/schema.ts';
import { telecomTasks } from '../../environments/telecom/definition.ts';
import { TASKS_PER_PROVIDER } from '../../environments/telecom/generator.ts';
import { providerId } from '../../environments/telecom/records.ts';
import type { Json, Task } from '../../environments/types.ts';
import { benchmarkJudge } from '../../evaluation/benchmark-judge.ts';
import { importBenchmarks } from '../../exchange/benchmark-import.ts';
import type { BenchmarkFiles } from '../../exchange/benchmark-files.ts';
import { benchmarkLoader } from '../../storage/benchmark-loader.ts';
import type { BenchmarkDatabase, StoredBenchmark } from '../../storage/benchmarks.ts';
import { cellText, columnsOf, shortened } from '../logic/row-tree.ts';
import { wordSearch } from '../logic/search.ts';
import type { Found, GoldRun, TableRow, TaskSummary, WorldInfo, WorldRef, WorldSummary, WorldTask } from './types.ts';

type Split = 'train' | 'heldout';
interface Place { split: Split; seed: number; number: number }

interface Generated {
  definition: DomainDefinition;
  title: string;
  tasksPerWorld: number;
  worldId(level: string, place: Place): string;
}

const GENERATED: readonly Generated[] = [
  { definition: retail, title: 'Retail', tasksPerWorld: TASKS_PER_WORLD, worldId: (level, place) => worldId({ level: level as Level, ...place }) },
  { definition: telecomTasks, title: 'Telecom', tasksPerWorld: TASKS_PER_PROVIDER, worldId: (_, place) => providerId(place) },
];
const TITLES: Record<Benchmark, string> = { tau1: 'tau-bench', tau2: 'tau2-bench' };
/** The seed of the presets. */
const FIRST: Place = { split: 'train', seed: 1, number: 0 };
const OPEN_WORLDS = 4;
const COLUMNS = 6;
/** Rows looked at for the columns of a table. */
const SAMPLE = 50;
/** The table of what is no record of a table. */
const SETTINGS = 'settings';

/** A world as the pages look at it. */
interface Opened {
  definition: DomainDefinition;
  level: string;
  title: string;
  tables: WorldTables;
  place: Place | null;
  splits: { name: string; tasks: number }[];
  /** In the order of the list; made when they are first asked for. */
  tasks(): Promise<Task[]>;
  splitsOf(task: Task): string[];
}

type Progress = (done: number, total: number, label: string) => void;

export class WorldBrowser {
  private readonly load;
  private readonly environments;
  private readonly definitions: ReadonlyMap<string, DomainDefinition>;
  private readonly opened = new Map<string, Promise<Opened>>();
  /** The last search: scrolling through what was found must not search again. */
  private found: { world: Opened; list: string; keys: readonly string[] } | null = null;
  private importing: AbortController | null = null;

  constructor(private readonly database: BenchmarkDatabase, databaseName?: string) {
    this.load = benchmarkLoader(database);
    const imports = (['tau1', 'tau2'] as const).flatMap((benchmark) => exactDomainNames(benchmark).map((domain) => importedDomain(benchmark, domain, this.load, benchmarkJudge(benchmark, domain))));
    const domains = [...GENERATED.map(({ definition }) => definition), ...imports];
    this.definitions = new Map(domains.map((definition) => [definition.name, definition]));
    this.environments = createEnvironments({ domains, ...(databaseName !== undefined && { databaseName }) });
  }

  /** All there is: the generated worlds, then the imports. */
  async list(): Promise<WorldSummary[]> {
    const generated = await Promise.all(GENERATED.flatMap(({ definition, title, tasksPerWorld, worldId: idOf }) => definition.levels.map(async (level): Promise<WorldSummary> => {
      const tables = await definition.world(idOf(level, FIRST));
      return { name: `${definition.name}-${level}`, title: `${title}, ${level}`, rows: rowCounts(tables), tasks: tasksPerWorld };
    })));
    return [...generated, ...(await this.imports())];
  }

  private async imports(): Promise<WorldSummary[]> {
    const seen = new Set<string>();
    return (await this.database.list()).map(({ id, benchmark, domain, importedAt, tasks, rows }) => {
      const name = importedName(benchmark, domain);
      const used = !seen.has(name);
      seen.add(name);
      return { name, title: titleOf(benchmark, domain), rows: Object.entries(rows).map(([table, count]) => ({ table, count })), tasks, imported: { id, importedAt, used } };
    });
  }

  /** @throws when there is no such world, as does every method below */
  async info(ref: WorldRef): Promise<WorldInfo> {
    const { definition, level, title, tables, place, splits } = await this.open(ref);
    const { tools, userTools = [], terminalTools, policy, benchmark = null } = await definition.domain(level);
    return {
      title, benchmark, tools, userTools, terminalTools, policy, splits, place,
      tables: [...tables].filter(([name, rows]) => name !== '' || rows.size > 0).sort(([a], [b]) => Number(a === '') - Number(b === '')).map(([name, rows]) => ({ name: name || SETTINGS, count: rows.size, columns: columnsOf(firstRows(rows, SAMPLE), COLUMNS) })),
    };
  }

  /** How many rows hold the words, and where the row `key` stands among them. */
  async find(ref: WorldRef, table: string, query: string, key: string): Promise<Found> {
    const keys = await this.keys(ref, table, query);
    const at = key === '' ? -1 : keys.indexOf(key);
    return { total: keys.length, at: at < 0 ? null : at };
  }

  /** Rows [from, to) of what was found. */
  async rows(ref: WorldRef, table: string, query: string, from: number, to: number): Promise<TableRow[]> {
    const rows = tableOf(await this.open(ref), table);
    const columns = columnsOf(firstRows(rows, SAMPLE), COLUMNS);
    return (await this.keys(ref, table, query)).slice(from, to).map((key) => {
      const row = rows.get(key)!;
      const fields = row !== null && typeof row === 'object' && !Array.isArray(row) ? row : {};
      return { key, cells: Object.fromEntries(columns.map((name) => [name, cellText(Object.hasOwn(fields, name) ? fields[name] : undefined)])) };
    });
  }

  /** A whole row; null when there is none. */
  async row(ref: WorldRef, table: string, key: string): Promise<{ value: Json } | null> {
    const value = tableOf(await this.open(ref), table).get(key);
    return value === undefined ? null : { value };
  }

  /** The first `most` rows of a table, each of them whole. */
  async wholeRows(ref: WorldRef, table: string, most: number): Promise<[key: string, row: Json][]> {
    return firstRows(tableOf(await this.open(ref), table), most);
  }

  async findTasks(ref: WorldRef, query: string): Promise<Found> {
    const tasks = await this.tasksOf(ref, query);
    const at = tasks.findIndex(({ id }) => id === ref.task);
    return { total: tasks.length, at: at < 0 ? null : at };
  }

  async tasks(ref: WorldRef, query: string, from: number, to: number): Promise<TaskSummary[]> {
    return (await this.tasksOf(ref, query)).slice(from, to).map((task) => ({ id: task.id, label: labelOf(task), wants: wantOf(task), actions: task.actions.length, noop: task.noop }));
  }

  /** The task `ref.task`, or undefined. */
  async task(ref: WorldRef): Promise<WorldTask | undefined> {
    const world = await this.open(ref);
    const task = (await world.tasks()).find(({ id }) => id === ref.task);
    return task && { task, label: labelOf(task), splits: world.splitsOf(task) };
  }

  /** Plays the task's gold actions as an episode of their own, saying what the task wants to be told. */
  async runGold(ref: WorldRef): Promise<GoldRun> {
    const found = await this.task(ref);
    if (!found) throw new Error(`task: there is no '${ref.task}' in this world`);
    const { task } = found;
    const episode = await this.environments.start(task);
    try {
      const calls: GoldRun['calls'] = [];
      for (const call of task.actions) {
        const { text, error, changes } = await this.environments.call(episode, call);
        calls.push({ call, text, error, changed: changes.length });
      }
      return { calls, verdict: await this.environments.verify(episode, toldBy(task)) };
    } finally {
      await this.environments.close(episode);
    }
  }

  /** Imports every domain of the files, or none. @throws naming file, path and reason; `AbortError` when it was cancelled */
  async importFiles(files: BenchmarkFiles, onProgress?: Progress): Promise<StoredBenchmark[]> {
    if (this.importing) throw new Error('another import is under way');
    const controller = (this.importing = new AbortController());
    const { signal } = controller;
    const tell: Progress = (done, total, label) => {
      signal.throwIfAborted();
      onProgress?.(done, total, label);
    };
    try {
      const found = await importBenchmarks(files, { onProgress: tell, signal });
      const known = new Set((await this.database.list()).map(({ id }) => id));
      const stored: StoredBenchmark[] = [];
      try {
        // What is told in the middle of a transaction may throw: then nothing of it is kept.
        for (const imported of found) stored.push(await this.database.store(imported, (done, total) => tell(done, total, `storing ${importedName(imported.benchmark, imported.domain)}`)));
      } catch (cause) {
        await Promise.all(stored.filter(({ id }) => !known.has(id)).map(({ id }) => this.database.remove(id)));
        throw cause;
      }
      return stored;
    } catch (cause) {
      throw signal.aborted ? new DOMException('the import was cancelled; nothing was kept', 'AbortError') : cause;
    } finally {
      this.importing = null;
    }
  }

  cancelImport(): void {
    this.importing?.abort();
  }

  async removeImport(id: string): Promise<void> {
    this.opened.clear();
    this.found = null;
    await this.database.remove(id);
  }

  private async tasksOf(ref: WorldRef, query: string): Promise<Task[]> {
    const world = await this.open(ref);
    const holds = wordSearch(query);
    const tasks = await world.tasks();
    const inSplit = world.place || ref.split === '' ? tasks : tasks.filter((task) => world.splitsOf(task).includes(ref.split));
    return query.trim() === '' ? inSplit : inSplit.filter((task) => holds(`${task.id} ${task.noop ? 'no-op' : ''} ${task.scenario.instruction} ${JSON.stringify(task.actions)}`));
  }

  private async keys(ref: WorldRef, table: string, query: string): Promise<readonly string[]> {
    const world = await this.open(ref);
    const list = JSON.stringify([table, query.trim()]);
    if (this.found?.world === world && this.found.list === list) return this.found.keys;
    const rows = tableOf(world, table);
    const holds = wordSearch(query);
    const keys = query.trim() === '' ? [...rows.keys()] : [...rows].filter(([key, row]) => holds(`${key} ${JSON.stringify(row)}`)).map(([key]) => key);
    this.found = { world, list, keys };
    return keys;
  }

  private async open(ref: WorldRef): Promise<Opened> {
    for (const domain of GENERATED) {
      const { name, levels } = domain.definition;
      // A domain's name alone is its first level, or that of the task.
      const level = levels.find((of) => ref.name === `${name}-${of}`) ?? (ref.name === name ? (levels.find((of) => ref.task.startsWith(`${name}/${of}/`)) ?? levels[0]!) : undefined);
      if (level === undefined) continue;
      const place = placeOf(domain, level, ref);
      return this.remembered(JSON.stringify([name, level, place]), () => openGenerated(domain, level, place));
    }
    const definition = this.definitions.get(ref.name);
    const [benchmark, domain] = ref.name.split('-') as [Benchmark, ExactDomain['name']];
    if (!definition || definition.levels[0] !== IMPORTED_LEVEL || !(benchmark in TITLES)) throw new Error(`world: there is no '${ref.name}'`);
    const { id, imported } = await this.load(benchmark, domain);
    return this.remembered(id, () => openImported(definition, imported, id));
  }

  private remembered(key: string, open: () => Opened | Promise<Opened>): Promise<Opened> {
    const known = this.opened.get(key) ?? Promise.resolve(open());
    this.opened.delete(key); // moves it to the end: the map is in order of last use
    this.opened.set(key, known);
    known.catch(() => this.opened.delete(key));
    if (this.opened.size > OPEN_WORLDS) this.opened.delete(this.opened.keys().next().value!);
    return known;
  }
}

/** Which world of a generated domain is meant. */
function placeOf({ definition, tasksPerWorld }: Generated, level: string, { split, seed, number, task }: WorldRef): Place {
  const [name, taskLevel, taskSplit, taskSeed, index, ...rest] = task.split('/');
  const whole = (text: string | undefined) => text !== undefined && /^\d{1,10}$/.test(text);
  if (name === definition.name && taskLevel === level && (taskSplit === 'train' || taskSplit === 'heldout') && whole(taskSeed) && whole(index) && !rest.length) {
    return { split: taskSplit, seed: Number(taskSeed), number: Math.floor(Number(index) / tasksPerWorld) };
  }
  return { split: split === 'heldout' ? 'heldout' : 'train', seed: seed ?? FIRST.seed, number: number ?? FIRST.number };
}

async function openGenerated({ definition, title, tasksPerWorld, worldId: idOf }: Generated, level: string, place: Place): Promise<Opened> {
  const { split, seed, number } = place;
  let tasks: Promise<Task[]> | undefined;
  return {
    definition, level, place, title: `${title}, ${level}`,
    tables: await definition.world(idOf(level, place)),
    splits: [{ name: 'train', tasks: tasksPerWorld }, { name: 'heldout', tasks: tasksPerWorld }],
    tasks: () => (tasks ??= Promise.resolve(definition.tasks({ domain: definition.name, level, split, seed, count: tasksPerWorld, from: number * tasksPerWorld }))),
    splitsOf: (task) => [task.split],
  };
}

function openImported(definition: DomainDefinition, { benchmark, domain, tables, tasks, splits }: ImportedBenchmark, id: string): Opened {
  const members = Object.entries(splits).map(([name, ids]) => [name, new Set(ids)] as const);
  const splitsOf = (task: string) => members.filter(([, ids]) => ids.has(task)).map(([name]) => name);
  let made: Promise<Task[]> | undefined;
  const make = async () => {
    const exact = exactDomain(domain, benchmark);
    const world = new World(id, tables);
    return tasks.map((task) => {
      const of = splitsOf(task.id);
      return storeTask(exact, task, { split: of.includes('train') ? 'train' : of.includes('test') || of.includes('base') || !of.length ? 'heldout' : of[0]!, world });
    });
  };
  return {
    definition, tables, title: titleOf(benchmark, domain), level: IMPORTED_LEVEL, place: null,
    splits: members.map(([name, ids]) => ({ name, tasks: ids.size })),
    tasks: () => (made ??= make()),
    splitsOf: (task) => splitsOf(task.benchmark!.id),
  };
}

const titleOf = (benchmark: Benchmark, domain: string) => `${domain.charAt(0).toUpperCase()}${domain.slice(1)}, ${TITLES[benchmark]}`;
const rowCounts = (tables: WorldTables) => [...tables].filter(([name]) => name !== '').map(([table, rows]) => ({ table, count: rows.size }));

function tableOf({ tables }: Opened, name: string): ReadonlyMap<string, Json> {
  const rows = tables.get(name) ?? (name === SETTINGS ? tables.get('') : undefined);
  if (!rows) throw new Error(`table: there is no '${name}' in this world; it has ${[...tables.keys()].map((table) => table || SETTINGS).join(', ')}`);
  return rows;
}

function firstRows(rows: ReadonlyMap<string, Json>, most: number): [string, Json][] {
  const found: [string, Json][] = [];
  for (const entry of rows) {
    found.push(entry);
    if (found.length === most) break;
  }
  return found;
}

/** An imported task's own id, a generated one's number. */
const labelOf = ({ id, benchmark }: Task) => (benchmark && benchmark.id !== id ? benchmark.id : id.split('/').at(-1)!);

/** The heart of the matter in one line: tau2's scenarios begin with much else. */
function wantOf({ scenario: { instruction }, benchmark }: Task): string {
  const instructions = benchmark && 'user_scenario' in benchmark ? benchmark.user_scenario.instructions : null;
  const reason = instructions !== null && typeof instructions === 'object' && !Array.isArray(instructions) ? instructions.reason_for_call : instructions;
  return shortened((typeof reason === 'string' && reason) || instruction, 200);
}

/** What the agent of a perfect conversation tells the customer, where the benchmark looks for it. */
function toldBy({ benchmark }: Task): string[] {
  if (!benchmark) return [];
  return 'outputs' in benchmark ? benchmark.outputs : (benchmark.evaluation_criteria?.communicate_info ?? []);
}
