/** @file `mua experiment`: trains each variant of an experiment with each seed, one after another, and reports the results. */
import type { ExperimentContent } from '../../records/experiment.ts';
import { ON } from '../backend.ts';
import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { runJob } from '../job.ts';
import type { TrainOrder } from '../work.ts';
import { WORLD_FLAGS } from '../world.ts';
import { JSON_FLAG, keepWhenStopped, readUser } from './shared.ts';

export const experiment = command({
  summary: 'train each variant of an experiment with each seed; prints a table with confidence intervals',
  positional: { name: 'file', value: 'FILE.toml' },
  flags: {
    out: { type: 'string', value: 'DIR', help: 'folder for the runs and experiment.json; finished runs in it are kept' },
    report: { type: 'string', value: 'DIR', help: 'print the table of a folder that --out wrote, without training' },
    world: { ...WORLD_FLAGS.world, help: `${WORLD_FLAGS.world.help}; where FILE.toml names no other` },
    on: ON,
    json: JSON_FLAG,
  },
  async run({ file, out, report, world: given, on }, progress) {
    if (report !== undefined && (file !== undefined || out !== undefined || given !== undefined))
      throw new UsageError('--report is given: expected no FILE.toml, no --out and no --world with it');
    const { openExperiment, readResults } = await import('../experiment-folder.ts');
    const { analyse } = await import('../../experiments/analysis.ts');
    const { reportLines } = await import('../../experiments/report.ts');
    const answer = (content: ExperimentContent, folder: string) => ({
      out: folder,
      id: content.experiment.id,
      ...analyse(content.experiment, content.runs),
      lines: reportLines(content),
    });
    if (report !== undefined) return answer(await readResults(report), report);
    if (file === undefined) throw new UsageError('FILE.toml is missing: expected ./mua experiment FILE.toml --out DIR');
    if (out === undefined) throw new UsageError('--out is missing: expected --out DIR');
    progress.phase(`reading ${out}`);
    const { content, world, queue, finish } = await openExperiment({ file, out, world: given }, (text) => progress.note(text));
    if (queue.length === 0) return answer(content, out);
    const { base } = content.experiment;
    if (base.user.mode === 'endpoint' && process.env.MUA_USER_KEY)
      progress.note(`mua: MUA_USER_KEY is sent to ${new URL(base.user.baseUrl).origin}, the server that ${file} names`);
    const { user, userEndpoint } =
      base.user.mode === 'endpoint'
        ? await readUser({
            user: base.user.baseUrl,
            userModel: base.user.model,
            userTemperature: base.user.temperature,
            userMaxTokens: base.user.maxTokens,
            userBody: base.user.extraBody && JSON.stringify(base.user.extraBody),
          })
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
          ...(val_user && { val_user }),
        } satisfies TrainOrder,
        run: {
          model: folder.model,
          interrupted: folder.interrupted,
          receive: async (name: string, body: Buffer) => {
            await folder.receive(name, body);
            if (name === 'finished') await finish(pair, folder);
          },
        },
      };
    });
    const folders = {
      stop: async (state: 'interrupted' | 'failed', message = '') => {
        await Promise.all(queue.map(({ folder }) => folder.stop(state, message)));
      },
      get continuation() {
        const left = queue.filter(({ folder }) => !folder.done);
        const begun = left.filter(({ folder }) => folder.continuation !== null).length;
        const all = content.runs.length + left.length;
        return `${out} has ${content.runs.length} of ${all} finished runs${begun > 0 ? `, and checkpoints of ${begun} more` : ''}. To continue: ./mua experiment ${file}${given === undefined ? '' : ` --world ${given}`} --out ${out}`;
      },
    };
    await keepWhenStopped(folders, '', () =>
      runJob({
        on,
        request: { command: 'train', runs: runs.map(({ order }) => order), user },
        runs: runs.map(({ run }) => run),
        world,
        userEndpoint,
        progress,
      }),
    );
    return answer(content, out);
  },
  show: ({ lines, out }) => [...lines, '', `results in ${out}`],
});
