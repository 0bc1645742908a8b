/** A tab of the page with its own trainer. The engine and the customers are fakes; tabs of one name share their database. */
import { Activities } from '../../src/base/activities.ts';
import { BrowserSource } from '../../src/app/library/browser-source.ts';
import { collectRun } from '../../src/app/library/collect-run.ts';
import { storeRun } from '../../src/app/library/import-run.ts';
import { configJson } from '../../src/engine/config.ts';
import type { ScoreOptions } from '../../src/engine/types.ts';
import { jsonFile } from '../../src/exchange/model-folder.ts';
import type { RunContent } from '../../src/records/bundle.ts';
import type { ExperimentRow } from '../../src/records/experiment.ts';
import type { ModelFiles, ModelRef } from '../../src/records/model.ts';
import type { CheckpointRow } from '../../src/records/run.ts';
import { RunDatabase } from '../../src/storage/database.ts';
import type { EngineHost } from '../../src/trainer/engine-host.ts';
import { Evaluations } from '../../src/trainer/evaluations.ts';
import { Experiments } from '../../src/trainer/experiments.ts';
import { GpuTurns } from '../../src/trainer/gpu-turns.ts';
import { Plays } from '../../src/trainer/play.ts';
import { Runs } from '../../src/trainer/runs.ts';
import type { SessionParts } from '../../src/trainer/session-parts.ts';
import { heldOutSettings } from '../../src/training/evaluation-settings.ts';
import { stage as episodeStage, task } from './episodes.ts';
import { EXPERIMENT } from './experiments.ts';
import { CONFIG, fakes, REQUEST, scores, SETTINGS } from './fake-runs.ts';
import { readModel } from '../../src/trainer/node/session.ts';
import { TINY } from './tiny-config.ts';

export const ACTIONS = ['train', 'resume', 'evaluate', 'play', 'score', 'delete', 'import'] as const;
export type Action = (typeof ACTIONS)[number];

const { 'tokenizer.json': tokenizer, 'tokenizer_config.json': chat } = await readModel('models/nano-retail');
const FILES: ModelFiles = { 'config.json': jsonFile(configJson(TINY)), 'tokenizer.json': tokenizer!, 'tokenizer_config.json': chat! };
const SAVING = { ...REQUEST, overrides: { ...SETTINGS, save_freq: 1 } };
/** An experiment with one run of one step. */
const QUEUED: ExperimentRow = {
  ...EXPERIMENT,
  base: { preset: 'nano', model: 'any', overrides: { ...SETTINGS, total_training_steps: 1 } as never, user: { mode: 'scripted' } },
  variants: EXPERIMENT.variants.slice(0, 1),
  seeds: [42],
  evaluation: {},
  createdAt: 1,
  results: [],
};
export const BASE = 'the-run';

/** @param ready resolves when the tab's engine is loaded */
export function openTab(name: string, ready: Promise<void> = Promise.resolve()) {
  const database = new RunDatabase(name);
  const { engine, stage } = fakes();
  const score = async (sequences: Parameters<typeof scores>[0], options?: ScoreOptions) => {
    options?.signal?.throwIfAborted();
    return scores(sequences);
  };
  Object.assign(engine, { config: TINY, score });
  const host = {
    activities: new Activities(),
    onLost: () => {},
    info: async () => ({ vendor: 'v', architecture: 'a', description: 'a GPU of the test' }),
    speed: async () => ({ operations: 1e9, bytes: 1e9, dispatch: 1e-6 }),
    stage: async () => (await ready, { engine, stage }),
    open: async () => (await ready, engine),
    device: async () => (await ready, null),
    close: () => {},
  } as unknown as EngineHost;
  const parts = {
    environments: stage.environments,
    users: async () => stage.users,
    bundledModel: async () => FILES,
    database: () => database,
  } as unknown as SessionParts;
  const turns = new GpuTurns();
  const runs = new Runs(parts, host, turns);
  const [experiments, evaluations, plays] = [
    new Experiments(parts, runs, turns),
    new Evaluations(parts, host, turns),
    new Plays(parts, host, turns),
  ];
  const finish = async (started: Promise<unknown>) => {
    await started;
    await runs.finished;
  };
  const model: ModelRef = { kind: 'run', run: BASE, step: 3 };
  const { limits } = episodeStage({ agent: [], user: [] }).options;
  const act = {
    train: () => finish(runs.start(SAVING)),
    resume: () => finish(runs.resume(BASE)),
    experiment: () => experiments.run(QUEUED.id),
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
    bench: () => plays.measure(async (_, __, signal) => signal.throwIfAborted()),
    delete: () => new BrowserSource(database).deleteRun(BASE),
    import: (content: RunContent) => storeRun(database, content, []),
  };
  return { database, runs, act };
}

/** A run that has ended, and its checkpoints. It is played once for all tests of a file. */
let played: Promise<{ content: RunContent; checkpoints: CheckpointRow[] }> | undefined;
async function play(): Promise<Awaited<NonNullable<typeof played>>> {
  const { database, runs } = openTab('a run of three steps');
  const id = await runs.start(SAVING);
  await runs.finished;
  const content = { ...(await collectRun(database, new BrowserSource(database), id)), model: null } as RunContent;
  const checkpoints = await database.checkpoints.toArray();
  database.close();
  return { content: { ...content, run: { ...content.run, id: BASE } }, checkpoints };
}

/** A browser with an experiment, and with one run that has ended. Returns this run as a file. */
export async function withRun(name: string): Promise<RunContent> {
  played ??= play();
  const { content, checkpoints } = structuredClone(await played);
  const { database } = openTab(name);
  await database.experiments.put(QUEUED);
  await storeRun(database, content, []);
  await database.checkpoints.bulkPut(checkpoints.map((row) => ({ ...row, run: BASE })));
  await database.runs.update(BASE, { imported: undefined, 'config.total_training_steps': 4 } as never);
  return content;
}

/** `done`, or the message of the error. */
export const settled = async (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: Error) => error.message,
  );
