/** A whole run without a GPU: the model says one line per episode. Customer, device and evaluation fail. */
import type { ModelFiles } from '../../../src/records/model.ts';
import type { TrainingSink } from '../../../src/trainer/messages.ts';
import type { SessionParts } from '../../../src/trainer/session-parts.ts';
import 'fake-indexeddb/auto';
import { afterEach, expect, test, vi } from 'vitest';
import { Gpu } from '../../../src/engine/gpu.ts';
import { randomWeights } from '../../../src/engine/parameters.ts';
import { firstContact } from '../../../src/engine/first-contact.ts';
import type { TrainSequence } from '../../../src/engine/types.ts';
import { tuningFor } from '../../../src/engine/tuning.ts';
import { inMemory, saveModel } from '../../../src/exchange/model-folder.ts';
import { RunDatabase } from '../../../src/storage/database.ts';
import { unpackCheckpoint } from '../../../src/trainer/checkpoints.ts';
import { DeviceLostError, EngineHost } from '../../../src/trainer/engine-host.ts';
import { Experiments } from '../../../src/trainer/experiments.ts';
import { takeGpu } from '../../../src/trainer/gpu-lock.ts';
import { trainRun } from '../../../src/training/run.ts';
import { TrainerSession } from '../../../src/trainer/session.ts';
import type { ExperimentRow } from '../../../src/records/experiment.ts';
import type { UserRequest } from '../../../src/records/user.ts';
import { supersede } from '../../../src/trainer/superseded.ts';
import { MeteredUsers } from '../../../src/users/account.ts';
import { EXPERIMENT } from '../../support/experiments.ts';
import { CONFIG, Customers, fakeRuns, fakes, type FakeParts, REQUEST, scores, SETTINGS } from '../../support/fake-runs.ts';
import { hashSampler } from '../../support/hash-sampler.ts';
import { lockManager } from '../../support/locks.ts';
import { TINY } from '../../support/tiny-config.ts';

vi.mock('../../../src/engine/first-contact.ts', () => ({ firstContact: vi.fn(async () => null), untunedKey: () => 'a GPU' }));

/** Each request costs 1. */
class PaidCustomers extends Customers {
  override session() {
    const { open, reply } = super.session();
    const requests: UserRequest[] = [];
    const pay = () => requests.push({ seconds: 0.1, prompt: 1, completion: 0, retry: false });
    return { requests, open: async () => (pay(), open()), reply: async () => (pay(), reply()) };
  }
}
const PRICE = 1e6;

let database: RunDatabase;
/** Runs of the fakes, in a new database. */
function runs(parts: FakeParts, ready: Promise<void> = Promise.resolve(), meter?: MeteredUsers) {
  database = new RunDatabase(`runs ${expect.getState().currentTestName}`);
  return fakeRuns(database, parts, ready, meter);
}
const row = async (id: string) => (await database.runs.get(id))!;
const SOON = { timeout: 20_000 };
const becomes = (id: string, status: string) => expect.poll(async () => (await row(id)).status, SOON).toBe(status);

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const nothing = { onStep: async () => {}, onBaseline: async () => {} };

test('a customer that never answers ends the run with its error; nothing is updated', async () => {
  const { engine, stage } = fakes(new Customers(1));
  const kept = vi.fn(async () => {});
  await expect(trainRun(stage, engine, CONFIG, 4, { onStep: kept, onBaseline: kept })).rejects.toThrow(
    'no episode could be scored: the user endpoint at nowhere cannot be reached',
  );
  expect(kept).not.toHaveBeenCalled();
  expect(engine.accumulate).not.toHaveBeenCalled();
});

