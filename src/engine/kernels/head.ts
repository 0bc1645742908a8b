/**
 * What follows the logits of a chunk of rows: log-probability and entropy of softmax(logits / temperature), and the
 * gradient of a token loss, written over the logits. No probability is ever stored; the vocabulary of a row is split
 * over threads (interleaved vec4s), whose partial results are then joined in order.
 *
 * Logits are local to the chunk, [rows of the chunk, ldc] with ldc = vocab rounded up to 4. Targets, inputs and
 * statistics are of all rows: row r of the chunk is entry base + r, `base` being that of `rows`.
 */
import { type Counts, type Dispatch, type Gpu, rowCount, type Rows, rowWords, type View } from '../gpu.ts';
import { headWgsl, itemGroups, itemKernelWgsl } from './row-kernel.ts';

export interface HeadSizes {
  rows: Rows;
  vocab: number;
}

/** Bytes of the uniform `settings`. */
export const HEAD_SETTINGS_BYTES = 48;
/** Contents of `settings`: the temperature, and the eight settings of the TokenLoss. @throws RangeError unless temperature > 0. */
export function headSettings(temperature: number, settings: readonly number[] = []): Float32Array<ArrayBuffer> {
  if (!(temperature > 0)) throw new RangeError(`headSettings temperature ${temperature}: expected > 0`);
  if (settings.length > 8) throw new RangeError(`headSettings: ${settings.length} loss settings, expected at most 8`);
  const words = new Float32Array(12);
  words[0] = temperature;
  words.set(settings, 4);
  return words;
}

/** Threads that share a row: at least 16 vec4s each. */
export const splitsOf = (vocab: number): number => Math.min(256, Math.max(1, Math.floor(vocab / 64)));
/** Bytes of `partial` for chunks of at most `rows`. */
export const headPartialBytes = (rows: number, vocab: number): number => rows * splitsOf(vocab) * 16;

const dimsOf = (gpu: Gpu, { rows, vocab }: HeadSizes): View => {
  if (!Number.isInteger(vocab) || vocab <= 0) throw new RangeError(`head vocab ${vocab}: expected a positive integer`);
  return gpu.uniform('head dims', [...rowWords(rows), vocab, Math.ceil(vocab / 4), splitsOf(vocab), 0]);
};
/** The uniform `settings`, and a row's logits over the temperature. */
export const SETTINGS_WGSL = `struct Settings { temperature: f32, pad0: f32, pad1: f32, pad2: f32, loss0: vec4f, loss1: vec4f }`;
// Pad columns count as -3e38: they never win a maximum and their exponential is 0.
export const LOAD_WGSL = `fn scaled(row: u32, v: u32) -> vec4f {
  let z = logits[row * dims.p0.y + v] / settings.temperature;
  return select(vec4f(-3e38f), z, v * 4u + vec4u(0u, 1u, 2u, 3u) < vec4u(dims.p0.x));
}`;

/**
 * stats[row] = vec4f(max, log-sum-exp, log-probability of targets[row], entropy) of z = logits / temperature, in nats.
 * targets: u32. partial: `headPartialBytes`. settings: uniform with `headSettings`.
 */
export function rowStatistics(
  gpu: Gpu,
  { logits, targets, settings, partial, stats, counts }: { logits: View; targets: View; settings: View; partial: View; stats: View; counts: View },
  sizes: HeadSizes,
): Dispatch[] {
  const dims = dimsOf(gpu, sizes);
  const splits = splitsOf(sizes.vocab);
  const parts = `${headWgsl()}
${SETTINGS_WGSL}
@group(0) @binding(2) var<uniform> settings: Settings;
@group(0) @binding(3) var<storage, read> logits: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> partial: array<vec4f>;
${LOAD_WGSL}
${itemKernelWgsl(gpu, 'row_count(dims.rows, counts) * dims.p0.z', `
  let row = i / dims.p0.z; let split = i % dims.p0.z;
  var most = vec4f(-3e38f);
  for (var v = split; v < dims.p0.y; v += dims.p0.z) { most = max(most, scaled(row, v)); }
  let m = max(max(most.x, most.y), max(most.z, most.w));
  var sum = vec4f(); var weighted = vec4f();
  for (var v = split; v < dims.p0.y; v += dims.p0.z) {
    let d = max(scaled(row, v) - m, vec4f(-1e4f));
    let e = exp(d);
    sum += e; weighted += e * d;
  }
  partial[i] = vec4f(m, sum.x + sum.y + sum.z + sum.w, weighted.x + weighted.y + weighted.z + weighted.w, 0f);`)}`;
  // With d = z - max: lse = max + ln Σe^d and entropy = ln Σe^d - Σ d·e^d / Σe^d.
  const join = `${headWgsl()}
${SETTINGS_WGSL}
@group(0) @binding(2) var<uniform> settings: Settings;
@group(0) @binding(3) var<storage, read> partial: array<vec4f>;
@group(0) @binding(4) var<storage, read> logits: array<f32>;
@group(0) @binding(5) var<storage, read> targets: array<u32>;
@group(0) @binding(6) var<storage, read_write> stats: array<vec4f>;
${itemKernelWgsl(gpu, 'row_count(dims.rows, counts)', `
  let begin = i * dims.p0.z; let to = begin + dims.p0.z;
  var m = -3e38f;
  for (var p = begin; p < to; p++) { m = max(m, partial[p].x); }
  var sum = 0f; var weighted = 0f;
  for (var p = begin; p < to; p++) {
    let part = partial[p];
    let d = max(part.x - m, -1e4f);
    let e = exp(d);
    sum += part.y * e; weighted += (part.z + d * part.y) * e;
  }
  let at = dims.rows.z + i;
  let lse = m + log(sum);
  let z = logits[i * dims.p0.y * 4u + targets[at]] / settings.temperature;
  stats[at] = vec4f(m, lse, z - lse, log(sum) - weighted / sum);`)}`;
  const partsKernel = gpu.kernel('row statistics parts', parts, ['uniform', 'uniform', 'uniform', 'read', 'read_write']);
  const joinKernel = gpu.kernel('row statistics', join, ['uniform', 'uniform', 'uniform', 'read', 'read', 'read', 'read_write']);
  return [
    gpu.dispatch(partsKernel, [dims, counts, settings, logits, partial], itemGroups(gpu, (run: Counts) => rowCount(sizes.rows, run) * splits)),
    gpu.dispatch(joinKernel, [dims, counts, settings, partial, logits, targets, stats], itemGroups(gpu, (run: Counts) => rowCount(sizes.rows, run))),
  ];
}

