/**
 * @file The folder of `mua experiment`. It has a folder `VARIANT/SEED` for each run, and `experiment.json` with everything
 * that the analysis needs.
 */
import { mkdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { ExperimentContent } from '../records/experiment.ts';
import { readExperiment, writeExperiment } from '../experiments/file.ts';
import { keptRuns } from '../experiments/kept-runs.ts';
import type { ExperimentRequest, Pair } from '../experiments/plan.ts';
import { ExperimentQueue } from '../experiments/queue.ts';
import { readToml } from '../experiments/read-toml.ts';
import { ROOT } from './build.ts';
import { errorOfWork, UsageError } from './errors.ts';
import { findModel, type ModelFolder, readText, reason, writeAll } from './files.ts';
import { lockFolder } from './lock-file.ts';
import { readStatus } from './out-folder.ts';
import { RunFolder } from './run-folder.ts';
import { type TrainSettings, trainSchema } from './settings.ts';

const RESULTS = 'experiment.json';

/** Turns an error of reading an input file into a usage error. */
function checked<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw errorOfWork(error as Error);
  }
}

export async function readResults(directory: string): Promise<ExperimentContent> {
  const path = join(directory, RESULTS);
  const text = await readText(path);
  return checked(() => readExperiment(text, path));
}

/** Finds the folder of a model. `name` is a bundled model, or a path relative to the experiment's file, as `lora` is. */
async function modelFolder({ model: name, lora }: Pick<ExperimentRequest, 'model' | 'lora'>, from: string): Promise<ModelFolder> {
  const bundled = join(ROOT, 'models', name);
  const found = /^[\w-]+$/.test(name) && (await stat(bundled).catch(() => null));
  const beside = (path: string) => resolve(dirname(from), path);
  return findModel(found ? bundled : beside(name), { tokenizer: true, lora: lora && beside(lora) });
}

/** Opens the folder of a run. If an earlier call has made it with the same settings, that run is continued. Otherwise it is a new run. */
async function runOf(
  directory: string,
  settings: TrainSettings,
  model: ModelFolder,
  note: (text: string) => void,
): Promise<RunFolder<TrainSettings>> {
  const status = await readStatus<TrainSettings>(directory);
  const same = status !== null && JSON.stringify(status.settings) === JSON.stringify(settings);
  if (same && status.state === 'done') return new RunFolder(directory, status, null, { files: {} });
  if (same && status.checkpoints.length > 0)
    return RunFolder.resume<TrainSettings>(directory, { flag: '--out', command: 'train', note, settings: trainSchema });
  return RunFolder.create(directory, { command: 'train', settings, model, force: true, note });
}

/**
 * Locks the folder `out` until the process ends, and opens it for the experiment of `file`. Finished runs in it are kept. `queue` has the remaining runs in order;
 * call `finish` after each one.
 * @throws UsageError if the file is wrong, or if the folder belongs to another experiment
 */
export async function openExperiment(
  { file, out }: { file: string; out: string },
  note: (text: string) => void,
): Promise<{
  content: ExperimentContent;
  queue: { pair: Pair; folder: RunFolder<TrainSettings> }[];
  finish(pair: Pair, folder: RunFolder<TrainSettings>): Promise<void>;
}> {
  await lockFolder(out, '--out', note);
  const text = await readText(file);
  const experiment = checked(() => readToml(text, file));
  const content: ExperimentContent = { experiment, runs: [] };
  if (await stat(join(out, RESULTS)).catch(() => null)) {
    const earlier = await readResults(out);
    try {
      content.runs = keptRuns(experiment, earlier.experiment, earlier.runs);
    } catch (error) {
      throw new UsageError(`--out is "${out}": ${(error as Error).message}`);
    }
  }
  const runs = new ExperimentQueue({
    read: async () => content,
    add: async (run) => {
      content.runs.push(run);
      await writeAll({ [join(out, RESULTS)]: writeExperiment(content) });
    },
  });
  const finish = async (pair: Pair, folder: RunFolder<TrainSettings>) => runs.finish(pair, await folder.logs());

  const pending = await runs.pending();
  const nameOf = ({ model, lora }: ExperimentRequest) => JSON.stringify([model, lora]);
  const requests = new Map(pending.map(({ request }) => [nameOf(request), request]));
  const models = new Map(
    await Promise.all([...requests].map(async ([name, request]) => [name, await modelFolder(request, file)] as const)),
  );
  try {
    if (pending.length > 0) await mkdir(out, { recursive: true });
  } catch (error) {
    throw new UsageError(`--out is "${out}": ${reason(error)}`);
  }
  const queue: { pair: Pair; folder: RunFolder<TrainSettings> }[] = [];
  for (const { pair, request } of pending) {
    const { model, lora, preset, user, val_user } = request;
    const overrides = Object.fromEntries(Object.entries(request.overrides).map(([key, value]) => [key, String(value)]));
    const settings: TrainSettings = { preset, algorithm: '', overrides, user, ...(val_user && { val_user }), model, ...(lora && { lora }) };
    const directory = join(out, pair.variant, String(pair.seed));
    const folder = await runOf(directory, settings, models.get(nameOf(request))!, note);
    if (folder.done) await finish(pair, folder);
    else queue.push({ pair, folder });
  }
  return { content, queue, finish };
}
