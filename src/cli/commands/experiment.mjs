// @ts-check
/** `mua experiment`: trains variants × seeds in one browser session and reports what they show. */
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { experimentModule, ROOT } from '../build.mjs';
import { pageError, UsageError } from '../errors.mjs';
import { findModel, onInterrupt, readText, reason, writeAll } from '../files.mjs';
import { runInPage } from '../page.mjs';
import { JSON_FLAG, readUser } from './shared.mjs';
import { copyModel, safeName, StepLog } from './training.mjs';

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
    const { user, userEndpoint } = await readUser(
      base.user.mode === 'endpoint' ? { user: base.user.baseUrl, userModel: base.user.model } : { user: 'scripted' },
    );
    try {
      await mkdir(out, { recursive: true });
    } catch (error) {
      throw new UsageError(`--out is "${out}": ${reason(error)}`);
    }

    /** The run under way, in a folder that takes its name when the run is finished. @type {{ folder: string, log: StepLog } | null} */
    let current = null;
    const discard = async () => {
      if (current) await rm(current.folder, { recursive: true, force: true });
    };
    const forget = onInterrupt(discard);
    const begin = async (/** @type {number} */ i) => {
      const { variant, seed } = /** @type {{ variant: string, seed: number }} */ (pairs[i]);
      const folder = join(out, variant, `.${seed}.${process.pid}.tmp`);
      await mkdir(folder, { recursive: true });
      current = { folder, log: new StepLog() };
      await current.log.create(folder);
      await copyModel(/** @type {any} */ (models[names.indexOf(/** @type {any} */ (requests[i]).model)]), folder);
      return current;
    };
    const finish = async (
      /** @type {number} */ i,
      /** @type {{ folder: string, log: StepLog }} */ { folder, log },
      /** @type {Buffer} */ body,
    ) => {
      const pair = /** @type {{ variant: string, seed: number }} */ (pairs[i]);
      const { evaluations, ...rest } = JSON.parse(body.toString('utf8'));
      await log.finished();
      const metrics = (await readFile(join(folder, 'metrics.jsonl'), 'utf8')).split('\n').filter(Boolean);
      runs = [...runs, resultOf(definition, pair, { metrics: metrics.map((line) => JSON.parse(line)), evaluations })];
      await writeFile(join(folder, 'result.json'), `${JSON.stringify(rest)}\n`);
      const place = join(out, pair.variant, String(pair.seed));
      await rm(place, { recursive: true, force: true });
      await rename(folder, place);
      current = null;
      await writeAll({ [join(out, RESULTS)]: writeExperiment(content()) });
    };
    try {
      await runInPage({
        request: {
          command: 'experiment',
          runs: pairs.map(({ variant, seed }, i) => {
            const { model, preset, overrides } = /** @type {import('../../records/run.ts').RunRequest} */ (requests[i]);
            const texts = Object.fromEntries(Object.entries(overrides).map(([name, value]) => [name, String(value)]));
            return { label: `${variant}, seed ${seed}`, model: names.indexOf(model), preset, overrides: texts };
          }),
          models: models.map(({ files }) => files),
          user,
        },
        models,
        userEndpoint,
        progress,
        runs: pairs.length,
        onRun: async (i, name, body) => {
          const run = current ?? (await begin(i));
          if (name === 'step') await run.log.append(body.toString('utf8'));
          else if (name === 'finished') await finish(i, run, body);
          else await writeFile(join(run.folder, safeName(name)), body);
        },
      });
    } finally {
      forget();
      await discard();
    }
    return answer(content(), out);
  },
  show: ({ lines, out }) => [...lines, '', `results in ${out}`],
};
