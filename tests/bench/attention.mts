/**
 * Measures GFLOP/s of attention and, for comparison, of a matmul, and the time of a decode step on the paged cache. Only pairs
 * inside the causal mask count. Usage:
 * `VK_ICD_FILENAMES=/usr/lib/chromium/vk_swiftshader_icd.json npx tsx tests/bench/attention.mts [heads kvHeads headDim]`
 */
import { type Dispatch, Gpu, type View } from '../../src/engine/gpu.ts';
import { attentionBackward } from '../../src/engine/kernels/attention-backward.ts';
import { attention, packedKernels } from '../../src/engine/kernels/attention.ts';
import { matmul } from '../../src/engine/kernels/matmul.ts';
import { pagedAttention } from '../../src/engine/kernels/paged-attention.ts';
import { sample, sampleScratch } from '../../src/engine/kernels/sample.ts';
import type { Counts } from '../../src/engine/rows.ts';
import { dawn } from '../../src/trainer/node/dawn.ts';

const [heads = 4, kvHeads = 4, headDim = 32] = process.argv.slice(2).map(Number);
const gpu = await Gpu.create(dawn());
gpu.device.addEventListener('uncapturederror', (event) => console.error((event as GPUUncapturedErrorEvent).error.message));
const shape = { tokens: { of: 'tokens' as const }, heads, kvHeads, headDim };
const upload = (label: string, data: Float32Array<ArrayBuffer> | Uint32Array<ArrayBuffer>): View => {
  const view = gpu.buffer(label, data.byteLength);
  gpu.write(view, data);
  return view;
};
const random = (label: string, n: number): View =>
  upload(
    label,
    Float32Array.from({ length: n }, () => Math.random() * 2 - 1),
  );

interface Case {
  name: string;
  program: Dispatch[];
  counts: Counts;
  flops: number;
  best: number;
}
const cases: Case[] = [];
async function add(name: string, program: Dispatch[], counts: Counts, flops: number): Promise<void> {
  const from = performance.now();
  await gpu.ready();
  console.log(`${name}: compiled in ${(performance.now() - from).toFixed(0)} ms`);
  cases.push({ name, program, counts, flops, best: Infinity });
}

// Training: 8 sequences of 256 tokens.
const [sequences, length] = [8, 256];
const tokens = sequences * length;
const widths = { qk: (heads + kvHeads) * headDim, qkv: (heads + 2 * kvHeads) * headDim, out: heads * headDim };
const ends = Uint32Array.from({ length: tokens }, (_, t) => t - (t % length) + length);
const t = {
  qk: random('qk', tokens * widths.qk),
  qkv: random('qkv', tokens * widths.qkv),
  ends: upload('ends', ends),
  out: gpu.buffer('out', tokens * widths.out * 4),
  lse: gpu.buffer('lse', tokens * heads * 4),
  dout: random('dout', tokens * widths.out),
  delta: gpu.buffer('delta', tokens * heads * 4),
  dqk: gpu.buffer('dqk', tokens * widths.qk * 4),
  dqkv: gpu.buffer('dqkv', tokens * widths.qkv * 4),
  counts: gpu.uniform('counts', [tokens, 0, 0, 0]),
};
const product = 2 * sequences * ((length * (length + 1)) / 2) * heads * headDim; // operations of all scores, or of all weighted sums
const counts = { tokens, rows: 0 };
const b = random('b', 384 * 128);
await add(
  'matmul 2048x128x384',
  matmul(
    gpu,
    { a: random('a', tokens * 128), b, c: gpu.buffer('c', tokens * 384 * 4), counts: t.counts },
    { form: 'nt', rows: { of: 'tokens' }, n: 384, k: 128 },
  ),
  counts,
  2 * tokens * 128 * 384,
);
console.log('tokens of a workgroup', packedKernels(gpu.tuning.attention, shape).tokens);
await add('attention forward', attention(gpu, t, shape), counts, 2 * product);
const [query, key] = attentionBackward(gpu, t, shape);
await add('attention dq', [query!], counts, 3 * product);
await add('attention dk dv', [key!], counts, 4 * product);

// Decode: 32 slots of 512 keys; prefill: one slot of 512 tokens.
const paged = { ...shape, pageSize: 16, pagesPerSlot: 32, format: 'f32' as const };
const slots = 32;
const caches = {
  kCache: random('k', slots * 512 * kvHeads * headDim),
  vCache: random('v', slots * 512 * kvHeads * headDim),
  pageTable: upload(
    'page table',
    Uint32Array.from({ length: slots * 32 }, (_, i) => i),
  ),
};
for (const [name, n, slotOf, position] of [
  ['paged decode 32 slots x 512 keys', slots, (i: number) => i, () => 511],
  ['paged prefill 512 tokens', 512, () => 0, (i: number) => i],
] as const) {
  const positions = Uint32Array.from({ length: n }, (_, i) => position(i));
  const view = {
    qk: random('q', n * widths.qk),
    slotOf: upload(
      'slots',
      Uint32Array.from({ length: n }, (_, i) => slotOf(i)),
    ),
    positions: upload('positions', positions),
    out: gpu.buffer('out', n * widths.out * 4),
    counts: gpu.uniform('counts', [n, 0, 0, 0]),
  };
  await add(
    name,
    pagedAttention(gpu, { ...view, ...caches }, paged),
    { tokens: n, rows: 0 },
    positions.reduce((sum, p) => sum + p + 1, 0) * heads * headDim * 4,
  );
}

// Sampling: 32 rows of 270 ids, 8 rows of 151,936.
for (const [rows, vocab] of [
  [32, 270],
  [8, 151_936],
] as const) {
  const scratch = sampleScratch(gpu, rows, vocab);
  const params = upload(
    'params',
    Uint32Array.from({ length: rows * 8 }, (_, i) => [0x3f800000, 0x3f800000, 0, 1, i, 0, 0, 0][i % 8]!),
  );
  const view = {
    logits: random('logits', rows * (vocab + 3)),
    params,
    positions: gpu.buffer('positions', rows * 4),
    tokens: gpu.buffer('tokens', rows * 4),
    results: gpu.buffer('results', rows * 8),
    scratch,
    counts: gpu.uniform('counts', [0, rows, 0, 0]),
  };
  for (const truncate of [false, true])
    await add(
      `sample ${rows} x ${vocab}${truncate ? ', top-k/top-p' : ''}`,
      sample(gpu, view, { rows: { of: 'rows' }, vocab, step: 0, resultRows: rows, truncate }),
      { tokens: 0, rows },
      0,
    );
}

for (let round = 0; round < 8; round++) {
  for (const one of cases) {
    const from = performance.now();
    gpu.run(one.program, one.counts);
    await gpu.device.queue.onSubmittedWorkDone();
    one.best = Math.min(one.best, performance.now() - from);
  }
}
console.log(
  `${gpu.info.vendor} ${gpu.info.architecture}; heads ${heads}, kv heads ${kvHeads}, head_dim ${headDim}; best of 8 interleaved rounds`,
);
for (const { name, flops, best } of cases)
  console.log(
    `${name.padEnd(36)} ${best.toFixed(2).padStart(8)} ms ${flops ? `${(flops / best / 1e6).toFixed(2).padStart(8)} GFLOP/s` : ''}`,
  );
process.exit();