/**
 * Writes ∂L/∂logits over the logits, with L = weight · f(logprob, entropy, inputs) of each row and `wgsl` the
 * `token_loss` of a TokenLoss. inputs[row] = vec4f(inputs, weight); stats from `rowStatistics`. Pad columns become 0.
 * With p = softmax(z): ∂logp/∂z = onehot - p, ∂H/∂z = -p · (ln p + H).
 */
export function rowLossGradient(
  gpu: Gpu,
  { logits, targets, settings, stats, inputs, counts }: { logits: View; targets: View; settings: View; stats: View; inputs: View; counts: View },
  sizes: HeadSizes & { wgsl: string },
): Dispatch[] {
  const splits = splitsOf(sizes.vocab);
  const text = `${headWgsl()}
${SETTINGS_WGSL}
@group(0) @binding(2) var<uniform> settings: Settings;
@group(0) @binding(3) var<storage, read> targets: array<u32>;
@group(0) @binding(4) var<storage, read> stats: array<vec4f>;
@group(0) @binding(5) var<storage, read> inputs: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> logits: array<vec4f>;
${LOAD_WGSL}
${sizes.wgsl}
${itemKernelWgsl(gpu, 'row_count(dims.rows, counts) * dims.p0.z', `
  let row = i / dims.p0.z; let at = dims.rows.z + row;
  let stat = stats[at]; let input = inputs[at]; let goal = targets[at];
  let s0 = settings.loss0; let s1 = settings.loss1;
  let d = token_loss(stat.z, stat.w, input.xyz, array<f32, 8>(s0.x, s0.y, s0.z, s0.w, s1.x, s1.y, s1.z, s1.w)) * (input.w / settings.temperature);
  for (var v = i % dims.p0.z; v < dims.p0.y; v += dims.p0.z) {
    let columns = v * 4u + vec4u(0u, 1u, 2u, 3u);
    let logp = max(scaled(row, v) - stat.y, vec4f(-1e4f));
    let p = exp(logp);
    let onehot = select(vec4f(), vec4f(1f), columns == vec4u(goal));
    logits[row * dims.p0.y + v] = d.x * (onehot - p) - d.y * p * (logp + stat.w);
  }`)}`;
  const kernel = gpu.kernel('row loss gradient', text, ['uniform', 'uniform', 'uniform', 'read', 'read', 'read', 'read_write']);
  return [gpu.dispatch(kernel, [dimsOf(gpu, sizes), counts, settings, targets, stats, inputs, logits], itemGroups(gpu, (run: Counts) => rowCount(sizes.rows, run) * splits))];
}

/** One row: [max, log-sum-exp, log-probability of target, entropy] of logits / temperature. */
export function rowStatisticsReference(logits: Float64Array, target: number, temperature: number): [number, number, number, number] {
  const z = logits.map((v) => v / temperature);
  const most = z.reduce((a, b) => Math.max(a, b), -Infinity);
  const lse = most + Math.log(z.reduce((sum, v) => sum + Math.exp(v - most), 0));
  return [most, lse, z[target]! - lse, z.reduce((sum, v) => sum - Math.exp(v - lse) * (v - lse), 0)];
}

/** One row: ∂L/∂logits from (∂L/∂logprob, ∂L/∂entropy). */
export function rowLossGradientReference(logits: Float64Array, target: number, temperature: number, [dLogprob, dEntropy]: readonly [number, number]): Float64Array {
  const [, lse, , entropy] = rowStatisticsReference(logits, target, temperature);
  return logits.map((v, i) => {
    const logp = v / temperature - lse;
    const p = Math.exp(logp);
    return (dLogprob * ((i === target ? 1 : 0) - p) - dEntropy * p * (logp + entropy)) / temperature;
  });
}
