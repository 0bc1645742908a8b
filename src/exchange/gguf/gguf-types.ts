/**
 * @file The number formats of GGUF tensors. A row consists of blocks, and each block has its own scale. The layouts are those of
 * https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h, the arithmetic is that of `dequantize_row_*` in ggml-quants.c.
 */
import { fromHalf } from '../../base/half.ts';

/** Writes the values of the block at byte `at` into `out`, from index `to`. */
type Decode = (view: DataView, at: number, out: Float32Array, to: number) => void;

export interface GgufType {
  name: string;
  /** Values of a block, and its bytes. */
  values: number;
  bytes: number;
  /** Absent if the engine reads the numbers as they are. */
  decode?: Decode;
}

const half = (view: DataView, at: number): number => fromHalf(view.getUint16(at, true));

/** Reads 16 bytes with 32 numbers of 4 bits: first the low halves, then the high halves. */
function nibbles(view: DataView, at: number, put: (index: number, value: number) => void): void {
  for (let i = 0; i < 16; i++) {
    const byte = view.getUint8(at + i);
    put(i, byte & 15);
    put(i + 16, byte >> 4);
  }
}

const q4_0: Decode = (view, at, out, to) => {
  const scale = half(view, at);
  nibbles(view, at + 2, (i, q) => (out[to + i] = scale * (q - 8)));
};

const q4_1: Decode = (view, at, out, to) => {
  const [scale, least] = [half(view, at), half(view, at + 2)];
  nibbles(view, at + 4, (i, q) => (out[to + i] = scale * q + least));
};

const q5_0: Decode = (view, at, out, to) => {
  const scale = half(view, at);
  const fifth = view.getUint32(at + 2, true);
  nibbles(view, at + 6, (i, q) => (out[to + i] = scale * ((q | (((fifth >>> i) & 1) << 4)) - 16)));
};

const q5_1: Decode = (view, at, out, to) => {
  const [scale, least] = [half(view, at), half(view, at + 2)];
  const fifth = view.getUint32(at + 4, true);
  nibbles(view, at + 8, (i, q) => (out[to + i] = scale * (q | (((fifth >>> i) & 1) << 4)) + least));
};

const q8_0: Decode = (view, at, out, to) => {
  const scale = half(view, at);
  for (let i = 0; i < 32; i++) out[to + i] = scale * view.getInt8(at + 2 + i);
};

/** Q4_K and Q5_K. @param bits 5 if 32 bytes with the fifth bits stand before the numbers of 4 bits */
const qK =
  (bits: 4 | 5): Decode =>
  (view, at, out, to) => {
    const [scale, least] = [half(view, at), half(view, at + 2)];
    const packed = (i: number) => view.getUint8(at + 4 + i);
    const numbers = at + (bits === 4 ? 16 : 48);
    // Eight groups of 32 values have a scale and a minimum of 6 bits each, packed into 12 bytes.
    for (let group = 0; group < 8; group++) {
      const [factor, offset] =
        group < 4
          ? [packed(group) & 63, packed(group + 4) & 63]
          : [(packed(group + 4) & 15) | ((packed(group - 4) >> 6) << 4), (packed(group + 4) >> 4) | ((packed(group) >> 6) << 4)];
      const [first, shift] = [numbers + 32 * (group >> 1), 4 * (group & 1)];
      for (let i = 0; i < 32; i++) {
        const fifth = bits === 4 ? 0 : (view.getUint8(at + 16 + i) >> group) & 1;
        const q = ((view.getUint8(first + i) >> shift) & 15) | (fifth << 4);
        out[to + 32 * group + i] = scale * factor * q - least * offset;
      }
    }
  };

const q6_k: Decode = (view, at, out, to) => {
  const scale = half(view, at + 208);
  for (let i = 0; i < 256; i++) {
    // Each half of the block has four runs of 32 values.
    const [part, run, place] = [i >> 7, (i >> 5) & 3, i & 31];
    const low = (view.getUint8(at + 64 * part + 32 * (run & 1) + place) >> (4 * (run >> 1))) & 15;
    const high = (view.getUint8(at + 128 + 32 * part + place) >> (2 * run)) & 3;
    out[to + i] = scale * view.getInt8(at + 192 + (i >> 4)) * ((low | (high << 4)) - 32);
  }
};

/** The formats that are read, by their number in the file. Files of Q4_0 to Q4_K also have tensors of Q5_0 to Q6_K and Q8_0. */
export const GGUF_TYPES: Readonly<Record<number, GgufType>> = {
  0: { name: 'F32', values: 1, bytes: 4 },
  1: { name: 'F16', values: 1, bytes: 2 },
  2: { name: 'Q4_0', values: 32, bytes: 18, decode: q4_0 },
  3: { name: 'Q4_1', values: 32, bytes: 20, decode: q4_1 },
  6: { name: 'Q5_0', values: 32, bytes: 22, decode: q5_0 },
  7: { name: 'Q5_1', values: 32, bytes: 24, decode: q5_1 },
  8: { name: 'Q8_0', values: 32, bytes: 34, decode: q8_0 },
  12: { name: 'Q4_K', values: 256, bytes: 144, decode: qK(4) },
  13: { name: 'Q5_K', values: 256, bytes: 176, decode: qK(5) },
  14: { name: 'Q6_K', values: 256, bytes: 210, decode: q6_k },
  30: { name: 'BF16', values: 1, bytes: 2 },
};

/** The names of the other formats, for messages. */
const OTHERS: Readonly<Record<number, string>> = {
  9: 'Q8_1',
  10: 'Q2_K',
  11: 'Q3_K',
  15: 'Q8_K',
  16: 'IQ2_XXS',
  17: 'IQ2_XS',
  18: 'IQ3_XXS',
  19: 'IQ1_S',
  20: 'IQ4_NL',
  21: 'IQ3_S',
  22: 'IQ2_S',
  23: 'IQ4_XS',
  24: 'I8',
  25: 'I16',
  26: 'I32',
  27: 'I64',
  28: 'F64',
  29: 'IQ1_M',
  34: 'TQ1_0',
  35: 'TQ2_0',
  39: 'MXFP4',
  40: 'NVFP4',
};
export const typeName = (type: number): string => GGUF_TYPES[type]?.name ?? OTHERS[type] ?? `number ${type}`;

/** Decodes whole blocks. @returns f32 values */
export function decodeBlocks({ values, bytes, decode }: GgufType, data: Uint8Array): Float32Array<ArrayBuffer> {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const blocks = data.byteLength / bytes;
  const out = new Float32Array(blocks * values);
  for (let block = 0; block < blocks; block++) decode!(view, block * bytes, out, block * values);
  return out;
}
