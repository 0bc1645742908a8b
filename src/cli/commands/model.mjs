// @ts-check
/** `mua evaluate`, `score`, `grad`, `generate` and `bench`: commands that measure a model and do not train it. */
import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { readNumber, readPairs, SEED } from '../args.mjs';
import { DATA_FLAGS, findData } from '../benchmark-data.mjs';
import { UsageError } from '../errors.mjs';
import { checkParent, findModel, writeAll } from '../files.mjs';
import { readGenerateInput, readGradInput, readScoreInput, readTaskIds } from '../inputs.mjs';
import { runInPage } from '../page.mjs';
import { INPUT, JSON_FLAG, LEVEL, MODEL, OUTPUT, percent, readUser, SET, USER_FLAGS } from './shared.mjs';

/** @typedef {import('./shared.mjs').Command} Command */

const GENERATED = ['retail', 'telecom'];
const SPLITS = ['train', 'heldout'];
const TASKS = 200;

/**
 * The tasks to run: generated tasks, or tasks of the benchmark in --data. The page checks its splits and ids.
 * @param {Record<string, any>} flags
 * @returns {Promise<{ place: Pick<import('../../trainer/messages.ts').EvaluateOptions, 'domain' | 'level' | 'split' | 'select' | 'tasks'>, benchmark?: import('../benchmark-data.mjs').BenchmarkData }>}
 */
async function readTasks({ domain, rules, data, level, split, tasks }) {
  if ((rules === undefined) !== (data === undefined))
    throw new UsageError(
      `--${rules === undefined ? 'data' : 'rules'} is given: expected --${rules === undefined ? 'rules tau1 or tau2' : 'data DIR'} with it`,
    );
  if (rules === undefined) {
    if (!GENERATED.includes(domain))
      throw new UsageError(`--domain is "${domain}": without --rules and --data, expected ${GENERATED.join(' or ')}`);
    if (split !== undefined && !SPLITS.includes(split)) throw new UsageError(`--split is "${split}": expected ${SPLITS.join(' or ')}`);
    const count = tasks === undefined ? TASKS : readNumber('--tasks', tasks, { type: 'integer', min: 1 });
    return { place: { domain, level: level ?? 'nano', split: split ?? 'heldout', tasks: count } };
  }
  if (level !== undefined) throw new UsageError(`--level is "${level}": the tasks of --data have no levels`);
  const benchmark = await findData({ domain, rules, data });
  const place = { domain: `${rules}-${domain}`, level: 'full', split: /** @type {const} */ ('heldout'), tasks: Number.MAX_SAFE_INTEGER };
  if (tasks === undefined || /^[-+]?[\d.]+$/.test(tasks)) {
    const count = tasks === undefined ? place.tasks : readNumber('--tasks', tasks, { type: 'integer', min: 1 });
    return {
      place: { ...place, tasks: count, ...(SPLITS.includes(split) ? { split } : split !== undefined && { select: { split } }) },
      benchmark,
    };
  }
  if (split !== undefined) throw new UsageError(`--split is "${split}": --tasks names a file or split by itself`);
  // A word without a dot or slash is a split, even if a file has this name: a folder "test" is common.
  if (!/[/\\.]/.test(tasks)) return { place: { ...place, select: { split: tasks } }, benchmark };
  if (!(await stat(tasks).catch(() => null))?.isFile()) throw new UsageError(`--tasks is "${tasks}": there is no such file`);
  return { place: { ...place, select: { ids: await readTaskIds(tasks) } }, benchmark };
}

