/** Zip files that other programs write. Their bytes are made by hand from APPNOTE and RFC 8878, or by Node's zlib. */
import { deflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { LIMITS, openFiles } from '../../../src/exchange/file-source.ts';

const u16 = (value: number) => [value & 255, value >> 8];
const u32 = (value: number) => [...u16(value & 0xffff), ...u16(value >>> 16)];
const u64 = (value: number) => [...u32(value), ...u32(0)];
const text = (value: string) => [...new TextEncoder().encode(value)];

interface Part {
  name: string;
  method?: number;
  flags?: number;
  packed: number[];
  size: number;
}

/** @param wide writes sizes and offsets in the fields of Zip64 */
function zip(parts: Part[], { wide = false, before = [] as number[] } = {}): Uint8Array {
  const bytes = [...before];
  const directory: number[] = [];
  for (const { name, method = 0, flags = 0x800, packed, size } of parts) {
    const head = [...u16(flags), ...u16(method), ...u32(0), ...u32(0)];
    const extra = wide ? [...u16(1), ...u16(24), ...u64(size), ...u64(packed.length), ...u64(bytes.length)] : [];
    const sizes = wide ? [...u32(0xffffffff), ...u32(0xffffffff)] : [...u32(packed.length), ...u32(size)];
    directory.push(...text('PK\x01\x02'), ...u16(20), ...u16(20), ...head, ...sizes, ...u16(text(name).length), ...u16(extra.length));
    directory.push(...u16(0), ...u16(0), ...u16(0), ...u32(0), ...u32(wide ? 0xffffffff : bytes.length), ...text(name), ...extra);
    // The local header has an extra field that the directory lacks, and no sizes, as streaming writers do.
    bytes.push(...text('PK\x03\x04'), ...u16(20), ...head, ...u32(0), ...u32(0), ...u16(text(name).length), ...u16(4), ...text(name));
    bytes.push(...u16(0x9999), ...u16(0), ...packed);
  }
  const start = bytes.length;
  bytes.push(...directory);
  if (wide) {
    const record = bytes.length;
    bytes.push(...text('PK\x06\x06'), ...u64(44), ...u16(45), ...u16(45), ...u32(0), ...u32(0));
    bytes.push(...u64(parts.length), ...u64(parts.length), ...u64(directory.length), ...u64(start));
    bytes.push(...text('PK\x06\x07'), ...u32(0), ...u64(record), ...u32(1));
  }
  const count = wide ? 0xffff : parts.length;
  bytes.push(...text('PK\x05\x06'), ...u16(0), ...u16(0), ...u16(count), ...u16(count), ...u32(directory.length));
  return new Uint8Array([...bytes, ...u32(wide ? 0xffffffff : start), ...u16(5), ...text('notes')]);
}

/** A frame with one block that is not packed, and one block that repeats a byte (RFC 8878, 3.1.1). */
const zstd = (words: string, repeated: string, times: number) => [
  ...[0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58],
  ...[((words.length << 3) | 0) & 255, words.length >> 5, 0, ...text(words)],
  ...[((times << 3) | 3) & 255, (times >> 5) & 255, times >> 13, ...text(repeated)],
];
const DEFLATED = { name: 'b/ü.txt', method: 8, packed: [...deflateRawSync('packed '.repeat(20_000))], size: 140_000 };
const PARTS = [
  { name: 'a.txt', packed: text('stored'), size: 6 },
  DEFLATED,
  { name: 'c.txt', method: 93, packed: zstd('abc', 'd', 300), size: 303 },
];
const contents = async (bytes: Uint8Array) => {
  const { paths, read } = await openFiles(bytes, LIMITS);
  return Promise.all(paths.map(async (path) => [path, new TextDecoder().decode(await read(path))]));
};
const CONTENTS = [
  ['a.txt', 'stored'],
  ['b/ü.txt', 'packed '.repeat(20_000)],
  ['c.txt', `abc${'d'.repeat(300)}`],
];

test.each([
  ['stored, deflate and Zstandard', zip(PARTS)],
  ['Zip64', zip(PARTS, { wide: true })],
  ['a program before it', zip(PARTS, { before: text('#!/bin/sh\n') })],
])('%s', async (_, bytes) => {
  expect(await contents(bytes)).toEqual(CONTENTS);
});

test.each<[string, Partial<Part>, string]>([
  ['another method', { method: 12 }, 'c.txt: its packing is method 12 of zip: expected 0 (stored), 8 (deflate) or 93 (Zstandard)'],
  ['a password', { flags: 1 }, 'c.txt: it is encrypted'],
  ['more bytes than declared', { size: 200 }, 'c.txt: the zip declares 200 bytes, but the file has more'],
  ['fewer bytes than declared', { size: 400 }, 'c.txt: the zip declares 400 bytes, but the file has 303'],
  ['a frame that breaks off', { packed: zstd('abc', 'd', 300).slice(0, 12) }, 'c.txt: '],
])('%s is refused', async (_, change, message) => {
  await expect(contents(zip([...PARTS.slice(0, 2), { ...PARTS[2]!, ...change }]))).rejects.toThrow(message);
});
