/**
 * @file The folder of `mua experiment`. It has a folder `VARIANT/SEED` for each run, and `experiment.json` with everything
 * that the analysis needs.
 */
import { mkdir, readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isObject } from '../base/json.ts';
import type { ExperimentContent } from '../records/experiment.ts';
import { readExperiment, writeExperiment } from '../experiments/file.ts';
import { keptRuns } from '../experiments/kept-runs.ts';
import type { ExperimentRequest, Pair } from '../experiments/plan.ts';
import { ExperimentQueue } from '../experiments/queue.ts';
import { readTable, readToml } from '../experiments/read-toml.ts';
import { usualLevel } from '../domains/registry.ts';
import { ROOT } from './build.ts';
import { errorOfWork, UsageError } from './errors.ts';
import { findModel, type ModelFolder, readText, reason, writeAll } from './files.ts';
import { lockFolder } from './lock-file.ts';
import { readStatus } from './out-folder.ts';
import { RunFolder } from './run-folder.ts';
import { type TrainSettings, trainSchema } from './settings.ts';
import { SCENARIO } from './status.ts';
import { checkPlayed, keptWorld, openWorld, type OpenWorld, playedIn } from './world.ts';

const RESULTS = 'experiment.json';
/** A setting of an experiment on a visitor's own scenario. */
const OWN_DOMAIN = /"(domain|val_domains)": ?"[^"]*@[0-9a-f]{8}\b/;

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
  if (OWN_DOMAIN.test(text)) await keptWorld(directory, false);
  return checked(() => readExperiment(text, path));
}

/** Finds the folder of a model. `name` is a bundled model, or a path relative to the experiment's file, as `lora` is. */
async function modelFolder({ model: name, lora }: Pick<ExperimentRequest, 'model' | 'lora'>, from: string): Promise<ModelFolder> {
  const bundled = join(ROOT, 'models', name);
  const found = /^[\w-]+$/.test(name) && (await stat(bundled).catch(() => null));
  const beside = (path: string) => resolve(dirname(from), path);
  return findModel(found ? bundled : beside(name), { tokenizer: true, lora: lora && beside(lora) });
}

/** The settings in an experiment's table, which is not checked yet. */
function settingsIn({ base, variants, evaluation }: Record<string, unknown>): Record<string, unknown>[] {
  const layers = [base, ...(Array.isArray(variants) ? (variants as unknown[]) : [])].map((one) => isObject(one) && one.overrides);
  return [...layers, evaluation].filter(isObject);
}

/** Writes the scenario beside the results, which cannot be read without it. @throws UsageError if the folder has another one */
async function keepScenario(out: string, { text }: OpenWorld): Promise<void> {
  const path = join(out, SCENARIO);
  const earlier = await readFile(path, 'utf8').catch(() => null);
  if (earlier === null) await writeAll({ [path]: text });
  else if (earlier !== text) throw new UsageError(`--out is "${out}": it has another ${SCENARIO}: expected a new folder`);
}

/** Opens the folder of a run. If an earlier call has made it with the same settings, that run is continued. Otherwise it is a new run. */
async function runOf(
  directory: string,
  settings: TrainSettings,
  model: ModelFolder,
  note: (text: string) => void,
  world: OpenWorld | undefined,
): Promise<RunFolder<TrainSettings>> {
  const status = await readStatus<TrainSettings>(directory);
  const same = status !== null && JSON.stringify(status.settings) === JSON.stringify(settings);
  if (same && status.state === 'done') return new RunFolder(directory, status, null, { files: {} });
  if (same && status.checkpoints.length > 0)
    return RunFolder.resume<TrainSettings>(directory, { flag: '--out', command: 'train', note, settings: trainSchema });
  const kept = world && { kept: { [SCENARIO]: world.text } };
  return RunFolder.create(directory, { command: 'train', settings, model, ...kept, force: true, note });
}

/**
 * Locks the folder `out` until the process ends, and opens it for the experiment of `file`. Finished runs in it are kept. `queue` has the remaining runs in order;
 * call `finish` after each one.
 * @throws UsageError if the file is wrong, or if the folder belongs to another experiment
 */
export async function openExperiment(
  { file, out, world: given }: { file: string; out: string; world?: string | undefined },
  note: (text: string) => void,
): Promise<{
  content: ExperimentContent;
  /** The visitor's own scenario that the runs play. */
  world: OpenWorld | undefined;
  queue: { pair: Pair; folder: RunFolder<TrainSettings> }[];
  finish(pair: Pair, folder: RunFolder<TrainSettings>): Promise<void>;
}> {
  await lockFolder(out, '--out', note);
  const text = await readText(file);
  const world = await openWorld({ world: given });
  for (const settings of settingsIn(checked(() => readTable(text, file)))) checkPlayed(settings, `${file}: `);
  const place = world && { domain: world.domain, level: usualLevel(world.domain)! };
  const experiment = checked(() => readToml(text, file, place));
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
  const worldOf = ({ overrides }: ExperimentRequest) => (world && playedIn(overrides).includes(world.domain) ? world : undefined);
  if (world && pending.length > 0 && !pending.some(({ request }) => worldOf(request)))
    throw new UsageError(`--world is "${given}": no variant of ${file} plays it: expected domain = "${world.domain}" in an override`);
  const nameOf = ({ model, lora }: ExperimentRequest) => JSON.stringify([model, lora]);
  const requests = new Map(pending.map(({ request }) => [nameOf(request), request]));
  const models = new Map(
    await Promise.all([...requests].map(async ([name, request]) => [name, await modelFolder(request, file)] as const)),
  );
  try {
    if (pending.length > 0) await mkdir(out, { recursive: true });
    if (world) await keepScenario(out, world);
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(`--out is "${out}": ${reason(error)}`);
  }
  const queue: { pair: Pair; folder: RunFolder<TrainSettings> }[] = [];
  for (const { pair, request } of pending) {
    const { model, lora, preset, user, val_user } = request;
    const overrides = Object.fromEntries(Object.entries(request.overrides).map(([key, value]) => [key, String(value)]));
    const settings: TrainSettings = { preset, algorithm: '', overrides, user, ...(val_user && { val_user }), model, ...(lora && { lora }) };
    const own = worldOf(request);
    if (own) settings.world = { name: own.domain, sha256: own.sha256 };
    const directory = join(out, pair.variant, String(pair.seed));
    const folder = await runOf(directory, settings, models.get(nameOf(request))!, note, own);
    if (folder.done) await finish(pair, folder);
    else queue.push({ pair, folder });
  }
  return { content, world, queue, finish };
}
