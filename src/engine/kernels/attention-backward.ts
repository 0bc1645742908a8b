/**
 * Gradient of packed causal attention (FlashAttention-2). The kernels compute the scores again from q, k and lse.
 * `attentionBackwardReference` has the same computation as a plain loop.
 * With P = exp(s − lse), D = rowsum(dout ∘ out) and dS = P ∘ (dout·vᵀ − D):
 *   dq = dS k / √headDim,   dk = dSᵀ q / √headDim,   dv = Pᵀ dout.
 * In the first kernel a thread owns queries and sums dq. In the second a thread owns keys and sums dk and dv. So each sum has one owner,
 * and needs no atomics.
 */
import type { Dispatch, Gpu, View } from '../gpu.ts';
import { defineKernel } from '../kernel.ts';
import { rowCount } from '../rows.ts';
import { attendedKeys, attentionReference, type AttentionSizes, type AttentionTensors, checkAttentionSizes, LOG2E } from './attention.ts';
import { type AttentionTile, attentionTiles, eachKeyBlock, queryTokens, repeat, seen, TileText, tileTokens } from './attention-tile.ts';

export interface AttentionBackwardTensors extends AttentionTensors {
  /** [tokens, heads·headDim] gradient of `out`. */
  dout: View;
  /** Scratch [tokens, heads]: rowsum(dout ∘ out). */
  delta: View;
  /** [tokens, (heads + kvHeads)·headDim] gradient of `qk`. It is overwritten. */
  dqk: View;
  /** [tokens, (heads + 2·kvHeads)·headDim] gradient of `qkv`; only the v columns are written. */
  dqkv: View;
}

function queryKernel({ heads, kvHeads, headDim }: AttentionSizes, tile: AttentionTile) {
  const d4 = headDim / 4;
  const text = new TileText(tile, headDim);
  const own = text.vectors;
  const scale = 1 / Math.sqrt(headDim);
  const [kStride, vStride] = [(heads + kvHeads) * d4, (heads + 2 * kvHeads) * d4];
  const [ks, vs] = [text.array('qk'), text.array('qkv')];
  const body = /* wgsl */ `${queryTokens(heads, kvHeads, d4)}
  ${text.eachToken(
    (r) => `
  let token${r} = ${text.token(r)};
  let at${r} = (token${r} * ${heads}u + head) * ${d4}u;
  var delta${r} = 0.0;
  ${repeat(
    own,
    (d) => `let q${r}_${d} = qk[token${r} * ${kStride}u + head * ${d4}u + ${text.at(d)}] * ${scale * LOG2E};
  let g${r}_${d} = dout[at${r} + ${text.at(d)}]; delta${r} += dot(g${r}_${d}, out[at${r} + ${text.at(d)}]); var a${r}_${d} = vec4f();`,
  )}
  ${text.sum(`delta${r}`)}
  let lse${r} = lse[token${r} * ${heads}u + head] * ${LOG2E};`,
  )}${eachKeyBlock(
    text,
    { kStride, vStride },
    `
      ${text.eachToken((r) => repeat(4, (t) => `var s${r}_${t} = 0.0; var g${r}${t} = 0.0;`, ' '))}
      ${repeat(
        own,
        (d) => `${text.share ? `let k_${d} = ${ks}[k_at0 + ${text.at(d)}];` : ''}
      { ${text.four('k', `k_${d}`, (t) => `${ks}[k_at${t} + ${text.at(d)}]`)}
        ${text.eachToken((r) => repeat(4, (t) => `s${r}_${t} += dot(q${r}_${d}, k${t});`, ' '))} }
      { ${text.share ? `let v = ${vs}[v_at0 + ${text.at(d)}]; ` : ''}${text.four('v', 'v', (t) => `${vs}[v_at${t} + ${text.at(d)}]`)}
        ${text.eachToken((r) => repeat(4, (t) => `g${r}${t} += dot(g${r}_${d}, v${t});`, ' '))} }`,
      )}
      ${text.eachToken((r) => text.sum(...[0, 1, 2, 3].flatMap((t) => [`s${r}_${t}`, `g${r}${t}`])))}
      ${text.eachToken((r) => repeat(4, (t) => `let w${r}_${t} = select(0.0, exp2(s${r}_${t} - lse${r}) * (g${r}${t} - delta${r}), ${seen(text, r, t)});`))}
      ${repeat(
        own,
        (d) => `{ ${text.four('k', `k_${d}`, (t) => `${ks}[k_at${t} + ${text.at(d)}]`)}
        ${text.eachToken((r) => `a${r}_${d} += ${repeat(4, (t) => `w${r}_${t} * k${t}`, ' + ')};`)} }`,
      )}`,
  )}
  ${text.eachToken(
    (r) => `if (token${r} < n) {
    ${repeat(own, (d) => `dqk[token${r} * ${kStride}u + head * ${d4}u + ${text.at(d)}] = a${r}_${d} * ${scale};`)}
    if (${text.leader}) { delta[token${r} * ${heads}u + head] = delta${r}; }
  }`,
  )}`;
  return defineKernel({
    label: 'attention dq',
    dims: { rows: 'Rows' },
    reads: { qk: 'vec4f', qkv: 'vec4f', ends: 'u32', out: 'vec4f', lse: 'f32', dout: 'vec4f' },
    writes: { delta: 'f32', dqk: 'vec4f' },
    subgroups: text.subgroups,
    body: text.main(body),
  });
}

