/**
 * Packed attention for GPUs, without subgroups. A workgroup serves a tile of tokens of one head. It visits the items of the other side
 * in blocks of 32. If its tokens are queries, the items are keys. If its tokens are keys (dk dv), the items are queries.
 *
 * The 64 threads stand in 8 rows and 8 columns. A row has R tokens (`Rows_of` has one number for each). First, a thread computes the
 * scores of its R tokens with the items column, column + 8, column + 16 and column + 24, and stores their weights in workgroup
 * memory. Then it adds the weighted items to the results of its R tokens, for the vec4s column, column + 8, … of head_dim. Vectors pass through
 * workgroup memory in chunks of C vec4s. The last chunk may have fewer.
 */
import { defineKernel } from '../kernel.ts';
import { type AttentionShape, LOG2E } from './attention-shape.ts';
import { unroll } from './unroll.ts';

/** A thread holds R · headDim / 8 floats of each result. With these R it holds at most 128 floats, up to a head_dim of 192. */
const rowsOf = ({ headDim }: AttentionShape) => {
  const R = headDim > 128 ? 2 : 4;
  return { forward: R, query: R, key: headDim > 64 ? 2 : 4 };
};

/** Tokens of a workgroup, for each kernel. */
export const blockTokens = (p: AttentionShape) => {
  const { forward, query, key } = rowsOf(p);
  return { forward: 8 * forward, query: 8 * query, key: 8 * key };
};

/** WGSL with which each kernel begins. `R` tokens belong to a row of threads, and a chunk of a vector has `C` vec4s. */
function start({ heads, kvHeads, headDim }: AttentionShape, R: number): string {
  const C = chunk(headDim);
  return /* wgsl */ `
const D = ${headDim / 4}u; // vec4s of head_dim
const C = ${C}u;
const K_STRIDE = ${((heads + kvHeads) * headDim) / 4}u;
const V_STRIDE = ${((heads + 2 * kvHeads) * headDim) / 4}u;
const HEADS = ${heads}u;
const KV_HEADS = ${kvHeads}u;
const SCALE = ${1 / Math.sqrt(headDim)};
const LOG2E = ${LOG2E};
const PITCH = ${C + 1}u; // one more than C, so that the threads of a row read from different banks
alias Rows_of = vec${R}f; // one number for each of the R tokens of a row of threads

var<workgroup> own_tile: array<vec4f, ${8 * R * (C + 1)}>;
var<workgroup> item_tile: array<vec4f, ${32 * (C + 1)}>;
var<workgroup> weights: array<Rows_of, 256>; // [item, row]
var<workgroup> shared_rows: array<Rows_of, 64>; // [row, column]

@compute @workgroup_size(64) fn main(@builtin(workgroup_id) wg: vec3u, @builtin(local_invocation_index) thread: u32) {
  let row = thread / 8u;
  let column = thread % 8u;
  let n = dims.rows.base + row_count(); // the end of the run's range of tokens
  let first = dims.rows.base + wg.x * ${8 * R}u; // the workgroup serves the tokens first … last - 1, and this thread the tokens own … own + R - 1
  let last = min(first + ${8 * R}u, n);
  let own = first + row * ${R};`;
}

/** vec4s of a chunk. */
const chunk = (headDim: number): number => Math.min(8, headDim / 4);
const chunksOf = ({ headDim }: AttentionShape): number => Math.ceil(headDim / 4 / chunk(headDim));
/** Whether the last chunk has fewer vec4s. */
const isPartial = ({ headDim }: AttentionShape): boolean => (headDim / 4) % chunk(headDim) !== 0;
/** WGSL: whether a thread owns the vec4 `column` of the chunk that begins at vec4 `at`. */
const owns = (p: AttentionShape, at: string): string => `column < C${isPartial(p) ? ` && ${at} + column < D` : ''}`;

/**
 * WGSL: adds to `into[t]` the dot products of the thread's tokens with the item column + 8 t. \`own\` and \`items\` are the vec4s at which
 * the vectors of the token \`token\` and of the item \`item\` begin.
 */
const products = (p: AttentionShape, R: number, into: string, own: string, items: string): string => {
  const inside = (vector: string): string => (isPartial(p) ? `select(vec4f(), ${vector}, c + i % C < D)` : vector);
  return /* wgsl */ `
    for (var c = 0u; c < D; c += C) {
      workgroupBarrier();
      for (var i = thread; i < ${8 * R}u * C; i += 64u) { let token = min(first + i / C, last - 1u); own_tile[i / C * PITCH + i % C] = ${inside(own)}; }
      for (var i = thread; i < 32u * C; i += 64u) { let item = min(j + i / C, end - 1u); item_tile[i / C * PITCH + i % C] = ${inside(items)}; }
      workgroupBarrier();
      for (var d = 0u; d < C; d++) {
        var a = array<vec4f, ${R}>();
        unroll (r < ${R}) { a[r] = own_tile[(row * ${R} + r) * PITCH + d]; }
        unroll (t < 4) {
          let b = item_tile[(column + 8 * t) * PITCH + d];
          unroll (r < ${R}) { ${into}[t][r] += dot(a[r], b); }
        }
      }
    }`;
};

