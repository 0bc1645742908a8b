/**
 * A new benchmark is one folder and one line. The folder is tests/support/toy-benchmark. The mock below is the one line: it
 * adds the benchmark to the list of src/benchmarks/index.ts. Nothing else of src knows the benchmark.
 */
import 'fake-indexeddb/auto';
import { expect, test, vi } from 'vitest';
import { runEpisode } from '../../../src/agent/episode.ts';
import type { BenchmarkDefinition } from '../../../src/benchmarks/definition.ts';
import { BenchmarkDatabase } from '../../../src/benchmarks/import/database.ts';
import { importBenchmark, importBenchmarks } from '../../../src/benchmarks/import/import.ts';
import { benchmarkLoader } from '../../../src/benchmarks/import/loader.ts';
import { importedDomains } from '../../../src/benchmarks/imported-domain.ts';
import { BENCHMARKS } from '../../../src/benchmarks/index.ts';
import { importedName, importedParts } from '../../../src/benchmarks/imported-benchmark.ts';
import { benchmarkNamed } from '../../../src/benchmarks/named.ts';
import { readResults } from '../../../src/benchmarks/recorded-results.ts';
import { replayCases } from '../../../src/benchmarks/replay-cases.ts';
import { rescore } from '../../../src/benchmarks/rescore.ts';
import { DATA_FLAGS, findData } from '../../../src/cli/benchmark-data.ts';
import { evaluate as evaluateCommand } from '../../../src/cli/commands/evaluate.ts';
import { GENERATED_DOMAINS } from '../../../src/domains/registry.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { readTrajectory } from '../../../src/exchange/trajectory-schema.ts';
import { readForeign } from '../../../src/formats/read-foreign.ts';
import type { Json } from '../../../src/records/json.ts';
import type { ToldScenario, UserSimulator } from '../../../src/users/types.ts';
import { WorldBrowser } from '../../../src/worlds/browser.ts';
import { files, tau2Mock } from '../../support/benchmark-data.ts';
import { stage } from '../../support/episodes.ts';

vi.mock('../../../src/benchmarks/index.ts', async (original) => {
  const { BENCHMARKS } = await original<{ BENCHMARKS: readonly BenchmarkDefinition[] }>();
  const { lampbench } = await import('../../support/toy-benchmark/index.ts');
  return { BENCHMARKS: [...BENCHMARKS, lampbench] };
});

const DATA = {
  'lamps.json': JSON.stringify({
    lamps: { kitchen: { on: true }, hall: { on: false } },
    tasks: [{ id: 'dark-kitchen', wish: 'You want the kitchen to be dark.', lamp: 'kitchen', on: false }],
    manual: 'Save electricity.',
  }),
};
const call = (lamp: string, on: boolean) =>
  `<tool_call>\n${JSON.stringify({ name: 'switch_lamp', arguments: { lamp, on } })}\n</tool_call>`;

/** Says the lines, and keeps the prompt that a language model would get. */
function user(lines: string[]): { users: UserSimulator; prompt(): string | undefined } {
  let told: ToldScenario | undefined;
  const next = async () => lines.shift()!;
  return { users: { session: (scenario) => ((told = scenario), { open: next, reply: next }) }, prompt: () => told?.prompt };
}

const database = new BenchmarkDatabase('toy-benchmark');
const imported = await importBenchmark(files(DATA, 'house/'), { benchmark: 'lamp', domain: 'house' });
await database.store(imported);
const environments = createEnvironments({ databaseName: 'toy-episodes', domains: importedDomains(benchmarkLoader(database)) });
const domain = await environments.domain('lamp-house', 'full');
const query = { domain: 'lamp-house', level: 'full', split: 'heldout', seed: 0, count: 9 } as const;
const [task] = await environments.tasks(query);

async function play(agent: string[], lines: string[]) {
  const customer = user(lines);
  const { options } = stage({ agent, user: [], task: task!, domain, users: customer.users });
  return { trajectory: await runEpisode({ ...options, environments }), prompt: customer.prompt() };
}

test('is imported beside the other benchmarks, and errors list its files', async () => {
  expect(imported).toMatchObject({ benchmark: 'lamp', domain: 'house', policy: 'Save electricity.', splits: { night: ['dark-kitchen'] } });
  const all = await importBenchmarks([...files(DATA, 'house/'), ...files(tau2Mock, 'mock/')]);
  expect(all.map(({ benchmark, domain: name }) => [benchmark, name])).toEqual([
    ['lamp', 'house'],
    ['tau2', 'mock'],
  ]);
  await expect(importBenchmark(files({ 'a.txt': '' }))).rejects.toThrow(
    /^there is no tau-bench or tau2-bench or BFCL Multi Turn or ACEBench Agent or LampBench data here: .* or lamps.json$/,
  );
  await expect(importBenchmark(files({ 'lamps.json': '{"lamps": 3}' }))).rejects.toThrow(/^lamps.json: lamps: /);
});

