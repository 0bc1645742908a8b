/** One driver, two sinks: a run of the page and a run of the command line are the same run. The engine and the customers are fakes. */
import 'fake-indexeddb/auto';
import { afterEach, expect, test, vi } from 'vitest';
import { randomWeights } from '../../../src/engine/parameters.ts';
import type { Environments } from '../../../src/environments/types.ts';
import { saveModel } from '../../../src/exchange/model-folder.ts';
import type { GrpoConfig, StepMetrics } from '../../../src/records/run.ts';
import type { Trajectory } from '../../../src/records/trajectory.ts';
import { RunDatabase } from '../../../src/storage/database.ts';
import { unpackCheckpoint } from '../../../src/trainer/checkpoints.ts';
import { driveRun } from '../../../src/trainer/driver.ts';
import { DeviceLostError } from '../../../src/trainer/engine-host.ts';
import { estimateFor } from '../../../src/trainer/estimates.ts';
import type { SinkEvaluation, TrainingSink } from '../../../src/trainer/messages.ts';
import { UnattendedRun } from '../../../src/trainer/run-control.ts';
import type { RunSink } from '../../../src/trainer/run-sink.ts';
import { trainModel } from '../../../src/trainer/train-model.ts';
import { MeteredUsers } from '../../../src/users/account.ts';
import { CONFIG, Customers, fakeRuns, fakes, REQUEST, SETTINGS } from '../../support/fake-runs.ts';
import { hashSampler } from '../../support/hash-sampler.ts';
import { TINY } from '../../support/tiny-config.ts';

vi.mock('../../../src/trainer/estimates.ts', { spy: true });
afterEach(() => vi.restoreAllMocks());

/** Models that talk, so that conversations and updates differ from step to step. */
function talking() {
  const parts = fakes();
  Object.assign(parts.stage, { sampler: hashSampler(30, 4) });
  return parts;
}
const overrides = { ...SETTINGS, n: 4, save_freq: 1, test_freq: 1, use_kl_loss: false };
const texts = Object.fromEntries(Object.entries(overrides).map(([name, value]) => [name, String(value)]));
const said = ({ nodes, reward }: Trajectory) => [nodes.map(({ tokens, logprobs }) => [tokens, logprobs]), reward];
const counts = (values: Record<string, number>) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !/^(timing_s|perf)\//.test(name)));

/** A sink that only remembers. */
function memory() {
  const kept = {
    notes: [] as string[],
    metrics: [] as Record<string, number>[],
    trajectories: [] as Trajectory[],
    evaluations: [] as SinkEvaluation[],
    checkpoints: [] as number[],
  };
  const sink: TrainingSink = {
    progress: () => {},
    note: (text) => void kept.notes.push(text),
    evaluation: (evaluation) => void kept.evaluations.push(evaluation),
    step: (metrics, trajectories) => void (kept.metrics.push(metrics), kept.trajectories.push(...trajectories)),
    checkpoint: (_, packed) => void kept.checkpoints.push(unpackCheckpoint(packed).step),
  };
  return { kept, sink };
}
/** The model has no tokenizer, so nothing is measured. */
const environments = {} as Environments;
const model = () => saveModel(TINY, randomWeights(TINY, 1));

test('the database and the folder get the same conversations, metrics, evaluations and updates', async () => {
  const [page, line] = [talking(), talking()];
  const database = new RunDatabase('driver: two sinks');
  const { trainer } = fakeRuns(database, page);
  await trainer.start({ ...REQUEST, overrides });
  await trainer.finished;
  const { kept, sink } = memory();
  const { host } = fakeRuns(new RunDatabase('driver: no rows'), line);
  const result = await trainModel(environments, host, model(), { preset: 'nano', overrides: texts, user: { mode: 'scripted' } }, sink);

  const [row] = await database.runs.toArray();
  const metrics = await database.metrics.orderBy('[run+step]').toArray();
  const played = (await database.trajectories.toArray()).sort((a, b) => (a.id < b.id ? -1 : 1));
  expect([row!.status, result.steps]).toEqual(['done', 3]);
  expect(metrics.map(({ values }) => counts(values))).toEqual(kept.metrics.map(counts));
  expect(played.map(said)).toEqual(kept.trajectories.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(said));
  expect(played).toHaveLength(12);
  expect(JSON.stringify(line.engine.accumulate.mock.calls)).toBe(JSON.stringify(page.engine.accumulate.mock.calls));
  const evaluations = await database.evaluations.toArray();
  expect(kept.evaluations.map(({ step }) => step)).toEqual([0, 1, 2, 3]);
  expect(evaluations.map(({ report }) => report.pass_hat)).toEqual(kept.evaluations.map(({ report }) => report.pass_hat));
  // The folder gets the model itself at the end, so its last checkpoint is that of the step before.
  expect([new Set(kept.checkpoints), (await database.checkpoints.toArray()).map(({ step }) => step)]).toEqual([new Set([0, 1, 2]), [2, 3]]);
});

