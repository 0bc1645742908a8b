/**
 * The k likeliest tokens of each row of logits, likeliest first, ties going to the lower id. The vocabulary of a row is split
 * over threads; each keeps its own k, and one thread a row joins them.
 */
import { type Counts, type Dispatch, type Gpu, rowCount, rowWords, type View } from '../gpu.ts';
import { type HeadSizes, LOAD_WGSL, SETTINGS_WGSL, splitsOf } from './head.ts';
import { headWgsl, itemGroups, itemKernelWgsl } from './row-kernel.ts';

/** Bytes of one row of `top`: k pairs of (token id, f32 bits of its log-probability). */
export const topBytes = (k: number): number => 8 * k;
/** Bytes of `partial` for chunks of at most `rows`. */
export const topPartialBytes = (rows: number, vocab: number, k: number): number => rows * splitsOf(vocab) * topBytes(k);

const listWgsl = (k: number): string => /* wgsl */ `
const K = ${k}u;
var<private> values: array<f32, K>;
var<private> ids: array<u32, K>;
fn clear() { for (var i = 0u; i < K; i++) { values[i] = -3e38f; ids[i] = 0xffffffffu; } }
fn before(value: f32, id: u32, i: u32) -> bool { return value > values[i] || (value == values[i] && id < ids[i]); }
fn offer(value: f32, id: u32) {
  if (!before(value, id, K - 1u)) { return; }
  var i = K - 1u;
  while (i > 0u && before(value, id, i - 1u)) { values[i] = values[i - 1u]; ids[i] = ids[i - 1u]; i--; }
  values[i] = value; ids[i] = id;
}`;

/**
 * top[row] = the k likeliest tokens of softmax(logits / temperature). Needs the `stats` of `rowStatistics`, and logits that
 * no gradient has overwritten. Sizes as for `rowStatistics`; `top` is of all rows. @throws RangeError unless 1 ≤ k ≤ vocab
 */
export function topTokens(
  gpu: Gpu,
  { logits, settings, stats, partial, top, counts }: { logits: View; settings: View; stats: View; partial: View; top: View; counts: View },
  { rows, vocab, k }: HeadSizes & { k: number },
): Dispatch[] {
  if (!Number.isInteger(k) || k < 1 || k > vocab) throw new RangeError(`top tokens k ${k}: expected an integer from 1 to the vocabulary's ${vocab}`);
  const splits = splitsOf(vocab);
  const dims = gpu.uniform('top tokens dims', [...rowWords(rows), vocab, Math.ceil(vocab / 4), splits, 0]);
  const parts = `${headWgsl()}
${SETTINGS_WGSL}
${listWgsl(k)}
@group(0) @binding(2) var<uniform> settings: Settings;
@group(0) @binding(3) var<storage, read> logits: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> partial: array<vec2u>;
${LOAD_WGSL}
${itemKernelWgsl(gpu, 'row_count(dims.rows, counts) * dims.p0.z', `
  let row = i / dims.p0.z;
  clear();
  for (var v = i % dims.p0.z; v < dims.p0.y; v += dims.p0.z) {
    let z = scaled(row, v);
    for (var c = 0u; c < 4u; c++) { if (v * 4u + c < dims.p0.x) { offer(z[c], v * 4u + c); } }
  }
  for (var n = 0u; n < K; n++) { partial[i * K + n] = vec2u(ids[n], bitcast<u32>(values[n])); }`)}`;
  const join = `${headWgsl()}
${listWgsl(k)}
@group(0) @binding(2) var<storage, read> partial: array<vec2u>;
@group(0) @binding(3) var<storage, read> stats: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> top: array<vec2u>;
${itemKernelWgsl(gpu, 'row_count(dims.rows, counts)', `
  clear();
  for (var n = i * dims.p0.z * K; n < (i + 1u) * dims.p0.z * K; n++) { offer(bitcast<f32>(partial[n].y), partial[n].x); }
  let at = dims.rows.z + i;
  for (var n = 0u; n < K; n++) { top[at * K + n] = vec2u(ids[n], bitcast<u32>(values[n] - stats[at].y)); }`)}`;
  const partsKernel = gpu.kernel(`top ${k} parts`, parts, ['uniform', 'uniform', 'uniform', 'read', 'read_write']);
  const joinKernel = gpu.kernel(`top ${k}`, join, ['uniform', 'uniform', 'read', 'read', 'read_write']);
  return [
    gpu.dispatch(partsKernel, [dims, counts, settings, logits, partial], itemGroups(gpu, (run: Counts) => rowCount(rows, run) * splits)),
    gpu.dispatch(joinKernel, [dims, counts, partial, stats, top], itemGroups(gpu, (run: Counts) => rowCount(rows, run))),
  ];
}

/** One row: the k likeliest tokens of softmax(logits / temperature). */
export function topTokensReference(logits: Float64Array, temperature: number, k: number): { id: number; logprob: number }[] {
  const z = logits.map((v) => v / temperature);
  const most = z.reduce((a, b) => Math.max(a, b), -Infinity);
  const lse = most + Math.log(z.reduce((sum, v) => sum + Math.exp(v - most), 0));
  const order = Array.from(z.keys()).sort((a, b) => z[b]! - z[a]! || a - b);
  return order.slice(0, k).map((id) => ({ id, logprob: z[id]! - lse }));
}