test('an evaluation without scores is not stored, and the step before it is kept', async () => {
  // One conversation before the step and two of the step succeed. The conversations of the next evaluation fail.
  const { engine, stage } = fakes(new Customers(4));
  const kept: unknown[] = [];
  const onStep = async ({ metrics }: { metrics: Record<string, number> }, evaluation: unknown) =>
    void kept.push(
      evaluation,
      Object.keys(metrics).filter((name) => name.startsWith('val-')),
    );
  expect(await trainRun(stage, engine, { ...CONFIG, total_training_steps: 1 }, 4, { ...nothing, onStep })).toBe(1);
  expect(kept).toEqual([null, []]);
});

test('paused time does not count as work', async () => {
  const { engine, stage } = fakes();
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const seen: Record<string, number>[] = [];
  await trainRun(stage, engine, { ...CONFIG, val_tasks: 0, total_training_steps: 1 }, 4, {
    ...nothing,
    onRollout: () => (now += 1000),
    gate: async () => void (now += 60_000),
    onStep: async ({ metrics }) => void seen.push(metrics),
  });
  expect(seen[0]).toMatchObject({
    'timing_s/gen': 2,
    'timing_s/ref': 0,
    'timing_s/update_actor': 0,
    'timing_s/step': 2,
    'perf/time_per_step': 2,
  });
});

test('a run keeps all text of its last steps, and of one group per step forever', async () => {
  // The test advances the clock to send events. `expect.poll` would advance it too.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { trainer, events } = runs(fakes());
  const id = await trainer.start({
    ...REQUEST,
    overrides: { ...SETTINGS, train_batch_size: 2, ppo_mini_batch_size: 2, val_tasks: 0, total_training_steps: 22 },
  });
  while ((await row(id)).status !== 'done') await new Promise(setImmediate);
  expect(events).toEqual([]);
  vi.runAllTimers();
  const groups = (await database.trajectories.toArray()).map(({ group }) => group);
  expect(groups.filter((group) => /^[123]-/.test(group)).sort()).toEqual([
    ...['1-0', '1-0', '2-0', '2-0'],
    ...['3-0', '3-0', '3-1', '3-1'],
  ]);
  expect(groups).toHaveLength(84);
  expect((await database.checkpoints.toArray()).map(({ step }) => step)).toEqual([22]);
  // `compile` tells the page the first new step. Later progress replaces earlier progress, but not `compile`.
  expect(events.flatMap((event) => (event.type === 'progress' ? [[event.phase, event.step]] : []))).toEqual([
    ['compile', 0],
    ['update', 22],
  ]);
});

test('a viewer changes nothing: a watched run samples the same tokens and updates on the same sequences', async () => {
  const parts = fakes();
  Object.assign(parts.stage, { sampler: hashSampler(30, 4) });
  const { trainer, events } = runs(parts);
  const request = { ...REQUEST, overrides: { ...SETTINGS, n: 4, val_tasks: 0, total_training_steps: 2, use_kl_loss: false } };
  const done = () => events.filter((event) => event.type === 'status' && event.status === 'done').length;
  const train = async (before: (id: string) => void) => {
    const runsDone = done();
    const id = await trainer.start(request);
    before(id);
    // The last batch of events arrives after the row.
    await expect.poll(done, SOON).toBe(runsDone + 1);
    const played = await database.trajectories.where('run').equals(id).sortBy('id');
    const sequences = played.map(({ nodes }) => nodes.map(({ tokens, logprobs }) => ({ tokens, logprobs })));
    return { id, played, sequences, updates: JSON.stringify(parts.engine.accumulate.mock.calls.splice(0)) };
  };
  const lives = () => events.flatMap((event) => (event.type === 'live' ? [event] : []));
  const alone = await train(() => {});
  expect(lives()).toEqual([]);

  const watched = await train((id) => {
    trainer.watch(id, true);
    // The page of another run is closed.
    trainer.watch(alone.id, false);
  });
  expect(watched.sequences).toEqual(alone.sequences);
  expect(watched.updates).toBe(alone.updates);
  expect(watched.sequences).toHaveLength(8);

  // The page saw a turn before its end. What it saw is the beginning of this turn.
  const open = lives().flatMap(({ step, rollouts }) =>
    rollouts.flatMap(({ index, acts }) => acts.filter(({ open }) => open).map(({ text }) => ({ id: `${step}-0-${index}`, text }))),
  );
  expect(open.length).toBeGreaterThan(0);
  for (const { id, text } of open)
    expect(watched.played.find((one) => one.id === id)!.nodes.some(({ content }) => content?.startsWith(text))).toBe(true);

  trainer.watch(watched.id, false);
  const seen = lives().length;
  await train(() => {});
  expect(lives()).toHaveLength(seen);
});

