/**
 * Causal grouped-query attention over a packed batch (FlashAttention-2, Dao 2023: no score matrix is stored).
 *
 * `attentionReference` has the computation as a plain loop. The kernel computes the same in tiles (attention-tile.ts): a thread visits
 * the keys of its tokens once, in blocks of four, and keeps a running maximum and a running sum of the softmax.
 */
import type { Dispatch, Gpu, View } from '../gpu.ts';
import { defineKernel } from '../kernel.ts';
import { rowCount, type Rows } from '../rows.ts';
import { type AttentionTile, attentionTiles, eachKeyBlock, queryTokens, repeat, seen, TileText, tileTokens } from './attention-tile.ts';

export interface AttentionSizes {
  tokens: Rows;
  heads: number;
  kvHeads: number;
  /** A multiple of 4. */
  headDim: number;
}

export interface AttentionTensors {
  /** [tokens, (heads + kvHeads)·headDim], q and k after norm and RoPE. */
  qk: View;
  /** [tokens, (heads + 2·kvHeads)·headDim]. Only the last columns, v, are read. */
  qkv: View;
  /** [tokens] u32: the end of each token's subtree in the prefix tree (`MicroBatch.ends`). */
  ends: View;
  /** [tokens, heads·headDim] */
  out: View;
  /** [tokens, heads] natural log-sum-exp of the scaled scores. */
  lse: View;
  counts: View;
}

/** The keys that packed token `t` attends to: the tokens before it in its sequence, and `t` itself. */
export function* attendedKeys(ends: ArrayLike<number>, t: number): Generator<number> {
  for (let key = 0; key <= t; key++) if (t < ends[key]!) yield key;
}

/** Computes attention in float64: out [tokens, heads·headDim] and lse [tokens, heads]. */
export function attentionReference(
  t: { qk: Float64Array; qkv: Float64Array; ends: ArrayLike<number> },
  p: Omit<AttentionSizes, 'tokens'>,
): { out: Float64Array; lse: Float64Array } {
  const { heads, kvHeads, headDim } = p;
  const kStride = (heads + kvHeads) * headDim;
  const vStride = (heads + 2 * kvHeads) * headDim;
  const tokens = t.qk.length / kStride;
  const out = new Float64Array(tokens * heads * headDim);
  const lse = new Float64Array(tokens * heads);
  for (let row = 0; row < tokens; row++) {
    const keys = [...attendedKeys(t.ends, row)];
    for (let head = 0; head < heads; head++) {
      const kv = Math.floor((head * kvHeads) / heads) * headDim;
      const scores = keys.map((key) => {
        let sum = 0;
        for (let d = 0; d < headDim; d++)
          sum += t.qk[row * kStride + head * headDim + d]! * t.qk[key * kStride + heads * headDim + kv + d]!;
        return sum / Math.sqrt(headDim);
      });
      const max = Math.max(...scores);
      const total = scores.reduce((sum, s) => sum + Math.exp(s - max), 0);
      lse[row * heads + head] = max + Math.log(total);
      keys.forEach((key, i) => {
        const weight = Math.exp(scores[i]! - max) / total;
        for (let d = 0; d < headDim; d++)
          out[(row * heads + head) * headDim + d]! += weight * t.qkv[key * vStride + (heads + kvHeads) * headDim + kv + d]!;
      });
    }
  }
  return { out, lse };
}

export const LOG2E = Math.LOG2E;

/** @throws RangeError that names a size the kernels cannot use. */
export function checkAttentionSizes({ heads, kvHeads, headDim }: Omit<AttentionSizes, 'tokens'>): void {
  if (headDim <= 0 || headDim % 4 !== 0) throw new RangeError(`headDim ${headDim}: expected a positive multiple of 4`);
  if (kvHeads <= 0 || heads % kvHeads !== 0) throw new RangeError(`heads ${heads}: expected a multiple of kvHeads (${kvHeads})`);
}

