// @ts-check
/** The folder of `mua experiment`: a folder for each run in `VARIANT/SEED`, and `experiment.json` with all that the analysis reads. */
import { mkdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ROOT } from './build.mjs';
import { pageError, UsageError } from './errors.mjs';
import { findModel, readText, reason, writeAll } from './files.mjs';
import { readStatus } from './out-folder.mjs';
import { RunFolder } from './run-folder.mjs';

const RESULTS = 'experiment.json';

/** @typedef {import('../records/experiment.ts').ExperimentContent} ExperimentContent */
/** @typedef {typeof import('./experiment.ts')} ExperimentModule */
/** @typedef {import('../experiments/plan.ts').Pair} Pair */

/**
 * A fault of an input file is wrong use.
 * @template T
 * @param {() => T} read
 * @returns {T}
 */
function checked(read) {
  try {
    return read();
  } catch (error) {
    throw pageError(/** @type {Error} */ (error));
  }
}

/** @param {string} directory @param {Pick<ExperimentModule, 'readExperiment'>} module @returns {Promise<ExperimentContent>} */
export async function readResults(directory, { readExperiment }) {
  const path = join(directory, RESULTS);
  const text = await readText(path);
  return checked(() => readExperiment(text, path));
}

/**
 * The folder of a model: a bundled one by name, else a path from the experiment's file.
 * @param {string} name
 * @param {string} from
 */
async function modelFolder(name, from) {
  const bundled = join(ROOT, 'models', name);
  const found = /^[\w-]+$/.test(name) && (await stat(bundled).catch(() => null));
  return findModel(found ? bundled : resolve(dirname(from), name), { tokenizer: true });
}

/**
 * The folder of a run: a new one, or the one of an earlier call, if its settings are the same.
 * @param {string} directory
 * @param {Record<string, any>} settings
 * @param {import('./files.mjs').ModelFolder} model
 * @param {(text: string) => void} note
 */
async function runOf(directory, settings, model, note) {
  const status = await readStatus(directory);
  const same = status !== null && JSON.stringify(status.settings) === JSON.stringify(settings);
  if (same && status.state === 'done') return new RunFolder(directory, status, null, { paths: {} }, true);
  if (same && status.checkpoints.length > 0) return RunFolder.resume(directory, { flag: '--out', command: 'train', note });
  return RunFolder.create(directory, { command: 'train', settings, model, force: true });
}

/**
 * Opens the folder `out` for the experiment of `file`. Finished runs in it are kept. `queue`: the runs that are still to do, in
 * order; call `finish` when one is done.
 * @param {{ file: string, out: string }} paths
 * @param {ExperimentModule} module
 * @param {(text: string) => void} note
 * @throws {UsageError} if the file is wrong, or the folder belongs to another experiment
 */
export async function openExperiment({ file, out }, module, note) {
  const { keptRuns, pendingPairs, readToml, requestOf, resultOf, writeExperiment } = module;
  const text = await readText(file);
  const experiment = checked(() => readToml(text, file));
  /** @type {ExperimentContent} */
  const content = { experiment, runs: [] };
  if (await stat(join(out, RESULTS)).catch(() => null)) {
    const earlier = await readResults(out, module);
    try {
      content.runs = keptRuns(experiment, earlier.experiment, earlier.runs);
    } catch (error) {
      throw new UsageError(`--out is "${out}": ${/** @type {Error} */ (error).message}`);
    }
  }
  const finish = async (/** @type {Pair} */ pair, /** @type {RunFolder} */ folder) => {
    content.runs.push(resultOf(experiment, pair, await folder.logs()));
    await writeAll({ [join(out, RESULTS)]: writeExperiment(content) });
  };

  const pending = pendingPairs(experiment, content.runs).map((pair) => ({ pair, request: requestOf(experiment, pair) }));
  const names = [...new Set(pending.map(({ request }) => request.model))];
  const models = new Map(await Promise.all(names.map(async (name) => /** @type {const} */ ([name, await modelFolder(name, file)]))));
  try {
    if (pending.length > 0) await mkdir(out, { recursive: true });
  } catch (error) {
    throw new UsageError(`--out is "${out}": ${reason(error)}`);
  }
  const queue = [];
  for (const { pair, request } of pending) {
    const { model, preset, user, val_user } = request;
    const overrides = Object.fromEntries(Object.entries(request.overrides).map(([key, value]) => [key, String(value)]));
    const settings = { preset, algorithm: '', overrides, user, ...(val_user && { val_user }), model };
    const directory = join(out, pair.variant, String(pair.seed));
    const folder = await runOf(directory, settings, /** @type {import('./files.mjs').ModelFolder} */ (models.get(model)), note);
    if (folder.done) await finish(pair, folder);
    else queue.push({ pair, folder });
  }
  return { content, queue, finish };
}
