/**
 * Measures the import of every benchmark domain in a folder. Then plays 256 tau-bench airline episodes at once on the imported world, and
 * checks that no episode changes the data of another episode. It runs in Node with an IndexedDB in memory, which is slower than a
 * browser's IndexedDB and uses additional memory. It reports wall-clock time and also CPU time, in case the machine is busy.
 * Usage: npx tsx --expose-gc scripts/measure-airline.mts DIR
 */
import 'fake-indexeddb/auto';
import { readFile } from 'node:fs/promises';
import { findData } from '../src/cli/benchmark-data.ts';
import { BENCHMARKS } from '../src/benchmarks/index.ts';
import { exactAirline } from '../src/domains/airline/exact.ts';
import type { Tau1Task } from '../src/benchmarks/tau1/task.ts';
import { changedRows, runExact, StateHasher } from '../src/domains/exact/run.ts';
import { importedDomains } from '../src/benchmarks/imported-domain.ts';
import { createEnvironments } from '../src/environments/index.ts';
import { canonicalJson } from '../src/base/json.ts';
import { Overlay, World } from '../src/environments/overlay.ts';
import type { Task, ToolCall } from '../src/records/task.ts';
import { importBenchmark } from '../src/benchmarks/import/import.ts';
import { benchmarkLoader } from '../src/benchmarks/import/loader.ts';
import { BenchmarkDatabase } from '../src/benchmarks/import/database.ts';

const EPISODES = 256;
const [folder] = process.argv.slice(2);
if (!folder || !globalThis.gc)
  throw new Error('usage: npx tsx --expose-gc scripts/measure-airline.mts DIR, a folder with the data of both benchmarks');

const database = new BenchmarkDatabase();
interface Time {
  wall: number;
  cpu: number;
}
const rounded = (value: number) => Number(value.toFixed(2));
/** Milliseconds that `work` takes. */
async function time(work: () => Promise<unknown>): Promise<Time> {
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { wall: performance.now() - start, cpu: (user + system) / 1000 };
}
const inSeconds = ({ wall, cpu }: Time) => ({ wall_s: rounded(wall / 1000), cpu_s: rounded(cpu / 1000) });

const imports: Record<string, Record<'read_and_checked' | 'stored', ReturnType<typeof inSeconds>>> = {};
for (const { name: rules, domains } of BENCHMARKS) {
  for (const { name: domain } of domains) {
    const { files } = await findData({ domain, rules, data: folder });
    let imported: Awaited<ReturnType<typeof importBenchmark>>;
    const read = await time(
      async () =>
        (imported = await importBenchmark(
          files.map(([path, file]) => [path, () => readFile(file)] as const),
          { benchmark: rules, domain },
        )),
    );
    const stored = await time(() => database.store(imported));
    imports[`${rules}-${domain}`] = { read_and_checked: inSeconds(read), stored: inSeconds(stored) };
  }
}

const load = benchmarkLoader(database);
const { id, imported } = await load('tau1', 'airline');
const airline = exactAirline.tau1;
const world = new World(id, imported.tables);
const hash = () => new StateHasher(airline, world).hashes(new Overlay(world)).agent;
const untouched = hash();

/** The rows, as JSON, that the actions change when no other episode runs. */
function alone(actions: readonly ToolCall[]): string {
  const rows = new Overlay(world);
  for (const action of actions) runExact(airline, rows, action);
  return canonicalJson(changedRows(rows));
}

const environments = createEnvironments({ domains: importedDomains(load) });
const tasks = await environments.tasks({
  domain: 'tau1-airline',
  level: 'full',
  split: 'heldout',
  seed: 0,
  count: Number.MAX_SAFE_INTEGER,
});
const warm = await environments.start(tasks[0]!);
await environments.call(warm, { name: 'list_all_airports', arguments: {} });

/** Bytes in use after garbage collection. */
function memory() {
  for (let i = 0; i < 3; i++) globalThis.gc!();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { used: heapUsed + external, rss };
}
const MB = 1e6;
const base = memory();

// Half of the episodes make their task's calls. The other episodes only read.
const look = ({ benchmark }: Task): ToolCall[] => [
  { name: 'get_user_details', arguments: { user_id: (benchmark as Tau1Task).user_id } },
  { name: 'search_direct_flight', arguments: { origin: 'JFK', destination: 'SFO', date: '2024-05-20' } },
  { name: 'search_onestop_flight', arguments: { origin: 'JFK', destination: 'SFO', date: '2024-05-20' } },
];
const plans = await Promise.all(
  Array.from({ length: EPISODES }, async (_, i) => {
    const task = tasks[i % tasks.length]!;
    const acts = i % 2 === 0 ? task.actions : [];
    return { task, acts, calls: [...look(task), ...acts], episode: await environments.start(task) };
  }),
);

// In even turns the episodes make their calls one after another, in odd turns all at once.
const single: Time[] = [];
const bursts: { calls: number; took: Time }[] = [];
const turns = Math.max(...plans.map(({ calls }) => calls.length));
for (let turn = 0; turn < turns; turn++) {
  const due = plans.filter(({ calls }) => turn < calls.length);
  if (turn % 2 === 0) for (const { episode, calls } of due) single.push(await time(() => environments.call(episode, calls[turn]!)));
  else
    bursts.push({
      calls: due.length,
      took: await time(() => Promise.all(due.map(({ episode, calls }) => environments.call(episode, calls[turn]!)))),
    });
}
const after = memory();

let isolated = 0;
for (const { episode, acts } of plans) {
  const { changes } = await environments.verify(episode);
  isolated += Number(
    canonicalJson(changes.map(({ table, key, before, after: now }) => ({ table, key, before, after: now })).sort(byPlace)) ===
      canonicalJson((JSON.parse(alone(acts)) as Place[]).sort(byPlace)),
  );
}
interface Place {
  table: string;
  key: string;
}
function byPlace(a: Place, b: Place): number {
  const [x, y] = [a, b].map(({ table, key }) => `${table}\n${key}`) as [string, string];
  return x < y ? -1 : Number(x > y);
}
const quantile = (kind: keyof Time, q: number) =>
  rounded(single.map((took) => took[kind]).sort((a, b) => a - b)[Math.min(single.length - 1, Math.floor(q * single.length))]!);
const quantiles = (kind: keyof Time) => ({ p50: quantile(kind, 0.5), p95: quantile(kind, 0.95), max: quantile(kind, 1) });
const all = bursts.reduce(
  (sum, { calls, took: { wall, cpu } }) => ({ calls: sum.calls + calls, wall: sum.wall + wall, cpu: sum.cpu + cpu }),
  { calls: 0, wall: 0, cpu: 0 },
);

console.log(
  JSON.stringify(
    {
      imports,
      episodes: EPISODES,
      world_untouched: hash() === untouched,
      isolated,
      memory_above_base_mb: rounded((after.used - base.used) / MB),
      rss_above_base_mb: rounded((after.rss - base.rss) / MB),
      one_by_one: { calls: single.length, wall_ms: quantiles('wall'), cpu_ms: quantiles('cpu') },
      all_at_once: { calls: all.calls, wall_ms_per_call: rounded(all.wall / all.calls), cpu_ms_per_call: rounded(all.cpu / all.calls) },
    },
    null,
    2,
  ),
);
