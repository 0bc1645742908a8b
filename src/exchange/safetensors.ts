/**
 * @file The safetensors format (https://github.com/huggingface/safetensors). A file has the length of the header (8 bytes, little-endian),
 * then a JSON header of name → {dtype, shape, data_offsets}, then the data.
 */
import { InputError, parserReason, shown } from '../base/input-error.ts';
import type { TensorMap, WeightSource } from '../engine/types.ts';
import type { ByteSource } from './file-bytes.ts';
import { fromBfloat16, fromHalf, toBfloat16 } from '../base/half.ts';

export class SafetensorsError extends InputError {
  override name = 'SafetensorsError';
}

/** The reference implementation's limit. */
const MAX_HEADER_BYTES = 100_000_000;
const BYTES = { F32: 4, F16: 2, BF16: 2 } as const;
type Dtype = keyof typeof BYTES;

interface Entry {
  name: string;
  dtype: Dtype;
  shape: number[];
  begin: number;
  end: number;
}

/**
 * Reads every tensor and converts it to f32. Supports F32, F16 and BF16.
 * @throws SafetensorsError for a damaged file, an unknown dtype or a weight that is not finite, naming the tensor
 */
export function readSafetensors(file: Uint8Array): TensorMap {
  const { entries, dataStart } = readHeader(file);
  const tensors: TensorMap = new Map();
  for (const { name, dtype, shape, begin, end } of entries) {
    const data = decode(file.subarray(dataStart + begin, dataStart + end), dtype);
    checkNumbers(name, data);
    tensors.set(name, { shape, data });
  }
  return tensors;
}

/** The names of all tensors. @throws SafetensorsError for a damaged header */
export const tensorNames = (file: Uint8Array): string[] => readHeader(file).entries.map(({ name }) => name);

/** Returns the texts of the header's `__metadata__`. @throws SafetensorsError for a damaged header */
export const readMetadata = (file: Uint8Array): Record<string, string> => textsOf(readHeader(file).metadata);

