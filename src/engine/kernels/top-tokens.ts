/**
 * Finds the k likeliest tokens of each row of logits, in order of probability. The lower id wins a tie. The vocabulary of a row is cut
 * into splits. Each split keeps its k likeliest tokens, and one thread for each row joins the splits.
 */
import type { Dispatch, Gpu, View } from '../gpu.ts';
import { defineKernel } from '../kernel.ts';
import { rowCount } from '../rows.ts';
import { itemGroups, itemMain } from './threads.ts';
import { LOGITS_DIMS, logitsDims, type LogitsSizes, SCALED_WGSL, SETTINGS, splitsOf } from './token-loss.ts';

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
 * top[row] = the k likeliest tokens of softmax(logits / temperature). Needs the `stats` of `rowStatistics`, and logits that no gradient
 * has overwritten. `logits` holds the rows of one chunk; `top` and `stats` hold all rows. @throws RangeError unless 1 ≤ k ≤ vocab
 */
export function topTokens(
  gpu: Gpu,
  t: { logits: View; settings: View; stats: View; partial: View; top: View; counts: View },
  { rows, vocab, k }: LogitsSizes & { k: number },
): Dispatch[] {
  if (!Number.isInteger(k) || k < 1 || k > vocab)
    throw new RangeError(`top tokens k ${k}: expected an integer from 1 to the vocabulary's ${vocab}`);
  const dims = logitsDims({ rows, vocab });
  const parts = defineKernel({
    label: `top ${k} parts`,
    dims: LOGITS_DIMS,
    uniforms: { settings: SETTINGS },
    reads: { logits: 'vec4f' },
    writes: { partial: 'vec2u' },
    body: `${listWgsl(k)}
${SCALED_WGSL}${itemMain(
      gpu.tuning,
      'row_count() * dims.splits',
      `
  let row = i / dims.splits;
  clear();
  for (var v = i % dims.splits; v < dims.stride; v += dims.splits) {
    let z = scaled(row, v);
    for (var c = 0u; c < 4u; c++) { if (v * 4u + c < dims.vocab) { offer(z[c], v * 4u + c); } }
  }
  for (var n = 0u; n < K; n++) { partial[i * K + n] = vec2u(ids[n], bitcast<u32>(values[n])); }`,
    )}`,
  });
  const join = defineKernel({
    label: `top ${k}`,
    dims: LOGITS_DIMS,
    reads: { partial: 'vec2u', stats: 'vec2f' },
    writes: { top: 'vec2u' },
    body: `${listWgsl(k)}${itemMain(
      gpu.tuning,
      'row_count()',
      `
  clear();
  for (var n = i * dims.splits * K; n < (i + 1u) * dims.splits * K; n++) { offer(bitcast<f32>(partial[n].y), partial[n].x); }
  let at = dims.rows.base + i;
  for (var n = 0u; n < K; n++) { top[at * K + n] = vec2u(ids[n], bitcast<u32>(values[n] - stats[at].x)); }`,
    )}`,
  });
  return [
    gpu.dispatch(
      parts,
      { ...t, dims },
      itemGroups(gpu.tuning, (run) => rowCount(rows, run) * dims.splits),
    ),
    gpu.dispatch(
      join,
      { ...t, dims },
      itemGroups(gpu.tuning, (run) => rowCount(rows, run)),
    ),
  ];
}

/** The k likeliest tokens of softmax(logits / temperature), for one row. */
export function topTokensReference(logits: Float64Array, temperature: number, k: number): { id: number; logprob: number }[] {
  const z = logits.map((v) => v / temperature);
  const most = z.reduce((a, b) => Math.max(a, b), -Infinity);
  const lse = most + Math.log(z.reduce((sum, v) => sum + Math.exp(v - most), 0));
  const order = Array.from(z.keys()).sort((a, b) => z[b]! - z[a]! || a - b);
  return order.slice(0, k).map((id) => ({ id, logprob: z[id]! - lse }));
}
