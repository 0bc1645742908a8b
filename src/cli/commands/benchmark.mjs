// @ts-check
/** `mua replay` and `mua rescore`: the domains of tau-bench and tau2-bench on their own data, in Node. */
import { DATA_FLAGS, findData } from '../benchmark-data.mjs';
import { benchmarkModule } from '../build.mjs';
import { UsageError } from '../errors.mjs';
import { checkParent, readText, writeAll } from '../files.mjs';
import { INPUT, JSON_FLAG, OUTPUT, percent } from './shared.mjs';

/** @typedef {import('./shared.mjs').Command} Command */

/** @type {import('../args.mjs').Flags} */
const FLAGS = { ...DATA_FLAGS, input: INPUT };

/**
 * The job that the flags describe. The flags are checked as far as possible without the data.
 * @param {Record<string, any>} flags
 * @param {import('../progress.mjs').ProgressBar} progress
 */
async function readJob({ domain, rules, data, input, output }, progress) {
  const benchmark = await findData({ domain, rules, data });
  if (output !== undefined) await checkParent('output', output);
  return { ...benchmark, input, text: await readText(input), onProgress: progress.update.bind(progress) };
}

/**
 * Turns an error about the data or the input into a usage error, because the caller can correct it.
 * @template T
 * @param {() => Promise<T>} work
 * @param {import('../progress.mjs').ProgressBar} progress
 */
async function orUsageError(work, progress) {
  try {
    return await work();
  } catch (error) {
    const { name, message } = /** @type {Error} */ (error);
    throw name === 'InputError' ? new UsageError(message) : error;
  } finally {
    progress.clear();
  }
}

/** @type {Command} */
export const replay = {
  summary: 'make calls on a benchmark’s database: observations, changed rows, hash of the state',
  flags: { ...FLAGS, output: OUTPUT },
  async run(flags, progress) {
    const job = await readJob(flags, progress);
    const { replayFile } = await benchmarkModule((text) => progress.note(text));
    const { cases } = await orUsageError(() => replayFile(job), progress);
    await writeAll({ [flags.output]: `${JSON.stringify({ cases }, null, 1)}\n` });
    return {
      output: flags.output,
      cases: cases.length,
      calls: cases.reduce((sum, { errors }) => sum + errors.length, 0),
      errors: cases.reduce((sum, { errors }) => sum + errors.filter(Boolean).length, 0),
    };
  },
  show: ({ output, cases, calls, errors }) => [`${cases} cases with ${calls} calls, ${errors} of them errors: ${output}`],
};

const LISTED = 20;

/** @type {Command} */
export const rescore = {
  summary: 'compute the rewards of recorded results again and compare them with the recorded rewards',
  flags: {
    ...FLAGS,
    output: { ...OUTPUT, required: false, help: 'also write a report of every conversation' },
    'empty-output': { type: 'boolean', help: 'tau1: reward by the database alone, as MUA-RL trains' },
    json: JSON_FLAG,
  },
  async run({ emptyOutput = false, output, json, ...flags }, progress) {
    if (emptyOutput && flags.rules !== 'tau1') throw new UsageError('--empty-output is given with --rules tau2: it is a variant of tau1');
    const job = await readJob({ ...flags, output }, progress);
    const { rescoreFile } = await benchmarkModule((text) => progress.note(text));
    const report = await orUsageError(() => rescoreFile({ ...job, emptyOutput }), progress);
    if (output !== undefined) await writeAll({ [output]: `${JSON.stringify(report, null, 1)}\n` });
    return json && output !== undefined ? { output, ...report.summary } : report;
  },
  show({ runs, summary: { same, different, unrecorded, unjudged, calls, observations_different, mean, mean_recorded } }) {
    const changed = runs.filter((/** @type {any} */ run) => run.changed);
    const share = (/** @type {number | null} */ value) => (value === null ? 'none' : percent(value));
    return [
      `${runs.length} conversations: reward ${share(mean)} (recorded ${share(mean_recorded)})`,
      `the same ${same}, different ${different}${unrecorded ? `, unrecorded ${unrecorded}` : ''}${unjudged ? `, not judged ${unjudged}` : ''}; ${observations_different} of ${calls} observations differ`,
      ...changed.slice(0, LISTED).map(changeLine),
      ...(changed.length > LISTED ? [`… and ${changed.length - LISTED} more: see --output`] : []),
    ];
  },
};

/** @param {import('../../benchmarks/rescore.ts').RescoredRun} run */
function changeLine({ task_id, trial, recorded_reward, reward, changed, differences }) {
  const { rules, gold, actions, rows } = /** @type {import('../../benchmarks/rescore.ts').Change} */ (changed);
  const reasons = [
    ...rules.map(({ rule, recorded, now }) => `${rule} ${recorded ?? '?'} → ${now ?? '?'}`),
    ...(gold.length ? [`gold action ${gold.map(({ index }) => index).join(', ')} changed`] : []),
    ...(actions.length ? [`${actions.map(({ name, now }) => `${name} ${now ? 'found' : 'not found'}`).join(', ')}`] : []),
    ...(rows.length
      ? [
          `${rows
            .slice(0, 3)
            .map(({ table, key }) => `${table}/${key}`)
            .join(', ')}${rows.length > 3 ? ', …' : ''} not as gold`,
        ]
      : []),
    ...(differences.length ? [`observations of ${[...new Set(differences.map(({ name }) => name))].join(', ')} differ`] : []),
  ];
  return `  task ${task_id} trial ${trial}: ${recorded_reward} → ${reward}; ${reasons.join('; ')}`;
}