test('a run that is paused while it starts waits and then continues', async () => {
  let start = () => {};
  const { trainer } = runs(fakes(), new Promise((resolve) => (start = resolve)));
  const id = await trainer.start(REQUEST);
  await becomes(id, 'starting');
  await trainer.pause();
  start();
  await expect.poll(() => database.metrics.count(), SOON).toBe(1); // evaluated before the first step
  expect(await row(id)).toMatchObject({ status: 'paused', step: 0 });
  await trainer.unpause();
  await becomes(id, 'done');
});

test('a run pauses when its customer has cost the budget, and goes on when the budget is raised', async () => {
  const user = { mode: 'endpoint', baseUrl: 'http://localhost:9/v1', model: 'm', promptPrice: PRICE, budget: 5 } as const;
  const meter = new MeteredUsers(new PaidCustomers(), user);
  const { trainer } = runs(fakes(meter), undefined, meter);
  const id = await trainer.start({ ...REQUEST, user });
  // Two requests a conversation: one conversation before the first step, and two in each step.
  const paused = { status: 'paused', step: 1, message: 'The customer has cost 6, and the budget is 5: raise the budget to go on.' };
  await expect.poll(() => row(id), SOON).toMatchObject(paused);
  expect((await database.checkpoints.toArray()).map(({ step }) => step)).toContain(1);
  await trainer.unpause();
  await expect.poll(() => row(id), SOON).toMatchObject(paused);
  await expect(trainer.unpause(6)).rejects.toThrow('budget is 6: expected a number above 6, which is spent');
  expect(await row(id)).toMatchObject(paused);
  await trainer.unpause(100);
  await becomes(id, 'done');
  expect((await row(id)).request.user).toMatchObject({ budget: 100 });
  const costs = (await database.metrics.orderBy('[run+step]').toArray()).map(({ values }) => values['user/cost']);
  expect(costs).toEqual([2, 4, 4, 6]); // the last step is followed by the evaluation
});

test('before steps are played again, a run asks if its customer may charge for them; their cost stays counted', async () => {
  const user = { mode: 'endpoint', baseUrl: 'http://localhost:9/v1', model: 'm', promptPrice: PRICE } as const;
  const meter = () => new MeteredUsers(new PaidCustomers(), user);
  const paying = meter();
  const first = runs(fakes(paying), undefined, paying);
  const id = await first.trainer.start({ ...REQUEST, user });
  await becomes(id, 'done');
  await database.checkpoints.delete([id, 3]);
  await database.runs.update(id, { status: 'interrupted', 'config.total_training_steps': 4 } as never);
  const steps = async () => (await database.metrics.where('[run+step]').between([id, 0], [id, 9]).toArray()).map(({ step }) => step);

  const question =
    "Step 3 is after the last whole checkpoint. Resume plays this step again, which the customer's server may charge for. Stop keeps what there is.";
  const refusing = runs(fakes(), undefined, meter());
  await refusing.trainer.resume(id);
  await expect.poll(() => row(id), SOON).toMatchObject({ status: 'paused', message: question });
  await refusing.trainer.stop();
  await becomes(id, 'stopped');
  expect(await steps()).toEqual([0, 1, 2, 3]);

  const paid = meter();
  const agreeing = runs(fakes(paid), undefined, paid);
  const spend = vi.spyOn(paid, 'spend');
  await agreeing.trainer.resume(id);
  await expect.poll(() => row(id), SOON).toMatchObject({ status: 'paused', message: question });
  await agreeing.trainer.unpause();
  await becomes(id, 'done');
  expect(await steps()).toEqual([0, 1, 2, 3, 4]);
  const costs = (await database.metrics.toArray()).map(({ values }) => values['user/cost'] ?? 0);
  expect(costs).toHaveLength(6);
  // `spend` is called once for all earlier steps, one of which is superseded later, and after that once for each step.
  const [before] = spend.mock.calls[0]!;
  expect(before).toBeGreaterThan(0);
  await database.runs.update(id, { status: 'interrupted', 'config.total_training_steps': 5 } as never);
  const last = meter();
  const total = vi.spyOn(last, 'spend');
  const again = runs(fakes(last), undefined, last);
  await again.trainer.resume(id);
  await becomes(id, 'done');
  expect(total.mock.calls[0]).toEqual([costs.reduce((sum, cost) => sum + cost, 0)]);
});

