/** @file Measures the speed of this device: a plain matmul, then training steps and batched decoding of several model sizes. */
import type { BenchReport, Progress, EngineInfo } from './messages.ts';
import { createEngine } from '../engine/engine.ts';
import { matmul } from '../engine/kernels/matmul.ts';
import type { Gpu } from '../engine/gpu.ts';
import { randomWeights } from '../engine/parameters.ts';
import type { ModelConfig } from '../records/model.ts';
import type { Engine } from '../engine/types.ts';
import { hash32 } from '../base/random.ts';
import { sftLoss } from '../training/grpo-loss.ts';

interface Size {
  config: ModelConfig;
  batch: number;
  length: number;
}

const qwen3 = (
  config: Pick<
    ModelConfig,
    'vocab_size' | 'hidden_size' | 'intermediate_size' | 'num_hidden_layers' | 'num_attention_heads' | 'num_key_value_heads' | 'head_dim'
  >,
): ModelConfig => ({
  model_type: 'qwen3',
  rms_norm_eps: 1e-6,
  rope_theta: 1e6,
  max_position_embeddings: 4096,
  tie_word_embeddings: true,
  ...config,
});

/** Model sizes by name. The comparison with other libraries (tests/bench/peers) also measures `1m`. */
const BENCH_SIZES: Record<string, Size> = {
  '1m': {
    config: qwen3({
      vocab_size: 2048,
      hidden_size: 128,
      intermediate_size: 384,
      num_hidden_layers: 4,
      num_attention_heads: 4,
      num_key_value_heads: 4,
      head_dim: 32,
    }),
    batch: 8,
    length: 256,
  },
  '5m': {
    config: qwen3({
      vocab_size: 4096,
      hidden_size: 256,
      intermediate_size: 768,
      num_hidden_layers: 5,
      num_attention_heads: 8,
      num_key_value_heads: 4,
      head_dim: 32,
    }),
    batch: 4,
    length: 256,
  },
};

const MATMULS = [
  { m: 512, n: 512, k: 512 },
  { m: 2048, n: 384, k: 128 },
  { m: 2048, n: 1024, k: 256 },
];
const DECODE_BATCH = 32;
const DECODE_TOKENS = 32;

/** Floating-point operations of forward and backward on causal sequences. Attention counts the lower triangle only. */
function trainingFlops({ config: c, batch, length }: Size): number {
  const perLayer =
    c.hidden_size * c.head_dim * (2 * c.num_attention_heads + 2 * c.num_key_value_heads) + 3 * c.hidden_size * c.intermediate_size;
  const weights = c.num_hidden_layers * perLayer + c.vocab_size * c.hidden_size;
  const attention = (c.num_hidden_layers * 2 * c.num_attention_heads * c.head_dim * length) / 2;
  return 6 * batch * length * (weights + attention);
}

export async function bench(gpu: Gpu, adapter: EngineInfo, progress: Progress): Promise<BenchReport> {
  const report: BenchReport = { adapter, matmul: [], training: [], decode: [] };
  const names = Object.keys(BENCH_SIZES);
  const total = MATMULS.length + 2 * names.length;
  let done = 0;
  for (const shape of MATMULS) {
    report.matmul.push({ shape: `${shape.m}x${shape.k}x${shape.n}`, gflops: await matmulRate(gpu, shape) });
    progress(++done, total, 'matmul');
  }
  const best = Math.max(...report.matmul.map(({ gflops }) => gflops));
  for (const name of names) {
    const size = BENCH_SIZES[name]!;
    const engine = await createEngine(gpu, size.config, randomWeights(size.config, 1), { maxModelLen: 512, slots: DECODE_BATCH });
    const ms = await trainingStepMs(engine, size);
    const tokens = size.batch * size.length;
    const gflops = trainingFlops(size) / ms / 1e6;
    report.training.push({
      model: name,
      tokens,
      ms_per_step: ms,
      tokens_per_s: (tokens / ms) * 1000,
      gflops,
      share_of_best_matmul: gflops / best,
    });
    progress(++done, total, `train ${name}`);
    report.decode.push({ model: name, batch: DECODE_BATCH, tokens_per_s: await decodeRate(engine) });
    progress(++done, total, `decode ${name}`);
    engine.destroy();
  }
  return report;
}

/** GFLOP/s of y = x·Wᵀ. Each submit runs several products; the fastest of five submits counts. */
async function matmulRate(gpu: Gpu, { m, n, k }: { m: number; n: number; k: number }): Promise<number> {
  const counts = gpu.uniform('counts', [m, 0, 0, 0]);
  const [a, b, c] = [gpu.buffer('a', m * k * 4), gpu.buffer('b', n * k * 4), gpu.buffer('c', m * n * 4)];
  const repeats = gpu.info.software ? 2 : 200;
  const once = matmul(gpu, { a, b, c, counts }, { form: 'nt', rows: { of: 'tokens' }, n, k });
  const program = Array.from({ length: repeats }, () => once).flat();
  await gpu.ready();
  const best = await bestOf(5, async () => {
    gpu.run(program, { tokens: m, rows: 0 });
    await gpu.device.queue.onSubmittedWorkDone();
  });
  for (const view of [counts, a, b, c]) gpu.destroyBuffer(view);
  return (2 * m * n * k * repeats) / best / 1e6;
}

async function trainingStepMs(engine: Engine, { config, batch, length }: Size): Promise<number> {
  const sequences = Array.from({ length: batch }, (_, i) => ({
    tokens: Array.from({ length }, (_, t) => hash32(i, t) % config.vocab_size),
    lossMask: Array.from({ length }, () => 1),
    weight: 1 / (batch * length),
  }));
  return bestOf(3, async () => {
    await engine.accumulate(sequences, sftLoss);
    await engine.step({ lr: 1e-4, beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 0, grad_clip: 1 });
  });
}

async function decodeRate({ sampler, config }: Engine): Promise<number> {
  const ms = await bestOf(2, async () => {
    await Promise.all(
      Array.from({ length: DECODE_BATCH }, async (_, stream) => {
        const sequence = await sampler.open({ seed: 1, stream });
        sampler.append(sequence, [stream % config.vocab_size]);
        await sampler.generate(sequence, { maxNewTokens: DECODE_TOKENS, temperature: 1, stopTokenIds: [] });
        sampler.close(sequence);
      }),
    );
  });
  return (DECODE_BATCH * DECODE_TOKENS * 1000) / ms;
}

/** Milliseconds of the fastest of `runs` runs, after one warm-up run. */
async function bestOf(runs: number, work: () => Promise<void>): Promise<number> {
  await work();
  let best = Infinity;
  for (let run = 0; run < runs; run++) {
    const start = performance.now();
    await work();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}
