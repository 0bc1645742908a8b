/**
 * Counter-based random numbers: the bits are a function of (seed, stream, position, id), and are the same on GPU and CPU. So a sample
 * does not depend on the rest of the batch, and can be repeated. The function that mixes the bits is lowbias32 (C. Wellons,
 * hash-prospector).
 */

/** WGSL functions. Call `random_key(seed, stream, position)` once for each row, then `gumbel(random_bits(key, id))` for each token id. */
export const RANDOM_WGSL = /* wgsl */ `
fn mix_bits(value: u32) -> u32 {
  var x = value;
  x = (x ^ (x >> 16u)) * 0x7feb352du;
  x = (x ^ (x >> 15u)) * 0x846ca68bu;
  return x ^ (x >> 16u);
}
fn random_key(seed: u32, stream: u32, position: u32) -> vec2u {
  let a = mix_bits(mix_bits(mix_bits(seed + 0x9e3779b9u) ^ stream) + position);
  return vec2u(a, mix_bits(a ^ 0x85ebca6bu) + seed);
}
fn random_bits(key: vec2u, id: u32) -> u32 { return mix_bits(mix_bits(id + key.x) ^ key.y); }
/** Standard Gumbel noise, −ln(−ln(1 − v)), where v is the bits as a fraction. Large values (v near 0) are fine-grained. */
fn gumbel(bits: u32) -> f32 {
  let v = min((f32(bits) + 0.5) * 2.3283064365386963e-10, 0.99999994);
  let series = v * (1.0 + v * (0.5 + v * (0.33333334 + v * (0.25 + v * 0.2))));
  return -log(select(-log(1.0 - v), series, v < 0.03125));
}
`;

function mixBits(value: number): number {
  let x = value >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

/** The same as WGSL `random_key`. Arguments and results are u32. */
export function randomKey(seed: number, stream: number, position: number): [number, number] {
  const a = mixBits(mixBits(mixBits(seed + 0x9e3779b9) ^ stream) + position);
  return [a, (mixBits(a ^ 0x85ebca6b) + seed) >>> 0];
}

/** The same 32 bits as WGSL `random_bits`. */
export function randomBits(key: readonly [number, number], id: number): number {
  return mixBits(mixBits(id + key[0]) ^ key[1]);
}

/** The same as WGSL `gumbel`, except for the rounding of f32 logarithms. */
export function gumbel(bits: number): number {
  const v = Math.min(Math.fround(Math.fround(bits) + 0.5) * 2 ** -32, 0.99999994);
  return -Math.log(-Math.log1p(-v));
}