test('held-out evaluations have the customer of their own that the run names', async () => {
  const parts = fakes();
  const { trainer, host } = runs(parts);
  const others = new Customers();
  const met = { training: vi.spyOn(parts.stage.users, 'session'), evaluation: vi.spyOn(others, 'session') };
  const val_user = { mode: 'local', source: 'bundled', model: 'm', precision: 'fp32', device: 'wasm' } as const;
  const users = vi.fn(async () => others);
  Object.assign(host, { users });
  const id = await trainer.start({ ...REQUEST, val_user });
  await becomes(id, 'done');
  expect(users).toHaveBeenCalledExactlyOnceWith(val_user);
  // One task before training and one after it; two rollouts in each of three steps.
  expect([met.evaluation.mock.calls.length, met.training.mock.calls.length]).toEqual([2, 6]);
  const evaluations = await database.evaluations.toArray();
  expect(evaluations.map(({ settings }) => settings.user)).toEqual([val_user, val_user]);
});

test('a run whose customer costs money saves every step', async () => {
  const user = { mode: 'endpoint', baseUrl: 'http://localhost:9/v1', model: 'm' } as const;
  const parts = fakes();
  const { trainer } = runs(parts);
  const id = await trainer.start({ ...REQUEST, user });
  const saved: number[] = [];
  parts.engine.accumulate.mockImplementation(async (sequences: readonly TrainSequence[]) => {
    saved.push(...(await database.checkpoints.toArray()).map(({ step }) => step));
    return scores(sequences);
  });
  await becomes(id, 'done');
  expect(new Set(saved)).toEqual(new Set([1, 2]));
});

test('a damaged newest checkpoint costs only its own steps, and the run says so', async () => {
  const { trainer } = runs(fakes());
  const id = await trainer.start({ ...REQUEST, overrides: { ...SETTINGS, save_freq: 1, total_training_steps: 4 } });
  await expect.poll(async () => (await row(id)).step, SOON).toBeGreaterThanOrEqual(2);
  await trainer.stop();
  const [before, newest] = (await database.checkpoints.toArray()).map(({ step }) => step);
  const optimizer = new Blob([new Uint8Array(9)]);
  await database.checkpoints.update([id, newest!], { optimizer, origin: { app: '0', adapter: 'another GPU', model: 'm', config: 'c' } });
  await database.checkpoints.update([id, before!], { 'origin.adapter': 'another GPU' });
  const statuses: (string | undefined)[] = [];
  trainer.listen((_, events) => statuses.push(...events.flatMap((event) => (event.type === 'status' ? [event.message] : []))));
  await trainer.resume(id);
  await becomes(id, 'done');
  await expect
    .poll(() => statuses, SOON)
    .toContain(
      `The checkpoint of step ${newest} is damaged: the run goes on from step ${before}. Since the checkpoint, the GPU changed: results may differ in their last bits.`,
    );
  const superseded = (await database.runs.toArray()).find((one) => one.superseded);
  expect(superseded!.superseded).toEqual({ run: id, from: newest });
  const stepsOf = async (run: string) => (await database.metrics.toArray()).filter((one) => one.run === run).map(({ step }) => step);
  expect(await stepsOf(id)).toEqual([0, 1, 2, 3, 4]);
  expect(await stepsOf(superseded!.id)).toEqual([newest]);
});

