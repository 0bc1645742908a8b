/**
 * Sampling on the GPU: the next token of each row of logits, its log-probability, and the input of the next decode step.
 *
 * A token is drawn by Gumbel-max: argmax over ids of logit/τ + noise(seed, stream, position, id). The vocabulary is cut into
 * interleaved strips, one thread each, so that few rows of a large vocabulary still fill a GPU. Top-k and top-p never
 * sort: they are a threshold on the logit, found exactly by narrowing its 32 ordered bits four at a time.
 */
import { type Dispatch, type Gpu, grid, GRID_INDEX_WGSL, rowCount, rowWords, type Rows, ROWS_WGSL, type View } from '../gpu.ts';
import { gumbel, RANDOM_WGSL, randomBits, randomKey } from './random.ts';

/** Sampling parameters of one row. `temperature` 0 is greedy, ties going to the lowest id; `topP` 1 and `topK` 0 are off. */
export interface SampleRow {
  temperature: number;
  topP: number;
  topK: number;
  /** u32 keys of the random numbers. */
  seed: number;
  stream: number;
}

export const SAMPLE_ROW_BYTES = 32;

/** The GPU form of `rows`: 8 words each. */
export function packSampleRows(rows: readonly SampleRow[]): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(rows.length * 8);
  const floats = new Float32Array(words.buffer);
  rows.forEach((row, i) => {
    floats[8 * i] = row.temperature;
    floats[8 * i + 1] = row.topP;
    words[8 * i + 2] = row.topK;
    words[8 * i + 3] = row.seed;
    words[8 * i + 4] = row.stream;
  });
  return words;
}

export interface SampleTensors {
  /** [rows of this chunk, stride]; columns from `vocab` on are ignored. */
  logits: View;
  /** Packed SampleRow [all rows]. */
  params: View;
  /** u32 [all rows]: the position of each row's last token; the sampled token's is one more, and is written back. */
  positions: View;
  /** u32 [all rows]: receives the sampled ids, the next step's input. */
  tokens: View;
  /** [steps, resultRows] of (token id, f32 bits of its log-probability). */
  results: View;
  scratch: SampleScratch;
  counts: View;
}

export interface SampleSizes {
  /** The rows of this chunk; `base` is the first one's index among all rows. */
  rows: Rows;
  vocab: number;
  /** Row stride of the logits, a multiple of 4; by default `vocab` rounded up. */
  stride?: number;
  /** Row of `results` to write. */
  step: number;
  resultRows: number;
  /** Obey topK and topP (34 dispatches more). Without it they must be off. */
  truncate: boolean;
}

export interface SampleScratch {
  partial: View;
  sums: View;
  state: View;
}

const strips = (vocab: number): number => Math.max(1, Math.min(256, Math.ceil(vocab / 64)));

/** Scratch of `sample` for chunks of at most `maxRows` rows. */
export function sampleScratch(gpu: Gpu, maxRows: number, vocab: number): SampleScratch {
  return {
    partial: gpu.buffer('sample partial', maxRows * strips(vocab) * 16),
    sums: gpu.buffer('sample sums', maxRows * strips(vocab) * 64),
    state: gpu.buffer('sample state', maxRows * 32),
  };
}

const HEAD = /* wgsl */ `
${ROWS_WGSL}
${RANDOM_WGSL}
// mode: 0 = top-k (weight 1), 1 = top-p (weight = probability); digit: which four bits of the threshold, from the top.
struct Dims { rows: vec4u, vocab: u32, stride4: u32, strips: u32, truncate: u32, mode: u32, digit: u32, step: u32, result_rows: u32 }
struct Row { temperature: f32, top_p: f32, top_k: u32, seed: u32, stream: u32, pad0: u32, pad1: u32, pad2: u32 }
// low: threshold so far; top_k_low: the finished one of top-k; both on ordered bits. top: the row's largest logit/τ.
struct State { low: u32, top_k_low: u32, goal: f32, on: u32, top: f32, pad0: u32, pad1: u32, pad2: u32 }
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> counts: Counts;
/** u32 in the order of f32. */
fn ordered(x: f32) -> u32 { let bits = bitcast<u32>(x); return bits ^ select(0x80000000u, 0xffffffffu, bits >> 31u == 1u); }
fn inverse_temperature(row: Row) -> f32 { return select(1.0, 1.0 / row.temperature, row.temperature > 0.0); }
`;
const MAIN = /* wgsl */ `
@compute @workgroup_size(64) fn main(
  @builtin(workgroup_id) wg: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) thread: u32) {
  let index = ${GRID_INDEX_WGSL} * 64u + thread;
  let n = row_count(dims.rows, counts);`;

