/**
 * @file Runs several server processes behind one port. A connection stays with the process that accepted it. Processes share only their
 * counts. If a process dies, its clients' connections close, and a new process replaces it.
 */
import cluster, { type Worker } from 'node:cluster';
import type { Counts } from './metrics.ts';
import type { EnvServer } from './server.ts';

const COUNTS_MS = 1000;
const RESTART_MS = 500;

type ToPrimary = { ready: string } | { failed: string; name: string } | { asks: number } | { answers: number; counts: Counts };
type ToWorker = { asked: number } | { others: number; counts: Counts[] } | { stop: true };

/** Starts the processes. Resolves to the server's address when all of them serve. @throws Error if the first of them fails */
export async function startProcesses(count: number, log: (event: Record<string, string | number | null>) => void) {
  let stopping = false;
  const ready = (worker: Worker) =>
    new Promise<string>((resolve, reject) => {
      worker.on('message', (message: ToPrimary) => {
        if ('ready' in message) resolve(message.ready);
        else if ('failed' in message) reject(Object.assign(new Error(message.failed), { name: message.name }));
        else if ('asks' in message) void collect(worker, message.asks);
      });
      worker.once('exit', (code) => reject(new Error(`process ${worker.id} ended with ${code}`)));
    });
  cluster.on('exit', (worker, code, signal) => {
    if (stopping) return;
    log({ event: 'process_replaced', process: worker.id, code: code ?? null, signal: signal ?? null });
    // Waits before the restart, because a process that always ends at its start would otherwise keep the machine busy.
    setTimeout(() => {
      if (!stopping) ready(cluster.fork()).catch(() => {}); // if the new process ends too, 'exit' replaces it
    }, RESTART_MS);
  });

  /** Sends the counts of all other processes to `asking`, except those of processes that do not answer in time. */
  async function collect(asking: Worker, id: number): Promise<void> {
    const others = Object.values(cluster.workers ?? {}).filter((worker): worker is Worker => worker !== undefined && worker !== asking);
    const counts = await Promise.all(
      others.map(
        (worker) =>
          new Promise<Counts[]>((resolve) => {
            const number = Math.random();
            const give = (value: Counts[]) => {
              clearTimeout(timer);
              worker.off('message', hear);
              resolve(value);
            };
            const hear = (message: ToPrimary) => 'answers' in message && message.answers === number && give([message.counts]);
            const timer = setTimeout(() => give([]), COUNTS_MS);
            worker.on('message', hear);
            tell(worker, { asked: number });
          }),
      ),
    );
    tell(asking, { others: id, counts: counts.flat() });
  }

  const workers = Array.from({ length: count }, () => cluster.fork());
  let urls: string[];
  try {
    urls = await Promise.all(workers.map(ready));
  } catch (error) {
    stopping = true;
    // Only SIGKILL ends these processes: they handle the other signals and go on until this process sends them a message.
    for (const worker of workers) worker.process.kill('SIGKILL');
    throw error;
  }
  return {
    url: urls[0]!,
    async stop() {
      stopping = true;
      const codes = await Promise.all(
        Object.values(cluster.workers ?? {}).map(
          (worker) =>
            new Promise<number>((resolve) => {
              worker!.once('exit', resolve);
              tell(worker!, { stop: true });
            }),
        ),
      );
      return codes.every((code) => code === 0);
    },
  };
}

const tell = (worker: Worker, message: ToWorker) => {
  if (worker.isConnected()) worker.send(message, () => {});
};

/** Runs in each server process: serves until the first process sends `stop` or ends. */
export async function serveInProcess(start: (others: () => Promise<Counts[]>) => Promise<EnvServer>): Promise<void> {
  const say = (message: ToPrimary) => void process.send!(message);
  const waiting = new Map<number, (counts: Counts[]) => void>();
  let asked = 0;
  let server: EnvServer;
  try {
    server = await start(
      () =>
        new Promise((resolve) => {
          waiting.set(++asked, resolve);
          say({ asks: asked });
        }),
    );
  } catch (error) {
    const { message, name } = error as Error;
    process.send!({ failed: message, name } satisfies ToPrimary, () => process.exit(1));
    return;
  }
  const stop = () =>
    void server.stop().then(
      (complete) => process.exit(complete ? 0 : 1),
      () => process.exit(1),
    );
  process.on('message', (message: ToWorker) => {
    if ('asked' in message) say({ answers: message.asked, counts: server.metrics.snapshot() });
    else if ('others' in message) {
      waiting.get(message.others)?.(message.counts);
      waiting.delete(message.others);
    } else stop();
  });
  process.once('disconnect', stop);
  say({ ready: server.url });
}
