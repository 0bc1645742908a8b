/**
 * How a weight matrix is stored, and the WGSL that loads it. Kernels call `load_<name>(i)`, which returns the i-th vec4 of the row-major
 * matrix in f32. So one kernel source works for all formats, and the arithmetic after the load is the same.
 */
import { fromBfloat16, fromHalf, toBfloat16, toHalf } from '../../base/half.ts';
import type { Precision } from '../../records/model.ts';
import type { View } from '../gpu.ts';

/**
 * - f32: as it is.
 * - bf16: two values in a u32, the first in the low half.
 * - int8, int4: integers in two's complement, four or eight in a u32, the first in the lowest bits. Each 32 values of a row share a
 *   scale, and a weight is integer · scale. The scales are f16, two in a u32. A stored weight differs from the original by at most half
 *   a scale: absmax / 254 in int8, absmax / 14 in int4, where absmax is the largest absolute value of the 32.
 */
export const WEIGHT_FORMATS = ['f32', 'bf16', 'int8', 'int4'] as const satisfies readonly Precision[];
export type WeightFormat = Precision;

/** Number of neighbouring values in a row that share a scale in int8 and int4. */
export const SCALE_GROUP = 32;

const BITS: Record<WeightFormat, number> = { f32: 32, bf16: 16, int8: 8, int4: 4 };
export const hasScales = (format: WeightFormat): boolean => format === 'int8' || format === 'int4';

/** Bytes that `count` values need: of the values, and of their scales. */
export const storedBytes = (format: WeightFormat, count: number): { values: number; scales: number } => ({
  values: (count * BITS[format]) / 8,
  scales: hasScales(format) ? (count / SCALE_GROUP) * 2 : 0,
});

/** Row-major values that are stored in a format. */
export interface Stored {
  format: WeightFormat;
  values: View;
  /** Present only in int8 and int4. */
  scales?: View;
}

/** The buffers to bind for an operand that a kernel reads with `loader`. A View holds f32. If a format has no scales, they are ignored. */
export function operand<Name extends string>(name: Name, of: View | Stored): Readonly<Record<Name | `${Name}_scales`, View>> {
  const { values, scales = values } = 'format' in of ? of : { values: of };
  return { [name]: values, [`${name}_scales`]: scales } as Record<Name | `${Name}_scales`, View>;
}
export const formatOf = (of: View | Stored): WeightFormat => ('format' in of ? of.format : 'f32');

const ELEMENT: Record<WeightFormat, string> = { f32: 'vec4f', bf16: 'vec2u', int8: 'u32', int4: 'u32' };

/** The declarations of the buffers that a kernel reads for operand `name`, and the WGSL function `load_<name>`. */
export function loader<Name extends string>(
  name: Name,
  format: WeightFormat,
): { reads: Readonly<Record<Name | `${Name}_scales`, string>>; wgsl: string } {
  const reads = { [name]: ELEMENT[format], ...(hasScales(format) && { [`${name}_scales`]: 'u32' }) };
  // The scale of vec4 i. A group of 32 values is 8 vec4s.
  const scale = `unpack2x16float(${name}_scales[i / ${SCALE_GROUP / 2}u])[i / ${SCALE_GROUP / 4}u % 2u]`;
  const body: Record<WeightFormat, string> = {
    f32: `return ${name}[i];`,
    bf16: `let w = ${name}[i]; return bitcast<vec4f>(vec4u(w.x << 16u, w.x & 0xffff0000u, w.y << 16u, w.y & 0xffff0000u));`,
    int8: `let w = bitcast<i32>(${name}[i]); return vec4f(vec4i(w << 24u, w << 16u, w << 8u, w) >> vec4u(24u)) * ${scale};`,
    int4: `let w = bitcast<i32>(${name}[i / 2u] >> (i % 2u * 16u)); return vec4f(vec4i(w << 28u, w << 24u, w << 20u, w << 16u) >> vec4u(28u)) * ${scale};`,
  };
  return {
    reads: reads as Readonly<Record<Name | `${Name}_scales`, string>>,
    wgsl: `fn load_${name}(i: u32) -> vec4f { ${body[format]} }`,
  };
}

/** Adding and subtracting this number rounds a float64 to a whole number, ties to even. */
const TO_WHOLE = 1.5 * 2 ** 52;

/**
 * Encodes values in a format. The length of `data` must be a multiple of 32 in int8 and int4, and even in bf16.
 * @throws RangeError if a value is not finite, or too large for an f16 scale
 */
export function encodeWeights(
  format: WeightFormat,
  data: Float32Array<ArrayBuffer>,
): { values: ArrayBufferView<ArrayBuffer>; scales?: Uint16Array<ArrayBuffer> } {
  if (format === 'f32') return { values: data };
  if (format === 'bf16') return { values: toBfloat16(data) };
  const [largest, perByte] = format === 'int8' ? [127, 1] : [7, 2];
  const values = new Uint8Array(data.length / perByte);
  const steps = new Float32Array(data.length / SCALE_GROUP);
  for (let g = 0; g < steps.length; g++) {
    let most = 0;
    for (let i = g * SCALE_GROUP; i < (g + 1) * SCALE_GROUP; i++) most = Math.max(most, Math.abs(data[i]!));
    steps[g] = most / largest;
  }
  const scales = toHalf(steps);
  for (let g = 0; g < steps.length; g++) {
    const scale = fromHalf(scales[g]!);
    if (!Number.isFinite(scale))
      throw new RangeError(`a value is ${largest * steps[g]!}: expected a finite number that ${format} can hold`);
    for (let i = g * SCALE_GROUP; scale > 0 && i < (g + 1) * SCALE_GROUP; i++) {
      const step = Math.max(-largest, Math.min(largest, data[i]! / scale + TO_WHOLE - TO_WHOLE));
      if (perByte === 1) values[i] = step;
      else values[i >> 1]! |= (step & 15) << (4 * (i & 1));
    }
  }
  return { values, scales };
}

/** Returns the values that a kernel loads from the encoded data. */
export function decodeWeights(
  format: WeightFormat,
  { values, scales }: { values: ArrayBufferView<ArrayBuffer>; scales?: Uint16Array },
): Float32Array<ArrayBuffer> {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  if (format === 'f32') return new Float32Array(bytes.slice().buffer);
  if (format === 'bf16') return fromBfloat16(new Uint16Array(bytes.slice().buffer));
  const step = (i: number): number => (format === 'int8' ? (bytes[i]! << 24) >> 24 : ((bytes[i >> 1]! >> (4 * (i & 1))) << 28) >> 28);
  return Float32Array.from(
    { length: (bytes.length * 8) / BITS[format] },
    (_, i) => step(i) * fromHalf(scales![Math.floor(i / SCALE_GROUP)]!),
  );
}
