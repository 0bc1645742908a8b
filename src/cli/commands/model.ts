/** @file `mua score`, `grad`, `generate`, `plan`, `bench` and `self-test`: compute values with a model, and measure memory, speed and exactness. */
import { ON } from '../backend.ts';
import { command } from '../command.ts';
import { CommandError, UsageError } from '../errors.ts';
import { checkParent, findModel, writeAll } from '../files.ts';
import { readGenerateInput, readGradInput, readScoreInput } from '../inputs.ts';
import { runJob } from '../job.ts';
import { INPUT, JSON_FLAG, MODEL, OUTPUT, percent, WEIGHTS } from './shared.ts';

export const score = command({
  summary: 'compute the log-probability and entropy of every token of given sequences or texts',
  flags: { model: MODEL, ...WEIGHTS, input: INPUT, output: OUTPUT, on: ON, json: JSON_FLAG },
  async run({ model: directory, lora, precision, input, output, on }, progress) {
    const model = await findModel(directory, { lora });
    const request = await readScoreInput(input, model.vocabSize);
    await checkParent('output', output);
    const result = await runJob({ on, request: { command: 'score', request, precision }, model, progress });
    await writeAll({ [output]: JSON.stringify(result) });
    // A sequence has one token more than it has predictions.
    const tokens = result.logprobs.reduce((sum, row) => sum + row.length + 1, 0);
    return { output, sequences: result.logprobs.length, tokens };
  },
  show: ({ output, sequences, tokens }) => [`${sequences} sequences, ${tokens} tokens: ${output}`],
});

export const grad = command({
  summary: 'compute the gradients of the SFT or GRPO loss on given sequences; with --lora, only those of the adapter',
  flags: {
    model: MODEL,
    ...WEIGHTS,
    input: INPUT,
    output: { ...OUTPUT, value: 'FILE.safetensors' },
    report: { type: 'string', value: 'FILE.json', help: 'file for the loss and its parts', required: true },
    on: ON,
    json: JSON_FLAG,
  },
  async run({ model: directory, lora, precision, input, output, report: reportPath, on }, progress) {
    const model = await findModel(directory, { lora });
    const request = await readGradInput(input, model.vocabSize);
    await checkParent('output', output);
    await checkParent('report', reportPath);
    let gradients: Uint8Array = new Uint8Array();
    const report = await runJob({
      on,
      request: { command: 'grad', request, precision },
      model,
      progress,
      onFile: (body) => void (gradients = body),
    });
    await writeAll({ [output]: gradients, [reportPath]: `${JSON.stringify(report, null, 2)}\n` });
    return { output, ...report };
  },
  show: ({ output, ...report }) => [...Object.entries(report).map(([name, value]) => `${name} ${value}`), `gradients in ${output}`],
});

export const generate = command({
  summary: 'complete given prompts; also writes log-probabilities',
  flags: { model: MODEL, ...WEIGHTS, input: INPUT, output: OUTPUT, on: ON, json: JSON_FLAG },
  async run({ model: directory, lora, precision, input, output, on }, progress) {
    const model = await findModel(directory, { lora });
    const request = await readGenerateInput(input, model.vocabSize);
    await checkParent('output', output);
    const result = await runJob({ on, request: { command: 'generate', request, precision }, model, progress });
    await writeAll({ [output]: JSON.stringify(result) });
    return {
      output,
      completions: result.completions.length,
      tokens: result.completions.reduce((sum, c) => sum + c.tokens.length, 0),
    };
  },
  show: ({ output, completions, tokens }) => [`${completions} completions, ${tokens} tokens: ${output}`],
});