test('val_greedy: the page and the folder keep a greedy evaluation beside the last one', async () => {
  const few = { ...overrides, total_training_steps: 1, val_greedy: true, 'val_kwargs.do_sample': true };
  const database = new RunDatabase('driver: greedy');
  const { trainer } = fakeRuns(database, talking());
  await trainer.start({ ...REQUEST, overrides: few });
  await trainer.finished;
  const { kept, sink } = memory();
  const { host } = fakeRuns(new RunDatabase('driver: greedy, no rows'), talking());
  const given = Object.fromEntries(Object.entries(few).map(([name, value]) => [name, String(value)]));
  await trainModel(environments, host, model(), { preset: 'nano', overrides: given, user: { mode: 'scripted' } }, sink);
  const [row] = await database.runs.toArray();
  const rows = await database.evaluations.toArray();
  const { id } = row!;
  expect(rows.map((one) => [one.id, one.settings.temperature]).sort()).toEqual([
    [`${id}@0`, 1],
    [`${id}@1`, 1],
    [`${id}@1-greedy`, 0],
  ]);
  expect(kept.evaluations.map(({ step, greedy }) => [step, greedy !== undefined])).toEqual([
    [0, false],
    [1, true],
  ]);
  const greedy = rows.find((one) => one.settings.temperature === 0)!;
  expect(kept.evaluations[1]!.greedy!.results.map(({ task, reward }) => [task, reward])).toEqual(
    greedy.results.map(({ task, reward }) => [task, reward]),
  );
});

test('a lost device ends a training of the command line with the reason, for any order of the errors', async () => {
  const parts = talking();
  const { host } = fakeRuns(new RunDatabase('driver: lost'), parts);
  parts.engine.accumulate.mockImplementationOnce(async () => {
    setTimeout(() => host.onLost(new DeviceLostError('the driver was reset')));
    throw new DOMException('A valid external Instance reference no longer exists.', 'AbortError');
  });
  const { kept, sink } = memory();
  const training = trainModel(environments, host, model(), { preset: 'nano', overrides: texts, user: { mode: 'scripted' } }, sink);
  await expect(training).rejects.toThrow(new DeviceLostError('the driver was reset'));
  expect(kept.checkpoints).toEqual([0]);
});

test('a write that fails ends a training of the command line with its error', async () => {
  const { host } = fakeRuns(new RunDatabase('driver: full'), talking());
  const { sink } = memory();
  const full = { ...sink, step: () => Promise.reject(new Error('could not write to out: ENOSPC')) };
  const training = trainModel(environments, host, model(), { preset: 'nano', overrides: texts, user: { mode: 'scripted' } }, full);
  await expect(training).rejects.toThrow('could not write to out: ENOSPC');
});

