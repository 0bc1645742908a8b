/**
 * Checks a whole tiny model on a device: log-probs, sampler, gradients, AdamW, keys and values in f16, and the equal bits of prefill and
 * decode. Expected values come from float64 on the CPU. The head_dim is 128, which the kernel checks of self-test.ts do not use.
 */
import { fromHalf, toHalf } from '../base/half.ts';
import type { Check } from './check.ts';
import { createEngine } from './engine.ts';
import { engineAllocations } from './engine-allocations.ts';
import { type Float64Weights, float64Decoder, type Tensor } from './float64-decoder.ts';
import { Gpu, type View } from './gpu.ts';
import { adamwReference } from './kernels/adamw.ts';
import { kvRound } from './kernels/kv-format.ts';
import { sampleReference } from './kernels/sample-reference.ts';
import { mulberry32, randomWeights } from './parameters.ts';
import type { AdamWParams, Engine, Generation, ModelConfig, TensorMap, TokenLoss } from './types.ts';

const CONFIG: ModelConfig = {
  model_type: 'qwen3',
  vocab_size: 101,
  hidden_size: 32,
  intermediate_size: 48,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 128,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  max_position_embeddings: 64,
  tie_word_embeddings: true,
};
const SIZES = { maxModelLen: 64, slots: 2, maxTokens: 64, takeTurns: false };
/** The weight of each sequence. */
const WEIGHT = 0.1;
/** The entropy has a part in the loss, so that its gradient is checked too. */
const ENTROPY = 0.1;
const LOSS: TokenLoss = {
  name: 'self-test',
  wgsl: `fn token_loss(logprob: f32, entropy: f32, inputs: vec3f, settings: array<f32, 8>) -> vec2f { return vec2f(-1.0, ${ENTROPY}); }`,
  settings: [],
};
const ADAMW: AdamWParams = { lr: 1e-3, beta1: 0.9, beta2: 0.95, eps: 1e-8, weight_decay: 0.1, grad_clip: 0.5 };
/** Two sequences with the same first tokens, which are computed once. */
const PROMPT = [3, 1, 4, 15, 92, 65, 35];
const SEQUENCES = [
  [8, 97, 9, 32],
  [38, 46, 26, 43, 38],
].map((tokens) => [...PROMPT, ...tokens]);
const SEED = { seed: 7, stream: 3 };
/** Positions to sample: enough to pass the end of a page of the KV cache. */
const SAMPLED = 14;

/** Runs all checks, from the first computation to the last. A fault shows in the first check that uses it, and in later ones. */
export async function modelTest(gpu: Gpu): Promise<Check[]> {
  const weights = testWeights();
  const engine = await createEngine(gpu, CONFIG, weights, SIZES);
  const checks: Check[] = [{ name: 'rounding to f16', ...(await halfError(gpu)), most: 0 }];
  try {
    checks.push(
      ...(await scoreChecks(engine, weights)),
      ...(await samplerChecks(engine, weights)),
      await prefillCheck(engine, weights, 'f32'),
    );
    checks.push(...(await gradientChecks(engine, weights)), ...(await adamwChecks(engine, weights)));
  } finally {
    engine.destroy();
  }
  const half = await createEngine(gpu, CONFIG, weights, { ...SIZES, kvFormat: 'f16' });
  try {
    checks.push(await prefillCheck(half, weights, 'f16'), await trainingCheck(half));
  } finally {
    half.destroy();
  }
  return checks;
}

/** The WGSL of all kernels that `modelTest` runs on this device. Nothing is compiled. */
export function testedKernels({ info, device: { limits }, tuning }: Pick<Gpu, 'info' | 'device' | 'tuning'>): string[] {
  const gpu = Gpu.counting(info, limits);
  gpu.tuning = tuning;
  for (const kvFormat of ['f32', 'f16'] as const) {
    const allocations = engineAllocations(gpu, CONFIG, { ...SIZES, kvFormat });
    const { plan, maxModelLen } = allocations;
    const built = allocations.model();
    allocations.decode(built);
    const { gradients } = allocations.optimizer(plan.trained!, built.model.arena!);
    const program = allocations.training(built, allocations.trainingSizes(maxModelLen));
    program.scoring(built.model.views);
    program.training(built.model.views, plan.gradientViews(gradients), LOSS);
  }
  return gpu.kernelTexts;
}

/** Weights that are large enough for distributions far from uniform. */
function testWeights(): TensorMap {
  const weights = randomWeights(CONFIG, 5);
  const uniform = mulberry32(11);
  for (const [name, { data }] of weights) data.forEach((value, i) => (data[i] = name.includes('norm') ? 0.75 + uniform() / 2 : 8 * value));
  return weights;
}

