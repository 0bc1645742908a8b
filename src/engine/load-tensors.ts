/** Loads a model's tensors from their source to the GPU in pieces, so that JavaScript's memory never holds a whole tensor. */
import { InputError } from '../base/input-error.ts';
import { fromBfloat16, fromHalf } from '../base/half.ts';
import type { Gpu, View } from './gpu.ts';
import { findNotFinite } from './kernels/finite.ts';
import { decodeWeights, encodeWeights, hasScales, storedBytes, type WeightFormat } from './kernels/weight-format.ts';
import type { Matrix, Piece } from './matrix.ts';
import type { TensorGroup } from './parameters.ts';
import type { TensorMap, WeightSource } from './types.ts';

/** Maximum bytes of one read. */
const READ_BYTES = 16 * 2 ** 20;
const BYTES = { F32: 4, F16: 2, BF16: 2 } as const;

/** A source that reads from tensors in memory. */
export const sourceOf = (tensors: TensorMap): WeightSource => ({
  tensors: new Map([...tensors].map(([name, { shape }]) => [name, { dtype: 'F32', shape }])),
  read: (name, from, bytes) => {
    const { buffer, byteOffset } = tensors.get(name)!.data;
    return new Uint8Array(buffer, byteOffset + from, bytes);
  },
});

/** A source that tells after each read how many bytes were read, and how many all tensors have. */
export function countedSource({ tensors, read }: WeightSource, onRead: (bytes: number, all: number) => void): WeightSource {
  const sizes = [...tensors.values()].map(({ dtype, shape }) => shape.reduce((size, n) => size * n, BYTES[dtype]));
  const all = sizes.reduce((sum, size) => sum + size, 0);
  let done = 0;
  return {
    tensors,
    read: async (name, from, bytes) => {
      const part = await read(name, from, bytes);
      onRead((done += bytes), all);
      return part;
    },
  };
}

/** A source whose matrices are rounded to a format and returned in f32. Each read must be of whole rows. */
export const roundedSource = ({ tensors, read }: WeightSource, format: WeightFormat): WeightSource => ({
  tensors: new Map([...tensors].map(([name, { shape }]) => [name, { dtype: 'F32', shape }])),
  read: async (name, from, bytes) => {
    const { dtype, shape } = tensors.get(name)!;
    const exact = toFloats(await read(name, (from / 4) * BYTES[dtype], (bytes / 4) * BYTES[dtype]), dtype);
    const values = shape.length > 1 ? decodeWeights(format, encodeWeights(format, exact)) : exact;
    return new Uint8Array(values.buffer);
  },
});

/**
 * Reads each group of tensors into its matrix.
 * @param places each group with the matrix that it fills
 * @param check throws if the matrices were freed between two reads
 * @throws InputError that names the tensor, if a value is not finite or the source gives too few bytes
 */
export async function loadTensors(
  gpu: Gpu,
  source: WeightSource,
  places: readonly (readonly [TensorGroup, Matrix])[],
  check: () => void,
): Promise<void> {
  for (const [group, matrix] of places) await loadGroup(gpu, source, group, matrix, check);
  await checkFinite(gpu, places, check);
}

async function checkFinite(gpu: Gpu, places: readonly (readonly [TensorGroup, Matrix])[], check: () => void): Promise<void> {
  const slots = places.flatMap(([group, { columns, pieces }]) => pieces.map((piece) => ({ group, columns, piece })));
  const views: View[] = [];
  try {
    const { found, program } = await gpu.allocating(() =>
      gpu.collecting(views, () => {
        const found = gpu.buffer('not finite', slots.length * 4);
        // `encodeWeights` has already checked int8 and int4 values.
        const program = slots.flatMap(({ columns, piece: { format, values, rows } }, slot) =>
          format === 'f32' || format === 'bf16'
            ? [findNotFinite(gpu, { values, found }, { words: storedBytes(format, rows * columns).values / 4, slot, format })]
            : [],
        );
        return { found, program };
      }),
    );
    await gpu.ready();
    check();
    gpu.run(program, { tokens: 0, rows: 0 });
    for (const [slot, word] of new Uint32Array(await gpu.read(found, slots.length * 4)).entries()) {
      if (word === 0) continue;
      const { group, columns, piece } = slots[slot]!;
      throw new InputError(notFinite(group, columns, piece, 0xffff_ffff - word));
    }
  } finally {
    for (const view of views) gpu.destroyBuffer(view);
  }
}

function notFinite(group: TensorGroup, columns: number, { first, format }: Piece, word: number): string {
  const value = first * columns + word * (format === 'bf16' ? 2 : 1);
  let begin = 0;
  for (const { name, shape } of group) {
    const size = shape[0]! * columns;
    if (value < begin + size)
      return `tensor ${name}: element ${value - begin}${format === 'bf16' ? ' or the next' : ''} is not finite: expected a finite number`;
    begin += size;
  }
  return `a tensor after ${group[0]!.name} has a value that is not finite`;
}

async function loadGroup(
  gpu: Gpu,
  source: WeightSource,
  group: TensorGroup,
  { columns, pieces }: Matrix,
  check: () => void,
): Promise<void> {
  let top = 0;
  for (const { name, shape } of group) {
    const rows = shape[0]!;
    const { dtype } = source.tensors.get(name)!;
    const rowBytes = columns * BYTES[dtype];
    // Reads a multiple of four rows: in every format that is a whole number of u32 words.
    const most = Math.max(4, Math.floor(READ_BYTES / rowBytes / 4) * 4);
    for (let row = 0; row < rows;) {
      const piece = pieces.findLast(({ first }) => first <= top + row)!;
      const count = Math.min(most, rows - row, piece.first + piece.rows - top - row);
      const bytes = await source.read(name, row * rowBytes, count * rowBytes);
      if (bytes.byteLength !== count * rowBytes)
        throw new InputError(`tensor ${name}: ${bytes.byteLength} bytes from byte ${row * rowBytes}: expected ${count * rowBytes}`);
      check();
      store(gpu, piece, (top + row - piece.first) * columns, bytes, dtype, name);
      row += count;
    }
    top += rows;
  }
}

/** Encodes the values in `bytes`, and writes them into the piece from its value number `at`. */
function store(gpu: Gpu, { format, values, scales }: Piece, at: number, bytes: Uint8Array, dtype: keyof typeof BYTES, name: string): void {
  const offset = storedBytes(format, at);
  if (format === 'bf16' && dtype === 'BF16') return gpu.write(values, wholeWords(bytes), offset.values);
  let encoded: ReturnType<typeof encodeWeights>;
  try {
    encoded = encodeWeights(format, toFloats(bytes, dtype));
  } catch (error) {
    throw error instanceof RangeError ? new InputError(`tensor ${name}: ${error.message}`) : error;
  }
  gpu.write(values, wholeWords(encoded.values), offset.values);
  if (hasScales(format)) gpu.write(scales!, wholeWords(encoded.scales!), offset.scales);
}

function toFloats(bytes: Uint8Array, dtype: keyof typeof BYTES): Float32Array<ArrayBuffer> {
  const { buffer } = bytes.slice();
  if (dtype === 'F32') return new Float32Array(buffer);
  const halves = new Uint16Array(buffer);
  return dtype === 'BF16' ? fromBfloat16(halves) : Float32Array.from(halves, fromHalf);
}

/** Pads the data to a multiple of 4 bytes, because WebGPU writes whole u32 words. */
function wholeWords(data: ArrayBufferView): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
  if (bytes.length % 4 === 0) return bytes;
  const padded = new Uint8Array(Math.ceil(bytes.length / 4) * 4);
  padded.set(bytes);
  return padded;
}
