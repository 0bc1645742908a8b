// @ts-check
/** `mua evaluate`: a model's success with one or more customers, on generated tasks or on those of a benchmark. */
import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { readNumber, readPairs, SEED } from '../args.mjs';
import { findPlaceData, PLACE_FLAGS } from '../benchmark-data.mjs';
import { UsageError } from '../errors.mjs';
import { EvaluationFolder } from '../evaluation-folder.mjs';
import { checkParent, findModel, writeAll } from '../files.mjs';
import { readTaskIds } from '../inputs.mjs';
import { fileSha256, sha256 } from '../out-folder.mjs';
import { runInPage } from '../page.mjs';
import { checkAlone, JSON_FLAG, keepWhenStopped, MODEL, percent, readUser, SET, USER_FLAGS, WEIGHTS, withoutSecrets } from './shared.mjs';

/** @typedef {import('./shared.mjs').Command} Command */

const SPLITS = ['train', 'heldout'];
const TASKS = 200;

/**
 * The tasks to run: generated tasks, or tasks of the benchmark in --data. The page checks its splits and ids.
 * @param {Record<string, any>} flags
 * @returns {Promise<{ place: Pick<import('../../trainer/messages.ts').EvaluateOptions, 'domain' | 'level' | 'split' | 'select' | 'tasks'>, benchmark?: import('../benchmark-data.mjs').BenchmarkData }>}
 */
