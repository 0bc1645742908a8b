/** Two tabs of one browser: every pair of actions, at the same time and one within the other. The engine and the customers are fakes. */
import 'fake-indexeddb/auto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { BrowserSource } from '../../../src/app/library/browser-source.ts';
import { collectRun } from '../../../src/app/library/collect-run.ts';
import { storeRun } from '../../../src/app/library/import-run.ts';
import { verifyStorage } from '../../../src/app/library/verify-storage.ts';
import { configJson } from '../../../src/engine/config.ts';
import { jsonFile } from '../../../src/exchange/model-folder.ts';
import type { RunContent } from '../../../src/records/bundle.ts';
import type { ModelFiles, ModelRef } from '../../../src/records/model.ts';
import { RunDatabase } from '../../../src/storage/database.ts';
import type { EngineHost } from '../../../src/trainer/engine-host.ts';
import { Evaluations } from '../../../src/trainer/evaluations.ts';
import { GPU_USES, gpuHolder, watchGpu } from '../../../src/trainer/gpu-lock.ts';
import { Plays } from '../../../src/trainer/play.ts';
import { Runs } from '../../../src/trainer/runs.ts';
import type { SessionParts } from '../../../src/trainer/session-parts.ts';
import { heldOutSettings } from '../../../src/training/evaluation-settings.ts';
import { stage as episodeStage, task } from '../../support/episodes.ts';
import { CONFIG, fakes, REQUEST, SETTINGS } from '../../support/fake-runs.ts';
import { reportFaults } from '../../support/faults.ts';
import { lockManager } from '../../support/locks.ts';
import { readModel } from '../../support/node-session.ts';
import { TINY } from '../../support/tiny-model.ts';

const ACTIONS = ['train', 'resume', 'evaluate', 'play', 'score', 'delete', 'import'] as const;
type Action = (typeof ACTIONS)[number];
/** These need the GPU. */
const ON_GPU: readonly Action[] = ['train', 'resume', 'evaluate', 'play', 'score'];
/** These keep the run from being deleted. */
const USES_RUN: readonly Action[] = ['resume', 'evaluate'];

const { 'tokenizer.json': tokenizer, 'tokenizer_config.json': chat } = await readModel('models/nano-retail');
const FILES: ModelFiles = { 'config.json': jsonFile(configJson(TINY)), 'tokenizer.json': tokenizer!, 'tokenizer_config.json': chat! };
const SAVING = { ...REQUEST, overrides: { ...SETTINGS, save_freq: 1 } };

let databases = 0;
let name: string;
beforeEach(() => {
  name = `two tabs ${databases++}`;
  vi.stubGlobal('navigator', { locks: lockManager() });
});
afterEach(() => vi.unstubAllGlobals());

/** A tab with its own trainer. `ready`: when its engine is loaded. */
function openTab(ready: Promise<void> = Promise.resolve()) {
  const database = new RunDatabase(name);
  const { engine, stage } = fakes();
  Object.assign(engine, { config: TINY });
  const host = {
    onLost: () => {},
    info: async () => ({ vendor: 'v', architecture: 'a', description: 'a GPU of the test' }),
    stage: async () => (await ready, { engine, stage }),
    open: async () => (await ready, engine),
  } as unknown as EngineHost;
  const parts = {
    environments: stage.environments,
    users: async () => stage.users,
    bundledModel: async () => FILES,
    database: () => database,
  } as unknown as SessionParts;
  const [runs, evaluations, plays] = [new Runs(parts, host), new Evaluations(parts, host), new Plays(parts, host)];
  const finish = async (started: Promise<unknown>) => {
    await started;
    await runs.finished;
  };
  const model: ModelRef = { kind: 'run', run: BASE, step: 3 };
  const { limits } = episodeStage({ agent: [], user: [] }).options;
  const act: Record<Action, (content: RunContent) => Promise<unknown>> = {
    train: () => finish(runs.start(SAVING)),
    resume: () => finish(runs.resume(BASE)),
    evaluate: () => evaluations.run([{ model, settings: heldOutSettings(CONFIG, { mode: 'scripted' }) }], () => {}),
    play: () =>
      plays.play(
        {
          ...{ task, prefix: null, model, limits, seed: 1, userSeed: 2, stream: 0, simulator: { mode: 'scripted' } },
          sampling: { temperature: 1, top_p: 1, top_k: 0 },
        },
        () => {},
      ),
    score: () => plays.rescore({ model, tokens: [1, 2], lossMask: [0, 1], temperature: 1, max_model_len: 64 }),
    delete: () => new BrowserSource(database).deleteRun(BASE),
    import: (content) => storeRun(database, content, []),
  };
  return { database, runs, act };
}

