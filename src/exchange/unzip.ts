/** @file Unpacks zip files: the directory at their end, and entries that are stored, or packed with deflate or Zstandard. */
import { Inflate } from 'fflate';
import { Decompress } from 'fzstd';
import { Breath } from '../base/breath.ts';
import { ImportError } from './import-error.ts';

/** An entry of the directory (APPNOTE 4.3.12). Sizes and offsets are in bytes. */
export interface ZipEntry {
  name: string;
  method: number;
  encrypted: boolean;
  packed: number;
  size: number;
  /** The start of the entry's local header. */
  offset: number;
}

const END = 0x06054b50;
const END_64_LOCATOR = 0x07064b50;
const END_64 = 0x06064b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
/** The end record has 22 bytes, and a comment of at most 65,535 bytes after it. */
const END_BYTES = 22;

/** The entries of the directory. @throws ImportError if the directory is missing or damaged */
export function zipEntries(bytes: Uint8Array, file: string): ZipEntry[] {
  try {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const { count, start } = directoryOf(view);
    const entries: ZipEntry[] = [];
    for (let i = 0, at = start; i < count; i++) {
      if (view.getUint32(at, true) !== ENTRY) throw new RangeError('an entry of the directory is damaged');
      const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((field) => view.getUint16(at + field, true)) as [
        number,
        number,
        number,
      ];
      const flags = view.getUint16(at + 8, true);
      const extra = at + 46 + nameBytes;
      const [packed, size, offset] = sizesOf(view, at, extra, extra + extraBytes);
      entries.push({
        name: new TextDecoder(flags & 0x800 ? 'utf-8' : 'latin1').decode(bytes.subarray(at + 46, extra)),
        method: view.getUint16(at + 10, true),
        encrypted: (flags & 1) === 1,
        packed,
        size,
        offset,
      });
      at = extra + extraBytes + commentBytes;
    }
    return entries;
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new ImportError(file, '', 'it is not a complete zip file: perhaps a download was interrupted');
  }
}

function directoryOf(view: DataView): { count: number; start: number } {
  const last = view.byteLength - END_BYTES;
  for (let at = last; at >= Math.max(0, last - 0xffff); at--) {
    if (view.getUint32(at, true) !== END) continue;
    const [count, start] = [view.getUint16(at + 10, true), view.getUint32(at + 16, true)];
    if ((count !== 0xffff && start !== 0xffffffff) || at < 20 || view.getUint32(at - 20, true) !== END_64_LOCATOR) return { count, start };
    const record = long(view, at - 12);
    if (view.getUint32(record, true) !== END_64) throw new RangeError('the end record is damaged');
    return { count: long(view, record + 32), start: long(view, record + 48) };
  }
  throw new RangeError('there is no end record');
}

/** Packed size, size and offset. Values that need 64 bits are in the extra field with the id 1. */
function sizesOf(view: DataView, at: number, extra: number, end: number): [number, number, number] {
  const short = [20, 24, 42].map((field) => view.getUint32(at + field, true));
  let wide = extra;
  while (wide + 4 <= end && view.getUint16(wide, true) !== 1) wide += 4 + view.getUint16(wide + 2, true);
  wide += 4;
  // The extra field has the size before the packed size.
  const values = [1, 0, 2].map((i) => [i, short[i] === 0xffffffff && wide < end ? long(view, (wide += 8) - 8) : short[i]!] as const);
  return values.toSorted(([a], [b]) => a - b).map(([, value]) => value) as [number, number, number];
}

/** @throws RangeError if the number is not a possible place in a file */
function long(view: DataView, at: number): number {
  const value = Number(view.getBigUint64(at, true));
  if (!Number.isSafeInteger(value)) throw new RangeError('a number of the directory is damaged');
  return value;
}

const STRIDE = 2 ** 15;

/**
 * Unpacks one entry. Counts the unpacked bytes, because a zip bomb declares fewer bytes than it contains.
 * @param path the name of the file in errors
 */
export async function unzipEntry(
  zip: Uint8Array,
  { method, encrypted, packed, size, offset }: ZipEntry,
  path: string,
): Promise<Uint8Array> {
  if (encrypted) throw new ImportError(path, '', 'it is encrypted: expected a zip without a password');
  const data = dataAt(zip, offset, packed, path);
  if (method === 0) {
    if (packed !== size) throw new ImportError(path, '', `the zip declares ${size} bytes, but the file has ${packed}`);
    return data;
  }
  const chunks: Uint8Array[] = [];
  let got = 0;
  const take = (chunk: Uint8Array) => {
    got += chunk.length;
    if (got > size) throw new ImportError(path, '', `the zip declares ${size} bytes, but the file has more`);
    chunks.push(chunk.slice());
  };
  const unpacker = method === 8 ? new Inflate(take) : method === 93 ? new Decompress(take) : undefined;
  if (!unpacker)
    throw new ImportError(path, '', `its packing is method ${method} of zip: expected 0 (stored), 8 (deflate) or 93 (Zstandard)`);
  const breath = new Breath();
  try {
    for (let at = 0; at < data.length; at += STRIDE) {
      unpacker.push(data.subarray(at, at + STRIDE), at + STRIDE >= data.length);
      await breath.take();
    }
  } catch (cause) {
    throw cause instanceof ImportError ? cause : new ImportError(path, '', `it cannot be unpacked: ${(cause as Error).message}`);
  }
  if (got !== size) throw new ImportError(path, '', `the zip declares ${size} bytes, but the file has ${got}`);
  return joined(chunks, got);
}

/** The packed bytes of an entry. Its local header has its own lengths. */
function dataAt(zip: Uint8Array, offset: number, packed: number, path: string): Uint8Array {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.length);
  const header = offset + 30 <= zip.length && view.getUint32(offset, true) === LOCAL;
  const start = header ? offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true) : 0;
  if (!header || start + packed > zip.length) throw new ImportError(path, '', 'the zip is damaged: expected the file at its place');
  return zip.subarray(start, start + packed);
}

/** One array with the bytes of all chunks. */
export function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  if (chunks.length === 1) return chunks[0]!;
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
