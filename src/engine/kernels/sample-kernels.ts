/**
 * The kernels of `sample`. `logits` holds only the rows of one chunk. `dims.rows.base` is the index of the chunk's first row among all
 * rows. τ is the temperature.
 */
import { defineKernel } from '../kernel.ts';
import type { Tuning } from '../tuning.ts';
import { RANDOM_WGSL } from './random.ts';
import { itemMain } from './threads.ts';

/** `stride4` is the row stride of the logits in vec4s. */
const DIMS = { rows: 'Rows', vocab: 'u32', stride4: 'u32', splits: 'u32' } as const;
/** `mode` 0 is top-k (each id weighs 1), `mode` 1 is top-p (an id weighs its probability). `digit` selects four bits; 0 is the top four. */
const DIGIT_DIMS = { ...DIMS, mode: 'u32', digit: 'u32' } as const;

const ROW_WGSL = /* wgsl */ `
struct Row { temperature: f32, top_p: f32, top_k: u32, seed: u32, stream: u32, pad0: u32, pad1: u32, pad2: u32 }
fn inverse_temperature(row: Row) -> f32 { return select(1.0, 1.0 / row.temperature, row.temperature > 0.0); }`;
// `low` is the threshold so far, `top_k_low` the final threshold of top-k. Both are `ordered` bits. `top` is the row's largest logit/τ.
const STATE_WGSL = /* wgsl */ `
struct State { low: u32, top_k_low: u32, goal: f32, on: u32, top: f32, pad0: u32, pad1: u32, pad2: u32 }`;
const ORDERED_WGSL = /* wgsl */ `
/** u32 values in the order of the f32 values. */
fn ordered(x: f32) -> u32 { let bits = bitcast<u32>(x); return bits ^ select(0x80000000u, 0xffffffffu, bits >> 31u == 1u); }`;

/**
 * Computes for each split: the maximum of logit/τ over all ids, the sum of their exponentials, and the id with the largest noisy logit
 * among the ids that top-k and top-p keep. If a logit is NaN or infinite, the id is 0xffffffff, and it wins.
 */
export const drawKernel = (tuning: Tuning) =>
  defineKernel({
    label: 'sample draw',
    dims: { ...DIMS, truncate: 'u32' },
    reads: { logits: 'vec4f', params: 'Row', positions: 'u32', states: 'State' },
    writes: { partial: 'vec4f' },
    body: `${RANDOM_WGSL}${ROW_WGSL}${STATE_WGSL}${ORDERED_WGSL}${itemMain(
      tuning,
      'row_count() * dims.splits',
      /* wgsl */ `
  let r = i / dims.splits;
  let row = params[r + dims.rows.base];
  let key = random_key(row.seed, row.stream, positions[r + dims.rows.base] + 1u);
  let inverse = inverse_temperature(row);
  let noise = select(0.0, 1.0, row.temperature > 0.0);
  let low = select(0u, states[r].low, dims.truncate == 1u);
  var top = -3e38; var sum = 0.0; var best = -3e38; var best_id = 0xffffffffu; var finite = true;
  for (var v = i % dims.splits; v * 4u < dims.vocab; v += dims.splits) {
    let x = logits[r * dims.stride4 + v];
    let in_vocab = v * 4u + vec4u(0u, 1u, 2u, 3u) < vec4u(dims.vocab);
    let z = select(vec4f(-3e38), x * inverse, in_vocab);
    // The exponent bits tell: compilers may assume that floats are finite.
    finite = finite && all((bitcast<vec4u>(z) & vec4u(0x7f800000u)) != vec4u(0x7f800000u));
    let next = max(top, max(max(z.x, z.y), max(z.z, z.w)));
    let e = select(vec4f(), exp(z - next), in_vocab);
    sum = sum * exp(top - next) + ((e.x + e.y) + (e.z + e.w));
    top = next;
    for (var c = 0u; c < 4u; c++) {
      let score = z[c] + noise * gumbel(random_bits(key, v * 4u + c));
      if (in_vocab[c] && score > best && ordered(z[c]) >= low) { best = score; best_id = v * 4u + c; }
    }
  }
  if (!finite) { best = 3.4e38; best_id = 0xffffffffu; }
  partial[i] = vec4f(top, sum, best, bitcast<f32>(best_id));`,
    )}`,
  });

