/**
 * Statistics of softmax(logits / temperature) for a chunk of rows, and the gradient of a token loss, which overwrites the logits.
 * Probabilities are never stored. The vocabulary of a row is cut into splits (interleaved vec4s) with one thread for each. Then the
 * results of the splits are joined in order.
 *
 * A row has one or more terms (`MicroBatch`): the targets of the sequences that share the row's token. The loss of a row is the sum over
 * its terms. `logits` holds only the chunk: [rows of the chunk, stride], where stride is vocab rounded up to a multiple of 4. All other
 * tensors hold all rows or all terms: row r of the chunk is their entry `rows.base` + r.
 */
import type { Dispatch, Gpu, View } from '../gpu.ts';
import { defineKernel } from '../kernel.ts';
import { rowCount, type Rows } from '../rows.ts';
import { itemGroups, itemMain } from './threads.ts';

export interface LogitsSizes {
  rows: Rows;
  vocab: number;
}

/** Bytes of the uniform `settings`. */
export const LOSS_SETTINGS_BYTES = 48;
/** The values of `settings`: the temperature, and up to eight settings of the TokenLoss. @throws RangeError unless temperature > 0. */
export function lossSettings(temperature: number, settings: readonly number[] = []): Float32Array<ArrayBuffer> {
  if (!(temperature > 0)) throw new RangeError(`lossSettings temperature ${temperature}: expected > 0`);
  if (settings.length > 8) throw new RangeError(`lossSettings: ${settings.length} loss settings, expected at most 8`);
  const words = new Float32Array(12);
  words[0] = temperature;
  words.set(settings, 4);
  return words;
}

/** The number of splits of a row. Each split has at least 16 vec4s, if the row has that many. */
export const splitsOf = (vocab: number): number => Math.min(256, Math.max(1, Math.floor(vocab / 64)));
/** Bytes of `partial` for chunks of at most `rows`. */
export const statisticsPartialBytes = (rows: number, vocab: number): number => rows * splitsOf(vocab) * 16;

/** Fields of `dims` in every kernel over logits. `stride` is in vec4s. */
export const LOGITS_DIMS = { rows: 'Rows', vocab: 'u32', stride: 'u32', splits: 'u32' } as const;
/** @throws RangeError unless vocab is a positive integer. */
export function logitsDims({ rows, vocab }: LogitsSizes): { rows: Rows; vocab: number; stride: number; splits: number } {
  if (!Number.isInteger(vocab) || vocab <= 0) throw new RangeError(`logits vocab ${vocab}: expected a positive integer`);
  return { rows, vocab, stride: Math.ceil(vocab / 4), splits: splitsOf(vocab) };
}
/** Fields of the uniform `settings`. */
export const SETTINGS = { temperature: 'f32', pad0: 'f32', pad1: 'f32', pad2: 'f32', loss0: 'vec4f', loss1: 'vec4f' } as const;
/** WGSL: vec4 `v` of a row's logits / temperature. Padding columns are -3e38, so they never win a maximum, and their exponential is 0. */
export const SCALED_WGSL = `fn scaled(row: u32, v: u32) -> vec4f {
  let z = logits[row * dims.stride + v] / settings.temperature;
  return select(vec4f(-3e38f), z, v * 4u + vec4u(0u, 1u, 2u, 3u) < vec4u(dims.vocab));
}`;

/** The terms of the rows. */
export interface Terms {
  /** u32 [rows + 1]: the first term of each row, then the number of terms. */
  firstTerms: View;
  /** u32 [terms] */
  targets: View;
}

/**
 * With z = logits / temperature, writes stats[row] = vec2f(log-sum-exp of z, entropy) and logprobs[term] = z[target] - log-sum-exp, in
 * nats. `partial` is scratch of `statisticsPartialBytes`. `settings` is a uniform with `lossSettings`.
 */
export function rowStatistics(
  gpu: Gpu,
  t: Terms & { logits: View; settings: View; partial: View; stats: View; logprobs: View; counts: View },
  sizes: LogitsSizes,
): Dispatch[] {
  const dims = logitsDims(sizes);
  const parts = defineKernel({
    label: 'row statistics parts',
    dims: LOGITS_DIMS,
    uniforms: { settings: SETTINGS },
    reads: { logits: 'vec4f' },
    writes: { partial: 'vec4f' },
    body: `${SCALED_WGSL}${itemMain(
      gpu.tuning,
      'row_count() * dims.splits',
      `
  let row = i / dims.splits; let split = i % dims.splits;
  var most = vec4f(-3e38f);
  for (var v = split; v < dims.stride; v += dims.splits) { most = max(most, scaled(row, v)); }
  let m = max(max(most.x, most.y), max(most.z, most.w));
  var sum = vec4f(); var weighted = vec4f();
  for (var v = split; v < dims.stride; v += dims.splits) {
    let d = max(scaled(row, v) - m, vec4f(-1e4f));
    let e = exp(d);
    sum += e; weighted += e * d;
  }
  partial[i] = vec4f(m, sum.x + sum.y + sum.z + sum.w, weighted.x + weighted.y + weighted.z + weighted.w, 0f);`,
    )}`,
  });
  // With d = z - max: log-sum-exp = max + ln Σe^d, and entropy = ln Σe^d - Σ d·e^d / Σe^d.
  const join = defineKernel({
    label: 'row statistics',
    dims: LOGITS_DIMS,
    uniforms: { settings: SETTINGS },
    reads: { partial: 'vec4f', logits: 'f32', firstTerms: 'u32', targets: 'u32' },
    writes: { stats: 'vec2f', logprobs: 'f32' },
    body: itemMain(
      gpu.tuning,
      'row_count()',
      `
  let begin = i * dims.splits; let to = begin + dims.splits;
  var m = -3e38f;
  for (var p = begin; p < to; p++) { m = max(m, partial[p].x); }
  var sum = 0f; var weighted = 0f;
  for (var p = begin; p < to; p++) {
    let part = partial[p];
    let d = max(part.x - m, -1e4f);
    let e = exp(d);
    sum += part.y * e; weighted += (part.z + d * part.y) * e;
  }
  let at = dims.rows.base + i;
  let lse = m + log(sum);
  stats[at] = vec2f(lse, log(sum) - weighted / sum);
  for (var term = firstTerms[at]; term < firstTerms[at + 1u]; term++) {
    logprobs[term] = logits[i * dims.stride * 4u + targets[term]] / settings.temperature - lse;
  }`,
    ),
  });
  return [
    gpu.dispatch(
      parts,
      { ...t, dims },
      itemGroups(gpu.tuning, (run) => rowCount(sizes.rows, run) * dims.splits),
    ),
    gpu.dispatch(
      join,
      { ...t, dims },
      itemGroups(gpu.tuning, (run) => rowCount(sizes.rows, run)),
    ),
  ];
}