/** Per strip: max and Σexp of logit/τ over all ids; best noisy logit among the ids kept, and its id. */
const DRAW_WGSL = /* wgsl */ `${HEAD}
@group(0) @binding(2) var<storage, read> logits: array<vec4f>;
@group(0) @binding(3) var<storage, read> params: array<Row>;
@group(0) @binding(4) var<storage, read> positions: array<u32>;
@group(0) @binding(5) var<storage, read> states: array<State>;
@group(0) @binding(6) var<storage, read_write> partial: array<vec4f>;
${MAIN}
  let r = index / dims.strips;
  if (r >= n) { return; }
  let row = params[r + dims.rows.z];
  let key = random_key(row.seed, row.stream, positions[r + dims.rows.z] + 1u);
  let inverse = inverse_temperature(row);
  let noise = select(0.0, 1.0, row.temperature > 0.0);
  let low = select(0u, states[r].low, dims.truncate == 1u);
  var top = -3e38; var sum = 0.0; var best = -3e38; var best_id = 0xffffffffu;
  for (var i = index % dims.strips; i * 4u < dims.vocab; i += dims.strips) {
    let x = logits[r * dims.stride4 + i];
    let in_vocab = i * 4u + vec4u(0u, 1u, 2u, 3u) < vec4u(dims.vocab);
    let z = select(vec4f(-3e38), x * inverse, in_vocab);
    let next = max(top, max(max(z.x, z.y), max(z.z, z.w)));
    let e = select(vec4f(), exp(z - next), in_vocab);
    sum = sum * exp(top - next) + ((e.x + e.y) + (e.z + e.w));
    top = next;
    for (var c = 0u; c < 4u; c++) {
      let score = z[c] + noise * gumbel(random_bits(key, i * 4u + c));
      if (in_vocab[c] && score > best && ordered(z[c]) >= low) { best = score; best_id = i * 4u + c; }
    }
  }
  partial[index] = vec4f(top, sum, best, bitcast<f32>(best_id));
}`;

/** Per strip: Σ weight of the ids whose logit reaches each of 16 candidate thresholds. */
const SUM_WGSL = /* wgsl */ `${HEAD}
@group(0) @binding(2) var<storage, read> logits: array<vec4f>;
@group(0) @binding(3) var<storage, read> params: array<Row>;
@group(0) @binding(4) var<storage, read> states: array<State>;
@group(0) @binding(5) var<storage, read_write> sums: array<vec4f>;
${MAIN}
  let r = index / dims.strips;
  if (r >= n) { return; }
  let state = states[r];
  let inverse = inverse_temperature(params[r + dims.rows.z]);
  let low = select(state.low, 0u, dims.digit == 0u);
  let kept = select(0u, state.top_k_low, dims.mode == 1u);
  let step = 1u << (28u - 4u * dims.digit);
  var s0 = vec4f(); var s1 = vec4f(); var s2 = vec4f(); var s3 = vec4f();
  for (var i = index % dims.strips; i * 4u < dims.vocab; i += dims.strips) {
    let x = logits[r * dims.stride4 + i] * inverse;
    for (var c = 0u; c < 4u; c++) {
      let bits = ordered(x[c]);
      let counted = i * 4u + c < dims.vocab && bits >= kept;
      let weight = vec4f(select(0.0, select(1.0, exp(x[c] - state.top), dims.mode == 1u), counted));
      let at = vec4u(bits);
      let c0 = low + step * vec4u(0u, 1u, 2u, 3u);
      s0 += select(vec4f(), weight, at >= c0);
      s1 += select(vec4f(), weight, at >= c0 + 4u * step);
      s2 += select(vec4f(), weight, at >= c0 + 8u * step);
      s3 += select(vec4f(), weight, at >= c0 + 12u * step);
    }
  }
  sums[index * 4u] = s0; sums[index * 4u + 1u] = s1; sums[index * 4u + 2u] = s2; sums[index * 4u + 3u] = s3;
}`;

