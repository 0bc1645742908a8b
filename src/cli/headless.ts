/**
 * @file The page that the command line opens in headless Chromium. It has the workers of the app and one function,
 * `window.mua(command)`. Large data goes through the local server: the page fetches the request from it and sends the results
 * to it by PUT.
 */
import * as comlink from 'comlink';
import { connectTrainer, type Trainer } from '../trainer/connect.ts';
import type { LocalModelWorker } from '../local/api.ts';
import { keepFolder } from '../local/folder.ts';
import { type ModelWorker, spawnModelWorker } from '../local/spawn.ts';
import type { Progress } from '../trainer/messages.ts';
import type { FolderOrder } from './customer-folder.ts';
import { usesGpu } from './backend-job.ts';
import { doWork, type WorkFiles, type WorkRequest } from './work.ts';

export type HeadlessAnswer = { error?: { name: string; message: string } };

declare global {
  interface Window {
    mua(exchange: string): Promise<HeadlessAnswer>;
    /** Calls a method of the text-generation model. The first call starts the model. */
    muaModel(method: keyof LocalModelWorker, argument?: object): Promise<unknown>;
    /** Stores the folders, so that their models can play customers. Their files are at `exchange`. */
    muaKeep(exchange: string, folders: readonly FolderOrder[]): Promise<void>;
    muaNote(text: string): void;
    muaActivity(text: string): void;
    muaProgress(...progress: Parameters<Progress>): void;
  }
}

const PROGRESS_INTERVAL_MS = 100;

async function startTrainer(): Promise<{ trainer: Trainer; failure: Promise<never> }> {
  let fail = (_: Error) => {};
  const failure = new Promise<never>((_, reject) => (fail = reject));
  failure.catch(() => {}); // the caller awaits this promise in a race and reports the error
  const { trainer } = await Promise.race([connectTrainer({ failed: fail }), failure]);
  return { trainer, failure };
}

async function get(url: string): Promise<Response> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`could not fetch ${url.split('/').at(-1)}: HTTP ${response.status}`);
  return response;
}

async function put(url: string, body: string | Uint8Array<ArrayBuffer>): Promise<void> {
  // A Blob is sent in pieces. A checkpoint may have more bytes than a request can hold at once.
  const response = await fetch(url, { method: 'PUT', body: typeof body === 'string' ? body : new Blob([body]) });
  if (!response.ok) throw new Error(`could not send ${url.split('/').at(-1)}: ${await response.text()}`);
}

/** Access to the files of the job through the local server. The worker reads weights in pieces from their URLs. */
const filesAt = (exchange: string): WorkFiles => ({
  read: async (name) => new Uint8Array(await (await get(exchange + name)).arrayBuffer()),
  weights: async (name) => ({ url: exchange + name }),
  content: async (name) => (await get(exchange + name)).body!,
  write: (name, body) => put(exchange + name, body),
});

/** Reports the newest progress at most ten times a second, but never skips the metrics of a step. */
function throttledProgress(): Progress {
  let newest: Parameters<Progress> | undefined;
  const send = () => {
    if (newest) window.muaProgress(...newest);
    newest = undefined;
  };
  setInterval(send, PROGRESS_INTERVAL_MS);
  return (...progress) => {
    newest = progress;
    if (progress[3]) send();
  };
}

async function answer(exchange: string): Promise<void> {
  const { trainer, failure } = await startTrainer();
  const { folders, ...request } = (await (await get(`${exchange}request.json`)).json()) as WorkRequest & { folders: FolderOrder[] };
  await window.muaKeep(exchange, folders);
  await trainer.listenToActivities(comlink.proxy((text: string) => window.muaActivity(text)));
  if (usesGpu(request)) {
    const info = await Promise.race([trainer.engineInfo(), failure]);
    if (info.state !== 'ready') throw Object.assign(new Error(info.message ?? 'the GPU is not available'), { name: 'GpuUnavailableError' });
  }
  const work = doWork(request, {
    trainer,
    files: filesAt(exchange),
    progress: throttledProgress(),
    note: (text) => window.muaNote(text),
    callable: (callback) => comlink.proxy(callback),
  });
  const result = await Promise.race([work, failure]);
  await put(`${exchange}result.json`, JSON.stringify(result));
}

window.muaKeep = async (exchange, folders) => {
  for (const [i, { model, precision, files }] of folders.entries())
    await keepFolder(
      model,
      precision,
      files.map(({ path, bytes }) => ({ path, bytes, open: () => get(`${exchange}folder/${i}/${path}`) })),
    );
};

let customer: ModelWorker | undefined;
window.muaModel = (method, argument) => {
  const { model, death } = (customer ??= spawnModelWorker());
  return Promise.race([model[method](argument as never), death]);
};

/** The promise never rejects: an error is returned as its name and message. */
window.mua = async (exchange) => {
  try {
    await answer(exchange);
    return {};
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return { error: { name, message } };
  }
};