/** @type {Command} */
export const evaluate = {
  summary: 'pass^1 … pass^K with 95 % confidence intervals, terminations, violations, tools',
  flags: {
    model: MODEL,
    domain: {
      ...DATA_FLAGS.domain,
      required: false,
      default: 'retail',
      help: 'retail or telecom as generated; retail, airline, telecom or mock of --data',
    },
    level: {
      ...LEVEL,
      default: undefined,
      help: 'difficulty of generated tasks: glimpse (retail only), nano, small or full (default nano)',
    },
    rules: {
      ...DATA_FLAGS.rules,
      required: false,
      help: 'rules of conversation, tools and rewards: tau-bench v1 or tau2-bench; needs --data',
    },
    data: { ...DATA_FLAGS.data, required: false, help: 'folder (or zip) with the benchmark’s files: its tasks instead of generated ones' },
    split: { type: 'string', value: 'NAME', help: 'train or heldout, or a split of --data (default heldout; of --data: test, else base)' },
    tasks: {
      type: 'string',
      value: 'N',
      help: `how many tasks (default ${TASKS}); with --data also FILE with task ids (a path with a dot or slash), or a split's name (default all)`,
    },
    'skip-noop': { type: 'boolean', help: 'leave out tasks that doing nothing solves' },
    trials: { type: 'integer', value: 'K', help: 'episodes a task', default: 1, min: 1 },
    temperature: { type: 'number', value: 'T', help: 'sampling temperature; 0 is greedy', default: 1, min: 0 },
    seed: SEED,
    preset: {
      type: 'string',
      value: 'NAME',
      help: 'settings of the episodes, e.g. faithful: as MUA-RL does (default: what suits domain and level)',
    },
    set: SET,
    ...USER_FLAGS,
    output: { type: 'string', value: 'FILE.jsonl', help: 'also write every trajectory there' },
    'tau2-results': { type: 'string', value: 'FILE.json', help: 'also write the episodes as tau2-bench writes its results' },
    json: JSON_FLAG,
  },
  async run({ model: directory, trials, temperature, seed, preset, set, skipNoop = false, output, tau2Results, ...flags }, progress) {
    const { place, benchmark } = await readTasks(flags);
    const settings = readPairs('set', set);
    const taken = ['domain', 'level', 'seed', 'temperature'].find((name) => Object.hasOwn(settings, name));
    if (taken) throw new UsageError(`--set has "${taken}": expected --${taken} instead`);
    const model = await findModel(directory, { tokenizer: true });
    if (output) await checkParent('output', output);
    if (tau2Results) await checkParent('tau2-results', tau2Results);
    const { user, userEndpoint } = await readUser(/** @type {any} */ (flags));
    const options = {
      ...place,
      trials,
      temperature,
      seed,
      preset,
      settings,
      skip_noop: skipNoop,
      trajectories: output !== undefined,
      ...(tau2Results && { tau2_results: basename(resolve(directory)) }),
    };
    const { trajectories, tau2_results, ...report } = await runInPage({
      request: { command: 'evaluate', options, user },
      model,
      benchmark,
      userEndpoint,
      progress,
    });
    await writeAll({
      ...(output && { [output]: trajectories.map((/** @type {unknown} */ t) => `${JSON.stringify(t)}\n`).join('') }),
      ...(tau2Results && { [tau2Results]: `${JSON.stringify(tau2_results, null, 1)}\n` }),
    });
    return report;
  },
  show: (report) => [
    ...report.pass_hat.map(
      (/** @type {any} */ { k, value, low, high }) => `pass^${k}  ${percent(value)}  (95 %: ${percent(low)} to ${percent(high)})`,
    ),
    `TCR     ${percent(report.tcr.value)}  (95 %: ${percent(report.tcr.low)} to ${percent(report.tcr.high)}): share of a task's criteria met`,
    `${report.tasks} tasks × ${report.trials}; ${report.noop_tasks} tasks change nothing${report.noop_skipped ? `, ${report.noop_skipped} more left out` : ''}; ${report.unscored} episodes unscored; ${report.turns_mean.toFixed(1)} turns; ${report.seconds.toFixed(0)} s`,
    ...counts('ended by', report.terminations),
    ...(report.violations ? counts('violations', report.violations) : ['violations: not audited']),
    ...writesWithYes(report.confirmed_writes),
    ...counts('tools', report.tool_calls),
    ...customerLines(report.customer),
  ],
};

/** @param {{ value: number, low: number, high: number } | null} share */
const writesWithYes = (share) =>
  share ? [`writes with the customer's yes: ${percent(share.value)}  (95 %: ${percent(share.low)} to ${percent(share.high)})`] : [];

/** @param {import('../../evaluation/customer-quality.ts').CustomerQuality} quality */
const customerLines = ({ rate, faulty, episodes, kinds, denied, wrong }) =>
  rate
    ? [
        `customer: faults in ${faulty} of ${episodes} conversations, ${percent(rate.value)}  (95 %: ${percent(rate.low)} to ${percent(rate.high)}); reward denied in ${denied} of ${wrong} wrong ones`,
        ...counts('faults of the customer', kinds),
      ]
    : [];

