/** A checkpoint is read in pieces, also one whose bytes fit in no array. */
import { expect, test } from 'vitest';
import type { ByteSource } from '../../../src/exchange/file-bytes.ts';
import { readInPieces } from '../../../src/exchange/safetensors.ts';
import { openCheckpoint, packCheckpoint, unpackCheckpoint, type UnpackedCheckpoint } from '../../../src/trainer/checkpoints.ts';

const tensor = (shape: number[], start: number) => ({
  shape,
  data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => start + i),
});
const ORIGIN = { app: '1', adapter: 'a', model: 'm', config: 'c' };

const packed = (checkpoint: UnpackedCheckpoint) => Buffer.from(packCheckpoint(checkpoint, checkpoint.seconds, checkpoint.origin));

test('the pieces give the checkpoint that the whole gives, with tensors longer than a piece', async () => {
  const weights = new Map([['w', tensor([3, 5_000_000], 0)], ['b', tensor([7], 5)]]);
  const optimizer = { step: 4, m: new Map([['w', tensor([2], 1)]]), v: new Map([['w', tensor([2], 2)]]) };
  const bytes = packCheckpoint({ step: 3, weights, reference: null, optimizer }, 9, ORIGIN);
  const [whole, pieces] = [unpackCheckpoint(bytes), await openCheckpoint(new Blob([bytes]))];
  expect(Buffer.compare(packed(pieces), Buffer.from(bytes))).toBe(0);
  expect(Buffer.compare(packed(whole), Buffer.from(bytes))).toBe(0);
  const damaged = bytes.slice();
  damaged.fill(255, damaged.length - 4);
  await expect(openCheckpoint(new Blob([damaged]))).rejects.toThrow('expected a finite number');
  await expect(openCheckpoint(new Blob([bytes.slice(0, -8)]))).rejects.toThrow('truncated');
}); // prettier-ignore

test('a file of more than 2 GiB is read without an array of its size', async () => {
  const size = 2 ** 29 + 1024; // elements of float32
  // Only the header names the large tensor, of which the test reads the first piece.
  const json = JSON.stringify({ small: { dtype: 'F32', shape: [2], data_offsets: [0, 8] }, large: { dtype: 'F32', shape: [size], data_offsets: [8, 8 + 4 * size] } }); // prettier-ignore
  const bytes = new Uint8Array(8 + json.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
  bytes.set(new TextEncoder().encode(json), 8);
  const asked: number[] = [];
  const file: ByteSource = {
    size: bytes.length + 8 + 4 * size,
    read(from, count) {
      asked.push(count);
      if (from < bytes.length) return bytes.subarray(from, from + count);
      if (asked.length > 40) throw new Error('enough');
      return new Uint8Array(count);
    },
  };
  await expect(readInPieces(file)).rejects.toThrow('enough');
  expect(Math.max(...asked)).toBeLessThanOrEqual(16 * 2 ** 20);
});