/** Per row: the largest candidate that still keeps enough (k ids, or the mass p) becomes the threshold. */
const NARROW_WGSL = /* wgsl */ `${HEAD}
@group(0) @binding(2) var<storage, read> params: array<Row>;
@group(0) @binding(3) var<storage, read> partial: array<vec4f>;
@group(0) @binding(4) var<storage, read> sums: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> states: array<State>;
${MAIN}
  let r = index;
  if (r >= n) { return; }
  let row = params[r + dims.rows.z];
  var state = states[r];
  var s: array<vec4f, 4>;
  for (var i = 0u; i < dims.strips; i++) {
    for (var c = 0u; c < 4u; c++) { s[c] += sums[(r * dims.strips + i) * 4u + c]; }
  }
  if (dims.digit == 0u) {
    state.low = 0u;
    if (dims.mode == 0u) {
      state.goal = f32(row.top_k);
      state.on = select(0u, 1u, row.top_k > 0u && row.top_k < dims.vocab);
      state.top = -3e38;
      for (var i = 0u; i < dims.strips; i++) { state.top = max(state.top, partial[r * dims.strips + i].x); }
    } else {
      state.goal = row.top_p * s[0].x;
      state.on = select(0u, 1u, row.top_p < 1.0);
    }
  }
  if (state.on == 1u) {
    let low = state.low;
    for (var i = 1u; i < 16u; i++) {
      if (s[i / 4u][i % 4u] >= state.goal && s[i / 4u][i % 4u] > 0.0) { state.low = low + (i << (28u - 4u * dims.digit)); }
    }
  }
  if (dims.digit == 7u) {
    if (dims.mode == 0u) { state.top_k_low = state.low; } else { state.low = max(state.low, state.top_k_low); }
  }
  states[r] = state;
}`;

/** Per row: merges the strips, writes token and log-probability, and moves the row on by one token. */
const FINISH_WGSL = /* wgsl */ `${HEAD}
@group(0) @binding(2) var<storage, read> logits: array<f32>;
@group(0) @binding(3) var<storage, read> params: array<Row>;
@group(0) @binding(4) var<storage, read> partial: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> positions: array<u32>;
@group(0) @binding(6) var<storage, read_write> tokens: array<u32>;
@group(0) @binding(7) var<storage, read_write> results: array<vec2u>;
${MAIN}
  let r = index;
  if (r >= n) { return; }
  let at = r + dims.rows.z;
  var top = -3e38; var best = -3e38; var id = 0xffffffffu;
  for (var i = 0u; i < dims.strips; i++) {
    let p = partial[r * dims.strips + i];
    let p_id = bitcast<u32>(p.w);
    top = max(top, p.x);
    if (p.z > best || (p.z == best && p_id < id)) { best = p.z; id = p_id; }
  }
  var sum = 0.0;
  for (var i = 0u; i < dims.strips; i++) { let p = partial[r * dims.strips + i]; sum += p.y * exp(p.x - top); }
  id = min(id, dims.vocab - 1u);
  let logprob = logits[r * dims.stride4 * 4u + id] * inverse_temperature(params[at]) - top - log(sum);
  tokens[at] = id;
  positions[at] += 1u;
  results[dims.step * dims.result_rows + at] = vec2u(id, bitcast<u32>(logprob));
}`;

/**
 * Samples every row of a chunk of logits. The log-probability is of softmax(logits/τ) before truncation (τ = 1 when greedy).
 * Ties at a top-k or top-p threshold are all kept.
 */
