// @ts-check
/** `mua experiment`: trains variants × seeds in one browser session and reports what they show. */
import { mkdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { experimentModule, ROOT } from '../build.mjs';
import { pageError, UsageError } from '../errors.mjs';
import { findModel, onInterrupt, readText, reason, writeAll } from '../files.mjs';
import { runInPage } from '../page.mjs';
import { readStatus } from '../out-folder.mjs';
import { RunFolder } from '../run-folder.mjs';
import { JSON_FLAG, readUser } from './shared.mjs';

const RESULTS = 'experiment.json';

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

/** @param {string} directory @param {Awaited<ReturnType<typeof experimentModule>>} module */
async function readResults(directory, { readExperiment }) {
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
 * @param {import('../files.mjs').ModelFolder} model
 * @param {(text: string) => void} note
 */
async function runOf(directory, settings, model, note) {
  const status = await readStatus(directory);
  const same = status !== null && JSON.stringify(status.settings) === JSON.stringify(settings);
  if (same && status.state === 'done') return new RunFolder(directory, status, null, { paths: {} }, true);
  if (same && status.checkpoints.length > 0) return RunFolder.resume(directory, { flag: '--out', command: 'train', note });
  return RunFolder.create(directory, { command: 'train', settings, model, force: true });
}

/** @type {import('./shared.mjs').Command} */
export const experiment = {
  summary: 'train variants × seeds of one question; prints a table with intervals',
  positional: { name: 'file', value: 'FILE.toml' },
  flags: {
    out: { type: 'string', value: 'DIR', help: 'folder for the runs and experiment.json; finished runs in it are kept' },
    report: { type: 'string', value: 'DIR', help: 'print the table of such a folder, without training' },
    json: JSON_FLAG,
  },
  async run({ file, out, report }, progress) {
    if (report !== undefined && (file !== undefined || out !== undefined))
      throw new UsageError('--report is given: expected no FILE.toml and no --out with it');
    if (report === undefined && file === undefined)
      throw new UsageError('FILE.toml is missing: expected mua experiment FILE.toml --out DIR');
    if (report === undefined && out === undefined) throw new UsageError('--out is missing: expected --out DIR');
    const module = await experimentModule((text) => progress.note(text));
    const { analyse, keptRuns, pendingPairs, readToml, reportLines, requestOf, resultOf, writeExperiment } = module;
    const answer = (/** @type {import('../../records/experiment.ts').ExperimentContent} */ content, /** @type {string} */ folder) => ({
      out: folder,
      id: content.experiment.id,
      ...analyse(content.experiment, content.runs),
      lines: reportLines(content),
    });
    if (report !== undefined) return answer(await readResults(report, module), report);
    const text = await readText(file);
    const definition = checked(() => readToml(text, file));
    /** @type {import('../../records/experiment.ts').ExperimentRun[]} */
    let runs = [];
    if (await stat(join(out, RESULTS)).catch(() => null)) {
      const earlier = await readResults(out, module);
      try {
        runs = keptRuns(definition, earlier.experiment, earlier.runs);
      } catch (error) {
        throw new UsageError(`--out is "${out}": ${/** @type {Error} */ (error).message}`);
      }
    }
    const pairs = pendingPairs(definition, runs);
    const content = () => ({ experiment: definition, runs });
    if (pairs.length === 0) return answer(content(), out);

    const requests = pairs.map((pair) => requestOf(definition, pair));
    const names = [...new Set(requests.map(({ model }) => model))];
    const models = await Promise.all(names.map((name) => modelFolder(name, file)));
    const { base } = definition;
    const { user, userEndpoint } =
      base.user.mode === 'endpoint'
        ? await readUser({ user: base.user.baseUrl, userModel: base.user.model })
        : { user: base.user, userEndpoint: undefined };
    try {
      await mkdir(out, { recursive: true });
    } catch (error) {
      throw new UsageError(`--out is "${out}": ${reason(error)}`);
    }

    const finish = async (/** @type {{ variant: string, seed: number }} */ pair, /** @type {RunFolder} */ folder) => {
      runs = [...runs, resultOf(definition, pair, await folder.logs())];
      await writeAll({ [join(out, RESULTS)]: writeExperiment(content()) });
    };
    /** @type {{ order: any, folder: RunFolder, receive: import('../page.mjs').PageRun['receive'] }[]} */
    const queue = [];
    for (const [i, pair] of pairs.entries()) {
      const {
        model: name,
        preset,
        overrides: values,
        user: wanted,
        val_user,
      } = /** @type {import('../../records/run.ts').RunRequest} */ (requests[i]);
      const overrides = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, String(value)]));
      const settings = { preset, algorithm: '', overrides, user: wanted, ...(val_user && { val_user }), model: name };
      const directory = join(out, pair.variant, String(pair.seed));
      const model = /** @type {import('../files.mjs').ModelFolder} */ (models[names.indexOf(name)]);
      const folder = await runOf(directory, settings, model, (text) => progress.note(text));
      if (folder.done) {
        await finish(pair, folder);
        continue;
      }
      const label = `${pair.variant}, seed ${pair.seed}`;
      queue.push({
        order: {
          label,
          ...folder.order,
          preset,
          algorithm: '',
          overrides,
          ...(wanted.mode !== 'endpoint' && { user: wanted }),
          val_user,
        },
        folder,
        receive: async (file, body) => {
          await folder.receive(file, body);
          if (file === 'finished') await finish(pair, folder);
        },
      });
    }
    if (queue.length === 0) return answer(content(), out);
    const stopAll = (/** @type {'interrupted' | 'failed'} */ state, message = '') =>
      Promise.all(queue.map(({ folder }) => folder.stop(state, message)));
    const forget = onInterrupt(() => stopAll('interrupted'));
    try {
      await runInPage({
        request: { command: 'train', runs: queue.map(({ order }) => order), user },
        runs: queue.map(({ folder, receive }) => ({ model: folder.model, interrupted: folder.interrupted, receive })),
        userEndpoint,
        progress,
      });
    } catch (error) {
      await stopAll('failed', /** @type {Error} */ (error).message);
      throw error;
    } finally {
      forget();
    }
    return answer(content(), out);
  },
  show: ({ lines, out }) => [...lines, '', `results in ${out}`],
};
