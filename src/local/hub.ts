/** @file Models of the Hugging Face Hub, or of a server of the same form: which files a model has, and their download. */
import { shown } from '../base/input-error.ts';
import type { LocalModel, Precision } from '../records/user.ts';
import { checkFolder } from './check.ts';
import { keepModel, type SourceFile } from './library.ts';
import { LocalError } from './local-error.ts';
import { holdsWeights, isDescription, onnxPath, precisionsOf } from './precision.ts';

export const HUB = 'https://huggingface.co';

/** Small models that follow instructions and have files for transformers.js. */
export const HUB_MODELS = [
  'onnx-community/Qwen3-0.6B-ONNX',
  'onnx-community/Qwen3-1.7B-ONNX',
  'onnx-community/Qwen2.5-0.5B-Instruct',
] as const;

/** What a model of the Hub offers. */
export interface HubListing {
  /** The commit that the files are of. */
  revision: string;
  /** Each precision with the bytes of its download, the smallest file name first. */
  precisions: { precision: Precision; bytes: number }[];
  files: { path: string; bytes: number }[];
}

/** How often a download that breaks off goes on from where it stopped. */
const RESUMES = 3;

/**
 * Asks the Hub for the files of a model.
 * @throws LocalError (`network`) if no answer comes, and (`files`) if there is no such model or it has no ONNX files
 */
export async function hubListing({ model, hub = HUB }: Pick<LocalModel, 'model' | 'hub'>, signal?: AbortSignal): Promise<HubListing> {
  if (!/^[\w.-]+\/[\w.-]+$/.test(model))
    throw new LocalError(`the model of the Hub is ${shown(model)}: expected OWNER/NAME, such as ${HUB_MODELS[0]}`, 'files');
  const { sha } = (await hubJson(hub, `/api/models/${model}`, model, signal)) as { sha?: unknown };
  const tree = await hubJson(hub, `/api/models/${model}/tree/${String(sha)}?recursive=true`, model, signal);
  if (typeof sha !== 'string' || !Array.isArray(tree))
    throw new LocalError(`${originOf(hub)} did not answer with the files of "${model}": expected a Hugging Face Hub`, 'network');
  const files = (tree as { type?: unknown; path?: unknown; size?: unknown }[]).flatMap(({ type, path, size }) =>
    type === 'file' && typeof path === 'string' && typeof size === 'number' ? [{ path, bytes: size }] : [],
  );
  const precisions = precisionsOf(files.map(({ path }) => path)).map((precision) => ({
    precision,
    bytes: neededFiles(files, precision).reduce((sum, { bytes }) => sum + bytes, 0),
  }));
  if (precisions.length === 0)
    throw new LocalError(`"${model}" has no file such as ${onnxPath('q4')}: expected a text-generation model for transformers.js`, 'files');
  return { revision: sha, precisions, files };
}

const neededFiles = (files: HubListing['files'], precision: Precision) =>
  files.filter(({ path }) => isDescription(path) || holdsWeights(path, precision));

/**
 * Downloads a model into this browser, or nothing of it.
 * @param onProgress gets the bytes that have come so far, and the bytes of all files
 * @throws LocalError as `hubListing` and `keepModel`; (`network`) if the download breaks off; (`cancelled`)
 */
export async function downloadModel(
  model: LocalModel,
  { onProgress, signal }: { onProgress?: (loaded: number, total: number) => void; signal?: AbortSignal } = {},
): Promise<void> {
  const { revision, files } = await hubListing(model, signal);
  if (!files.some(({ path }) => path === onnxPath(model.precision)))
    throw new LocalError(`${onnxPath(model.precision)} of "${model.model}" is missing: expected one of ${precisionsOf(files.map(({ path }) => path)).join(', ')}`, 'files'); // prettier-ignore
  const base = `${(model.hub ?? HUB).replace(/\/+$/, '')}/${model.model}/resolve/${revision}/`;
  const download = ({ path, bytes }: { path: string; bytes: number }) => resumable(base + path, path, bytes, signal);
  const needed = neededFiles(files, model.precision);
  // The small files come first: a model that cannot play a customer is refused before its weights are downloaded.
  const small = new Map<string, Blob>();
  for (const file of needed) if (isDescription(file.path)) small.set(file.path, await new Response(download(file)).blob());
  await checkFolder(model, needed.map(({ path }) => path), (path) => small.get(path)!.text()); // prettier-ignore
  const sources = needed.map((file): SourceFile => ({ ...file, open: async () => small.get(file.path)?.stream() ?? download(file) }));
  await keepModel({ ...model, revision }, sources, onProgress);
}

/** The bytes of a file. Where the connection breaks, the rest is requested again, as a range. Exported for its test. */
export function resumable(url: string, path: string, bytes: number, signal?: AbortSignal): ReadableStream<Uint8Array<ArrayBuffer>> {
  let reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | null = null;
  let done = 0;
  let failures = 0;
  const broken = () =>
    signal?.aborted
      ? new LocalError(`the download of ${path} was cancelled`, 'cancelled')
      : new LocalError(`the download of ${path} broke off after ${done} bytes: expected ${bytes}`, 'network');
  const connect = async () => {
    const response = await fetch(url, { ...(done > 0 && { headers: { Range: `bytes=${done}-` } }), ...(signal && { signal }) });
    if (done > 0 ? response.status !== 206 : response.status !== 200)
      throw new LocalError(`${path} could not be downloaded (HTTP ${response.status}): expected the file from ${originOf(url)}`, 'network');
    reader = response.body!.getReader();
  };
  return new ReadableStream({
    async pull(controller) {
      for (;;) {
        try {
          if (!reader) await connect();
          const { value } = await reader!.read();
          if (value) {
            done += value.length;
            return controller.enqueue(value);
          }
          if (done === bytes) return controller.close();
          throw broken();
        } catch (error) {
          reader = null;
          if (signal?.aborted || failures++ >= RESUMES || done > bytes)
            return controller.error(error instanceof LocalError ? error : broken());
        }
      }
    },
    cancel: (reason) => reader?.cancel(reason),
  });
}

async function hubJson(hub: string, path: string, model: string, signal?: AbortSignal): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(hub.replace(/\/+$/, '') + path, signal ? { signal } : {});
  } catch {
    if (signal?.aborted) throw new LocalError(`the download of "${model}" was cancelled`, 'cancelled');
    throw new LocalError(`the Hub at ${originOf(hub)} cannot be reached: expected the files of "${model}"`, 'network');
  }
  // The Hub hides models that do not exist or are private behind 401.
  if (response.status === 404 || response.status === 401)
    throw new LocalError(`the Hub has no public model "${model}" (HTTP ${response.status}): expected OWNER/NAME of one`, 'files');
  if (!response.ok) throw new LocalError(`the Hub failed (HTTP ${response.status}): expected the files of "${model}"`, 'network');
  return response.json().catch(() => null);
}

/** An address without path and secrets. */
const originOf = (address: string) => (URL.canParse(address) ? new URL(address).origin : address);