async function readTasks({ domain, rules, data, level, split, tasks }) {
  const benchmark = await findPlaceData({ domain, rules, data, level });
  if (!benchmark) {
    if (split !== undefined && !SPLITS.includes(split)) throw new UsageError(`--split is "${split}": expected ${SPLITS.join(' or ')}`);
    const count = tasks === undefined ? TASKS : readNumber('--tasks', tasks, { type: 'integer', min: 1 });
    return { place: { domain, level: level ?? 'nano', split: split ?? 'heldout', tasks: count } };
  }
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

/** Of the settings that are not given. */
const DEFAULTS = { domain: 'retail', trials: 1, temperature: 1, seed: 1, user: ['scripted'], precision: 'f32' };
const { default: _seed, ...SEED_FLAG } = SEED;

/** @type {Command} */
export const evaluate = {
  summary: 'pass^1 … pass^K with 95 % confidence intervals, terminations, violations, tools',
  flags: {
    model: { ...MODEL, required: false, help: 'model folder in Hugging Face layout (required, except with --resume)' },
    lora: WEIGHTS.lora,
    precision: { ...WEIGHTS.precision, default: undefined, help: `${WEIGHTS.precision.help} (default f32)` },
    ...PLACE_FLAGS,
    split: { type: 'string', value: 'NAME', help: 'train or heldout, or a split of --data (default heldout; of --data: test, else base)' },
    tasks: {
      type: 'string',
      value: 'N',
      help: `how many tasks (default ${TASKS}); with --data also FILE with task ids (a path with a dot or slash), or a split's name (default all)`,
    },
    'skip-noop': { type: 'boolean', help: 'leave out tasks that doing nothing solves' },
    trials: { type: 'integer', value: 'K', help: 'episodes a task (default 1)', min: 1 },
    temperature: { type: 'number', value: 'T', help: 'sampling temperature; 0 is greedy (default 1)', min: 0 },
    seed: { ...SEED_FLAG, help: `${SEED.help} (default 1)` },
    preset: {
      type: 'string',
      value: 'NAME',
      help: 'settings of the episodes, e.g. faithful: as MUA-RL does (default: what suits domain and level)',
    },
    set: SET,
    ...USER_FLAGS,
    user: {
      ...USER_FLAGS.user,
      type: 'list',
      default: undefined,
      help: `${USER_FLAGS.user.help} (default scripted); may be repeated, to compare customers on the same tasks`,
    },
    output: { type: 'string', value: 'FILE.jsonl', help: 'also write every trajectory there' },
    'tau2-results': { type: 'string', value: 'FILE.json', help: 'also write the episodes as tau2-bench writes its results' },
    out: { type: 'string', value: 'DIR', help: 'new folder that gets each trial when it ends, and the result' },
    force: { type: 'boolean', help: 'replace the evaluation that --out already holds' },
    resume: { type: 'string', value: 'DIR', help: 'go on with an evaluation that was stopped; takes no other setting' },
    json: JSON_FLAG,
  },
  async run({ json: _, ...flags }, progress) {
    const resumed = flags.resume === undefined ? null : await resumedFolder(flags);
    const { output, out, force, ...given } = resumed ? resumed.settings.flags : newFlags(flags);
    const { place, benchmark } = await readTasks(given);
    const settings = readPairs('set', given.set);
    const taken = ['domain', 'level', 'seed', 'temperature'].find((name) => Object.hasOwn(settings, name));
    if (taken) throw new UsageError(`--set has "${taken}": expected --${taken} instead`);
    const model = await findModel(given.model, { tokenizer: true, lora: given.lora });
    if (output) await checkParent('output', output);
    if (given.tau2Results) await checkParent('tau2-results', given.tau2Results);
    const { users, userEndpoint } = await readUsers(given);
    const { trials, temperature, seed, preset, tau2Results } = given;
    const options = {
      ...place,
      trials,
      temperature,
      seed,
      preset,
      settings,
      skip_noop: given.skipNoop ?? false,
      precision: given.precision ?? DEFAULTS.precision,
      ...(tau2Results && { tau2_results: basename(resolve(given.model)) }),
    };
    const folder = resumed ?? (out === undefined ? null : await newFolder(out, given, users, model, force));
    /** @type {any[]} */
    const trajectories = [];
    const { reports, differences } = await keepWhenStopped(folder, progress, () =>
      runInPage({
        request: { command: 'evaluate', options, customers: users.map((user) => ({ user, done: resumed !== null })) },
        model,
        benchmark,
        userEndpoint,
        customers: users.map((_user, i) => ({
          ...(resumed && { done: resumed.log(i) }),
          receive: async (trajectory) => {
            if (output) trajectories.push(JSON.parse(trajectory.toString('utf8')));
            await folder?.receive(i, trajectory);
          },
        })),
        progress,
      }),
    );
    const { tau2_results } = reports[0];
    await writeAll({
      ...(output && {
        [output]: inOrder(trajectories)
          .map((trajectory) => `${JSON.stringify(trajectory)}\n`)
          .join(''),
      }),
      ...(tau2Results && { [tau2Results]: `${JSON.stringify(tau2_results, null, 1)}\n` }),
    });
    for (const report of reports) delete report.tau2_results;
    const result =
      reports.length === 1
        ? reports[0]
        : {
            customers: reports.map((/** @type {object} */ report, /** @type {number} */ i) => ({ user: given.user[i], ...report })),
            differences,
          };
    await folder?.finish(result);
    return folder ? { ...result, out: folder.directory } : result;
  },
  show: ({ out, customers, differences, ...report }) => [
    ...(customers
      ? customers.flatMap((/** @type {any} */ { user, ...own }) => [`customer ${user}`, ...reportLines(own).map((line) => `  ${line}`)])
      : reportLines(report)),
    ...(differences ?? []).map((/** @type {any} */ difference, /** @type {number} */ i) =>
      difference
        ? `${customers[i + 1].user} − ${customers[0].user}: ${points(difference.difference)} points  (95 %: ${points(difference.low)} to ${points(difference.high)}; ${difference.tasks} tasks, paired)`
        : `${customers[i + 1].user} − ${customers[0].user}: no trial was scored with both`,
    ),
    ...(out ? [`results in ${out}`] : []),
  ],
};

/**
 * The flags of a new evaluation, with defaults.
 * @param {Record<string, any>} flags
 */
function newFlags(flags) {
  const given = Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
  const all = { ...DEFAULTS, ...given, ...(flags.user.length === 0 && { user: DEFAULTS.user }) };
  const { model, output, tau2Results, out } = /** @type {Record<string, any>} */ (all);
  if (model === undefined) throw new UsageError(`--model is missing: expected --model DIR`);
  if (output && out) throw new UsageError(`--output is "${output}": expected no --output with --out, which keeps every trajectory`);
  const single = tau2Results ? '--tau2-results' : output ? '--output' : undefined;
  if (single && flags.user.length > 1) throw new UsageError(`${single} is given: expected one --user with it, or --out`);
  return /** @type {Record<string, any>} */ (all);
}

/** @param {Record<string, any>} flags */
async function readUsers({ user: names, userModel, userDevice, judgeModel, judgeCustomer }) {
  const read = [];
  for (const user of names) {
    const isServer = /^https?:/.test(user);
    read.push(await readUser({ user, userDevice, ...((isServer || names.length === 1) && { userModel, judgeModel, judgeCustomer }) }));
  }
  const endpoints = read.flatMap(({ userEndpoint }) => userEndpoint ?? []);
  if (endpoints.length > 1) throw new UsageError(`--user names ${endpoints.length} servers: expected one at most`);
  return { users: read.map(({ user }) => user), userEndpoint: endpoints[0] };
}

/**
 * @param {string} out
 * @param {Record<string, any>} flags
 * @param {any[]} users
 * @param {import('../files.mjs').ModelFolder} model
 * @param {boolean} [force]
 */
async function newFolder(out, flags, users, model, force) {
  const server = users.find(({ mode }) => mode === 'endpoint');
  if (server && withoutSecrets(server.baseUrl) !== server.baseUrl)
    throw new UsageError(
      `--user is "${withoutSecrets(server.baseUrl)}": expected an address without user name and query, as --out stores the address; MUA_USER_KEY holds a key`,
    );
  const { data, tasks, tau2Results, lora } = flags;
  const kept = {
    ...flags,
    model: resolve(flags.model),
    ...(lora && { lora: resolve(lora) }),
    ...(data && { data: resolve(data) }),
    ...(data && /[/\\.]/.test(tasks ?? '') && { tasks: resolve(tasks) }),
    ...(tau2Results && { tau2Results: resolve(tau2Results) }),
    // The server may list another model first when the evaluation goes on.
    ...(server && { userModel: server.model }),
  };
  return EvaluationFolder.create(out, { flags: kept, customers: users.length, model_sha256: await weightsSha256(model) }, force);
}

/** @param {Record<string, any>} flags */
async function resumedFolder({ resume, ...flags }) {
  checkAlone(flags, []);
  return EvaluationFolder.resume(resume, async ({ flags: stored, model_sha256 }) => {
    const model = await findModel(stored.model, { tokenizer: true, lora: stored.lora });
    if ((await weightsSha256(model)) !== model_sha256)
      throw new UsageError(`--resume is "${resume}": the weights in "${stored.model}" are not those that were evaluated before`);
  });
}

/** @param {import('../files.mjs').ModelFolder} model */
async function weightsSha256({ paths }) {
  const weights = Object.keys(paths)
    .filter((name) => name.endsWith('.safetensors'))
    .sort()
    .map((name) => paths[name] ?? '');
  return sha256((await Promise.all(weights.map(fileSha256))).join());
}

/** Task by task, those without a score last. @param {any[]} trajectories */
function inOrder(trajectories) {
  const place = (/** @type {any} */ { group, index, reward }) => [reward === null ? 1 : 0, Number(group.split('-').at(-1)), index];
  return trajectories
    .map((trajectory) => ({ trajectory, at: place(trajectory) }))
    .sort((a, b) => a.at.map((value, i) => value - b.at[i]).find((difference) => difference !== 0) ?? 0)
    .map(({ trajectory }) => trajectory);
}

/** @param {number} x */
const points = (x) => `${x < 0 ? '−' : '+'}${Math.abs(100 * x).toFixed(1)}`;

/** @param {any} report */
const reportLines = (report) => [
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
];

/** @param {{ value: number, low: number, high: number } | null} share */
const writesWithYes = (share) =>
  share ? [`writes with the customer's yes: ${percent(share.value)}  (95 %: ${percent(share.low)} to ${percent(share.high)})`] : [];

/** @param {import('../../evaluation/customer-quality.ts').CustomerQuality} quality */
const customerLines = ({ rate, faulty, episodes, judged, kinds, denied, wrong }) =>
  rate
    ? [
        `customer: faults in ${faulty} of ${episodes} conversations, ${percent(rate.value)}  (95 %: ${percent(rate.low)} to ${percent(rate.high)}); reward denied in ${denied} of ${wrong} wrong ones`,
        ...counts('faults of the customer', kinds),
        ...(judged > 0 ? [`a model made a part of the audit in ${judged} of ${episodes} conversations`] : []),
      ]
    : [];

/** @param {string} title @param {Partial<Record<string, number>>} table */
function counts(title, table) {
  const entries = /** @type {[string, number][]} */ (Object.entries(table)).sort((a, b) => b[1] - a[1]);
  return [`${title}: ${entries.map(([name, n]) => `${name} ${n}`).join(', ') || 'none'}`];
}