/** Computes for each split and each of 16 candidate thresholds: the total weight of the ids whose logit reaches the threshold. */
export const sumKernel = (tuning: Tuning) =>
  defineKernel({
    label: 'sample sums',
    dims: DIGIT_DIMS,
    reads: { logits: 'vec4f', params: 'Row', states: 'State' },
    writes: { sums: 'vec4f' },
    body: `${ROW_WGSL}${STATE_WGSL}${ORDERED_WGSL}${itemMain(
      tuning,
      'row_count() * dims.splits',
      /* wgsl */ `
  let r = i / dims.splits;
  let state = states[r];
  let inverse = inverse_temperature(params[r + dims.rows.base]);
  let low = select(state.low, 0u, dims.digit == 0u);
  let kept = select(0u, state.top_k_low, dims.mode == 1u);
  let step = 1u << (28u - 4u * dims.digit);
  var s0 = vec4f(); var s1 = vec4f(); var s2 = vec4f(); var s3 = vec4f();
  for (var v = i % dims.splits; v * 4u < dims.vocab; v += dims.splits) {
    let x = logits[r * dims.stride4 + v] * inverse;
    for (var c = 0u; c < 4u; c++) {
      let bits = ordered(x[c]);
      let counted = v * 4u + c < dims.vocab && bits >= kept;
      let weight = vec4f(select(0.0, select(1.0, exp(x[c] - state.top), dims.mode == 1u), counted));
      let at = vec4u(bits);
      let c0 = low + step * vec4u(0u, 1u, 2u, 3u);
      s0 += select(vec4f(), weight, at >= c0);
      s1 += select(vec4f(), weight, at >= c0 + 4u * step);
      s2 += select(vec4f(), weight, at >= c0 + 8u * step);
      s3 += select(vec4f(), weight, at >= c0 + 12u * step);
    }
  }
  sums[i * 4u] = s0; sums[i * 4u + 1u] = s1; sums[i * 4u + 2u] = s2; sums[i * 4u + 3u] = s3;`,
    )}`,
  });

/** Chooses the threshold of each row: the largest candidate that still keeps enough (k ids, or the probability p). */
export const narrowKernel = (tuning: Tuning) =>
  defineKernel({
    label: 'sample narrow',
    dims: DIGIT_DIMS,
    reads: { params: 'Row', partial: 'vec4f', sums: 'vec4f' },
    writes: { states: 'State' },
    body: `${ROW_WGSL}${STATE_WGSL}${itemMain(
      tuning,
      'row_count()',
      /* wgsl */ `
  let r = i;
  let row = params[r + dims.rows.base];
  var state = states[r];
  var s: array<vec4f, 4>;
  for (var split = 0u; split < dims.splits; split++) {
    for (var c = 0u; c < 4u; c++) { s[c] += sums[(r * dims.splits + split) * 4u + c]; }
  }
  if (dims.digit == 0u) {
    state.low = 0u;
    if (dims.mode == 0u) {
      state.goal = f32(row.top_k);
      state.on = select(0u, 1u, row.top_k > 0u && row.top_k < dims.vocab);
      state.top = -3e38;
      for (var split = 0u; split < dims.splits; split++) { state.top = max(state.top, partial[r * dims.splits + split].x); }
    } else {
      state.goal = row.top_p * s[0].x;
      state.on = select(0u, 1u, row.top_p < 1.0);
    }
  }
  if (state.on == 1u) {
    let low = state.low;
    for (var c = 1u; c < 16u; c++) {
      if (s[c / 4u][c % 4u] >= state.goal && s[c / 4u][c % 4u] > 0.0) { state.low = low + (c << (28u - 4u * dims.digit)); }
    }
  }
  if (dims.digit == 7u) {
    if (dims.mode == 0u) { state.top_k_low = state.low; } else { state.low = max(state.low, state.top_k_low); }
  }
  states[r] = state;`,
    )}`,
  });

/** Joins the splits of each row, writes the token and its log-probability, and moves the row to the next position. */
export const finishKernel = (tuning: Tuning) =>
  defineKernel({
    label: 'sample finish',
    dims: { ...DIMS, step: 'u32', result_rows: 'u32' },
    reads: { logits: 'f32', params: 'Row', partial: 'vec4f' },
    writes: { positions: 'u32', tokens: 'u32', results: 'vec2u' },
    body: `${ROW_WGSL}${itemMain(
      tuning,
      'row_count()',
      /* wgsl */ `
  let at = i + dims.rows.base;
  var top = -3e38; var best = -3e38; var id = 0xffffffffu;
  for (var split = 0u; split < dims.splits; split++) {
    let p = partial[i * dims.splits + split];
    let p_id = bitcast<u32>(p.w);
    top = max(top, p.x);
    if (p.z > best || (p.z == best && p_id < id)) { best = p.z; id = p_id; }
  }
  var sum = 0.0;
  for (var split = 0u; split < dims.splits; split++) { let p = partial[i * dims.splits + split]; sum += p.y * exp(p.x - top); }
  // Without a distribution the id is 0xffffffff, and the next step's input is any valid id.
  let input = select(0u, id, id < dims.vocab);
  let logprob = logits[i * dims.stride4 * 4u + input] * inverse_temperature(params[at]) - top - log(sum);
  tokens[at] = input;
  positions[at] += 1u;
  results[dims.step * dims.result_rows + at] = vec2u(id, bitcast<u32>(logprob));`,
    )}`,
  });