export function sample(gpu: Gpu, t: SampleTensors, p: SampleSizes): Dispatch[] {
  const stride = p.stride ?? Math.ceil(p.vocab / 4) * 4;
  if (stride % 4 !== 0 || stride < p.vocab) throw new RangeError(`stride ${stride}: expected a multiple of 4, at least vocab (${p.vocab})`);
  const { partial, sums, state } = t.scratch;
  const dims = (truncate: number, mode = 0, digit = 0): View =>
    gpu.uniform('sample dims', [...rowWords(p.rows), p.vocab, stride / 4, strips(p.vocab), truncate, mode, digit, p.step, p.resultRows]);
  const perStrip: Dispatch['workgroups'] = (counts) => grid(rowCount(p.rows, counts) * strips(p.vocab), 64);
  const perRow: Dispatch['workgroups'] = (counts) => grid(rowCount(p.rows, counts), 64);

  const draw = gpu.kernel('sample draw', DRAW_WGSL, ['uniform', 'uniform', 'read', 'read', 'read', 'read', 'read_write']);
  const drawing = (truncate: number): Dispatch => gpu.dispatch(draw, [dims(truncate), t.counts, t.logits, t.params, t.positions, state, partial], perStrip);
  const finish = gpu.kernel('sample finish', FINISH_WGSL, ['uniform', 'uniform', 'read', 'read', 'read', 'read_write', 'read_write', 'read_write']);
  const finishing = gpu.dispatch(finish, [dims(0), t.counts, t.logits, t.params, partial, t.positions, t.tokens, t.results], perRow);
  if (!p.truncate) return [drawing(0), finishing];

  const sum = gpu.kernel('sample sums', SUM_WGSL, ['uniform', 'uniform', 'read', 'read', 'read', 'read_write']);
  const narrow = gpu.kernel('sample narrow', NARROW_WGSL, ['uniform', 'uniform', 'read', 'read', 'read', 'read_write']);
  const narrowing = [0, 1].flatMap((mode) => Array.from({ length: 8 }, (_, digit) => dims(1, mode, digit)).flatMap((d) => [
    gpu.dispatch(sum, [d, t.counts, t.logits, t.params, state, sums], perStrip),
    gpu.dispatch(narrow, [d, t.counts, t.params, partial, sums, state], perRow),
  ]));
  return [drawing(0), ...narrowing, drawing(1), finishing];
}

/** The ids that top-k, then top-p, keep of one row of logits (Hugging Face's order), ties at a threshold included. */
export function keptIds(logits: ArrayLike<number>, row: SampleRow): number[] {
  const scale = row.temperature > 0 ? 1 / row.temperature : 1;
  let ids = Array.from({ length: logits.length }, (_, id) => id).sort((a, b) => logits[b]! - logits[a]!);
  const top = logits[ids[0]!]!;
  if (row.topK > 0 && row.topK < ids.length) {
    const threshold = logits[ids[row.topK - 1]!]!;
    ids = ids.filter((id) => logits[id]! >= threshold);
  }
  if (row.topP < 1) {
    const weight = (id: number): number => Math.exp((logits[id]! - top) * scale);
    const goal = row.topP * ids.reduce((total, id) => total + weight(id), 0);
    let mass = 0;
    let threshold = top;
    for (const id of ids) {
      if (mass >= goal) break;
      mass += weight(id);
      threshold = logits[id]!;
    }
    ids = ids.filter((id) => logits[id]! >= threshold);
  }
  return ids.sort((a, b) => a - b);
}

/** CPU twin of `sample` for one row: the same token (to near ties in f32) from the same random bits. `position`: of the token sampled. */
export function sampleReference(logits: ArrayLike<number>, row: SampleRow, position: number): { token: number; logprob: number } {
  const scale = row.temperature > 0 ? 1 / row.temperature : 1;
  const key = randomKey(row.seed, row.stream, position);
  let token = -1;
  let best = -Infinity;
  for (const id of keptIds(logits, row)) {
    const score = logits[id]! * scale + (row.temperature > 0 ? gumbel(randomBits(key, id)) : 0);
    if (score > best) [best, token] = [score, id];
  }
  let top = -Infinity;
  for (let id = 0; id < logits.length; id++) top = Math.max(top, logits[id]! * scale);
  let sum = 0;
  for (let id = 0; id < logits.length; id++) sum += Math.exp(logits[id]! * scale - top);
  return { token, logprob: logits[token]! * scale - top - Math.log(sum) };
}
