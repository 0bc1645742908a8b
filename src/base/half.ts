/** @file 16-bit floats: IEEE 754 binary16 (F16 in safetensors, FLOAT16 in ONNX) and bfloat16 (BF16). */

/** The largest finite binary16 value. */
export const MAX_HALF = 65_504;

export function fromHalf(h: number): number {
  const sign = h & 0x8000 ? -1 : 1;
  const exponent = (h >> 10) & 31;
  const fraction = h & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** A float64 of this size has no fraction, so adding it rounds to an integer, ties to even. */
const NO_FRACTION = 2 ** 52;

/** Rounds finite numbers to the nearest half, ties to even. Numbers that would round to more than `MAX_HALF` become infinite. */
export function toHalf(data: Float32Array): Uint16Array<ArrayBuffer> {
  const bits = new Uint32Array(data.buffer, data.byteOffset, data.length);
  const halves = new Uint16Array(data.length);
  for (const [i, b] of bits.entries()) {
    const magnitude = b & 0x7fffffff;
    const sign = (b >>> 16) & 0x8000;
    if (magnitude >= 0x477ff000) halves[i] = sign | 0x7c00;
    // The exponent's bias is 15 instead of 127, and 13 bits of the fraction are dropped.
    else if (magnitude >= 0x38800000) halves[i] = sign | ((magnitude - 0x38000000 + 0xfff + ((magnitude >>> 13) & 1)) >>> 13);
    // Below 2^-14 a half is a multiple of 2^-24.
    else halves[i] = sign | (Math.abs(data[i]!) * 2 ** 24 + NO_FRACTION - NO_FRACTION);
  }
  return halves;
}

/** Rounds to the nearest bfloat16, ties to even. */
export function toBfloat16(data: Float32Array): Uint16Array<ArrayBuffer> {
  const bits = new Uint32Array(data.buffer, data.byteOffset, data.length);
  return Uint16Array.from(bits, (b) => (b + 0x7fff + ((b >>> 16) & 1)) >>> 16);
}

export const fromBfloat16 = (halves: Uint16Array): Float32Array<ArrayBuffer> =>
  new Float32Array(Uint32Array.from(halves, (h) => h << 16).buffer);
