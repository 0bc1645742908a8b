/** @file The user worker: plays the simulated customers, so that waiting for a model never holds up the trainer. */
import * as comlink from 'comlink';
import { UserSessions } from '../src/users/worker-api.ts';

const sessions = new UserSessions();

/** `connect` answers the same calls on another port, so that the trainer worker need not go through the page. */
const api = Object.assign(sessions, {
  connect: (port: MessagePort) => comlink.expose(sessions, port),
});

export type UserWorker = typeof api;

comlink.expose(api);
