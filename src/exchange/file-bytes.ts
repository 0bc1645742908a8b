/** @file A file that is read in pieces: bytes in memory, a Blob, or a URL whose server answers range requests. */
import { InputError } from '../base/input-error.ts';

export type FileBytes = Uint8Array<ArrayBuffer> | Blob | { url: string };

export interface ByteSource {
  size: number;
  /** @throws InputError if the file has fewer bytes */
  read(from: number, bytes: number): Promise<Uint8Array> | Uint8Array;
}

/** @throws InputError if the URL cannot be read */
export async function openBytes(file: FileBytes): Promise<ByteSource> {
  if (file instanceof Uint8Array) return { size: file.length, read: (from, bytes) => file.subarray(from, from + bytes) };
  if (file instanceof Blob)
    return {
      size: file.size,
      read: async (from, bytes) => new Uint8Array(await file.slice(from, from + bytes).arrayBuffer()),
    };
  const { url } = file;
  const size = Number(/\/(\d+)$/.exec((await range(url, 0, 1)).headers.get('Content-Range') ?? '')?.[1] ?? NaN);
  if (!Number.isSafeInteger(size)) throw new InputError(`${url}: the server does not say how long the file is`);
  return { size, read: async (from, bytes) => new Uint8Array(await (await range(url, from, bytes)).arrayBuffer()) };
}

async function range(url: string, from: number, bytes: number): Promise<Response> {
  const response = await fetch(url, { headers: { Range: `bytes=${from}-${from + bytes - 1}` } });
  if (response.status === 206) return response;
  await response.body?.cancel();
  throw new InputError(`${url}: HTTP ${response.status} to a request for a range: expected 206`);
}
