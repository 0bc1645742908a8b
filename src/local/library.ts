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
const fileKey = (path: string) => address(`file/${path}`);

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
  return (await (await caches.open(cacheName(model))).match(fileKey(path))) ?? null;
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
    let cause: unknown;
    try {
      for (const { path, bytes, open } of files) {
        const reader = (await open()).getReader();
        const counted = new ReadableStream<Uint8Array<ArrayBuffer>>({
          async pull(controller) {
            try {
              const { value } = await reader.read();
              if (!value) return controller.close();
              loaded += value.length;
              onProgress(loaded, total);
              controller.enqueue(value);
            } catch (error) {
              // Keeps the error: the cache would only report that it could not read the stream.
              cause = error;
              throw error;
            }
          },
        });
        await cache.put(fileKey(path), new Response(counted, { headers: { 'Content-Length': String(bytes) } }));
      }
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
      if (!isQuota(error)) throw cause ?? error;
      throw new LocalError(`the storage of this browser has no room for "${model.model}": expected ${total} bytes`, 'memory');
    }
  });
}
