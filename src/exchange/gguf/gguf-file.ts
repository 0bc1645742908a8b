/**
 * @file The start of a GGUF file (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md): metadata, then the places of the tensors.
 * A hostile file must neither freeze the reader nor fill the memory, so all counts and lengths have limits.
 */
import { shown } from '../../base/input-error.ts';
import type { ByteSource } from '../file-bytes.ts';
import { GgufError } from './gguf-error.ts';
import { GGUF_TYPES, type GgufType, typeName } from './gguf-types.ts';

export type GgufValue = number | boolean | string | readonly (number | boolean | string)[];

export interface GgufTensor {
  type: GgufType;
  /** Rows come first, as in Hugging Face. */
  shape: number[];
  /** The place of the data in the file, in bytes. */
  begin: number;
  bytes: number;
}

export interface GgufHeader {
  metadata: ReadonlyMap<string, GgufValue>;
  tensors: ReadonlyMap<string, GgufTensor>;
}

const MOST = { tensors: 2 ** 16, fields: 2 ** 12, text: 2 ** 22, list: 2 ** 21, header: 2 ** 27, dimensions: 4, alignment: 2 ** 16 };
const FIRST_READ = 2 ** 20;
const MAGIC = 0x46554747; // "GGUF"
const VERSIONS = [2, 3];

/** The start of the file is longer than the bytes that were read. */
const MORE = Symbol('more bytes');

/** Reads the start of the file. @throws GgufError that names the field or the tensor */
export async function openGguf(file: ByteSource): Promise<GgufHeader> {
  for (let length = FIRST_READ; ; length *= 2) {
    const header = attempt(await file.read(0, Math.min(length, file.size)), file.size);
    if (header) return header;
  }
}

/** @returns null if the bytes are too few @param size the size of the file */
function attempt(bytes: Uint8Array, size: number): GgufHeader | null {
  try {
    return readGgufHeader(bytes, size);
  } catch (error) {
    if (error !== MORE) throw error;
    if (bytes.length >= MOST.header) throw new GgufError(`the metadata has more than ${MOST.header} bytes`);
    return null;
  }
}

/** @param bytes the first bytes of the file, or all of them @throws as `openGguf` */
export function readGgufHeader(bytes: Uint8Array, size = bytes.length): GgufHeader {
  const reader = new Reader(bytes, size);
  if (size < 4 || reader.u32('the first bytes') !== MAGIC) throw new GgufError('it does not begin with "GGUF": expected a GGUF file');
  const version = reader.u32('version');
  if (!VERSIONS.includes(version)) throw new GgufError(`version is ${version}: expected 2 or 3, in little-endian order`);
  const tensors = reader.count('the number of tensors', MOST.tensors);
  const fields = reader.count('the number of metadata fields', MOST.fields);
  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < fields; i++) {
    const key = reader.text(`the name of metadata field ${i}`);
    if (metadata.has(key)) throw new GgufError(`metadata field ${shown(key)} occurs twice`);
    metadata.set(key, reader.value(shown(key)));
  }
  const entries = Array.from({ length: tensors }, (_, i) => reader.tensor(i));
  return { metadata, tensors: placed(entries, reader.at, size, alignmentOf(metadata)) };
}

function alignmentOf(metadata: ReadonlyMap<string, GgufValue>): number {
  const value = metadata.get('general.alignment') ?? 32;
  if (!Number.isInteger(value) || (value as number) < 8 || (value as number) > MOST.alignment || (value as number) % 8 !== 0)
    throw new GgufError(`general.alignment is ${shown(value)}: expected a multiple of 8, at most ${MOST.alignment}`);
  return value as number;
}

interface Entry {
  name: string;
  type: GgufType;
  shape: number[];
  offset: number;
  bytes: number;
}

/** Checks that the tensors lie in the file and do not overlap. */
function placed(entries: readonly Entry[], end: number, size: number, alignment: number): Map<string, GgufTensor> {
  const start = Math.ceil(end / alignment) * alignment;
  let free = 0;
  for (const { name, offset, bytes } of [...entries].sort((a, b) => a.offset - b.offset)) {
    if (offset % alignment !== 0)
      throw new GgufError(`tensor ${shown(name)}: its offset is ${offset}: expected a multiple of ${alignment}`);
    if (offset < free) throw new GgufError(`tensor ${shown(name)}: its offset is ${offset}: the tensor before it ends at ${free}`);
    free = offset + bytes;
    if (start + free > size)
      throw new GgufError(`tensor ${shown(name)} ends at byte ${start + free}, but the file has ${size} bytes: it is truncated`);
  }
  const tensors = new Map<string, GgufTensor>();
  for (const { name, offset, ...rest } of entries) {
    if (tensors.has(name)) throw new GgufError(`tensor ${shown(name)} occurs twice`);
    tensors.set(name, { type: rest.type, shape: rest.shape, begin: start + offset, bytes: rest.bytes });
  }
  return tensors;
}

