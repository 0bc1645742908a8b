/** @file Lists and downloads the files of a model on the Hugging Face Hub, or on a server with the same API. */
import { InputError, shown } from './input-error.ts';

export const HUB = 'https://huggingface.co';

export class HubError extends InputError {
  override name = 'HubError';

  constructor(
    message: string,
    readonly kind: 'files' | 'network' | 'cancelled',
  ) {
    super(message);
  }
}

/** A file of a model. `path` is relative to the model's folder. */
export interface HubFile {
  path: string;
  bytes: number;
}

/** The files of a model at one commit. */
export interface HubFiles {
  /** The commit. */
  revision: string;
  files: HubFile[];
}

/** How many times a download that breaks off is resumed. */
const RESUMES = 3;

const withoutSlash = (hub: string) => hub.replace(/\/+$/, '');

/** The address of the model's files at a commit, with a slash at the end. */
export const filesAddress = (model: string, revision: string, hub = HUB) => `${withoutSlash(hub)}/${model}/resolve/${revision}/`;

/**
 * Asks the Hub for the files of a model.
 * @param example the name of an existing model, which the error message shows
 * @throws HubError: `network` if the Hub does not answer, `files` if it has no public model with this name
 */
export async function hubFiles(model: string, example: string, hub = HUB, signal?: AbortSignal): Promise<HubFiles> {
  if (!/^[\w.-]+\/[\w.-]+$/.test(model))
    throw new HubError(`the model of the Hub is ${shown(model)}: expected OWNER/NAME, such as ${example}`, 'files');
  const { sha } = ((await hubJson(hub, `/api/models/${model}`, model, signal)) ?? {}) as { sha?: unknown };
  const tree = await hubJson(hub, `/api/models/${model}/tree/${String(sha)}?recursive=true`, model, signal);
  if (typeof sha !== 'string' || !/^[\w-]{1,64}$/.test(sha) || !Array.isArray(tree))
    throw new HubError(`${originOf(hub)} did not answer with the files of "${model}": expected a Hugging Face Hub`, 'network');
  const files = (tree as { type?: unknown; path?: unknown; size?: unknown }[]).flatMap(({ type, path, size }) =>
    type === 'file' && typeof path === 'string' && Number.isSafeInteger(size) && (size as number) >= 0
      ? [{ path, bytes: size as number }]
      : [],
  );
  return { revision: sha, files };
}

/**
 * Downloads a file from byte `from`. If the connection breaks, the stream requests the rest with an HTTP range.
 * @throws HubError, as an error of the stream
 */
export function resumable(
  url: string,
  { path, bytes }: HubFile,
  { signal, from = 0 }: { signal?: AbortSignal | undefined; from?: number } = {},
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | null = null;
  let done = from;
  let failures = 0;
  const broken = () =>
    signal?.aborted
      ? new HubError(`the download of ${path} was cancelled`, 'cancelled')
      : new HubError(`the download of ${path} broke off after ${done} bytes: expected ${bytes}`, 'network');
  const connect = async () => {
    const response = await fetch(url, { ...(done > 0 && { headers: { Range: `bytes=${done}-` } }), ...(signal && { signal }) });
    if (done > 0 ? response.status !== 206 : response.status !== 200)
      throw new HubError(`${path} could not be downloaded (HTTP ${response.status}): expected the file from ${originOf(url)}`, 'network');
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
            if (done > bytes) throw broken();
            return controller.enqueue(value);
          }
          if (done === bytes) return controller.close();
          throw broken();
        } catch (error) {
          reader = null;
          if (signal?.aborted || failures++ >= RESUMES || done > bytes)
            return controller.error(error instanceof HubError ? error : broken());
        }
      }
    },
    cancel: (reason) => reader?.cancel(reason),
  });
}

async function hubJson(hub: string, path: string, model: string, signal?: AbortSignal): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(withoutSlash(hub) + path, signal ? { signal } : {});
  } catch {
    if (signal?.aborted) throw new HubError(`the download of "${model}" was cancelled`, 'cancelled');
    throw new HubError(`the Hub at ${originOf(hub)} cannot be reached: expected the files of "${model}"`, 'network');
  }
  // The Hub answers 401 for models that do not exist or are private.
  if (response.status === 404 || response.status === 401)
    throw new HubError(`the Hub has no public model "${model}" (HTTP ${response.status}): expected OWNER/NAME of one`, 'files');
  if (!response.ok) throw new HubError(`the Hub failed (HTTP ${response.status}): expected the files of "${model}"`, 'network');
  return response.json().catch(() => null);
}

/** An address without path and secrets. */
const originOf = (address: string) => (URL.canParse(address) ? new URL(address).origin : address);
