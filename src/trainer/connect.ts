/**
 * @file Starts three workers and connects them. The trainer calls the environment worker and the user worker through ports,
 * without the page in between.
 */
import '../base/content-policy.ts';
import * as comlink from 'comlink';
import type { UserWorkerApi } from '../users/worker-api.ts';
import type { TrainerApi } from './api.ts';

export type Trainer = comlink.Remote<TrainerApi>;

interface Connectable {
  connect(port: MessagePort): void;
  ping(): void;
}

export interface WorkerWatch {
  /**
   * Called once, if a worker did not load, ended with an uncaught error, or sent something that cannot be read. Before this
   * call, all workers are terminated.
   */
  failed(error: Error): void;
  /** Called with the name of a worker that has not answered for about ten seconds, and with null when it answers again. */
  silent?(name: string | null): void;
}

export interface Connection {
  trainer: Trainer;
  user: Pick<UserWorkerApi, 'askEndpoint'>;
  /** Terminates the workers. After that, `failed` is called with an error that has this message. */
  end(message: string): void;
}

const PING_MS = 2000;
/** A sleeping computer runs no timers, so the time without an answer is counted in pings, not in seconds. */
const SILENT_PINGS = 5;

/** Starts and connects the workers. With comlink alone, a caller would wait forever for a worker that fails. */
export async function connectTrainer({ failed, silent = () => {} }: WorkerWatch): Promise<Connection> {
  const workers = {
    trainer: new Worker(new URL('../../workers/trainer.worker.ts', import.meta.url), { type: 'module' }),
    environment: new Worker(new URL('../../workers/environment.worker.ts', import.meta.url), { type: 'module' }),
    user: new Worker(new URL('../../workers/user.worker.ts', import.meta.url), { type: 'module' }),
  };
  const trainer = comlink.wrap<TrainerApi>(workers.trainer);
  const environment = comlink.wrap<Connectable>(workers.environment);
  const user = comlink.wrap<Connectable & UserWorkerApi>(workers.user);
  const unanswered: Record<string, number> = {};
  const ping = async (name: string, worker: Pick<comlink.Remote<Connectable>, 'ping'>) => {
    if (unanswered[name] !== undefined) {
      if (++unanswered[name] === SILENT_PINGS) silent(name);
      return;
    }
    unanswered[name] = 0;
    await worker.ping();
    if (unanswered[name] >= SILENT_PINGS) silent(null);
    delete unanswered[name];
  };
  let connected = false;
  const pulse = setInterval(() => {
    if (!connected) return;
    for (const [name, worker] of Object.entries({ trainer, environment, user })) void ping(name, worker);
  }, PING_MS);
  let over = false;
  const end = (message: string) => {
    if (over) return;
    over = true;
    clearInterval(pulse);
    for (const worker of Object.values(workers)) worker.terminate();
    failed(new Error(message));
  };
  for (const [name, worker] of Object.entries(workers)) {
    worker.addEventListener('error', (event) => end(`the ${name} worker failed: ${event.message || 'its script did not load'}`));
    worker.addEventListener('messageerror', () => end(`the ${name} worker failed: it sent what cannot be read`));
  }
  const [environments, users] = [new MessageChannel(), new MessageChannel()];
  await Promise.all([
    environment.connect(comlink.transfer(environments.port1, [environments.port1])),
    user.connect(comlink.transfer(users.port1, [users.port1])),
    trainer.connect(comlink.transfer(environments.port2, [environments.port2]), comlink.transfer(users.port2, [users.port2])),
  ]);
  connected = true;
  return { trainer, user, end };
}
