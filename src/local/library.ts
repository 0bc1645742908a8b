/**
 * @file The customer models that this browser stores. Each model has its own cache in the browser's Cache storage. Its index is written
 * last. So a cache without an index is an incomplete download: it counts as not stored, and is deleted before the next download.
 */
import type { LocalModel } from '../records/user.ts';
import { bundledCustomers } from './bundled.ts';
import { LocalError, isQuota } from './local-error.ts';

export interface StoredModel extends LocalModel {
  /** The size of all files. */
  bytes: number;
  /** Milliseconds since 1970. */
  addedAt: number;
  /** The commit of the files, for a model from the Hub. */
  revision?: string;
  paths: string[];
}

/** A file to store. `bytes` is its size. */
export interface SourceFile {
  path: string;
  bytes: number;
  open: () => Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
}

const PREFIX = 'mua-local-model:';
const INDEX = 'index';

/** A key of a model. Two configurations have the same key if they use the same files. */
const modelKey = ({ source, model, precision, hub }: LocalModel): string => [source, precision, model, hub ?? ''].join(':');

const cacheName = (model: LocalModel) => PREFIX + modelKey(model);
/** The key of a cache entry must be a URL. Nothing is ever requested from these URLs. */
const address = (path: string) => new URL(`local-model/${encodeURIComponent(path)}`, location.origin).href;
/** The largest entry in bytes: the storage of a private window, and of a browser without a display, takes no entry of 300 MB. */
const PART = 2 ** 26;
const partKey = (path: string, part: number) => address(part === 0 ? `file/${path}` : `part/${part}/${path}`);

/** The stored models, the newest first. Empty in browsers without Cache storage. */
export async function storedModels(): Promise<StoredModel[]> {
  if (!('caches' in globalThis)) return [];
  const names = (await caches.keys()).filter((name) => name.startsWith(PREFIX));
  const models = await Promise.all(names.map(readIndex));
  return models.filter((model) => model !== null).sort((a, b) => b.addedAt - a.addedAt);
}

export const storedModel = (model: LocalModel): Promise<StoredModel | null> => readIndex(cacheName(model));

async function readIndex(name: string): Promise<StoredModel | null> {
  if (!(await caches.has(name))) return null;
  const index = await (await caches.open(name)).match(address(INDEX));
  return index ? ((await index.json()) as StoredModel) : null;
}

/** Whether a model can be played without a download. */
export async function isHere(model: LocalModel): Promise<boolean> {
  if (model.source === 'bundled') return bundledCustomers().some((bundled) => bundled.model === model.model);
  return 'caches' in globalThis && (await storedModel(model)) !== null;
}

/** A file of a stored model; null if the model has no such file. */
export async function storedFile(model: LocalModel, path: string): Promise<Response | null> {
  const cache = await caches.open(cacheName(model));
  const parts: Response[] = [];
  for (let part; (part = await cache.match(partKey(path, parts.length)));) parts.push(part);
  if (parts.length < 2) return parts[0] ?? null;
  const bytes = parts.reduce((sum, { headers }) => sum + Number(headers.get('Content-Length')), 0);
  const { readable, writable } = new TransformStream<Uint8Array<ArrayBuffer>>();
  void (async () => {
    for (const { body } of parts) await body!.pipeTo(writable, { preventClose: true });
    await writable.close();
  })().catch((error: unknown) => writable.abort(error).catch(() => {}));
  return new Response(readable, { headers: { 'Content-Length': String(bytes) } });
}

/** Cuts the content of a file into parts of `PART` bytes. @param onRead gets the number of bytes of each piece that arrives */
async function* partsOf(
  path: string,
  content: ReadableStream<Uint8Array<ArrayBuffer>>,
  onRead: (bytes: number) => void,
): AsyncGenerator<{ key: string; part: Blob }> {
  const reader = content.getReader();
  let chunks: Uint8Array<ArrayBuffer>[] = [];
  let [size, count] = [0, 0];
  const next = () => {
    const part = new Blob(chunks);
    [chunks, size] = [[], 0];
    return { key: partKey(path, count++), part };
  };
  for (let value; ({ value } = await reader.read()).value;) {
    onRead(value!.length);
    for (let from = 0; from < value!.length;) {
      const chunk = value!.subarray(from, from + PART - size);
      chunks.push(chunk);
      from += chunk.length;
      size += chunk.length;
      if (size === PART) yield next();
    }
  }
  if (size > 0 || count === 0) yield next();
}

export async function removeModel(model: LocalModel): Promise<void> {
  await caches.delete(cacheName(model));
}

/**
 * Stores all files, one after another. If this fails, it stores none. Only one tab at a time stores a model. A caller that waited for
 * another tab finds the model stored, and does nothing.
 * @param onProgress gets the number of bytes that are stored so far, and the number of bytes of all files
 * @throws LocalError (`memory`) if the storage is full; any error that reading a file throws
 */
export async function keepModel(
  model: LocalModel & { revision?: string },
  files: readonly SourceFile[],
  onProgress: (loaded: number, total: number) => void = () => {},
): Promise<void> {
  const name = cacheName(model);
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  await navigator.locks.request(name, async () => {
    if (await readIndex(name)) return;
    await caches.delete(name);
    const cache = await caches.open(name);
    let loaded = 0;
    try {
      for (const { path, open } of files)
        for await (const { key, part } of partsOf(path, await open(), (bytes) => onProgress((loaded += bytes), total)))
          await cache.put(key, new Response(part, { headers: { 'Content-Length': String(part.size) } }));
      const { source, model: of, precision, hub, revision } = model;
      const index: StoredModel = {
        source,
        model: of,
        precision,
        ...(hub !== undefined && { hub }),
        ...(revision !== undefined && { revision }),
        bytes: total,
        addedAt: Date.now(),
        paths: files.map(({ path }) => path),
      };
      await cache.put(address(INDEX), Response.json(index));
    } catch (error) {
      await caches.delete(name);
      if (!isQuota(error)) throw error;
      throw new LocalError(`the storage of this browser has no room for "${model.model}": expected ${total} bytes`, 'memory');
    }
  });
}