const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0).padStart(7)} MiB`;

export const plan = command({
  summary: 'compute the GPU memory that a model needs for training and generation; nothing is allocated',
  flags: {
    model: MODEL,
    precision: WEIGHTS.precision,
    'lora-rank': {
      type: 'integer',
      value: 'R',
      help: 'rank of adapters on all linear maps; 0: all weights are trained',
      default: 0,
      min: 0,
    },
    'max-model-len': { type: 'integer', value: 'N', help: 'largest number of tokens in a conversation', default: 2048, min: 1 },
    slots: { type: 'integer', value: 'N', help: 'number of conversations that are played at once', default: 8, min: 1 },
    'shared-tokens': {
      type: 'integer',
      value: 'N',
      help: 'number of tokens that all conversations share at their start (policy and tools); the KV cache stores them once',
      default: 0,
      min: 0,
    },
    'kv-cache-dtype': {
      type: 'string',
      value: 'NAME',
      help: 'format of keys and values: f32, f16 or auto (f16 if --precision is not f32)',
      default: 'auto',
      choices: ['auto', 'f32', 'f16'],
    },
    on: ON,
    json: JSON_FLAG,
  },
  async run({ model: directory, precision, loraRank, maxModelLen, slots, sharedTokens, kvCacheDtype, on }, progress) {
    if (sharedTokens > maxModelLen)
      throw new UsageError(`--shared-tokens is ${sharedTokens}: expected at most --max-model-len (${maxModelLen})`);
    const model = await findModel(directory);
    const request = {
      precision,
      lora_rank: loraRank,
      max_model_len: maxModelLen,
      slots,
      shared_tokens: sharedTokens,
      kv_cache_dtype: kvCacheDtype,
    };
    return runJob({ on, request: { command: 'plan', request }, model, progress });
  },
  show: ({ weights, sampler, training, optimizer, recomputed_layers, take_turns, total }) => [
    `${mebibytes(weights)}  weights`,
    `${mebibytes(sampler)}  sampler: KV cache and activations`,
    `${mebibytes(training)}  training: activations, their gradients, logits${recomputed_layers ? `; ${recomputed_layers} layers are recomputed in the backward pass` : ''}`,
    `${mebibytes(optimizer)}  optimizer: gradients and two moments`,
    `${mebibytes(total)}  together${take_turns ? '; sampler and training take turns' : ''}`,
  ],
});

export const selfTest = command({
  summary: 'check a whole tiny model on this GPU against float64: log-probs, sampler, gradients, AdamW',
  flags: { on: ON, json: JSON_FLAG },
  async run({ on, json }, progress) {
    const report = await runJob({ on, request: { command: 'selfTest' }, progress });
    if (report.failure !== null && !json) throw new CommandError(`this GPU computes wrong results: ${report.failure}`);
    return report;
  },
  show: ({ adapter, browser, kernels, milliseconds, checks }) => [
    `${[adapter.vendor, adapter.architecture, adapter.description].filter(Boolean).join(' ')}${adapter.software ? ' (software)' : ''}, ${browser}`,
    ...checks.map(({ name, error, most }) => `ok  ${error.toExponential(1)} of ${most}  ${name}`),
    `${checks.length} checks passed in ${(milliseconds / 1000).toFixed(1)} s; kernels ${kernels.slice(0, 12)}`,
  ],
});

export const bench = command({
  summary: 'measure the speed of training, prefill and decoding, and for comparison the speed of a plain matmul and of a copy',
  flags: {
    workloads: { type: 'string', value: 'NAME,…', help: 'what to measure, e.g. train-nano,decode-nano-8 (default: everything)' },
    svg: { type: 'string', value: 'FILE.svg', help: 'also draw the workloads under the roofline of the device' },
    on: ON,
    json: JSON_FLAG,
  },
  async run({ workloads, svg, on }, progress) {
    if (svg) await checkParent('svg', svg);
    const names = workloads === undefined ? [] : workloads.split(',').map((name) => name.trim());
    let picture: Buffer = Buffer.alloc(0);
    const onFile = (body: Buffer) => void (picture = body);
    const report = await runJob({ on, request: { command: 'bench', workloads: names }, onFile, progress });
    if (svg) await writeAll({ [svg]: picture });
    return report;
  },
  show: ({ adapter, ceilings, workloads }) => [
    `${[adapter.vendor, adapter.architecture, adapter.description].filter(Boolean).join(' ')}${adapter.software ? ' (software)' : ''}`,
    ...ceilings.matmul.map(({ shape, gflops }) => `matmul ${shape}  ${gflops.toFixed(2)} GFLOP/s`),
    `copy  ${ceilings.gb_per_s.toFixed(2)} GB/s`,
    ...workloads.map(
      ({ name, reduced, ms, tokens, tokens_per_s, computed_tokens, cpu_s, prefilled, needed, gflops, share, share_of_matmul, bound }) =>
        [
          `${name}${reduced && ` (${reduced})`}  ${tokens_per_s.toFixed(0)} tokens/s`,
          `${ms.toFixed(0)} ms${cpu_s === null ? '' : ` and ${cpu_s.toFixed(1)} CPU seconds`} for ${tokens} tokens (${computed_tokens} computed)`,
          ...(prefilled === undefined ? [] : [`${prefilled} prefilled, ${needed} needed`]),
          `${gflops.toFixed(2)} GFLOP/s = ${percent(share_of_matmul)} of the matmul, ${percent(share)} of what the ${bound === 'bytes' ? 'copy' : 'matmul'} allows`,
        ].join(', '),
    ),
  ],
});