test('steps that are played again stay readable in a run of their own, and do not count', async () => {
  const { trainer } = runs(fakes());
  const id = await trainer.start({ ...REQUEST, overrides: { ...SETTINGS, test_freq: 1 } });
  await becomes(id, 'done');
  const of = async (run: string) => ({
    metrics: (await database.metrics.toArray()).filter((one) => one.run === run),
    rollouts: (await database.rollouts.toArray()).filter((one) => one.run === run),
    trajectories: (await database.trajectories.toArray()).filter((one) => one.run === run),
    evaluations: (await database.evaluations.toArray()).filter((one) => one.run === run).map((one) => one.id),
  });
  const whole = await of(id);
  const asked = { ...(await database.evaluations.get(`${id}@3`))!, id: 'asked by the visitor' };
  await database.evaluations.put(asked);
  const trials = await database.evaluationTrajectories.count();

  await supersede(database, id, 1);
  const { id: own, ...moved } = (await database.runs.toArray()).find(({ superseded }) => superseded)!;
  expect(moved).toMatchObject({ status: 'stopped', step: 3, superseded: { run: id, from: 2 } });
  expect(moved.name).toBe(`${(await row(id)).name}, steps 2 to 3 (superseded)`);
  const [kept, later] = [await of(id), await of(own)];
  expect((await row(id)).step).toBe(1);
  expect(kept.metrics.map(({ step }) => step)).toEqual([0, 1]);
  expect(later.metrics.map(({ step, values }) => [step, values])).toEqual(whole.metrics.slice(2).map(({ step, values }) => [step, values]));
  expect([kept.rollouts.length, later.rollouts.length]).toEqual([2, 4]);
  expect([kept.trajectories.length, later.trajectories.length]).toEqual([2, 4]);
  expect(kept.evaluations.sort()).toEqual([`${id}@0`, `${id}@1`, asked.id].sort());
  expect(later.evaluations.sort()).toEqual([`${own}@2`, `${own}@3`]);
  expect(await database.evaluationTrajectories.count()).toBe(trials);
  await expect(trainer.resume(own)).rejects.toThrow('was superseded: go on with the run that it came from');

  // No step is later than the last step, so no second run is made.
  await supersede(database, id, 1);
  expect(await database.runs.count()).toBe(2);
});

test('a run that is stopped while paused plays no more steps, and its weights are kept', async () => {
  const parts = fakes();
  const { trainer } = runs(parts);
  parts.engine.accumulate.mockImplementationOnce(async (sequences: readonly TrainSequence[]) => {
    await trainer.pause();
    return scores(sequences);
  });
  const id = await trainer.start(REQUEST);
  await expect.poll(async () => (await row(id)).step, SOON).toBe(1);
  expect((await row(id)).status).toBe('paused');
  // If the tab closes now, nothing is lost.
  const saved = async () => (await database.checkpoints.toArray()).map(({ step }) => step);
  await expect.poll(saved, SOON).toEqual([1]);
  await trainer.stop();
  expect(await row(id)).toMatchObject({ status: 'stopped', step: 1 });
  expect(await saved()).toEqual([1]);
});

test('a lost device interrupts the run, for any order of the errors', async () => {
  const parts = fakes();
  const { trainer, host } = runs(parts);
  parts.engine.accumulate.mockImplementationOnce(async () => {
    setTimeout(() => host.onLost(new DeviceLostError('the driver was reset')));
    throw new DOMException('A valid external Instance reference no longer exists.', 'AbortError');
  });
  const id = await trainer.start(REQUEST);
  await becomes(id, 'interrupted');
  expect((await row(id)).message).toBe('the driver was reset');
});

