/** @file The user worker. It plays the simulated customers, so that the trainer worker is never blocked by a remote model. */
import * as comlink from 'comlink';
import { customerScripts, isOwn } from '../src/domains/registry.ts';
import { UserSessions } from '../src/users/worker-api.ts';

const storedScenarios = async () => new (await import('../src/storage/own-scenarios.ts')).OwnScenarios();
const sessions = new UserSessions(async (domain, hasTools) => {
  // Only a visitor's own domain needs the storage, which is large.
  if (domain !== undefined && isOwn(domain)) await (await storedScenarios()).find(domain);
  return customerScripts(domain, hasTools);
});

/** `connect` exposes the same object on another port, so that the trainer worker can call this worker directly. */
const api = Object.assign(sessions, {
  ping() {},
  connect: (port: MessagePort) => comlink.expose(sessions, port),
});

export type UserWorker = typeof api;

comlink.expose(api);