function textsOf(metadata: unknown): Record<string, string> {
  if (typeof metadata !== 'object' || metadata === null) return {};
  return Object.fromEntries(Object.entries(metadata).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

/** Reads only the header. The source then reads tensors in pieces. @throws SafetensorsError for a damaged header */
export async function openSafetensors(file: ByteSource): Promise<WeightSource> {
  const dataStart = dataStartOf(await file.read(0, 8), file.size);
  const { entries } = parseHeader(await file.read(8, dataStart - 8), file.size - dataStart);
  const places = new Map(entries.map((entry) => [entry.name, entry]));
  return { tensors: places, read: (name, from, bytes) => file.read(dataStart + places.get(name)!.begin + from, bytes) };
}

/**
 * Reads every tensor of a file of any size, with one piece in memory beside them, and the texts of the header's `__metadata__`.
 * @throws SafetensorsError as `readSafetensors`
 */
export async function readInPieces(file: ByteSource): Promise<{ tensors: TensorMap; metadata: Record<string, string> }> {
  const dataStart = dataStartOf(await file.read(0, 8), file.size);
  const { entries, metadata } = parseHeader(await file.read(8, dataStart - 8), file.size - dataStart);
  const tensors: TensorMap = new Map();
  for (const { name, dtype, shape, begin, end } of entries) {
    const data = new Float32Array((end - begin) / BYTES[dtype]);
    for (let from = begin; from < end; from += PIECE_BYTES) {
      const piece = decode(await file.read(dataStart + from, Math.min(PIECE_BYTES, end - from)), dtype);
      data.set(piece, (from - begin) / BYTES[dtype]);
    }
    checkNumbers(name, data);
    tensors.set(name, { shape, data });
  }
  return { tensors, metadata: textsOf(metadata) };
}

function checkNumbers(name: string, data: Float32Array): void {
  const bad = data.findIndex((x) => !Number.isFinite(x));
  if (bad >= 0) throw new SafetensorsError(`tensor ${name}: element ${bad} is ${data[bad]}: expected a finite number`);
}

/** The exponent bits of a number. If all of them are 1, the number is not finite. */
const EXPONENT: Record<Dtype, number> = { F32: 0x7f800000, F16: 0x7c00, BF16: 0x7f80 };
const PIECE_BYTES = 16 * 2 ** 20;

/** Checks all tensors, with one piece in memory at a time. @throws SafetensorsError naming the first value that is not finite */
export async function checkFinite({ tensors, read }: WeightSource): Promise<void> {
  for (const [name, { dtype, shape }] of tensors) {
    const bytes = shape.reduce((a, b) => a * b, BYTES[dtype]);
    for (let from = 0; from < bytes; from += PIECE_BYTES) {
      const piece = await read(name, from, Math.min(PIECE_BYTES, bytes - from));
      const aligned = piece.byteOffset % 4 === 0 ? piece : piece.slice();
      const Words = BYTES[dtype] === 4 ? Uint32Array : Uint16Array;
      const words = new Words(aligned.buffer as ArrayBuffer, aligned.byteOffset, aligned.length / BYTES[dtype]);
      const mask = EXPONENT[dtype];
      for (let i = 0; i < words.length; i++)
        if ((words[i]! & mask) === mask) {
          const [value] = decode(aligned.subarray(i * BYTES[dtype], (i + 1) * BYTES[dtype]), dtype);
          throw new SafetensorsError(`tensor ${name}: element ${from / BYTES[dtype] + i} is ${value}: expected a finite number`);
        }
    }
  }
}

function readHeader(file: Uint8Array): Header & { dataStart: number } {
  const dataStart = dataStartOf(file.subarray(0, 8), file.length);
  return { ...parseHeader(file.subarray(8, dataStart), file.length - dataStart), dataStart };
}

interface Header {
  entries: Entry[];
  metadata: unknown;
}

/** @param first the first 8 bytes of a file of `size` bytes */
function dataStartOf(first: Uint8Array, size: number): number {
  if (first.length < 8) throw new SafetensorsError(`file of ${first.length} bytes: expected at least 8 (the header length)`);
  const headerBytes = Number(new DataView(first.buffer, first.byteOffset, 8).getBigUint64(0, true));
  if (headerBytes > MAX_HEADER_BYTES) throw new SafetensorsError(`header of ${headerBytes} bytes: expected at most ${MAX_HEADER_BYTES}`);
  if (8 + headerBytes > size) throw new SafetensorsError(`header of ${headerBytes} bytes in a file of ${size}: the file is truncated`);
  return 8 + headerBytes;
}

function parseHeader(bytes: Uint8Array, dataBytes: number): Header {
  let json: string;
  let header: unknown;
  try {
    json = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    header = JSON.parse(json);
  } catch (error) {
    throw new SafetensorsError(`the header is not JSON: ${parserReason(error)}`);
  }
  if (typeof header !== 'object' || header === null || Array.isArray(header)) throw new SafetensorsError('the header is not a JSON object');
  const repeated = repeatedKey(json);
  if (repeated !== undefined) throw new SafetensorsError(`tensor ${repeated} is in the header twice: expected each name once`);
  const entries = Object.entries(header)
    .filter(([name]) => name !== '__metadata__')
    .map(([name, value]) => readEntry(name, value));
  let at = 0;
  for (const { name, begin, end } of entries.toSorted((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (begin < at) throw new SafetensorsError(`tensor ${name}: data_offsets [${begin}, ${end}] overlap another tensor`);
    if (begin > at)
      throw new SafetensorsError(`tensor ${name}: data_offsets begin at ${begin}: expected ${at}, the end of the previous tensor`);
    at = end;
  }
  if (at > dataBytes) throw new SafetensorsError(`the tensors need ${at} bytes of data but the file has ${dataBytes}: it is truncated`);
  if (at < dataBytes) throw new SafetensorsError(`the tensors cover ${at} bytes of data but the file has ${dataBytes}`);
  return { entries, metadata: (header as Record<string, unknown>).__metadata__ };
}

/** The first key that a JSON object has twice. The format forbids repeated keys, but `JSON.parse` would silently keep the last value. */
function repeatedKey(json: string): string | undefined {
  const seen = new Set<string>();
  let depth = 0;
  for (const { 0: part, index } of json.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]]/gs)) {
    if (part === '{' || part === '[') depth++;
    else if (part === '}' || part === ']') depth--;
    else if (depth === 1 && /^\s*:/.test(json.slice(index + part.length, index + part.length + 20))) {
      const key = JSON.parse(part) as string;
      if (seen.has(key)) return key;
      seen.add(key);
    }
  }
  return undefined;
}

function readEntry(name: string, value: unknown): Entry {
  const { dtype, shape, data_offsets: offsets } = (value ?? {}) as { dtype?: unknown; shape?: unknown; data_offsets?: unknown };
  const count = (n: unknown): n is number => Number.isSafeInteger(n) && (n as number) >= 0;
  if (typeof dtype !== 'string' || !Object.hasOwn(BYTES, dtype)) {
    throw new SafetensorsError(`tensor ${name}: dtype is ${shown(dtype)}: expected ${Object.keys(BYTES).join(', ')}`);
  }
  if (!Array.isArray(shape) || !shape.every(count))
    throw new SafetensorsError(`tensor ${name}: shape is ${shown(shape)}: expected a list of sizes`);
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(count) || offsets[0] > offsets[1]) {
    throw new SafetensorsError(`tensor ${name}: data_offsets is ${shown(offsets)}: expected [begin, end]`);
  }
  const [begin, end] = offsets as [number, number];
  const expected = shape.reduce((a, b) => a * b, 1) * BYTES[dtype as Dtype];
  if (end - begin !== expected) {
    throw new SafetensorsError(`tensor ${name}: data_offsets span ${end - begin} bytes: expected ${expected} for ${dtype} [${shape}]`);
  }
  return { name, dtype: dtype as Dtype, shape, begin, end };
}

function decode(bytes: Uint8Array, dtype: Dtype): Float32Array {
  const copy = bytes.slice().buffer;
  if (dtype === 'F32') return new Float32Array(copy);
  const halves = new Uint16Array(copy);
  if (dtype === 'BF16') return fromBfloat16(halves);
  return Float32Array.from(halves, fromHalf);
}

/**
 * Writes tensors in the map's order. Pads the header to a multiple of 8 bytes, like the reference implementation.
 * @param metadata texts for the header's `__metadata__`
 */
export function writeSafetensors(
  tensors: TensorMap,
  dtype: 'F32' | 'BF16' = 'F32',
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array<ArrayBuffer> {
  const header: Record<string, unknown> = { __metadata__: { format: 'pt', ...metadata } };
  let end = 0;
  for (const [name, { shape, data }] of tensors) {
    const begin = end;
    end += data.length * BYTES[dtype];
    header[name] = { dtype, shape, data_offsets: [begin, end] };
  }
  const json = new TextEncoder().encode(JSON.stringify(header));
  const headerBytes = Math.ceil(json.length / 8) * 8;
  const file = new Uint8Array(8 + headerBytes + end);
  new DataView(file.buffer).setBigUint64(0, BigInt(headerBytes), true);
  file.fill(0x20, 8, 8 + headerBytes);
  file.set(json, 8);
  let at = 8 + headerBytes;
  for (const { data } of tensors.values()) {
    const values = dtype === 'F32' ? data : toBfloat16(data);
    file.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), at);
    at += values.byteLength;
  }
  return file;
}
