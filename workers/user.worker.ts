/** @file The user worker: plays the simulated customers, so that the trainer never waits for a remote model. */
import * as comlink from 'comlink';
import { customerScripts } from '../src/domains/registry.ts';
import { UserSessions } from '../src/users/worker-api.ts';

const sessions = new UserSessions(customerScripts);

/** `connect` exposes the same object on another port, so that the trainer worker can call it without the page. */
const api = Object.assign(sessions, {
  ping() {},
  connect: (port: MessagePort) => comlink.expose(sessions, port),
});

export type UserWorker = typeof api;

comlink.expose(api);