test('another error makes the run fail', async () => {
  const parts = fakes();
  const { trainer } = runs(parts);
  parts.engine.accumulate.mockRejectedValueOnce(new Error('out of memory'));
  const id = await trainer.start(REQUEST);
  await becomes(id, 'failed');
  expect((await row(id)).message).toBe('out of memory');
});

test('a device that fails its self-test differs from a missing device, and is destroyed', async () => {
  const tuning = tuningFor({ software: false, subgroupSize: 32 });
  const device = { info: { vendor: 'acme' }, tuning, device: { lost: new Promise(() => {}) }, destroy: vi.fn() };
  vi.spyOn(Gpu, 'create').mockResolvedValue(device as unknown as Gpu);
  vi.mocked(firstContact).mockResolvedValueOnce('matmul nt is off by 3');
  const host = new EngineHost({} as SessionParts);
  expect(await host.info()).toMatchObject({ vendor: 'acme', selfTest: 'failed', message: 'matmul nt is off by 3' });
  expect(device.destroy).toHaveBeenCalledOnce();
});

const NO_SINK: TrainingSink = { progress: () => {}, note: () => {}, evaluation: () => {}, step: () => {}, checkpoint: () => {} };

test.each([
  [0, null],
  [1, 0],
])('a training of the command line with %i held-out tasks', async (val_tasks, success) => {
  vi.spyOn(EngineHost.prototype, 'stage').mockResolvedValue(fakes());
  const session = new TrainerSession({} as SessionParts);
  const overrides = Object.fromEntries(
    Object.entries({ ...SETTINGS, val_tasks, total_training_steps: 1 }).map(([name, value]) => [name, String(value)]),
  );
  const { before, after, steps } = await session.train(
    saveModel(TINY, randomWeights(TINY, 1)),
    { preset: 'nano', overrides, user: { mode: 'scripted' } },
    NO_SINK,
  );
  expect([before, after].map((report) => report && report.pass_hat[0]!.value)).toEqual([success, success]);
  expect(steps).toBe(1);
});

test('a checkpoint of the command line says what it depends on; a run that goes on notes what has changed', async () => {
  const parts = fakes();
  parts.stage.domain = { ...parts.stage.domain, data: 'tau1/retail/0a1b' };
  vi.spyOn(EngineHost.prototype, 'stage').mockResolvedValue(parts);
  vi.spyOn(EngineHost.prototype, 'info').mockResolvedValue({ vendor: 'acme', architecture: 'x', description: '' } as never);
  const session = new TrainerSession({} as SessionParts);
  const { 'model.safetensors': weights, ...files } = saveModel(TINY, randomWeights(TINY, 1));
  const settings = Object.fromEntries(
    Object.entries({ ...SETTINGS, val_tasks: 0, save_freq: 1, total_training_steps: 2 }).map(([name, value]) => [name, String(value)]),
  );
  let checkpoint: Uint8Array | undefined;
  const notes: string[] = [];
  const train = (model: ModelFiles, overrides: Record<string, string>) =>
    session.train(
      model,
      {
        preset: 'nano',
        overrides,
        user: { mode: 'scripted' },
        ...(checkpoint && { interrupted: { checkpoint, metrics: [], evaluations: [] } }),
      },
      { ...NO_SINK, checkpoint: (_, packed) => void (checkpoint ??= packed), note: (text) => void notes.push(text) },
    );
  await train({ ...files, 'model.safetensors': weights! }, settings);
  expect(unpackCheckpoint(checkpoint!).origin).toMatchObject({
    adapter: 'acme x',
    model: expect.stringMatching(/^[0-9a-f]{64}$/),
    import: 'tau1/retail/0a1b',
  });
  await train(files, settings);
  expect(notes).toEqual([]);
  await train(files, { ...settings, lr: '0.5' });
  parts.stage.domain = { ...parts.stage.domain, data: 'tau1/retail/9f8e' };
  await train(files, settings);
  expect(notes).toEqual(
    ['the configuration', 'the imported data'].map(
      (what) => `Since the checkpoint, ${what} changed: results may differ in their last bits.`,
    ),
  );
});

