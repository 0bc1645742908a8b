/**
 * Packed attention for devices whose memory is slow beside their registers, and whose registers may spill: CPUs. A thread serves a few
 * tokens of one head alone, and visits the items of the other side in blocks of four. If its tokens are queries, the items are keys.
 * If its tokens are keys (dk dv), the items are queries. Each lane of a quad loads one item of a block for all four lanes.
 */
import { defineKernel } from '../kernel.ts';
import type { AttentionTuning } from '../tuning.ts';
import { type AttentionShape, LOG2E } from './attention-shape.ts';
import { unroll } from './unroll.ts';

const MOST_TOKENS = 8;

/** Number of tokens that a thread serves in each kernel. It holds two, three or four vectors of head_dim floats for each token. */
export function quadTokens({ headDim }: AttentionShape, { floats }: AttentionTuning) {
  const tokens = (vectors: number): number => Math.max(1, Math.min(MOST_TOKENS, Math.floor(floats / (vectors * headDim))));
  return { forward: tokens(2), query: tokens(3), key: tokens(4) };
}

/** WGSL with which each kernel begins. A thread serves `R` tokens. */
function start({ heads, kvHeads, headDim }: AttentionShape, threads: number, R: number): string {
  return /* wgsl */ `
const D = ${headDim / 4}u; // vec4s of head_dim
const K_STRIDE = ${((heads + kvHeads) * headDim) / 4}u;
const V_STRIDE = ${((heads + 2 * kvHeads) * headDim) / 4}u;
const HEADS = ${heads}u;
const KV_HEADS = ${kvHeads}u;
const SCALE = ${1 / Math.sqrt(headDim)};
const LOG2E = ${LOG2E};
const THREADS = ${threads}u;

// The values of the four lanes, that of this lane first. With m = of_quad(y), x * m has the dot products of x with each y, and m * w is
// the sum of all y weighted by w.
fn of_quad(x: vec4f) -> mat4x4f { return mat4x4f(x, quadSwapX(x), quadSwapY(x), quadSwapDiagonal(x)); }
fn each_f32(x: f32) -> vec4f { return vec4f(x, quadSwapX(x), quadSwapY(x), quadSwapDiagonal(x)); }
fn each_u32(x: u32) -> vec4u { return vec4u(x, quadSwapX(x), quadSwapY(x), quadSwapDiagonal(x)); }

@compute @workgroup_size(THREADS) fn main(
  @builtin(workgroup_id) wg: vec3u, @builtin(local_invocation_index) thread: u32, @builtin(subgroup_invocation_id) sg: u32) {
  let lane = sg & 3u;
  let item = vec4u(lane, lane ^ 1u, lane ^ 2u, lane ^ 3u); // the items of a block, in the order of \`of_quad\`
  let n = dims.rows.base + row_count(); // the end of the run's range of tokens
  let first = dims.rows.base + wg.x * ${R}u * THREADS; // the workgroup serves the tokens first … last - 1
  let last = min(first + ${R}u * THREADS, n);
  let own = first + thread; // this thread serves the tokens own, own + THREADS, own + 2 THREADS, …`;
}