function keyKernel({ heads, kvHeads, headDim }: AttentionSizes, tile: AttentionTile) {
  const d4 = headDim / 4;
  const text = new TileText(tile, headDim);
  const own = text.vectors;
  const scale = 1 / Math.sqrt(headDim);
  const kStride = (heads + kvHeads) * d4;
  const vStride = (heads + 2 * kvHeads) * d4;
  const [qs, gs] = [text.array('qk'), text.array('dout')];
  const q = (query: string): string => `${query} * ${kStride}u + head * ${d4}u`;
  const g = (query: string): string => `(${query} * ${heads}u + head) * ${d4}u`;
  const body = /* wgsl */ `
  let kcol = ${heads * d4}u + wg.y * ${d4}u;
  let vcol = kcol + ${kvHeads * d4}u;
  var end = 0u;
  for (var t = first; t < last; t++) { end = max(end, ends[t]); }
  end = min(end, n);
  ${text.eachToken(
    (r) => `
  let token${r} = ${text.token(r)};
  let len${r} = select(ends[token${r}] - token${r}, 0u, token${r} >= n);
  ${repeat(
    own,
    (d) => `let k${r}_${d} = qk[token${r} * ${kStride}u + kcol + ${text.at(d)}] * ${scale * LOG2E}; var dk${r}_${d} = vec4f();
  let v${r}_${d} = qkv[token${r} * ${vStride}u + vcol + ${text.at(d)}]; var dv${r}_${d} = vec4f();`,
  )}`,
  )}
  for (var head = wg.y * ${heads / kvHeads}u; head < (wg.y + 1u) * ${heads / kvHeads}u; head++) {
    var j = first;
    ${text.eachBlock(
      { end: 'end', buffers: { qk: q, dout: g } },
      /* wgsl */ `
      ${repeat(
        text.addresses,
        (t) => `let query${t} = min(${text.item(t)}, end - 1u);
      let q_at${t} = ${text.vector(`query${t}`, q(`query${t}`))}; let g_at${t} = ${text.vector(`query${t}`, g(`query${t}`))};
      let lse_${t} = lse[query${t} * ${heads}u + head] * ${LOG2E}; let delta_${t} = delta[query${t} * ${heads}u + head];`,
      )}
      ${text.four('lse', 'lse_0', (t) => `lse_${t}`)}
      ${text.four('delta', 'delta_0', (t) => `delta_${t}`)}
      ${text.eachToken((r) => repeat(4, (t) => `var s${r}_${t} = 0.0; var w${r}_${t} = 0.0;`, ' '))}
      ${repeat(
        own,
        (d) => `${text.share ? `let q_${d} = ${qs}[q_at0 + ${text.at(d)}]; let g_${d} = ${gs}[g_at0 + ${text.at(d)}];` : ''}
      { ${text.four('q', `q_${d}`, (t) => `${qs}[q_at${t} + ${text.at(d)}]`)}
        ${text.eachToken((r) => repeat(4, (t) => `s${r}_${t} += dot(k${r}_${d}, q${t});`, ' '))} }
      { ${text.four('g', `g_${d}`, (t) => `${gs}[g_at${t} + ${text.at(d)}]`)}
        ${text.eachToken((r) => repeat(4, (t) => `w${r}_${t} += dot(v${r}_${d}, g${t});`, ' '))} }`,
      )}
      ${text.eachToken((r) => text.sum(...[0, 1, 2, 3].flatMap((t) => [`s${r}_${t}`, `w${r}_${t}`])))}
      ${text.eachToken((r) => repeat(4, (t) => `let p${r}_${t} = select(0.0, exp2(s${r}_${t} - lse${t}), ${text.item(t)} - token${r} < len${r}); w${r}_${t} = p${r}_${t} * (w${r}_${t} - delta${t});`))}
      ${repeat(
        own,
        (d) => `{ ${text.four('q', `q_${d}`, (t) => `${qs}[q_at${t} + ${text.at(d)}]`)}
        ${text.eachToken((r) => `dk${r}_${d} += ${repeat(4, (t) => `w${r}_${t} * q${t}`, ' + ')};`)} }
      { ${text.four('g', `g_${d}`, (t) => `${gs}[g_at${t} + ${text.at(d)}]`)}
        ${text.eachToken((r) => `dv${r}_${d} += ${repeat(4, (t) => `p${r}_${t} * g${t}`, ' + ')};`)} }`,
      )}`,
    )}
  }
  ${text.eachToken(
    (r) => `if (token${r} < n) {
    ${repeat(own, (d) => `dqk[token${r} * ${kStride}u + kcol + ${text.at(d)}] = dk${r}_${d} * ${scale}; dqkv[token${r} * ${vStride}u + vcol + ${text.at(d)}] = dv${r}_${d};`)}
  }`,
  )}`;
  return defineKernel({
    label: 'attention dk dv',
    dims: { rows: 'Rows' },
    reads: { qk: 'vec4f', qkv: 'vec4f', ends: 'u32', lse: 'f32', dout: 'vec4f', delta: 'f32' },
    writes: { dqk: 'vec4f', dqkv: 'vec4f' },
    subgroups: text.subgroups,
    body: text.main(body),
  });
}