test('is played under its own rules and scored by its own reward', async () => {
  expect(task).toMatchObject({ id: 'lamp-house/full/heldout/dark-kitchen', actions: [{ name: 'switch_lamp' }], noop: false });
  const right = await play([call('kitchen', false), 'It is dark now.<|im_end|>'], ['Make it dark.', 'GOOD NIGHT']);
  expect(right.prompt).toBe('You sit in the dark. You want the kitchen to be dark. Say GOOD NIGHT at the end.');
  expect(right.trajectory.nodes.find(({ role }) => role === 'assistant')).toMatchObject({ text: 'Which lamp?' });
  expect(right.trajectory).toMatchObject({ termination: 'user_stop', ending: 'asleep', reward: 1, verdict: { progress: 1 } });
  const slow = await play([call('kitchen', true), call('kitchen', false), 'Done.<|im_end|>'], ['Make it dark.', 'GOOD NIGHT']);
  expect(slow.trajectory).toMatchObject({ reward: 1, verdict: { progress: 0.75 } });
  const wrong = await play([call('hall', true), 'Done.<|im_end|>'], ['Make it dark.', 'GOOD NIGHT']);
  expect(wrong.trajectory).toMatchObject({ reward: 0, verdict: { reward: 0, progress: 0 } });
  // tau-bench's stop word means nothing here, and the conversation may have four turns.
  const long = await play([call('kitchen', false), ...Array<string>(3).fill('Yes?<|im_end|>')], Array<string>(9).fill('###STOP###'));
  expect(long.trajectory).toMatchObject({ termination: 'max_turns', ending: 'awake', turns: 4, reward: 0 });
  // A stored trajectory is read again.
  const stored = JSON.parse(JSON.stringify(right.trajectory)) as unknown;
  expect(readTrajectory(stored, 'trajectories.jsonl', 'line 1')).toEqual(right.trajectory);
});

test('its results are written, recognised and scored again', async () => {
  const played = [
    await play([call('kitchen', false), 'Done.<|im_end|>'], ['Make it dark.', 'GOOD NIGHT']),
    await play([call('hall', true), 'Done.<|im_end|>'], ['Make it dark.', 'GOOD NIGHT']),
  ].map(({ trajectory }) => trajectory);
  const info = { domain, trials: 1, seed: 0, agent: 'm', user: null, temperature: 1, startedAt: 0, limits: { maxSteps: 1, maxErrors: 1 } };
  const written = benchmarkNamed('lamp').results!.write!(played, info) as { nights: { reward: number | null }[] };
  expect(written.nights.map(({ reward }) => reward)).toEqual([1, 0]);
  const text = JSON.stringify(written);
  expect(await readForeign('nights.json', new TextEncoder().encode(text))).toMatchObject({
    source: 'LampBench',
    rollouts: [{ trajectory: { reward: 1 } }, { trajectory: { reward: 0 } }],
  });
  const runs = await readResults('nights.json', JSON.parse(text) as Json, 'lamp');
  expect((await rescore(imported, runs)).summary).toMatchObject({ runs: 2, same: 2, mean: 0.5, observations_different: 0 });
  const forged = runs.map((run) => ({ ...run, reward: 1 }));
  const { runs: again, summary } = await rescore(imported, forged);
  expect(summary).toMatchObject({ same: 1, different: 1 });
  expect(again[1]).toMatchObject({ reward: 0, changed: { rules: [{ rule: 'lamp', recorded: null, now: 0 }] } });
  const cases = replayCases(imported, [{ id: 1, calls: [{ name: 'switch_lamp', arguments: { lamp: 'kitchen', on: false } }] }]);
  expect(cases).toMatchObject([{ observations: ['done'], changed: [{ table: 'lamps', key: 'kitchen', after: { on: false } }] }]);
});

test('the page lists it and shows its world', async () => {
  const browser = new WorldBrowser(database, 'toy-worlds');
  expect(browser.benchmarks().at(-1)).toEqual({ title: 'LampBench', domains: ['house'], files: 'one file, `lamps.json`.' });
  expect((await browser.list()).at(-1)).toMatchObject({ name: 'lamp-house', title: 'House, LampBench', tasks: 1 });
  const ref = { name: 'lamp-house', split: '', seed: null, number: null, task: task!.id };
  expect(await browser.task(ref)).toMatchObject({ label: 'dark-kitchen', splits: ['night'], criteria: { lamp: 'kitchen', on: false } });
  expect((await browser.runGold(ref)).verdict).toMatchObject({ reward: 1 });
});

test('the command line takes its name, finds its data and writes its results', async () => {
  expect(DATA_FLAGS.rules.choices).toEqual(['tau1', 'tau2', 'bfcl', 'acebench', 'lamp']);
  expect(DATA_FLAGS.rules.value).toBe('tau1|tau2|bfcl|acebench|lamp');
  const place = { domain: 'house', rules: 'lamp', data: import.meta.dirname };
  expect(await findData(place)).toMatchObject({ domain: 'house', rules: 'lamp' });
  await expect(findData({ ...place, domain: 'retail' })).rejects.toThrow('--domain is "retail": lamp has house');
  expect(evaluateCommand.flags).toMatchObject({
    'lamp-results': {
      help: 'also write the episodes to this file, in the format of LampBench’s results',
    },
  });
});

test('names of imported and of generated domains cannot be mixed up', () => {
  for (const { name, domains } of BENCHMARKS)
    for (const own of domains) expect(importedParts(importedName(name, own.name))).toEqual({ benchmark: name, domain: own.name });
  for (const { name } of GENERATED_DOMAINS) expect(importedParts(name)).toBeNull();
});
