/** @file Replays recorded runs of a benchmark on its imported data, so that they have policy, instruction, tools and database changes. */
import { compareOverlays, replayGold } from '../environments/verifier.ts';
import { initialStateOf, runDrafted, type TableDomain } from '../environments/domain.ts';
import { Overlay, World } from '../environments/overlay.ts';
import type { BenchmarkTask } from '../records/benchmark-task.ts';
import type { RowChange, Task, Verdict } from '../records/task.ts';
import type { BenchmarkDefinition } from './definition.ts';
import type { LoadedBenchmark } from './imported-benchmark.ts';
import { importedDomain } from './imported-domain.ts';
import { callsOf, type RecordedRun } from './recorded-conversation.ts';
import { sameObservation } from './same-observation.ts';
import { storeTask } from './tasks.ts';

/** A recorded run in the world of its task. */
export interface RecordedWorld {
  task: Task;
  policy: string;
  verdict: Verdict;
  /** The rows that each call of the conversation changed. */
  changes: RowChange[][];
  /** The reward by our data and rules. Null if it depends on assertions that were not judged, or if the recording failed. */
  reward: number | null;
  /** The number of observations that differ from the recorded ones. */
  differences: number;
  /** Whether the data has another instruction than the recording. */
  reworded: boolean;
}

/**
 * Finds the import whose tasks the runs have, and replays each run there. Empty if no import fits all runs.
 * @param imports the imports of this benchmark
 */
export async function inTheirWorld(
  benchmark: BenchmarkDefinition,
  runs: readonly RecordedRun[],
  imports: readonly LoadedBenchmark[],
): Promise<Map<RecordedRun, RecordedWorld>> {
  for (const loaded of imports) {
    const domain = benchmark.domains.find(({ name }) => name === loaded.imported.domain);
    const tasks = runs.map((run) => taskOf(benchmark, loaded, run));
    const tools = new Set([...(domain?.tools ?? []), ...(domain?.userTools ?? [])].map((tool) => tool.function.name));
    const called = runs.flatMap(({ conversation }) => callsOf(conversation).map(({ name }) => name));
    // Agents also call tools that do not exist, and tasks were reworded after the recording. So most of them must fit.
    const known = called.filter((name) => tools.has(name)).length;
    const same = runs.filter((run, i) => tasks[i] && isTaskOf(benchmark, tasks[i], run)).length;
    if (!domain || tasks.includes(undefined) || known * 2 < called.length || same * 2 < runs.length) continue;
    const world = new World(loaded.id, loaded.imported.tables);
    const found = new Map<RecordedRun, RecordedWorld>();
    for (const [i, run] of runs.entries()) found.set(run, await replayed(benchmark, loaded, { run, task: tasks[i]!, world }));
    return found;
  }
  return new Map();
}

const taskOf = ({ results }: BenchmarkDefinition, { imported }: LoadedBenchmark, run: RecordedRun): BenchmarkTask | undefined =>
  results!.taskOf ? results!.taskOf(imported.tasks, run) : imported.tasks.find(({ id }) => id === run.task);

const sameInstruction = ({ tasks }: BenchmarkDefinition, task: BenchmarkTask, { instruction }: RecordedRun): boolean =>
  instruction === undefined || tasks.instruction(task) === instruction;

/** Whether the recording is of this task: the instruction or the names of the gold actions are equal, as far as the recording has them. */
function isTaskOf(benchmark: BenchmarkDefinition, task: BenchmarkTask, run: RecordedRun): boolean {
  const names = (actions: readonly { name: string }[]) => actions.map(({ name }) => name).join();
  return sameInstruction(benchmark, task, run) || (run.gold !== null && names(run.gold) === names(benchmark.tasks.gold(task)));
}

async function replayed(
  benchmark: BenchmarkDefinition,
  loaded: LoadedBenchmark,
  { run, task, world }: { run: RecordedRun; task: BenchmarkTask; world: World },
): Promise<RecordedWorld> {
  const { imported } = loaded;
  const domain = benchmark.domains.find(({ name }) => name === imported.domain)!;
  const split = Object.entries(imported.splits).find(([, ids]) => ids.includes(task.id))?.[0] ?? 'unknown';
  const own = storeTask(benchmark, domain, task, { split, world });
  // The customer had the instruction of the recording.
  const { instruction = own.scenario.instruction } = run;
  const stored = { ...own, scenario: { ...own.scenario, instruction } };
  const state = initialStateOf(stored);
  const initial = new Overlay(world);
  // The calls of the history are a part of the recorded conversation.
  if (state) domain.initialize?.(initial, { ...state, message_history: null });
  const definition = importedDomain(benchmark, domain, () => Promise.resolve(loaded)) as TableDomain;
  const rows = new Overlay(initial);
  let differences = 0;
  const changes = callsOf(run.conversation).map(({ recorded, failed: _, ...call }, i) => {
    const { text, written, changes: changed } = runDrafted(definition, rows, call, stored.level, i);
    if (recorded !== undefined && !sameObservation(recorded, text)) differences += 1;
    rows.apply(written);
    return changed;
  });
  const goal = replayGold(definition, initial, stored);
  const verdict = compareOverlays(rows.changes(), goal);
  const { reward } = await benchmark.results!.score(run, { domain: domain.name, world, task, conversation: run.conversation }, {});
  return { task: stored, policy: imported.policy, verdict, changes, reward, differences, reworded: !sameInstruction(benchmark, task, run) };
}