/** Computes dqk and the v columns of dqkv from dout. The first of the two dispatches writes `delta` for the second. */
export function attentionBackward(
  gpu: Gpu,
  t: AttentionBackwardTensors,
  p: AttentionSizes,
  tiles: Record<'query' | 'key', AttentionTile> = attentionTiles(gpu.tuning.attention, p.headDim),
): Dispatch[] {
  checkAttentionSizes(p);
  const groups =
    (tile: AttentionTile, heads: number): Dispatch['workgroups'] =>
    (counts) => [Math.ceil(rowCount(p.tokens, counts) / tileTokens(tile)), heads];
  const bound = { ...t, dims: { rows: p.tokens } };
  return [
    gpu.dispatch(queryKernel(p, tiles.query), bound, groups(tiles.query, p.heads)),
    gpu.dispatch(keyKernel(p, tiles.key), bound, groups(tiles.key, p.kvHeads)),
  ];
}

/** Computes the gradient in float64: dqk, and dqkv with zeros in the q and k columns. */
export function attentionBackwardReference(
  t: { qk: Float64Array; qkv: Float64Array; ends: ArrayLike<number>; dout: Float64Array },
  p: Omit<AttentionSizes, 'tokens'>,
): { dqk: Float64Array; dqkv: Float64Array } {
  const { heads, kvHeads, headDim } = p;
  const kStride = (heads + kvHeads) * headDim;
  const vStride = (heads + 2 * kvHeads) * headDim;
  const tokens = t.qk.length / kStride;
  const { out, lse } = attentionReference(t, p);
  const dqk = new Float64Array(t.qk.length);
  const dqkv = new Float64Array(t.qkv.length);
  for (let row = 0; row < tokens; row++) {
    for (let head = 0; head < heads; head++) {
      const kv = Math.floor((head * kvHeads) / heads) * headDim;
      const q = row * kStride + head * headDim;
      const o = (row * heads + head) * headDim;
      let delta = 0;
      for (let d = 0; d < headDim; d++) delta += t.dout[o + d]! * out[o + d]!;
      for (const key of attendedKeys(t.ends, row)) {
        const k = key * kStride + heads * headDim + kv;
        const v = key * vStride + (heads + kvHeads) * headDim + kv;
        let score = 0;
        let dp = 0;
        for (let d = 0; d < headDim; d++) {
          score += t.qk[q + d]! * t.qk[k + d]!;
          dp += t.dout[o + d]! * t.qkv[v + d]!;
        }
        const weight = Math.exp(score / Math.sqrt(headDim) - lse[row * heads + head]!);
        const ds = (weight * (dp - delta)) / Math.sqrt(headDim);
        for (let d = 0; d < headDim; d++) {
          dqk[q + d]! += ds * t.qk[k + d]!;
          dqk[k + d]! += ds * t.qk[q + d]!;
          dqkv[v + d]! += weight * t.dout[o + d]!;
        }
      }
    }
  }
  return { dqk, dqkv };
}
