/**
 * @file Checks at start-up the kernel variants that this device uses. Each kernel is compared with its float64 reference on small
 * shapes that do not fill whole tiles. Variants that exchange values between lanes are used only if the lanes have the order that
 * these kernels assume.
 */
import { toHalf } from '../base/half.ts';
import type { Check } from './check.ts';
import type { Dispatch, Gpu, View } from './gpu.ts';
import { defineKernel } from './kernel.ts';
import { attention, attentionReference } from './kernels/attention.ts';
import { KV_FORMATS } from './kernels/kv-format.ts';
import { matmul, type MatmulForm, matmulReference, tnPartialBytes } from './kernels/matmul.ts';
import { pagedAttention, pagedAttentionReference } from './kernels/paged-attention.ts';
import { rmsnorm, rmsnormReference } from './kernels/rmsnorm.ts';
import { decodeWeights, encodeWeights, type WeightFormat } from './kernels/weight-format.ts';
import type { Rows } from './rows.ts';
import { exchangesLanes, tuningFor } from './tuning.ts';

/**
 * The matmul kernel chooses its tile size by the number of rows. These row counts together use every tile size. Some are one row
 * more than a full tile.
 */
const ROWS = [1, 8, 33, 65];
const TOLERANCE = 1e-4;
const TOKENS: Rows = { of: 'tokens' };

interface KernelRun {
  name: string;
  tokens: number;
  program: Dispatch[];
  out: View;
  expected: Float64Array;
}

/**
 * Checks the kernels of `gpu.tuning`. If the lanes of a quad do not follow the local index, the function first sets `gpu.tuning` to
 * variants that exchange no values between lanes.
 * @param options.attention check attention too. By default a software adapter skips these checks: its attention kernels take seconds
 *   to compile, and it is the same program on every machine, so the GPU tests have already run these kernels on it.
 * @param options.format check only matmuls with weights in this format
 * @param options.adapter check a matmul with LoRA too. Needs `format`.
 */
export async function kernelChecks(
  gpu: Gpu,
  { attention = !gpu.info.software, format, adapter = false }: { attention?: boolean; format?: WeightFormat; adapter?: boolean } = {},
): Promise<Check[]> {
  if (exchangesLanes(gpu.tuning) && !(await quadsFollowLocalIndex(gpu))) gpu.tuning = tuningFor({ ...gpu.info, subgroupSize: 0 });
  const views: View[] = [];
  try {
    const runs = gpu.collecting(views, () =>
      ROWS.flatMap((tokens) => {
        const tensors = new Tensors(gpu, tokens);
        return format ? formatChecks(tensors, format, adapter) : [...layerChecks(tensors), ...(attention ? attentionChecks(tensors) : [])];
      }),
    );
    await gpu.ready();
    const checks: Check[] = [];
    for (const { name, tokens, program, out, expected } of runs) {
      gpu.run(program, { tokens, rows: 0 });
      const got = new Float32Array(await gpu.read(out, expected.length * 4));
      const error = got.reduce((most, value, i) => Math.max(most, Math.abs(value - expected[i]!)), 0);
      checks.push({ name: `${name} of ${tokens} rows`, error, most: TOLERANCE });
    }
    return checks;
  } finally {
    for (const view of views) gpu.destroyBuffer(view);
  }
}

/** Makes the buffers and checks for runs with `tokens` rows. */
class Tensors {
  readonly counts: View;

  constructor(
    readonly gpu: Gpu,
    readonly tokens: number,
  ) {
    this.counts = gpu.uniform('self-test counts', [tokens, 0, 0, 0]);
  }

  upload(data: Float64Array | Uint32Array<ArrayBuffer>): View {
    const view = this.gpu.buffer('self-test', data.length * 4);
    this.gpu.write(view, data instanceof Float64Array ? Float32Array.from(data) : data);
    return view;
  }

  check(name: string, expected: Float64Array, program: (out: View) => Dispatch[]): KernelRun {
    const out = this.gpu.buffer('self-test result', expected.length * 4);
    return { name, tokens: this.tokens, program: program(out), out, expected };
  }
}