/** WGSL: adds to \`into\` the sum over the block's items, each times its weight. */
const weighted = (R: number, chunks: number, into: string, items: string): string => /* wgsl */ `
    unroll (chunk < ${chunks}) {
      let c = chunk * C;
      workgroupBarrier();
      for (var i = thread; i < 32u * C; i += 64u) { let item = min(j + i / C, end - 1u); item_tile[i / C * PITCH + i % C] = ${items}; }
      workgroupBarrier();
      for (var t = 0u; t < 32u; t++) {
        let w = weights[t * 8u + row];
        let x = item_tile[t * PITCH + min(column, C - 1u)];
        unroll (r < ${R}) { ${into}[chunk * ${R} + r] += w[r] * x; }
      }
    }`;

export function blockForward(p: AttentionShape) {
  const { forward: R } = rowsOf(p);
  const chunks = chunksOf(p);
  const body = /* wgsl */ `${start(p, R)}
  let head = wg.y;
  let k_column = (HEADS + head / (HEADS / KV_HEADS)) * D;
  let v_column = k_column + KV_HEADS * D;
  let end = last;
  var o: array<vec4f, ${chunks * R}>;
  var top = Rows_of(-1e30); // the largest scores
  var total = Rows_of(); // the sums of the weights of this thread's keys
  for (var j = 0u; j < last; j += 32u) {
    while (j < last && ends[j] <= first) { j = ends[j]; } // skips sequences that end before this tile
    if (j >= last) { break; }
    var s = array<Rows_of, 4>();
    ${products(p, R, 's', 'qk[token * K_STRIDE + head * D + c + i % C]', 'qk[item * K_STRIDE + k_column + c + i % C]')}
    var new_top = top;
    unroll (t < 4) {
      let key = j + column + 8 * t;
      let key_end = ends[min(key, last - 1u)];
      unroll (r < ${R}) { s[t][r] = select(-3e30, s[t][r] * (SCALE * LOG2E), (key <= own + r) & (own + r < key_end)); }
      new_top = max(new_top, s[t]);
    }
    shared_rows[thread] = new_top;
    workgroupBarrier();
    for (var i = 0u; i < 8u; i++) { new_top = max(new_top, shared_rows[row * 8u + i]); }
    let fade = exp2(top - new_top);
    top = new_top;
    total *= fade;
    unroll (t < 4) {
      let weight = exp2(s[t] - top);
      total += weight;
      weights[(column + 8 * t) * 8u + row] = weight;
    }
    unroll (c < ${chunks}) { unroll (r < ${R}) { o[c * ${R} + r] *= fade[r]; } }
    ${weighted(R, chunks, 'o', 'qkv[item * V_STRIDE + v_column + c + i % C]')}
  }
  workgroupBarrier();
  shared_rows[thread] = total;
  workgroupBarrier();
  var sum = Rows_of();
  for (var i = 0u; i < 8u; i++) { sum += shared_rows[row * 8u + i]; }
  unroll (r < ${R}) {
    let token = own + r;
    if (token < n) {
      unroll (c < ${chunks}) { if (${owns(p, 'c * C')}) { out[(token * HEADS + head) * D + c * C + column] = o[c * ${R} + r] / sum[r]; } }
      if (column == 0u) { lse[token * HEADS + head] = (top[r] + log2(sum[r])) / LOG2E; }
    }
  }
}`;
  return defineKernel({
    label: 'attention',
    dims: { rows: 'Rows' },
    reads: { qk: 'vec4f', qkv: 'vec4f', ends: 'u32' },
    writes: { out: 'vec4f', lse: 'f32' },
    body: unroll(body),
  });
}