test('a training of the command line whose customer has cost the budget saves a checkpoint and ends', async () => {
  const user = { mode: 'endpoint', baseUrl: 'http://localhost:9/v1', model: 'm', promptPrice: 1e6, budget: 5 } as const;
  const paying = new Customers();
  const session = paying.session.bind(paying);
  vi.spyOn(paying, 'session').mockImplementation(() => {
    const requests = [{ seconds: 0.1, prompt: 1, completion: 0, retry: false }];
    return { ...session(), requests };
  });
  const meter = new MeteredUsers(paying, user);
  const { host } = fakeRuns(new RunDatabase('driver: budget'), fakes(meter), undefined, meter);
  const { kept, sink } = memory();
  const few = { ...texts, save_freq: '0', test_freq: '0', n: '2' };
  const training = trainModel(environments, host, model(), { preset: 'nano', overrides: few, user }, sink);
  // One conversation before the first step, and two in each step.
  await expect(training).rejects.toThrow('The customer has cost 5, and the budget is 5: raise --user-budget to go on');
  expect(kept.metrics.map(({ step }) => step)).toEqual([0, 1, 2]);
  expect(kept.checkpoints.at(-1)).toBe(2);
});

/** The time left that a run tells first, while its model is opened. The run ends there. */
async function firstTimeLeft(config: GrpoConfig, metrics: StepMetrics[]): Promise<number | null> {
  const left: (number | null)[] = [];
  const { host } = fakeRuns(new RunDatabase('driver: time left'), fakes());
  Object.assign(host, { stage: () => Promise.reject(new Error('opened')) });
  const loaded = { checkpoint: metrics.length > 0 ? { step: metrics.length } : undefined };
  const sink = {
    open: async () => ({ config, files: model(), loaded, metrics, user: { mode: 'scripted' }, save: {} }),
    progress: (...[, , , , seconds]: Parameters<RunSink['progress']>) => void left.push(seconds),
  } as unknown as RunSink;
  await expect(driveRun(host, sink, new UnattendedRun())).rejects.toThrow('opened');
  return left[0]!;
}

test('an estimate that fails ends no run', async () => {
  vi.mocked(estimateFor).mockImplementationOnce(() => {
    throw new RangeError('an engine that cannot be built');
  });
  expect(await firstTimeLeft(CONFIG, [])).toBeNull();
});

test('a supervised run that continues still counts the evaluations, which no step has timed', async () => {
  vi.mocked(estimateFor).mockReturnValueOnce({ step: 99, gen: 0, ref: 0, evaluation: 7 });
  const config: GrpoConfig = { ...CONFIG, algorithm: 'sft', total_training_steps: 5, test_freq: 2 };
  const done = [1, 2].map((step) => ({ step, 'timing_s/step': 10 }));
  // Three steps, and evaluations after steps 4 and 5.
  expect(await firstTimeLeft(config, done)).toBe(3 * 10 + 2 * 7);
});

test('a long evaluation before step 1 is announced, with the setting that leaves it out; a short one and none are not', async () => {
  const notes = async (evaluation: number, own: Record<string, string> = {}) => {
    const { host } = fakeRuns(new RunDatabase(`driver: announced ${evaluation} ${JSON.stringify(own)}`), talking());
    vi.mocked(estimateFor).mockReturnValueOnce({ step: 1, gen: 1, ref: 0, evaluation });
    const { kept, sink } = memory();
    const overrides = { ...texts, ...own };
    await trainModel(environments, host, model(), { preset: 'nano', overrides, user: { mode: 'scripted' } }, sink);
    return kept.notes;
  };
  expect(await notes(1230)).toEqual(['The evaluation before step 1 takes about 21 min: val_before_train=false leaves it out.']);
  expect(await notes(100)).toEqual([]);
  expect(await notes(1230, { val_before_train: 'false' })).toEqual([]);
});

test('a run says its true phase: the evaluation from its start, before an episode has ended', async () => {
  const { host } = fakeRuns(new RunDatabase('driver: phases'), talking());
  const { sink } = memory();
  const labels: string[] = [];
  const told = { ...sink, progress: (_done: number, _total: number, label: string) => void labels.push(label) };
  await trainModel(environments, host, model(), { preset: 'nano', overrides: texts, user: { mode: 'scripted' } }, told);
  const own = labels.map((label) => label.replace(/ \d+\/\d+$/, ''));
  expect(own[0]).toBe('opening the model');
  expect(labels.find((label) => label.startsWith('held-out'))).toMatch(/^held-out 0\//);
  const order = own.filter((label, i) => label !== own[i - 1]);
  expect(order.slice(0, 5)).toEqual(['opening the model', 'held-out', 'held-out before', 'rollout', 'update']);
});