/** The log-softmax of the logits after each token, in float64. */
function distributions(weights: Float64Weights, tokens: readonly number[]): Float64Array[] {
  const next = float64Decoder(CONFIG, weights);
  return tokens.map((token) => {
    const logits = next(token);
    const top = logits.reduce((a, b) => Math.max(a, b));
    const total = logits.reduce((sum, logit) => sum + Math.exp(logit - top), 0);
    return logits.map((logit) => logit - top - Math.log(total));
  });
}

/** Σ p·log p of a distribution of log-probs, negated. */
const entropyOf = (logs: Float64Array): number => -logs.reduce((sum, log) => sum + log * Math.exp(log), 0);

/** The largest value, or NaN if one is NaN. */
const worst = (errors: readonly number[]): number => errors.reduce((most, error) => (error <= most ? most : error), 0);

const batchOf = (sequences: readonly (readonly number[])[]) =>
  sequences.map((tokens) => ({ tokens, lossMask: tokens.map(() => 1), weight: WEIGHT }));

async function scoreChecks(engine: Engine, weights: TensorMap): Promise<Check[]> {
  const { logprobs, entropies } = await engine.score(batchOf(SEQUENCES));
  const [wrong, mixed]: [number[], number[]] = [[], []];
  for (const [s, tokens] of SEQUENCES.entries()) {
    const logs = distributions(weights, tokens);
    for (let t = 1; t < tokens.length; t++) {
      wrong.push(Math.abs(logprobs[s]![t]! - logs[t - 1]![tokens[t]!]!));
      mixed.push(Math.abs(entropies[s]![t]! - entropyOf(logs[t - 1]!)));
    }
  }
  return [
    { name: 'log-probs', error: worst(wrong), most: 1e-4 },
    { name: 'entropies', error: worst(mixed), most: 1e-4 },
  ];
}

/** Generates `count` tokens after `prompt`. */
async function generate(engine: Engine, prompt: readonly number[], count: number, temperature: number): Promise<Generation> {
  const sequence = await engine.sampler.open(SEED);
  engine.sampler.append(sequence, prompt);
  const generation = await engine.sampler.generate(sequence, { maxNewTokens: count, temperature, stopTokenIds: [] });
  engine.sampler.close(sequence);
  return generation;
}

async function samplerChecks(engine: Engine, weights: TensorMap): Promise<Check[]> {
  const checks: Check[] = [];
  for (const temperature of [0, 1]) {
    const { tokens, logprobs } = await generate(engine, PROMPT, SAMPLED, temperature);
    const logs = distributions(weights, [...PROMPT, ...tokens]);
    const expected = tokens.map((_, i) => {
      const position = PROMPT.length + i;
      return sampleReference(logs[position - 1]!, { ...SEED, temperature, topP: 1, topK: 0 }, position);
    });
    const name = temperature === 0 ? 'greedy tokens' : 'sampled tokens';
    checks.push(
      { name, error: expected.filter(({ token }, i) => token !== tokens[i]).length, most: 0 },
      { name: `log-probs of ${name}`, error: worst(expected.map(({ logprob }, i) => Math.abs(logprob - logprobs[i]!))), most: 1e-4 },
    );
  }
  return checks;
}

/** Compares the last token that decoding samples with the same token behind a prompt that has all tokens before it: equal bits. */
async function prefillCheck(engine: Engine, weights: TensorMap, format: string): Promise<Check> {
  const decoded = await generate(engine, PROMPT, SAMPLED, 0);
  engine.loadWeights(weights); // the sampler forgets its keys and values
  const before = [...PROMPT, ...decoded.tokens.slice(0, -1)];
  const prefilled = await generate(engine, before, 1, 0);
  const same = prefilled.tokens[0] === decoded.tokens.at(-1) && prefilled.logprobs[0] === decoded.logprobs.at(-1);
  const error = same ? 0 : Math.max(Number.EPSILON, Math.abs(prefilled.logprobs[0]! - decoded.logprobs.at(-1)!));
  return { name: `bits of prefill and decode with keys in ${format}`, error, most: 0 };
}

/** Compares the sampler's log-probs with those of training, which rounds its keys and values itself. */
async function trainingCheck(engine: Engine): Promise<Check> {
  const { tokens, logprobs } = await generate(engine, PROMPT, SAMPLED, 1);
  const scores = await engine.score(batchOf([[...PROMPT, ...tokens]]));
  const errors = logprobs.map((logprob, i) => Math.abs(logprob - scores.logprobs[0]![PROMPT.length + i]!));
  return { name: 'log-probs of sampler and training with keys in f16', error: worst(errors), most: 1e-4 };
}

