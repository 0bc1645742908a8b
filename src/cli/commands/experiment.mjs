// @ts-check
/** `mua experiment`: trains variants × seeds in one browser session and reports what they show. */
import { experimentModule } from '../build.mjs';
import { UsageError } from '../errors.mjs';
import { openExperiment, readResults } from '../experiment-folder.mjs';
import { onInterrupt } from '../files.mjs';
import { runInPage } from '../page.mjs';
import { JSON_FLAG, readUser } from './shared.mjs';

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
    const { analyse, reportLines } = module;
    const answer = (/** @type {import('../../records/experiment.ts').ExperimentContent} */ content, /** @type {string} */ folder) => ({
      out: folder,
      id: content.experiment.id,
      ...analyse(content.experiment, content.runs),
      lines: reportLines(content),
    });
    if (report !== undefined) return answer(await readResults(report, module), report);
    const { content, queue, finish } = await openExperiment({ file, out }, module, (text) => progress.note(text));
    if (queue.length === 0) return answer(content, out);
    const { base } = content.experiment;
    const { user, userEndpoint } =
      base.user.mode === 'endpoint'
        ? await readUser({ user: base.user.baseUrl, userModel: base.user.model })
        : { user: base.user, userEndpoint: undefined };
    const runs = queue.map(({ pair, folder }) => {
      const { preset, algorithm, overrides, user: wanted, val_user } = folder.settings;
      return {
        order: {
          label: `${pair.variant}, seed ${pair.seed}`,
          ...folder.order,
          preset,
          algorithm,
          overrides,
          ...(wanted.mode !== 'endpoint' && { user: wanted }),
          val_user,
        },
        run: {
          model: folder.model,
          interrupted: folder.interrupted,
          receive: async (/** @type {string} */ name, /** @type {Buffer} */ body) => {
            await folder.receive(name, body);
            if (name === 'finished') await finish(pair, folder);
          },
        },
      };
    });
    const stopAll = (/** @type {'interrupted' | 'failed'} */ state, message = '') =>
      Promise.all(queue.map(({ folder }) => folder.stop(state, message)));
    const forget = onInterrupt(() => stopAll('interrupted'));
    try {
      await runInPage({
        request: { command: 'train', runs: runs.map(({ order }) => order), user },
        runs: runs.map(({ run }) => run),
        userEndpoint,
        progress,
      });
    } catch (error) {
      await stopAll('failed', /** @type {Error} */ (error).message);
      throw error;
    } finally {
      forget();
    }
    return answer(content, out);
  },
  show: ({ lines, out }) => [...lines, '', `results in ${out}`],
};
