import * as comlink from 'comlink';
import { afterEach, expect, it } from 'vitest';
import { RemoteUsers } from '../../../src/users/remote.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { startUserServer, type UserServer } from '../../../src/serve/user-server.ts';
import { STOP } from '../../../src/users/types.ts';
import { UserSessions, type UserWorkerApi } from '../../../src/users/worker-api.ts';
import { startChatServer } from '../../support/chat-server.ts';
import { cancelOrder, customer } from '../../support/customers.ts';
import { customerScripts } from '../../../src/domains/registry.ts';

const scenario = customer('on_request', [cancelOrder]);
let cleanup: (() => void)[] = [];
let server: UserServer | undefined;

/** The worker's API at the other end of a message channel, as between two workers. */
function connect() {
  const { port1, port2 } = new MessageChannel();
  cleanup.push(() => port1.close());
  comlink.expose(new UserSessions(customerScripts), port1);
  return comlink.wrap<UserWorkerApi>(port2);
}
const SCRIPTED = { mode: 'scripted' } as const;

afterEach(async () => {
  cleanup.forEach((close) => close());
  cleanup = [];
  await server?.close();
  server = undefined;
});

it('plays the same customers as without a worker in between', async () => {
  const users = await RemoteUsers.create(connect(), SCRIPTED);
  const [theirs, ours] = [users, new ScriptedUsers(customerScripts)].map((simulator) => simulator.session(scenario, 4));
  expect(await theirs!.open()).toBe(await ours!.open());
  for (const line of ['What is your email?', 'Which order, and why?']) expect(await theirs!.reply(line)).toBe(await ours!.reply(line));
});

it('keeps the type of an error', async () => {
  const worker = connect();
  server = await startUserServer({ faults: { server_error: 1 } });
  const users = await RemoteUsers.create(worker, { mode: 'endpoint', baseUrl: server.url, model: 'm', maxRetries: 0 });
  await expect(users.session(scenario, 1).open()).rejects.toMatchObject({ name: 'UserError', kind: 'server' });
  await expect(RemoteUsers.create(worker, { mode: 'endpoint', baseUrl: 'nowhere', model: 'm' })).rejects.toThrow(/base URL/);
});

it('judges through the worker; a scripted customer has no judge', async () => {
  const worker = connect();
  const scripted = await RemoteUsers.create(worker, SCRIPTED);
  expect(await scripted.judge(['polite'], [{ role: 'user', text: 'Hi' }])).toBeNull();
  const chat = await startChatServer([{ content: '{"results": [{"met": false}]}' }]);
  cleanup.push(chat.close);
  const users = await RemoteUsers.create(worker, { mode: 'endpoint', baseUrl: chat.url, model: 'm', maxRetries: 0 });
  expect(await users.judge(['polite'], [{ role: 'user', text: 'Hi' }])).toEqual([false]);
  await expect(users.judge(['polite'], [], AbortSignal.abort())).rejects.toMatchObject({ kind: 'aborted' });
});

it('cancels an active request', async () => {
  server = await startUserServer({ faults: { hang: 1 } });
  const users = await RemoteUsers.create(connect(), { mode: 'endpoint', baseUrl: server.url, model: 'm' });
  const abort = new AbortController();
  const opening = users.session(scenario, 1).open(abort.signal);
  const failed = expect(opening).rejects.toMatchObject({ name: 'UserError', kind: 'aborted' });
  await expect.poll(() => server!.counts.hang).toBe(1);
  abort.abort();
  await failed;
});

it('closing a session does not close other sessions', async () => {
  const users = await RemoteUsers.create(connect(), SCRIPTED);
  const [a, b] = [users.session(scenario, 1), users.session(scenario, 1)];
  await Promise.all([a.open(), b.open()]);
  a.close!();
  await expect(a.reply('Which order?')).rejects.toMatchObject({ kind: 'bad_response' });
  expect(await b.reply('Which order?')).toContain('#W7654321');
});

it('a new configuration does not change sessions of earlier callers', async () => {
  const worker = connect();
  const scripted = await RemoteUsers.create(worker, SCRIPTED);
  const chat = await startChatServer([{ content: 'I am played by a model.' }]);
  cleanup.push(chat.close);
  const endpoint = { mode: 'endpoint', baseUrl: chat.url, model: 'm', maxRetries: 0 } as const;
  const played = await RemoteUsers.create(worker, endpoint);
  expect(await scripted.session(scenario, 4).open()).toBe(await new ScriptedUsers(customerScripts).session(scenario, 4).open());
  expect(chat.requests).toEqual([]);
  expect(await scripted.judge(['polite'], [{ role: 'user', text: 'Hi' }])).toBeNull();
  expect(await played.session(scenario, 4).open()).toBe('I am played by a model.');
  // Callers with the same configuration share the limit on requests.
  expect(await worker.configure(endpoint)).toEqual(await worker.configure({ ...endpoint }));
});

it('a stop word that a benchmark ignores does not end the session', async () => {
  const chat = await startChatServer([{ content: `Nothing. ${STOP}` }, { content: 'Still here.' }]);
  cleanup.push(chat.close);
  const users = await RemoteUsers.create(connect(), { mode: 'endpoint', baseUrl: chat.url, model: 'm', maxRetries: 0 });
  const session = users.session(scenario, 1);
  await session.open();
  expect(await session.reply('Hello?')).toBe('Still here.');
});