/** The loss in float64. */
function lossOf(weights: Float64Weights): number {
  return SEQUENCES.reduce((sum, tokens) => {
    const logs = distributions(weights, tokens.slice(0, -1));
    return sum + logs.reduce((own, log, t) => own + WEIGHT * (ENTROPY * entropyOf(log) - log[tokens[t + 1]!]!), 0);
  }, 0);
}

const lengthOf = (data: Float32Array): number => Math.sqrt(data.reduce((sum, x) => sum + x * x, 0));

/**
 * Compares the gradient of each tensor with central differences of the loss along two random directions. The tensors of the last layer
 * come first, because a fault in the backward pass shows in all tensors behind it.
 */
async function gradientChecks(engine: Engine, weights: TensorMap): Promise<Check[]> {
  await engine.accumulate(batchOf(SEQUENCES), LOSS);
  const gradients = await engine.gradients();
  engine.zeroGradients();
  const uniform = mulberry32(13);
  const step = 1e-5;
  return [...weights.keys()].reverse().map((name): Check => {
    const [{ data }, { data: gradient }] = [weights.get(name)!, gradients.get(name)!];
    const errors = [0, 1].map(() => {
      const direction = Array.from(data, () => (uniform() < 0.5 ? -1 : 1));
      const moved = (by: number): number =>
        lossOf(new Map<string, Tensor>([...weights, [name, { data: Float64Array.from(data, (value, i) => value + by * direction[i]!) }]]));
      const slope = (moved(step) - moved(-step)) / (2 * step);
      return Math.abs(direction.reduce((sum, sign, i) => sum + sign * gradient[i]!, 0) - slope) / lengthOf(gradient);
    });
    return { name: `gradient of ${name}`, error: worst(errors), most: 1e-3 };
  });
}

/** Compares two steps with AdamW in float64, from the GPU's own gradients. */
async function adamwChecks(engine: Engine, weights: TensorMap): Promise<Check[]> {
  const names = [...weights.keys()];
  const flat = (tensors: TensorMap): Float64Array => Float64Array.from(names.flatMap((name) => [...tensors.get(name)!.data]));
  const decayed = names.flatMap((name) => Array.from(weights.get(name)!.data, () => weights.get(name)!.shape.length > 1));
  const params = flat(weights);
  const [m, v] = [new Float64Array(params.length), new Float64Array(params.length)];
  const errors: { norm: number[]; weights: number[] } = { norm: [], weights: [] };
  for (const step of [1, 2]) {
    await engine.accumulate(batchOf(SEQUENCES), LOSS);
    const grads = flat(await engine.gradients());
    const { gradNorm } = await engine.step(ADAMW);
    const norm = adamwReference({ params, grads, m, v }, ADAMW, step, (i) => decayed[i]!);
    errors.norm.push(Math.abs(gradNorm / norm - 1));
    errors.weights.push(worst(Array.from(flat(await engine.weights()), (value, i) => Math.abs(value - params[i]!) / ADAMW.lr)));
  }
  return [
    { name: 'gradient norm', error: worst(errors.norm), most: 1e-4 },
    { name: 'AdamW, in steps of the learning rate', error: worst(errors.weights), most: 1e-2 },
  ];
}

/** The largest error of rounding keys to f16, relative to the value. The values lie on and beside the middle between two halves. */
async function halfError(gpu: Gpu): Promise<{ error: number }> {
  const middles = Array.from({ length: 64 }, (_, i) => (1 + (2 * i + 1) / 2048) * 2 ** ((i % 29) - 14));
  const data = Float32Array.from(
    middles.flatMap((x, i) => [x, x * (1 + 2 ** -20), x * (1 - 2 ** -20), 1e6 + i].map((y) => (i % 2 ? -y : y))),
  );
  const expected = Array.from(toHalf(data.map((x) => Math.max(-65504, Math.min(65504, x)))), fromHalf);
  const views: View[] = [];
  try {
    const { qk, program } = gpu.collecting(views, () => {
      // One token with one query head, whose values stay, and one head of keys.
      const qk = gpu.buffer('self-test keys', 2 * data.byteLength);
      gpu.write(qk, data, data.byteLength);
      const qkv = gpu.buffer('self-test values', 3 * data.byteLength);
      const counts = gpu.uniform('self-test counts', [1, 0, 0, 0]);
      const shape = { tokens: { of: 'tokens' }, heads: 1, kvHeads: 1, headDim: data.length } as const;
      return { qk, program: kvRound(gpu, { qk, qkv, counts }, shape, 'f16') };
    });
    await gpu.ready();
    gpu.run(program, { tokens: 1, rows: 0 });
    const got = new Float32Array(await gpu.read(qk, data.byteLength, data.byteLength));
    return { error: worst(expected.map((value, i) => Math.abs(got[i]! - value) / Math.abs(value))) };
  } finally {
    for (const view of views) gpu.destroyBuffer(view);
  }
}