export function quadForward(p: AttentionShape, tuning: AttentionTuning) {
  const { forward: R } = quadTokens(p, tuning);
  const D = p.headDim / 4;
  const body = /* wgsl */ `${start(p, tuning.threads, R)}
  let head = wg.y;
  let k_column = (HEADS + head / (HEADS / KV_HEADS)) * D;
  let v_column = k_column + KV_HEADS * D;
  var q: array<vec4f, ${R * D}>;
  var o: array<vec4f, ${R * D}>;
  var top: array<f32, ${R}>; // the largest score
  var total: array<f32, ${R}>; // the sum of the weights
  unroll (r < ${R}) {
    unroll (d < ${D}) { q[r * ${D} + d] = qk[(own + r * THREADS) * K_STRIDE + head * D + d] * (SCALE * LOG2E); }
    top[r] = -1e30;
  }
  for (var j = 0u; j < last; j += 4u) {
    while (j < last && ends[j] <= first) { j = ends[j]; } // skips subtrees that end before the tokens of the workgroup
    let mine = min(j + lane, last - 1u);
    let key = j + item;
    let end = each_u32(ends[mine]);
    var s = array<vec4f, ${R}>();
    unroll (d < ${D}) {
      let k = of_quad(qk[mine * K_STRIDE + k_column + d]);
      unroll (r < ${R}) { s[r] += q[r * ${D} + d] * k; }
    }
    var fade = array<f32, ${R}>();
    unroll (r < ${R}) {
      let token = vec4u(own + r * THREADS);
      let score = select(vec4f(-3e30), s[r], (key <= token) & (token < end));
      let new_top = max(top[r], max(max(score.x, score.y), max(score.z, score.w)));
      fade[r] = exp2(top[r] - new_top);
      top[r] = new_top;
      s[r] = exp2(score - new_top);
      total[r] = total[r] * fade[r] + (s[r].x + s[r].y) + (s[r].z + s[r].w);
    }
    unroll (d < ${D}) {
      let v = of_quad(qkv[mine * V_STRIDE + v_column + d]);
      unroll (r < ${R}) { o[r * ${D} + d] = o[r * ${D} + d] * fade[r] + v * s[r]; }
    }
  }
  unroll (r < ${R}) {
    let token = own + r * THREADS;
    if (token < n) {
      unroll (d < ${D}) { out[(token * HEADS + head) * D + d] = o[r * ${D} + d] / total[r]; }
      lse[token * HEADS + head] = (top[r] + log2(total[r])) / LOG2E;
    }
  }
}`;
  return defineKernel({
    label: 'attention',
    dims: { rows: 'Rows' },
    reads: { qk: 'vec4f', qkv: 'vec4f', ends: 'u32' },
    writes: { out: 'vec4f', lse: 'f32' },
    subgroups: true,
    body: unroll(body),
  });
}

export function quadQueryGradient(p: AttentionShape, tuning: AttentionTuning) {
  const { query: R } = quadTokens(p, tuning);
  const D = p.headDim / 4;
  const body = /* wgsl */ `${start(p, tuning.threads, R)}
  let head = wg.y;
  let k_column = (HEADS + head / (HEADS / KV_HEADS)) * D;
  let v_column = k_column + KV_HEADS * D;
  var q: array<vec4f, ${R * D}>;
  var g: array<vec4f, ${R * D}>; // the gradient of out
  var dq: array<vec4f, ${R * D}>;
  var own_delta: array<f32, ${R}>;
  var own_lse: array<f32, ${R}>;
  unroll (r < ${R}) {
    let token = own + r * THREADS;
    unroll (d < ${D}) {
      q[r * ${D} + d] = qk[token * K_STRIDE + head * D + d] * (SCALE * LOG2E);
      g[r * ${D} + d] = dout[(token * HEADS + head) * D + d];
      own_delta[r] += dot(g[r * ${D} + d], out[(token * HEADS + head) * D + d]);
    }
    own_lse[r] = lse[token * HEADS + head] * LOG2E;
  }
  for (var j = 0u; j < last; j += 4u) {
    while (j < last && ends[j] <= first) { j = ends[j]; }
    let mine = min(j + lane, last - 1u);
    let key = j + item;
    let end = each_u32(ends[mine]);
    var s = array<vec4f, ${R}>(); // q · k
    var u = array<vec4f, ${R}>(); // g · v
    unroll (d < ${D}) {
      let k = of_quad(qk[mine * K_STRIDE + k_column + d]);
      unroll (r < ${R}) { s[r] += q[r * ${D} + d] * k; }
      let v = of_quad(qkv[mine * V_STRIDE + v_column + d]);
      unroll (r < ${R}) { u[r] += g[r * ${D} + d] * v; }
    }
    unroll (r < ${R}) {
      let token = vec4u(own + r * THREADS);
      s[r] = select(vec4f(), exp2(s[r] - own_lse[r]) * (u[r] - own_delta[r]), (key <= token) & (token < end));
    }
    unroll (d < ${D}) {
      let k = of_quad(qk[mine * K_STRIDE + k_column + d]);
      unroll (r < ${R}) { dq[r * ${D} + d] += k * s[r]; }
    }
  }
  unroll (r < ${R}) {
    let token = own + r * THREADS;
    if (token < n) {
      unroll (d < ${D}) { dqk[token * K_STRIDE + head * D + d] = dq[r * ${D} + d] * SCALE; }
      delta[token * HEADS + head] = own_delta[r];
    }
  }
}`;
  return defineKernel({
    label: 'attention dq',
    dims: { rows: 'Rows' },
    reads: { qk: 'vec4f', qkv: 'vec4f', ends: 'u32', out: 'vec4f', lse: 'f32', dout: 'vec4f' },
    writes: { delta: 'f32', dqk: 'vec4f' },
    subgroups: true,
    body: unroll(body),
  });
}

