// @ts-check
/** `mua evaluate`, `score`, `grad`, `generate` and `bench`: numbers of a model, nothing trained. */
import { SEED } from '../args.mjs';
import { checkParent, findModel, writeAll } from '../files.mjs';
import { readGenerateInput, readGradInput, readScoreInput } from '../inputs.mjs';
import { runInPage } from '../page.mjs';
import { DOMAIN, INPUT, JSON_FLAG, LEVEL, MODEL, OUTPUT, percent, readUser, USER_FLAGS } from './shared.mjs';

/** @typedef {import('./shared.mjs').Command} Command */

/** @type {Command} */
export const evaluate = {
  summary: 'pass^1 … pass^K with 95 % confidence intervals, terminations, violations, tools',
  flags: {
    model: MODEL,
    domain: DOMAIN,
    level: LEVEL,
    split: { type: 'string', value: 'NAME', help: 'train or heldout', default: 'heldout', choices: ['train', 'heldout'] },
    tasks: { type: 'integer', value: 'N', help: 'tasks', default: 200, min: 1 },
    trials: { type: 'integer', value: 'K', help: 'episodes a task', default: 1, min: 1 },
    temperature: { type: 'number', value: 'T', help: 'sampling temperature; 0 is greedy', default: 1, min: 0 },
    seed: SEED,
    ...USER_FLAGS,
    output: { type: 'string', value: 'FILE.jsonl', help: 'also write every trajectory there' },
    json: JSON_FLAG,
  },
  async run({ model: directory, domain, level, split, tasks, trials, temperature, seed, output, ...flags }, progress) {
    const model = await findModel(directory, { tokenizer: true });
    if (output) await checkParent('output', output);
    const { user, userEndpoint } = await readUser(/** @type {any} */ (flags));
    const options = { domain, level, split, tasks, trials, temperature, seed, trajectories: output !== undefined };
    const { trajectories, ...report } = await runInPage({ request: { command: 'evaluate', options, user }, model, userEndpoint, progress });
    if (output) await writeAll({ [output]: trajectories.map((/** @type {unknown} */ t) => `${JSON.stringify(t)}\n`).join('') });
    return report;
  },
  show: (report) => [
    ...report.pass_hat.map((/** @type {any} */ { k, value, low, high }) => `pass^${k}  ${percent(value)}  (95 %: ${percent(low)} to ${percent(high)})`),
    `${report.tasks} tasks × ${report.trials}; ${report.noop_tasks} tasks change nothing; ${report.unscored} episodes unscored; ${report.turns_mean.toFixed(1)} turns; ${report.seconds.toFixed(0)} s`,
    ...counts('ended by', report.terminations),
    ...counts('violations', report.violations),
    ...counts('tools', report.tool_calls),
  ],
};

/** @param {string} title @param {Record<string, number>} table */
function counts(title, table) {
  const entries = Object.entries(table).sort((a, b) => b[1] - a[1]);
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
    const report = await runInPage({ request: { command: 'grad', request }, model, progress, onFile: (_, body) => void (gradients = body) });
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
    return { output, completions: result.completions.length, tokens: result.completions.reduce((/** @type {number} */ sum, /** @type {any} */ c) => sum + c.tokens.length, 0) };
  },
  show: ({ output, completions, tokens }) => [`${completions} completions, ${tokens} tokens: ${output}`],
};

/** @type {Command} */
export const bench = {
  summary: 'training and decoding speed beside a plain matmul, in one run',
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