function forwardKernel({ heads, kvHeads, headDim }: AttentionSizes, tile: AttentionTile) {
  const d4 = headDim / 4;
  const text = new TileText(tile, headDim);
  const own = text.vectors;
  const scale = LOG2E / Math.sqrt(headDim);
  const [kStride, vStride] = [(heads + kvHeads) * d4, (heads + 2 * kvHeads) * d4];
  const [ks, vs] = [text.array('qk'), text.array('qkv')];
  const body = /* wgsl */ `${queryTokens(heads, kvHeads, d4)}
  ${text.eachToken(
    (r) => `
  let token${r} = ${text.token(r)};
  ${repeat(own, (d) => `let q${r}_${d} = qk[token${r} * ${kStride}u + head * ${d4}u + ${text.at(d)}] * ${scale}; var o${r}_${d} = vec4f();`)}
  var m${r} = -1e30; var l${r} = 0.0;`,
  )}${eachKeyBlock(
    text,
    { kStride, vStride },
    `
      ${text.eachToken((r) => `var s${r}_0 = 0.0; var s${r}_1 = 0.0; var s${r}_2 = 0.0; var s${r}_3 = 0.0;`)}
      ${repeat(
        own,
        (
          d,
        ) => `{ ${text.share ? `let k = ${ks}[k_at0 + ${text.at(d)}]; ` : ''}${text.four('k', 'k', (t) => `${ks}[k_at${t} + ${text.at(d)}]`)}
        ${text.eachToken((r) => repeat(4, (t) => `s${r}_${t} += dot(q${r}_${d}, k${t});`, ' '))} }`,
      )}
      ${text.eachToken(
        (r) => `${text.sum(...[0, 1, 2, 3].map((t) => `s${r}_${t}`))}
      ${repeat(4, (t) => `s${r}_${t} = select(-3e30, s${r}_${t}, ${seen(text, r, t)});`)}
      var top${r} = max(max(s${r}_0, s${r}_1), max(s${r}_2, s${r}_3));
      top${r} = max(top${r}, m${r});
      let fade${r} = exp2(m${r} - top${r}); m${r} = top${r};
      ${repeat(4, (t) => `let p${r}_${t} = exp2(s${r}_${t} - m${r});`)}
      l${r} = l${r} * fade${r} + (p${r}_0 + p${r}_1) + (p${r}_2 + p${r}_3);`,
      )}
      ${repeat(
        own,
        (
          d,
        ) => `{ ${text.share ? `let v = ${vs}[v_at0 + ${text.at(d)}]; ` : ''}${text.four('v', 'v', (t) => `${vs}[v_at${t} + ${text.at(d)}]`)}
        ${text.eachToken((r) => `o${r}_${d} = o${r}_${d} * fade${r} + (${repeat(4, (t) => `p${r}_${t} * v${t}`, ' + ')});`)} }`,
      )}`,
  )}
  ${text.eachToken(
    (r) => `if (token${r} < n) {
    let scale = 1.0 / l${r};
    ${repeat(own, (d) => `out[(token${r} * ${heads}u + head) * ${d4}u + ${text.at(d)}] = o${r}_${d} * scale;`)}
    if (${text.leader}) { lse[token${r} * ${heads}u + head] = (m${r} + log2(l${r})) * ${Math.LN2}; }
  }`,
  )}`;
  return defineKernel({
    label: 'attention',
    dims: { rows: 'Rows' },
    reads: { qk: 'vec4f', qkv: 'vec4f', ends: 'u32' },
    writes: { out: 'vec4f', lse: 'f32' },
    subgroups: text.subgroups,
    body: text.main(body),
  });
}

/** out = softmax(q kᵀ / √headDim) v over the `attendedKeys` of each token. Also writes lse, which the backward pass needs. */
export function attention(
  gpu: Gpu,
  t: AttentionTensors,
  p: AttentionSizes,
  tile = attentionTiles(gpu.tuning.attention, p.headDim).forward,
): Dispatch[] {
  checkAttentionSizes(p);
  const groups: Dispatch['workgroups'] = (counts) => [Math.ceil(rowCount(p.tokens, counts) / tileTokens(tile)), p.heads];
  return [gpu.dispatch(forwardKernel(p, tile), { ...t, dims: { rows: p.tokens } }, groups)];
}
