/** @file `mua replay` and `mua rescore`: they use the domains of benchmarks with the benchmarks' own data, and run in Node. */
import { DATA_FLAGS, findData } from '../benchmark-data.ts';
import { camelCase, type Flags, type Values } from '../args.ts';
import type { Change, RescoredRun } from '../../benchmarks/compare-rewards.ts';
import { BENCHMARKS } from '../../benchmarks/index.ts';
import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { checkParent, readText, writeAll } from '../files.ts';
import type { ProgressBar } from '../progress.ts';
import type { BenchmarkJob } from '../benchmark.ts';
import { INPUT, JSON_FLAG, OUTPUT, percent } from './shared.ts';

const FLAGS = { ...DATA_FLAGS, input: INPUT } as const satisfies Flags;

/** Makes the job that the flags describe. The flags are checked as far as this is possible without reading the data. */
async function readJob(
  { domain, rules, data, input, output }: Values<typeof FLAGS> & { output?: string | undefined },
  progress: ProgressBar,
): Promise<BenchmarkJob> {
  const benchmark = await findData({ domain, rules, data });
  if (output !== undefined) await checkParent('output', output);
  return { ...benchmark, input, text: await readText(input), onProgress: progress.update.bind(progress) };
}

/** Turns an error about the data or the input into a usage error, because the caller can correct it. */
async function orUsageError<T>(work: () => Promise<T>, progress: ProgressBar): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { name, message } = error as Error;
    throw name === 'InputError' ? new UsageError(message) : error;
  } finally {
    progress.clear();
  }
}

export const replay = command({
  summary: 'run tool calls on a benchmark’s database; writes observations, changed rows and a hash of the state',
  inThread: true,
  flags: {
    ...FLAGS,
    output: OUTPUT,
    prompts: { type: 'boolean', help: 'bfcl, acebench: also write the rendered prompts of each query of the model' },
  },
  async run({ prompts, ...flags }, progress) {
    const job = await readJob(flags, progress);
    const { replayFile } = await import('../benchmark.ts');
    const { cases, counts } = await orUsageError(() => replayFile(job, prompts === true), progress);
    let written = 0;
    await writeAll({ [flags.output]: casesText(cases, () => written++) });
    progress.clear();
    return { output: flags.output, cases: written, ...counts() };
  },
  show: ({ output, cases, calls, errors }) => [`${cases} cases with ${calls} calls, of which ${errors} returned errors: ${output}`],
});

/** The JSON text of the cases, in pieces. */
function* casesText(cases: Iterable<object>, onCase: () => void): Generator<string> {
  yield '{\n "cases": [';
  let before = '\n';
  for (const one of cases) {
    yield before + JSON.stringify(one, null, 1).replace(/^/gm, '  ');
    before = ',\n';
    onCase();
  }
  yield before === '\n' ? ']\n}\n' : '\n ]\n}\n';
}

const LISTED = 20;

/** The variants of rewards. Each one has a flag. */
const VARIANTS = BENCHMARKS.flatMap(({ name, results }) =>
  Object.entries(results?.variants ?? {}).map(([flag, help]) => ({ benchmark: name, flag, help })),
);
const VARIANT_FLAGS: object = Object.fromEntries(
  VARIANTS.map(({ benchmark, flag, help }) => [flag, { type: 'boolean', help: `${benchmark}: ${help}` }]),
);

export const rescore = command({
  summary: 'compute the rewards of recorded results again and compare them with the recorded rewards',
  inThread: true,
  flags: {
    ...FLAGS,
    output: { ...OUTPUT, required: false, help: 'also write a report on every conversation to this file' },
    ...VARIANT_FLAGS,
    json: JSON_FLAG,
  },
  async run({ output, json, ...flags }, progress) {
    const variant = VARIANTS.find(({ flag }) => (flags as Record<string, unknown>)[camelCase(flag)] === true);
    if (variant && variant.benchmark !== flags.rules)
      throw new UsageError(`--${variant.flag} is given with --rules ${flags.rules}: it is a variant of ${variant.benchmark}`);
    const job = await readJob({ ...flags, output }, progress);
    const { rescoreFile } = await import('../benchmark.ts');
    const report = await orUsageError(() => rescoreFile(job, variant?.flag), progress);
    if (output !== undefined) await writeAll({ [output]: `${JSON.stringify(report, null, 1)}\n` });
    return json && output !== undefined ? { output, ...report.summary } : report;
  },
  show(report) {
    // With --json and --output, the report is only in the file.
    if (!('summary' in report)) return [];
    const { runs, summary } = report;
    const { same, different, unrecorded, unjudged, calls, observations_different, mean, mean_recorded } = summary;
    const changed = runs.filter((run) => run.changed);
    const share = (value: number | null) => (value === null ? 'none' : percent(value));
    return [
      `${runs.length} conversations: reward ${share(mean)} (recorded ${share(mean_recorded)})`,
      `rewards: ${same} the same, ${different} different${unrecorded ? `, ${unrecorded} not recorded` : ''}${unjudged ? `, ${unjudged} not judged` : ''}; ${observations_different} of ${calls} observations differ`,
      ...changed.slice(0, LISTED).map(changeLine),
      ...(changed.length > LISTED ? [`… and ${changed.length - LISTED} more: see --output`] : []),
    ];
  },
});

function changeLine({ task_id, trial, recorded_reward, reward, changed, differences }: RescoredRun): string {
  const { rules, gold, actions, rows } = changed as Change;
  const reasons = [
    ...rules.map(({ rule, recorded, now }) => `${rule} ${recorded ?? '?'} → ${now ?? '?'}`),
    ...(gold.length ? [`gold action ${gold.map(({ index }) => index).join(', ')} changed`] : []),
    ...(actions.length ? [`${actions.map(({ name, now }) => `${name} ${now ? 'found' : 'not found'}`).join(', ')}`] : []),
    ...(rows.length
      ? [
          `rows that differ from the state after the gold actions: ${rows
            .slice(0, 3)
            .map(({ table, key }) => `${table}/${key}`)
            .join(', ')}${rows.length > 3 ? ', …' : ''}`,
        ]
      : []),
    ...(differences.length ? [`observations of ${[...new Set(differences.map(({ name }) => name))].join(', ')} differ`] : []),
  ];
  return `  task ${task_id} trial ${trial}: ${recorded_reward} → ${reward}; ${reasons.join('; ')}`;
}