/** Checks of matmuls and of RMS norm. */
function layerChecks(t: Tensors): KernelRun[] {
  const { gpu, tokens, counts } = t;
  const [n, k, eps] = [20, 28, 1e-6];
  const [x, w, dy, gain] = [values(tokens * k, 1), values(n * k, 2), values(tokens * n, 3), values(k, 4)];
  const product = (a: Float64Array, b: Float64Array, sizes: { form: MatmulForm; n: number; k: number }, partial?: View): KernelRun =>
    t.check(`matmul ${sizes.form}${partial ? ' in parts' : ''}`, matmulReference(a, b, tokens, sizes), (c) =>
      matmul(gpu, { a: t.upload(a), b: t.upload(b), c, counts, partial }, { ...sizes, rows: TOKENS, accumulate: partial !== undefined }),
    );
  const scratch = tnPartialBytes(gpu.tuning.matmul);
  return [
    product(x, w, { form: 'nt', n, k }),
    product(dy, w, { form: 'nn', n: k, k: n }),
    product(dy, x, { form: 'tn', n, k }),
    ...(scratch > 0 ? [product(dy, x, { form: 'tn', n, k }, gpu.buffer('self-test', scratch))] : []),
    t.check('rmsnorm', rmsnormReference(x, gain, eps).y, (y) =>
      rmsnorm(
        gpu,
        { x: t.upload(x), weight: t.upload(gain), y, rstd: t.upload(new Float64Array(tokens)), counts },
        { rows: TOKENS, width: k, eps },
      ),
    ),
  ];
}

/** Checks of matmuls with a weight [20, 32] in a format. With `adapter`, one more adds LoRA to 12 of the 20 columns. */
function formatChecks(t: Tensors, format: WeightFormat, adapter: boolean): KernelRun[] {
  const { gpu, tokens, counts } = t;
  const [n, k] = [20, 32];
  const encoded = encodeWeights(format, Float32Array.from(values(n * k, 2)));
  const upload = (data: ArrayBufferView<ArrayBuffer>): View => {
    const view = gpu.buffer('self-test', data.byteLength);
    gpu.write(view, data);
    return view;
  };
  const b = { format, values: upload(encoded.values), ...(encoded.scales && { scales: upload(encoded.scales) }) };
  const decoded = Float64Array.from(decodeWeights(format, encoded));
  const product = (a: Float64Array, sizes: { form: MatmulForm; n: number; k: number }): KernelRun =>
    t.check(`matmul ${sizes.form} ${format}`, matmulReference(a, decoded, tokens, sizes), (c) =>
      matmul(gpu, { a: t.upload(a), b, c, counts }, { ...sizes, rows: TOKENS }),
    );
  const x = values(tokens * k, 1);
  const checks = [product(x, { form: 'nt', n, k }), product(values(tokens * n, 3), { form: 'nn', n: k, k: n })];
  if (!adapter) return checks;
  const second = { form: 'nt', n: 12, k: 4, cAt: 8, ldc: n, accumulate: true } as const;
  const [down, lora] = [values(tokens * second.k, 10), values(second.n * second.k, 11)];
  const expected = matmulReference(down, lora, tokens, second, matmulReference(x, decoded, tokens, { form: 'nt', n, k }));
  const part = { at: 0, first: second.cAt, rows: second.n };
  return [
    ...checks,
    t.check(`matmul nt ${format} with adapters`, expected, (c) =>
      matmul(
        gpu,
        { a: t.upload(x), b, c, counts, adapter: { rank: second.k, down: t.upload(down), b: t.upload(lora), parts: [part] } },
        { form: 'nt', n, k, rows: TOKENS },
      ),
    ),
  ];
}