class Reader {
  at = 0;
  readonly #view: DataView;
  readonly #utf8 = new TextDecoder('utf-8', { fatal: true });

  constructor(
    readonly bytes: Uint8Array,
    readonly size: number,
  ) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Moves on by `bytes`, and returns the place before. */
  #take(bytes: number, what: string): number {
    const from = this.at;
    if (from + bytes > this.size) throw new GgufError(`the file of ${this.size} bytes ends inside of ${what}: it is truncated`);
    if (from + bytes > this.bytes.length) throw MORE;
    this.at += bytes;
    return from;
  }

  u32(what: string): number {
    return this.#view.getUint32(this.#take(4, what), true);
  }

  #whole(what: string, signed = false): number {
    const from = this.#take(8, what);
    const value = Number(signed ? this.#view.getBigInt64(from, true) : this.#view.getBigUint64(from, true));
    if (!Number.isSafeInteger(value)) throw new GgufError(`${what} is ${value}: expected at most 2^53`);
    return value;
  }

  count(what: string, most: number): number {
    const value = this.#whole(what);
    if (value > most) throw new GgufError(`${what} is ${value}: expected at most ${most}`);
    return value;
  }

  text(what: string): string {
    const bytes = this.count(`the length of ${what}`, MOST.text);
    const from = this.#take(bytes, what);
    try {
      return this.#utf8.decode(this.bytes.subarray(from, from + bytes));
    } catch {
      throw new GgufError(`${what} is not UTF-8`);
    }
  }

  value(what: string): GgufValue {
    const type = this.u32(`the type of ${what}`);
    if (type !== 9) return this.#scalar(type, what);
    const inner = this.u32(`the type of ${what}`);
    const count = this.count(`the length of ${what}`, MOST.list);
    return Array.from({ length: count }, () => this.#scalar(inner, what));
  }

  #scalar(type: number, what: string): number | boolean | string {
    const view = this.#view;
    switch (type) {
      case 0:
        return view.getUint8(this.#take(1, what));
      case 1:
        return view.getInt8(this.#take(1, what));
      case 2:
        return view.getUint16(this.#take(2, what), true);
      case 3:
        return view.getInt16(this.#take(2, what), true);
      case 4:
        return this.u32(what);
      case 5:
        return view.getInt32(this.#take(4, what), true);
      case 6:
        return shortest(view.getFloat32(this.#take(4, what), true));
      case 7:
        return view.getUint8(this.#take(1, what)) !== 0;
      case 8:
        return this.text(what);
      case 10:
        return this.#whole(what);
      case 11:
        return this.#whole(what, true);
      case 12:
        return view.getFloat64(this.#take(8, what), true);
      default:
        throw new GgufError(`${what} has type ${type}: expected a number, a text, true or false, or a list of them`);
    }
  }

  tensor(index: number): Entry {
    const name = this.text(`the name of tensor ${index}`);
    const what = `tensor ${shown(name)}`;
    const dimensions = this.u32(what);
    if (dimensions < 1 || dimensions > MOST.dimensions)
      throw new GgufError(`${what} has ${dimensions} dimensions: expected 1 to ${MOST.dimensions}`);
    const shape = Array.from({ length: dimensions }, () => this.#whole(what)).reverse();
    const number = this.u32(what);
    const offset = this.#whole(what);
    const type = GGUF_TYPES[number];
    if (!type) {
      const known = Object.values(GGUF_TYPES).map(({ name }) => name);
      throw new GgufError(`${what} has type ${typeName(number)}: expected ${known.join(', ')}`);
    }
    const values = shape.reduce((a, b) => a * b, 1);
    if (values === 0 || shape.at(-1)! % type.values !== 0)
      throw new GgufError(
        `${what} has shape [${shape}]: expected rows of a multiple of ${type.values} values, as its type is ${type.name}`,
      );
    const bytes = (values / type.values) * type.bytes;
    if (!Number.isSafeInteger(bytes) || !Number.isSafeInteger(offset + bytes))
      throw new GgufError(`${what} has shape [${shape}]: expected fewer values`);
    return { name, type, shape, offset, bytes };
  }
}

/** The shortest decimal number that an f32 is rounded from: 1e-5 and not 0.000009999999747378752. */
function shortest(value: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === value) return rounded;
  }
  return value;
}
