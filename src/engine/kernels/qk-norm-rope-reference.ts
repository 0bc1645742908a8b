/** Float64 references of the q/k norm with RoPE, and of its gradient. */
import type { QkSizes } from './qk-norm-rope.ts';

type Reference = Pick<QkSizes, 'heads' | 'kvHeads' | 'headDim' | 'eps' | 'norm'> & { theta: number };

/** Calls `visit` for every q and k head of every token, with the offsets of the head in qk (`at`) and in qkv (`raw`). */
function eachHead(
  { heads, kvHeads, headDim }: Reference,
  tokens: number,
  visit: (token: number, head: number, at: number, raw: number) => void,
): void {
  for (let token = 0; token < tokens; token++) {
    for (let head = 0; head < heads + kvHeads; head++) {
      visit(token, head, (token * (heads + kvHeads) + head) * headDim, (token * (heads + 2 * kvHeads) + head) * headDim);
    }
  }
}

/** Returns qk [tokens, (heads + kvHeads)·headDim]. The gains are needed only with `norm`. */
export function qkNormRopeReference(
  qkv: Float64Array,
  positions: ArrayLike<number>,
  qWeight: Float64Array | undefined,
  kWeight: Float64Array | undefined,
  p: Reference,
): Float64Array {
  const { heads, kvHeads, headDim, eps, norm, theta } = p;
  const half = headDim / 2;
  const out = new Float64Array(positions.length * (heads + kvHeads) * headDim);
  eachHead(p, positions.length, (token, head, at, raw) => {
    const x = qkv.slice(raw, raw + headDim);
    if (norm) {
      const rstd = 1 / Math.sqrt(x.reduce((sum, v) => sum + v * v, 0) / headDim + eps);
      x.forEach((v, i) => (x[i] = v * rstd * (head < heads ? qWeight! : kWeight!)[i]!));
    }
    for (let i = 0; i < half; i++) {
      const angle = positions[token]! * theta ** (-(2 * i) / headDim);
      out[at + i] = x[i]! * Math.cos(angle) - x[i + half]! * Math.sin(angle);
      out[at + i + half] = x[i + half]! * Math.cos(angle) + x[i]! * Math.sin(angle);
    }
  });
  return out;
}

export function qkNormRopeBackwardReference(
  qkv: Float64Array,
  positions: ArrayLike<number>,
  qWeight: Float64Array | undefined,
  kWeight: Float64Array | undefined,
  dqk: Float64Array,
  p: Reference,
): { dqkv: Float64Array; dqWeight: Float64Array; dkWeight: Float64Array } {
  const { heads, headDim, eps, norm, theta } = p;
  const half = headDim / 2;
  const dqkv = new Float64Array(qkv.length);
  const dqWeight = new Float64Array(headDim);
  const dkWeight = new Float64Array(headDim);
  eachHead(p, positions.length, (token, head, at, raw) => {
    const d = new Float64Array(headDim);
    for (let i = 0; i < half; i++) {
      const angle = positions[token]! * theta ** (-(2 * i) / headDim);
      d[i] = dqk[at + i]! * Math.cos(angle) + dqk[at + i + half]! * Math.sin(angle);
      d[i + half] = dqk[at + i + half]! * Math.cos(angle) - dqk[at + i]! * Math.sin(angle);
    }
    if (!norm) return dqkv.set(d, raw);
    const [weight, dweight] = head < heads ? [qWeight!, dqWeight] : [kWeight!, dkWeight];
    const x = qkv.subarray(raw, raw + headDim);
    const rstd = 1 / Math.sqrt(x.reduce((sum, v) => sum + v * v, 0) / headDim + eps);
    const mean = x.reduce((sum, v, i) => sum + v * rstd * weight[i]! * d[i]!, 0) / headDim;
    x.forEach((v, i) => {
      dqkv[raw + i] = rstd * (weight[i]! * d[i]! - v * rstd * mean);
      dweight[i]! += d[i]! * v * rstd;
    });
  });
  return { dqkv, dqWeight, dkWeight };
}