test('random starting weights: no two seeds start alike, and the model keeps its shape', async () => {
  const parts = fakes();
  const given: Record<string, Uint8Array>[] = [];
  const files = saveModel(TINY, randomWeights(TINY, 9));
  vi.spyOn(EngineHost.prototype, 'stage').mockImplementation(async (sent) => (given.push(inMemory(sent)), parts));
  const session = new TrainerSession({} as SessionParts);
  const train = (overrides: Record<string, string>) =>
    session.train(
      files,
      { preset: 'nano', overrides: { total_training_steps: '0', val_tasks: '0', ...overrides }, user: { mode: 'scripted' } },
      NO_SINK,
    );
  await train({});
  await train({ init_weights: 'random', seed: '1' });
  await train({ init_weights: 'random', seed: '1' });
  await train({ init_weights: 'random', seed: '2' });
  const [model, one, again, two] = given.map((sent) => sent['model.safetensors']!);
  expect(model).toEqual(files['model.safetensors']);
  expect(one).toEqual(saveModel(TINY, randomWeights(TINY, 1))['model.safetensors']);
  expect(again).toEqual(one);
  expect(two).not.toEqual(one);
});

/** Two variants and two seeds, one step each. */
const QUEUED: ExperimentRow = {
  ...EXPERIMENT,
  base: {
    preset: 'nano',
    model: 'any',
    overrides: { ...SETTINGS, val_tasks: 1, total_training_steps: 1 } as never,
    user: { mode: 'scripted' },
  },
  seeds: [42, 43],
  evaluation: {},
  createdAt: 1,
  results: [],
};

async function experiments(parts = fakes()) {
  const made = runs(parts);
  await database.experiments.put(QUEUED);
  const session = { bundledModel: async () => ({}), database: () => database } as unknown as SessionParts;
  const results = async () => (await database.experiments.get(QUEUED.id))!.results.map(({ variant, seed }) => `${variant} ${seed}`);
  return { ...made, queue: new Experiments(session, made.trainer, made.turns), results };
}

test('an experiment trains every pair, one after another, under one lock of the GPU', async () => {
  const parts = fakes();
  const locks = lockManager();
  vi.stubGlobal('navigator', { locks });
  const { queue, results, events, trainer } = await experiments(parts);
  const refused: unknown[] = [];
  parts.engine.accumulate.mockImplementation(async (sequences: readonly TrainSequence[]) => {
    refused.push(
      await takeGpu('train').then(
        () => 'taken',
        (error: Error) => error.message,
      ),
    );
    return scores(sequences);
  });
  const heard: string[] = [];
  trainer.listen((run, batch) => heard.push(...batch.flatMap((e) => (e.type === 'status' ? [`${run} ${e.status}`] : []))));
  await queue.run(QUEUED.id);
  expect(await results()).toEqual(['kl 42', 'no_kl 42', 'kl 43', 'no_kl 43']);
  expect(new Set(refused)).toEqual(new Set(['Another tab trains an experiment and uses the GPU.']));
  expect(queue.active).toBeNull();
  await (
    await takeGpu('train')
  )(); // free again
  const rows = await database.runs.orderBy('createdAt').toArray();
  expect(rows.map(({ experiment, variant, config, status }) => [experiment, variant, config.seed, status])).toEqual([
    ['kl', 'kl', 42, 'done'],
    ['kl', 'no_kl', 42, 'done'],
    ['kl', 'kl', 43, 'done'],
    ['kl', 'no_kl', 43, 'done'],
  ]);
  // Every event has the id of its own run, although the runs follow each other within one batch.
  await expect.poll(() => heard.length, SOON).toBe(12);
  expect(heard).toEqual(rows.flatMap(({ id }) => ['starting', 'running', 'done'].map((status) => `${id} ${status}`)));
  expect(events).toEqual([]);
  const [first] = (await database.experiments.get(QUEUED.id))!.results;
  expect(first).toMatchObject({
    steps: 1,
    run: rows[0]!.id,
    evaluations: [
      { step: 0, success: [0] },
      { step: 1, success: [0] },
    ],
  });
});

