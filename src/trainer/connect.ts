/** @file Starts three workers and connects them. The trainer calls the environment and user workers through ports, not through the page. */
import '../base/content-policy.ts';
import * as comlink from 'comlink';
import type { TrainerApi } from './api.ts';

export type Trainer = comlink.Remote<TrainerApi>;

interface Connectable {
  connect(port: MessagePort): void;
}

/** Calls `onFailure` if a worker does not load or ends with an uncaught error. comlink would wait forever. */
export async function connectTrainer(onFailure: (error: Error) => void): Promise<Trainer> {
  const trainerWorker = new Worker(new URL('../../workers/trainer.worker.ts', import.meta.url), { type: 'module' });
  const environmentWorker = new Worker(new URL('../../workers/environment.worker.ts', import.meta.url), { type: 'module' });
  const userWorker = new Worker(new URL('../../workers/user.worker.ts', import.meta.url), { type: 'module' });
  for (const [name, worker] of Object.entries({ trainer: trainerWorker, environment: environmentWorker, user: userWorker })) {
    worker.addEventListener('error', (event) =>
      onFailure(new Error(`the ${name} worker failed: ${event.message || 'its script did not load'}`)),
    );
  }
  const trainer = comlink.wrap<TrainerApi>(trainerWorker);
  const [environments, users] = [new MessageChannel(), new MessageChannel()];
  await Promise.all([
    comlink.wrap<Connectable>(environmentWorker).connect(comlink.transfer(environments.port1, [environments.port1])),
    comlink.wrap<Connectable>(userWorker).connect(comlink.transfer(users.port1, [users.port1])),
    trainer.connect(comlink.transfer(environments.port2, [environments.port2]), comlink.transfer(users.port2, [users.port2])),
  ]);
  return trainer;
}
