/** @file The user worker. It plays the simulated customers, so that the trainer worker is never blocked by a remote model. */
import * as comlink from 'comlink';
import { customerScripts } from '../src/domains/registry.ts';
import { UserSessions } from '../src/users/worker-api.ts';

const sessions = new UserSessions(customerScripts);

/** `connect` exposes the same object on another port, so that the trainer worker can call this worker directly. */
const api = Object.assign(sessions, {
  ping() {},
  connect: (port: MessagePort) => comlink.expose(sessions, port),
});

export type UserWorker = typeof api;

comlink.expose(api);