test('a stopped experiment keeps what is finished, and goes on with the run that it stopped', async () => {
  const parts = fakes();
  const { queue, results } = await experiments(parts);
  parts.engine.accumulate.mockImplementationOnce(async (sequences: readonly TrainSequence[]) => {
    void queue.stop();
    return scores(sequences);
  });
  const overrides = { ...QUEUED.base.overrides, total_training_steps: 2 };
  await database.experiments.put({ ...QUEUED, base: { ...QUEUED.base, overrides } });
  await queue.run(QUEUED.id);
  expect([queue.active, await results()]).toEqual([null, []]);
  expect(await database.runs.toArray()).toMatchObject([{ status: 'stopped', step: 1 }]);
  await queue.run(QUEUED.id);
  expect(await results()).toHaveLength(4);
  const stored = await database.runs.toArray();
  expect(stored.filter(({ superseded }) => !superseded)).toHaveLength(4);
  // Steps that were played again belong to no experiment.
  expect(stored.filter(({ superseded, experiment }) => superseded && experiment !== undefined)).toEqual([]);
});

test('an experiment survives one loss of the device and ends with the reason of a failed run', async () => {
  const parts = fakes();
  const { queue, results, host } = await experiments(parts);
  parts.engine.accumulate.mockImplementationOnce(async () => {
    host.onLost(new DeviceLostError('the driver was reset'));
    throw new Error('a buffer is gone');
  });
  await queue.run(QUEUED.id);
  expect(await results()).toHaveLength(4);
  expect((await database.runs.toArray()).filter(({ superseded }) => !superseded)).toHaveLength(4);

  await database.experiments.put({ ...QUEUED, id: 'other' });
  parts.engine.accumulate.mockRejectedValue(new Error('out of memory'));
  await expect(queue.run('other')).rejects.toThrow(/\(kl, seed 42\) ended: out of memory$/);
  await expect(queue.run('missing')).rejects.toThrow('there is no experiment "missing" in this browser');
  expect(queue.active).toBeNull();
});

test('a start reads the model once, and before the first step has ended the time left comes from the estimate', async () => {
  const { trainer, events, bundledModel } = runs(fakes());
  const id = await trainer.start(REQUEST);
  await becomes(id, 'done');
  expect(bundledModel).toHaveBeenCalledTimes(1);
  const left = () => events.flatMap((event) => (event.type === 'progress' && event.phase === 'compile' ? [event.left] : []));
  await expect.poll(left).toHaveLength(1);
  expect(left()[0]).toBeGreaterThan(0);
});

test('without val_before_train a run evaluates only after its last step; a run without steps evaluates always', async () => {
  const { trainer } = runs(fakes());
  const few = { ...SETTINGS, total_training_steps: 1, val_before_train: false };
  const steps = async (overrides: typeof few) => {
    const id = await trainer.start({ ...REQUEST, overrides });
    await becomes(id, 'done');
    await trainer.finished;
    return (await database.evaluations.toArray()).flatMap(({ model }) => (model.kind === 'run' && model.run === id ? [model.step] : []));
  };
  expect(await steps(few)).toEqual([1]);
  expect(await steps({ ...few, total_training_steps: 0 })).toEqual([0]);
  expect(await steps({ ...few, val_before_train: true })).toEqual([0, 1]);
});