/** Checks of packed and paged attention over one sequence. */
function attentionChecks(t: Tensors): KernelRun[] {
  const { gpu, tokens, counts } = t;
  const shape = { heads: 2, kvHeads: 1, headDim: 32 };
  const packed = {
    qk: values(tokens * 3 * shape.headDim, 5),
    qkv: values(tokens * 4 * shape.headDim, 6),
    ends: new Uint32Array(tokens).fill(tokens),
  };
  const pages = { heads: 2, kvHeads: 1, headDim: 8, pageSize: 16, pagesPerSlot: 5 };
  const paged = {
    qk: values(tokens * 3 * 8, 7),
    slotOf: new Uint32Array(tokens),
    positions: Uint32Array.from({ length: tokens }, (_, position) => position),
    pageTable: Uint32Array.of(3, 0, 4, 1, 2),
    // These values are multiples of 1/1024 below 1, which f16 holds exactly.
    kCache: values(5 * 16 * 8, 8),
    vCache: values(5 * 16 * 8, 9),
  };
  const { qk, qkv, ends } = packed;
  const { slotOf, positions, pageTable, kCache, vCache } = paged;
  return [
    t.check('attention', attentionReference(packed, shape).out, (out) => {
      const lse = t.upload(new Float64Array(tokens * shape.heads));
      const tensors = { qk: t.upload(qk), qkv: t.upload(qkv), ends: t.upload(ends), out, lse, counts };
      return attention(gpu, tensors, { tokens: TOKENS, ...shape });
    }),
    ...KV_FORMATS.map((format) =>
      t.check(`paged attention ${format}`, pagedAttentionReference(paged, pages), (out) => {
        const stored = (data: Float64Array): View =>
          t.upload(format === 'f16' ? new Uint32Array(toHalf(Float32Array.from(data)).buffer) : data);
        const cache = { pageTable: t.upload(pageTable), kCache: stored(kCache), vCache: stored(vCache) };
        const tensors = { qk: t.upload(paged.qk), slotOf: t.upload(slotOf), positions: t.upload(positions), ...cache, out, counts };
        return pagedAttention(gpu, tensors, { tokens: TOKENS, ...pages, format });
      }),
    ),
  ];
}

/**
 * Whether the four lanes of a quad are four consecutive local indices, in order. WGSL does not promise this, but paged
 * attention with `quad` needs it.
 */
export async function quadsFollowLocalIndex(gpu: Gpu): Promise<boolean> {
  const { attention, pagedAttention } = gpu.tuning;
  const views: View[] = [];
  try {
    for (const threads of new Set([4, attention?.threads ?? 4, pagedAttention.threads])) {
      const kernel = defineKernel({
        label: `lanes of ${threads} threads`,
        writes: { lanes: 'vec4u' },
        subgroups: true,
        body: /* wgsl */ `
@compute @workgroup_size(${threads}) fn main(
  @builtin(workgroup_id) wg: vec3u, @builtin(local_invocation_index) thread: u32, @builtin(subgroup_invocation_id) sg: u32) {
  lanes[wg.x * ${threads}u + thread] = vec4u(sg & 3u, quadSwapX(thread), quadSwapY(thread), quadSwapDiagonal(thread));
}`,
      });
      const groups = 8;
      const lanes = gpu.collecting(views, () => gpu.buffer('self-test lanes', groups * threads * 16));
      const dispatch = gpu.dispatch(kernel, { lanes }, () => [groups]);
      await gpu.ready();
      gpu.run([dispatch], { tokens: 0, rows: 0 });
      const got = new Uint32Array(await gpu.read(lanes, groups * threads * 16));
      const expected = Array.from({ length: groups * threads }, (_, i) => {
        const thread = i % threads;
        return [thread & 3, thread ^ 1, thread ^ 2, thread ^ 3];
      }).flat();
      if (got.some((value, i) => value !== expected[i])) return false;
    }
    return true;
  } finally {
    for (const view of views) gpu.destroyBuffer(view);
  }
}

/** Fixed pseudo-random values in [-1, 1) that f32 holds exactly. */
function values(length: number, seed: number): Float64Array {
  return Float64Array.from({ length }, (_, i) => (((i * 2654435761 + seed * 40503) >>> 8) % 2048) / 1024 - 1);
}
