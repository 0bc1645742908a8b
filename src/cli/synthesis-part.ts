/** @file Plays the places of `mua synthesize`, in this thread or in several. */
import type { MessagePort } from 'node:worker_threads';
import { Worker } from 'node:worker_threads';
import type { SynthesizedConversation } from '../records/dataset.ts';
import type { Synthesis } from '../training/synthesize.ts';
import type { PlaceOrder } from '../training/synthesize-place.ts';
import { CommandError, errorOfWork } from './errors.ts';
import { onInterrupt } from './files.ts';
import { ownScript } from './thread.ts';
import { openWorld } from './world.ts';

/** What one thread plays. */
export interface Part {
  order: PlaceOrder;
  world?: { file: string; sha256: string } | undefined;
  done: Map<number, SynthesizedConversation>;
}

/** What hears of a part. */
export interface Listener {
  played(tried: readonly (readonly [task: number, played: SynthesizedConversation])[]): Promise<void> | void;
  kept(count: number): void;
}

type FromPart =
  | { kind: 'played'; tried: readonly (readonly [number, SynthesizedConversation])[] }
  | { kind: 'kept'; count: number }
  | { kind: 'done'; synthesis: Synthesis }
  | { kind: 'failed'; error: { name: string; message: string } };

async function play({ order, world, done }: Part, { played, kept }: Listener): Promise<Synthesis> {
  if (world && (await openWorld({ world: world.file }))!.sha256 !== world.sha256)
    throw new CommandError(`${world.file} was changed while it was read: start again`);
  const { synthesizePlace } = await import('../training/synthesize-place.ts');
  return synthesizePlace(order, { done, played }, kept);
}

/** Plays the parts that come through the port of this thread. */
export function serveParts(port: MessagePort): void {
  port.on('message', (part: Part) => void servePart(part, port));
}

async function servePart(part: Part, port: MessagePort): Promise<void> {
  const send = (message: FromPart) => port.postMessage(message);
  const listener: Listener = { played: (tried) => send({ kind: 'played', tried }), kept: (count) => send({ kind: 'kept', count }) };
  try {
    send({ kind: 'done', synthesis: await play(part, listener) });
  } catch (error) {
    const { name, message } = error as Error;
    send({ kind: 'failed', error: { name, message } });
  }
}

/** Plays a part in a thread that waits for parts. */
function inThread(worker: Worker, part: Part, listener: Listener): Promise<Synthesis> {
  return new Promise<Synthesis>((resolve, reject) => {
    let writing: Promise<unknown> = Promise.resolve();
    const hear = (message: FromPart) => {
      if (message.kind === 'kept') listener.kept(message.count);
      else if (message.kind === 'done') writing.then(() => resolve(message.synthesis), reject);
      else if (message.kind === 'failed') reject(errorOfWork(message.error));
      else writing = Promise.all([writing, listener.played(message.tried)]);
      writing.catch(reject);
    };
    worker.removeAllListeners().on('message', hear);
    worker.once('error', (error) => reject(new CommandError(error.message)));
    worker.once('exit', (code) => reject(new CommandError(`a thread ended with ${code} and without a result`)));
    worker.postMessage(part);
  });
}

/**
 * Plays all parts, at most `threads` at once. The results do not depend on the threads.
 * @throws the error of the first part that fails
 */
export async function playParts(parts: readonly Part[], threads: number, listeners: readonly Listener[]): Promise<Synthesis[]> {
  const results: Synthesis[] = [];
  const script = threads > 1 ? ownScript() : null;
  const workers =
    script === null ? [] : Array.from({ length: threads }, () => new Worker(script, { workerData: { plays: true }, execArgv: [] }));
  let next = 0;
  const playNext = async (worker: Worker | undefined) => {
    while (next < parts.length) {
      const at = next++;
      const [part, listener] = [parts[at]!, listeners[at]!];
      results[at] = await (worker ? inThread(worker, part, listener) : play(part, listener));
    }
  };
  // A thread that goes on while the process ends would start more servers.
  const forget = onInterrupt(async () => {
    next = parts.length;
    for (const worker of workers) worker.removeAllListeners();
    await Promise.all(workers.map((worker) => worker.terminate()));
  });
  try {
    await Promise.all(workers.length > 0 ? workers.map(playNext) : [playNext(undefined)]);
  } finally {
    next = parts.length;
    forget();
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
  return results;
}