/**
 * Overwrites the logits with ∂L/∂logits, where L = Σ weight · f(logprob, entropy, inputs) over the terms of each row. Padding columns
 * become 0. `sizes.wgsl` is the source of the WGSL function `token_loss` of a TokenLoss. `inputs` has one vec4f for each term: xyz are the
 * loss's inputs, w is the weight. `rowStatistics` computes `stats` and `logprobs`.
 * With p = softmax(z) and H = entropy: ∂logp/∂z = onehot - p, ∂H/∂z = -p · (ln p + H).
 */
export function rowLossGradient(
  gpu: Gpu,
  t: Terms & { logits: View; settings: View; stats: View; logprobs: View; inputs: View; counts: View },
  sizes: LogitsSizes & { wgsl: string },
): Dispatch[] {
  const dims = logitsDims(sizes);
  const kernel = defineKernel({
    label: 'row loss gradient',
    dims: LOGITS_DIMS,
    uniforms: { settings: SETTINGS },
    reads: { firstTerms: 'u32', targets: 'u32', stats: 'vec2f', logprobs: 'f32', inputs: 'vec4f' },
    writes: { logits: 'vec4f' },
    body: `${SCALED_WGSL}
${sizes.wgsl}
fn derivative(term: u32, entropy: f32) -> vec2f {
  let s0 = settings.loss0; let s1 = settings.loss1;
  let values = array<f32, 8>(s0.x, s0.y, s0.z, s0.w, s1.x, s1.y, s1.z, s1.w);
  return token_loss(logprobs[term], entropy, inputs[term].xyz, values) * (inputs[term].w / settings.temperature);
}${itemMain(
      gpu.tuning,
      'row_count() * dims.splits',
      `
  let row = i / dims.splits; let at = dims.rows.base + row; let split = i % dims.splits;
  let stat = stats[at];
  var d = vec2f();
  for (var term = firstTerms[at]; term < firstTerms[at + 1u]; term++) { d += derivative(term, stat.y); }
  for (var v = split; v < dims.stride; v += dims.splits) {
    let logp = max(scaled(row, v) - stat.x, vec4f(-1e4f));
    let p = exp(logp);
    logits[row * dims.stride + v] = -d.x * p - d.y * p * (logp + stat.y);
  }
  for (var term = firstTerms[at]; term < firstTerms[at + 1u]; term++) {
    let v = targets[term] / 4u;
    if (v % dims.splits != split) { continue; }
    logits[row * dims.stride + v] += select(vec4f(), vec4f(derivative(term, stat.y).x), v * 4u + vec4u(0u, 1u, 2u, 3u) == vec4u(targets[term]));
  }`,
    )}`,
  });
  const groups = itemGroups(gpu.tuning, (run) => rowCount(sizes.rows, run) * dims.splits);
  return [gpu.dispatch(kernel, { ...t, dims }, groups)];
}

/** Returns [log-sum-exp, entropy] of logits / temperature for one row. */
export function rowStatisticsReference(logits: Float64Array, temperature: number): [number, number] {
  const z = logits.map((v) => v / temperature);
  const most = z.reduce((a, b) => Math.max(a, b), -Infinity);
  const lse = most + Math.log(z.reduce((sum, v) => sum + Math.exp(v - most), 0));
  return [lse, z.reduce((sum, v) => sum - Math.exp(v - lse) * (v - lse), 0)];
}

/** Returns ∂L/∂logits of one row. `derivative` of each term is [∂L/∂logprob, ∂L/∂entropy]. */
export function rowLossGradientReference(
  logits: Float64Array,
  temperature: number,
  terms: readonly { target: number; derivative: readonly [number, number] }[],
): Float64Array {
  const [lse, entropy] = rowStatisticsReference(logits, temperature);
  return logits.map((v, i) => {
    const logp = v / temperature - lse;
    const p = Math.exp(logp);
    const parts = terms.map(
      ({ target, derivative: [dLogprob, dEntropy] }) => dLogprob * (Number(i === target) - p) - dEntropy * p * (logp + entropy),
    );
    return parts.reduce((sum, part) => sum + part, 0) / temperature;
  });
}