export function blockQueryGradient(p: AttentionShape) {
  const { query: R } = rowsOf(p);
  const chunks = chunksOf(p);
  const body = /* wgsl */ `${start(p, R)}
  let head = wg.y;
  let k_column = (HEADS + head / (HEADS / KV_HEADS)) * D;
  let v_column = k_column + KV_HEADS * D;
  let end = last;
  var dq: array<vec4f, ${chunks * R}>;
  var own_lse = Rows_of();
  var own_delta = Rows_of();
  unroll (r < ${R}) {
    let token = min(own + r, last - 1u);
    own_lse[r] = lse[token * HEADS + head] * LOG2E;
    for (var d = column; d < D; d += 8u) {
      own_delta[r] += dot(dout[(token * HEADS + head) * D + d], out[(token * HEADS + head) * D + d]);
    }
  }
  shared_rows[thread] = own_delta;
  workgroupBarrier();
  own_delta = Rows_of();
  for (var i = 0u; i < 8u; i++) { own_delta += shared_rows[row * 8u + i]; }
  for (var j = 0u; j < last; j += 32u) {
    while (j < last && ends[j] <= first) { j = ends[j]; }
    if (j >= last) { break; }
    var s = array<Rows_of, 4>();
    var u = array<Rows_of, 4>();
    ${products(p, R, 's', 'qk[token * K_STRIDE + head * D + c + i % C]', 'qk[item * K_STRIDE + k_column + c + i % C]')}
    ${products(p, R, 'u', 'dout[(token * HEADS + head) * D + c + i % C]', 'qkv[item * V_STRIDE + v_column + c + i % C]')}
    unroll (t < 4) {
      let key = j + column + 8 * t;
      let key_end = ends[min(key, last - 1u)];
      var weight = exp2(s[t] * (SCALE * LOG2E) - own_lse) * (u[t] - own_delta);
      unroll (r < ${R}) { weight[r] = select(0.0, weight[r], (key <= own + r) & (own + r < key_end)); }
      weights[(column + 8 * t) * 8u + row] = weight;
    }
    ${weighted(R, chunks, 'dq', 'qk[item * K_STRIDE + k_column + c + i % C]')}
  }
  unroll (r < ${R}) {
    let token = own + r;
    if (token < n) {
      unroll (c < ${chunks}) { if (${owns(p, 'c * C')}) { dqk[token * K_STRIDE + head * D + c * C + column] = dq[c * ${R} + r] * SCALE; } }
      if (column == 0u) { delta[token * HEADS + head] = own_delta[r]; }
    }
  }
}`;
  return defineKernel({
    label: 'attention dq',
    dims: { rows: 'Rows' },
    reads: { qk: 'vec4f', qkv: 'vec4f', ends: 'u32', out: 'vec4f', lse: 'f32', dout: 'vec4f' },
    writes: { delta: 'f32', dqk: 'vec4f' },
    body: unroll(body),
  });
}

export function blockKeyGradient(p: AttentionShape) {
  const { key: R } = rowsOf(p);
  const chunks = chunksOf(p);
  const body = /* wgsl */ `${start(p, R)}
  let k_column = (HEADS + wg.y) * D;
  let v_column = k_column + KV_HEADS * D;
  var dk: array<vec4f, ${chunks * R}>;
  var dv: array<vec4f, ${chunks * R}>;
  var end = 0u;
  for (var t = first; t < last; t++) { end = max(end, ends[t]); }
  end = min(end, counts.tokens);
  for (var head = wg.y * (HEADS / KV_HEADS); head < (wg.y + 1u) * (HEADS / KV_HEADS); head++) {
    for (var j = first; j < end; j += 32u) {
      var s = array<Rows_of, 4>();
      var u = array<Rows_of, 4>();
      ${products(p, R, 's', 'qk[token * K_STRIDE + k_column + c + i % C]', 'qk[item * K_STRIDE + head * D + c + i % C]')}
      ${products(p, R, 'u', 'qkv[token * V_STRIDE + v_column + c + i % C]', 'dout[(item * HEADS + head) * D + c + i % C]')}
      unroll (t < 4) {
        let query = j + column + 8 * t;
        let at = min(query, end - 1u) * HEADS + head;
        s[t] = exp2(s[t] * (SCALE * LOG2E) - lse[at] * LOG2E);
        unroll (r < ${R}) {
          let key = min(own + r, last - 1u);
          s[t][r] = select(0.0, s[t][r], (key <= query) & (query < ends[key]) & (query < end));
        }
        u[t] = s[t] * (u[t] - delta[at]);
        weights[(column + 8 * t) * 8u + row] = s[t];
      }
      ${weighted(R, chunks, 'dv', 'dout[(item * HEADS + head) * D + c + i % C]')}
      workgroupBarrier();
      unroll (t < 4) { weights[(column + 8 * t) * 8u + row] = u[t]; }
      ${weighted(R, chunks, 'dk', 'qk[item * K_STRIDE + head * D + c + i % C]')}
    }
  }
  unroll (r < ${R}) {
    let token = own + r;
    if (token < n) {
      unroll (c < ${chunks}) { if (${owns(p, 'c * C')}) {
        dqk[token * K_STRIDE + k_column + c * C + column] = dk[c * ${R} + r] * SCALE;
        dqkv[token * V_STRIDE + v_column + c * C + column] = dv[c * ${R} + r];
      } }
    }
  }
}`;
  return defineKernel({
    label: 'attention dk dv',
    dims: { rows: 'Rows' },
    reads: { qk: 'vec4f', qkv: 'vec4f', ends: 'u32', lse: 'f32', dout: 'vec4f', delta: 'f32' },
    writes: { dqk: 'vec4f', dqkv: 'vec4f' },
    body: unroll(body),
  });
}