const BASE = 'the-run';

/** A browser with one run that has ended, and the same run as a file. */
async function withRun(): Promise<RunContent> {
  const { database, runs } = openTab();
  const id = await runs.start(SAVING);
  await runs.finished;
  const content = { ...(await collectRun(database, new BrowserSource(database), id)), model: null } as RunContent;
  const checkpoints = await database.checkpoints.toArray();
  await new BrowserSource(database).deleteRun(id);
  await storeRun(database, { ...content, run: { ...content.run, id: BASE } }, []);
  await database.checkpoints.bulkPut(checkpoints.map((row) => ({ ...row, run: BASE })));
  await database.runs.update(BASE, { imported: undefined, 'config.total_training_steps': 4 } as never);
  return { ...content, run: { ...content.run, id: BASE } };
}

const settled = async (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: Error) => error.message,
  );

async function expectConsistent(database: RunDatabase): Promise<void> {
  expect((await verifyStorage(database)).problems).toEqual([]);
  const statuses = await database.runs.toArray();
  expect(statuses.filter(({ status }) => status === 'running' || status === 'starting')).toEqual([]);
  expect(await gpuHolder()).toBeNull();
}

const PAIRS = ACTIONS.flatMap((first) => ACTIONS.map((second) => [first, second] as const));

test.each(PAIRS)('%s and %s at the same time: the store stays whole', async (first, second) => {
  const content = await withRun();
  const [a, b] = [openTab(), openTab()];
  const outcomes = await Promise.all([settled(a.act[first](content)), settled(b.act[second](content))]);
  const allowed = /^done$|another tab uses the GPU|this run (is being deleted|trains)|there is no run "the-run"|no checkpoint/;
  for (const outcome of outcomes) expect(outcome).toMatch(allowed);
  // Two trainers never work at the same time, and one of them does.
  if (ON_GPU.includes(first) && ON_GPU.includes(second)) expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1);
  await expectConsistent(a.database);
});

test.each(PAIRS.filter(([first]) => ON_GPU.includes(first)))('%s, and within it %s in another tab', async (first, second) => {
  const content = await withRun();
  let go = () => {};
  const [a, b] = [openTab(new Promise((resolve) => (go = resolve))), openTab()];
  const begun = settled(a.act[first](content));
  await expect.poll(() => gpuHolder()).not.toBeNull();
  const outcome = await settled(b.act[second](content));
  if (ON_GPU.includes(second)) expect(outcome).toContain('another tab uses the GPU');
  else if (second === 'delete' && USES_RUN.includes(first)) expect(outcome).toContain('here or in another tab');
  else expect(outcome).toBe('done');
  go();
  expect(await begun).toBe('done');
  await expectConsistent(a.database);
  const isThere = (await a.database.runs.get(BASE)) !== undefined;
  expect(isThere).toBe(second !== 'delete' || USES_RUN.includes(first));
});

test('a tab hears when another takes the GPU, frees it, or dies', async () => {
  await withRun();
  const heard: (string | null)[] = [];
  const { locks } = navigator;
  const channel = new BroadcastChannel('mua-trainer');
  const end = watchGpu(() => void gpuHolder().then((use) => heard.at(-1) !== use && heard.push(use)));
  await expect.poll(() => heard).toEqual([null]);
  for (const use of GPU_USES) {
    // This holder announces nothing when it goes.
    let die = () => {};
    void locks.request(`mua-trainer/${use}`, () => new Promise<void>((resolve) => (die = resolve)));
    channel.postMessage(null);
    await expect.poll(() => heard.at(-1)).toBe(use);
    die();
    await expect.poll(() => heard.at(-1)).toBeNull();
  }
  end();
  channel.close();
  reportFaults({
    fault: 'two tabs act on one run: train, resume, evaluate, play, score, delete, import',
    how: 'every pair of actions, at the same time and one within the other; fakes of GPU and customer',
    times: PAIRS.length + PAIRS.filter(([first]) => ON_GPU.includes(first)).length,
    lost: 'nothing: one tab has the GPU, a run in use is not deleted',
    test: 'tests/unit/trainer/two-tabs.test.ts',
  });
});