export function quadKeyGradient(p: AttentionShape, tuning: AttentionTuning) {
  const { key: R } = quadTokens(p, tuning);
  const D = p.headDim / 4;
  const body = /* wgsl */ `${start(p, tuning.threads, R)}
  let k_column = (HEADS + wg.y) * D;
  let v_column = k_column + KV_HEADS * D;
  var k: array<vec4f, ${R * D}>;
  var v: array<vec4f, ${R * D}>;
  var dk: array<vec4f, ${R * D}>;
  var dv: array<vec4f, ${R * D}>;
  var own_end: array<u32, ${R}>;
  unroll (r < ${R}) {
    let token = own + r * THREADS;
    unroll (d < ${D}) {
      k[r * ${D} + d] = qk[token * K_STRIDE + k_column + d] * (SCALE * LOG2E);
      v[r * ${D} + d] = qkv[token * V_STRIDE + v_column + d];
    }
    own_end[r] = select(ends[token], 0u, token >= n);
  }
  var end = 0u;
  for (var t = first; t < last; t++) { end = max(end, ends[t]); }
  end = min(end, counts.tokens);
  for (var head = wg.y * (HEADS / KV_HEADS); head < (wg.y + 1u) * (HEADS / KV_HEADS); head++) {
    for (var j = first; j < end; j += 4u) {
      let mine = min(j + lane, end - 1u);
      let query = j + item;
      let query_lse = each_f32(lse[mine * HEADS + head] * LOG2E);
      let query_delta = each_f32(delta[mine * HEADS + head]);
      let q_at = mine * K_STRIDE + head * D;
      let g_at = (mine * HEADS + head) * D;
      var s = array<vec4f, ${R}>(); // k · q
      var u = array<vec4f, ${R}>(); // v · g
      unroll (d < ${D}) {
        let q = of_quad(qk[q_at + d]);
        unroll (r < ${R}) { s[r] += k[r * ${D} + d] * q; }
        let g = of_quad(dout[g_at + d]);
        unroll (r < ${R}) { u[r] += v[r * ${D} + d] * g; }
      }
      unroll (r < ${R}) {
        s[r] = select(vec4f(), exp2(s[r] - query_lse), (vec4u(own + r * THREADS) <= query) & (query < vec4u(own_end[r])));
        u[r] = s[r] * (u[r] - query_delta);
      }
      unroll (d < ${D}) {
        let q = of_quad(qk[q_at + d]);
        unroll (r < ${R}) { dk[r * ${D} + d] += q * u[r]; }
        let g = of_quad(dout[g_at + d]);
        unroll (r < ${R}) { dv[r * ${D} + d] += g * s[r]; }
      }
    }
  }
  unroll (r < ${R}) {
    let token = own + r * THREADS;
    if (token < n) {
      unroll (d < ${D}) {
        dqk[token * K_STRIDE + k_column + d] = dk[r * ${D} + d] * SCALE;
        dqkv[token * V_STRIDE + v_column + d] = dv[r * ${D} + d];
      }
    }
  }
}`;
  return defineKernel({
    label: 'attention dk dv',
    dims: { rows: 'Rows' },
    reads: { qk: 'vec4f', qkv: 'vec4f', ends: 'u32', lse: 'f32', dout: 'vec4f', delta: 'f32' },
    writes: { dqk: 'vec4f', dqkv: 'vec4f' },
    subgroups: true,
    body: unroll(body),
  });
}
