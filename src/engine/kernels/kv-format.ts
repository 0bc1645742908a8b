/**
 * How the KV cache stores keys and values. In f16 two values share a u32, so no device feature is needed.
 * Training rounds its keys and values the same way, so that the update computes with the same numbers as the rollout.
 */
import type { Dispatch, Gpu, View } from '../gpu.ts';
import { defineKernel } from '../kernel.ts';
import { rowCount, type Rows } from '../rows.ts';
import { itemGroups, itemMain } from './threads.ts';

export const KV_FORMATS = ['f32', 'f16'] as const;
export type KvFormat = (typeof KV_FORMATS)[number];

/**
 * For each format: `bytes` of one value, `element` (the WGSL type of four values), `wgsl` (functions to define), and the WGSL
 * expressions that `pack` and `unpack` four values.
 */
export const KV: Record<
  KvFormat,
  { bytes: number; element: string; wgsl: string; pack: (x: string) => string; unpack: (x: string) => string }
> = {
  f32: { bytes: 4, element: 'vec4f', wgsl: '', pack: (x) => x, unpack: (x) => x },
  f16: {
    bytes: 2,
    element: 'vec2u',
    // WGSL lets pack2x16float round up or down, so these functions round themselves: to the nearest half, ties to even. Values that f16
    // cannot hold become the largest half.
    wgsl: `fn half_bits(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let size = min(bits & 0x7fffffffu, 0x477fe000u);
  let normal = (size - 0x38000000u + 0xfffu + ((size >> 13u) & 1u)) >> 13u;
  let small = u32(round(bitcast<f32>(size) * 16777216.0));
  let nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return ((bits >> 16u) & 0x8000u) | select(select(small, normal, size >= 0x38800000u), 0x7e00u, nan);
}
fn kv_pack(x: vec4f) -> vec2u { return vec2u(half_bits(x.x) | (half_bits(x.y) << 16u), half_bits(x.z) | (half_bits(x.w) << 16u)); }
fn kv_unpack(x: vec2u) -> vec4f { return vec4f(unpack2x16float(x.x), unpack2x16float(x.y)); }`,
    pack: (x) => `kv_pack(${x})`,
    unpack: (x) => `kv_unpack(${x})`,
  },
};

/**
 * Rounds keys and values in place, as the cache does. The backward pass ignores the rounding (straight-through).
 * @param t.qk [tokens, (heads + kvHeads)·headDim]; the k columns change
 * @param t.qkv [tokens, (heads + 2·kvHeads)·headDim]; the v columns change
 */
export function kvRound(
  gpu: Gpu,
  t: { qk: View; qkv: View; counts: View },
  p: { tokens: Rows; heads: number; kvHeads: number; headDim: number },
  format: KvFormat,
): Dispatch[] {
  if (format === 'f32') return [];
  const { wgsl, pack, unpack } = KV[format];
  const kv4 = (p.kvHeads * p.headDim) / 4;
  const kernel = defineKernel({
    label: 'kv round',
    dims: { rows: 'Rows', q4: 'u32', kv4: 'u32' },
    writes: { qk: 'vec4f', qkv: 'vec4f' },
    body: `${wgsl}${itemMain(
      gpu.tuning,
      'row_count() * dims.kv4',
      `
  let k = i / dims.kv4 * (dims.q4 + dims.kv4) + dims.q4 + i % dims.kv4;
  let v = i / dims.kv4 * (dims.q4 + 2u * dims.kv4) + dims.q4 + dims.kv4 + i % dims.kv4;
  qk[k] = ${unpack(pack('qk[k]'))};
  qkv[v] = ${unpack(pack('qkv[v]'))};`,
    )}`,
  });
  const dims = { rows: p.tokens, q4: (p.heads * p.headDim) / 4, kv4 };
  return [
    gpu.dispatch(
      kernel,
      { ...t, dims },
      itemGroups(gpu.tuning, (run) => rowCount(p.tokens, run) * kv4),
    ),
  ];
}