/** @param {string} title @param {Partial<Record<string, number>>} table */
function counts(title, table) {
  const entries = /** @type {[string, number][]} */ (Object.entries(table)).sort((a, b) => b[1] - a[1]);
  return [`${title}: ${entries.map(([name, n]) => `${name} ${n}`).join(', ') || 'none'}`];
}

/** @type {Command} */
export const score = {
  summary: 'log-probability and entropy of every token of given sequences',
  flags: { model: MODEL, input: INPUT, output: OUTPUT, json: JSON_FLAG },
  async run({ model: directory, input, output }, progress) {
    const model = await findModel(directory);
    const { sequences } = await readScoreInput(input, model.vocabSize);
    await checkParent('output', output);
    const result = await runInPage({ request: { command: 'score', sequences }, model, progress });
    await writeAll({ [output]: JSON.stringify(result) });
    return { output, sequences: sequences.length, tokens: sequences.reduce((sum, ids) => sum + ids.length, 0) };
  },
  show: ({ output, sequences, tokens }) => [`${sequences} sequences, ${tokens} tokens: ${output}`],
};

/** @type {Command} */
export const grad = {
  summary: 'gradients of the SFT or GRPO loss on given sequences',
  flags: {
    model: MODEL,
    input: INPUT,
    output: { ...OUTPUT, value: 'FILE.safetensors' },
    report: { type: 'string', value: 'FILE.json', help: 'the loss and its parts', required: true },
    json: JSON_FLAG,
  },
  async run({ model: directory, input, output, report: reportPath }, progress) {
    const model = await findModel(directory);
    const request = await readGradInput(input, model.vocabSize);
    await checkParent('output', output);
    await checkParent('report', reportPath);
    /** @type {Uint8Array} */
    let gradients = new Uint8Array();
    const report = await runInPage({
      request: { command: 'grad', request },
      model,
      progress,
      onFile: (_, body) => void (gradients = body),
    });
    await writeAll({ [output]: gradients, [reportPath]: `${JSON.stringify(report, null, 2)}\n` });
    return { output, ...report };
  },
  show: ({ output, ...report }) => [...Object.entries(report).map(([name, value]) => `${name} ${value}`), `gradients in ${output}`],
};

/** @type {Command} */
export const generate = {
  summary: 'completions of given prompts, with log-probabilities',
  flags: { model: MODEL, input: INPUT, output: OUTPUT, json: JSON_FLAG },
  async run({ model: directory, input, output }, progress) {
    const model = await findModel(directory);
    const request = await readGenerateInput(input, model.vocabSize);
    await checkParent('output', output);
    const result = await runInPage({ request: { command: 'generate', request }, model, progress });
    await writeAll({ [output]: JSON.stringify(result) });
    return {
      output,
      completions: result.completions.length,
      tokens: result.completions.reduce((/** @type {number} */ sum, /** @type {any} */ c) => sum + c.tokens.length, 0),
    };
  },
  show: ({ output, completions, tokens }) => [`${completions} completions, ${tokens} tokens: ${output}`],
};

/** @type {Command} */
export const bench = {
  summary: 'speed of training and decoding, compared with a plain matmul in the same run',
  flags: { json: JSON_FLAG },
  run: (_, progress) => runInPage({ request: { command: 'bench' }, progress }),
  show: ({ adapter, matmul, training, decode }) => [
    `${[adapter.vendor, adapter.architecture, adapter.description].filter(Boolean).join(' ')}${adapter.software ? ' (software)' : ''}`,
    ...matmul.map((/** @type {any} */ m) => `matmul ${m.shape}  ${m.gflops.toFixed(2)} GFLOP/s`),
    ...training.map(
      (/** @type {any} */ t) =>
        `train ${t.model}  ${t.tokens_per_s.toFixed(0)} tokens/s, ${t.ms_per_step.toFixed(0)} ms a step of ${t.tokens} tokens, ${t.gflops.toFixed(2)} GFLOP/s = ${percent(t.share_of_best_matmul)} of the best matmul`,
    ),
    ...decode.map((/** @type {any} */ d) => `decode ${d.model}  ${d.tokens_per_s.toFixed(0)} tokens/s, batch ${d.batch}`),
  ],
};
