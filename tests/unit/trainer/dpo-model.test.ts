/** `mua dpo` on an engine of one weight: its reference stays at the weights before step 1, also after an interruption. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { AdamWParams, Engine, TensorMap, TrainSequence } from '../../../src/engine/types.ts';
import type { ModelParts } from '../../../src/exchange/model-folder.ts';
import type { StepMetrics } from '../../../src/records/run.ts';
import { dpoModel } from '../../../src/trainer/dpo-model.ts';
import type { EngineHost } from '../../../src/trainer/engine-host.ts';
import type { SftOptions } from '../../../src/trainer/messages.ts';

const FILES = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'];
const model: ModelParts = Object.fromEntries(FILES.map((name) => [name, new Uint8Array(readFileSync(`models/nano-retail/${name}`))]));

/** A model with one weight w, whose tokens of an answer have the log-probability −w. A step adds 1 to w. */
class OneWeight {
  w = 2;
  #steps = 0;
  readonly #map = (): TensorMap => new Map([['w', { shape: [1], data: Float32Array.of(this.w) }]]);
  weights = async () => this.#map();
  loadWeights = (weights: TensorMap) => void (this.w = weights.get('w')!.data[0]!);
  score = async (sequences: readonly TrainSequence[]) => ({
    logprobs: sequences.map(({ tokens }) => new Float32Array(tokens.length).fill(-this.w)),
  });
  accumulate = async () => {};
  step = async (_: AdamWParams) => (this.w++, this.#steps++, { gradNorm: 1 });
  optimizerState = async () => ({ step: this.#steps, m: this.#map(), v: this.#map() });
  loadOptimizerState = async ({ step }: { step: number }) => void (this.#steps = step);
}

/** The worse answer has more tokens than the better one. */
const PAIRS = JSON.stringify({
  prompt: [{ role: 'user', content: 'a' }],
  chosen: [{ role: 'assistant', content: 'b' }],
  rejected: [{ role: 'assistant', content: 'b b b' }],
});

async function run(engine: OneWeight, options: SftOptions, jsonl = PAIRS) {
  const checkpoints: Uint8Array<ArrayBuffer>[] = [];
  const steps: StepMetrics[] = [];
  const notes: string[] = [];
  const host = {
    open: async () => engine as unknown as Engine,
    info: async () => ({ description: 'one weight', vendor: '', architecture: '' }),
  } as unknown as EngineHost;
  const sink = {
    progress: () => {},
    note: (text: string) => void notes.push(text),
    evaluation: () => {},
    step: (metrics: StepMetrics) => void steps.push(metrics),
    checkpoint: (_: number, bytes: Uint8Array<ArrayBuffer>) => void checkpoints.push(bytes),
  };
  const result = await dpoModel(host, model, jsonl, options, sink);
  return { checkpoints, steps, notes, result };
}

const overrides = { total_training_steps: '3', lr_scheduler_type: 'constant' as const };

test('the reference of a resumed run is that of the whole run', async () => {
  const whole = await run(new OneWeight(), { overrides });
  // ln π/π_ref of an answer of n tokens is −n·(w − 2), so it is 0 in step 1.
  const counts = whole.steps.map((step) => ({ chosen: -step['logps/chosen']!, rejected: -step['logps/rejected']! }));
  const tokens = { chosen: counts[0]!.chosen / 2, rejected: counts[0]!.rejected / 2 };
  expect(tokens.rejected).toBeGreaterThan(tokens.chosen);
  for (const [i, step] of whole.steps.entries()) {
    expect(step['rewards/chosen']).toBeCloseTo(-0.1 * tokens.chosen * i, 5);
    expect(step['rewards/margins']).toBeCloseTo(0.1 * (tokens.rejected - tokens.chosen) * i, 5);
  }
  const [checkpoint] = whole.checkpoints;
  const interrupted = { checkpoint: checkpoint!, metrics: whole.steps.slice(0, 1), evaluations: [] };
  const engine = new OneWeight();
  engine.w = 3; // the weights of the checkpoint, with which a resumed run is opened
  const resumed = await run(engine, { overrides, interrupted });
  expect(resumed.steps).toEqual(whole.steps.slice(1));
  expect(resumed.result.losses).toEqual(whole.result.losses);
  expect(engine.w).toBe(5);
});

test('a pair that is too long is named; a row that is no pair is left out and noted', async () => {
  await expect(run(new OneWeight(), { overrides: { max_model_len: '8' } })).rejects.toThrow(/pair 1 has \d+ tokens: max_model_len is 8/);
  const { notes } = await run(new OneWeight(), { overrides }, `${PAIRS}\n{"messages": [{"role": "user", "content": "a"}]}`);
  expect(notes).toEqual([
    'data: 1 of 2 rows cannot be read and are left out: line 2: chosen is missing: expected a message, or a list of messages',
  ]);
});
