import * as comlink from 'comlink';
import { afterEach, expect, it } from 'vitest';
import { RemoteUsers } from '../../src/users/remote.ts';
import { ScriptedUsers } from '../../src/users/scripted.ts';
import { startUserServer, type UserServer } from '../../src/users/server.ts';
import { UserSessions, type UserWorkerApi } from '../../src/users/worker-api.ts';
import { startChatServer } from '../support/chat-server.ts';
import { cancelOrder, customer } from '../support/customers.ts';

const scenario = customer('on_request', [cancelOrder]);
let cleanup: (() => void)[] = [];
let server: UserServer | undefined;

/** The worker's API at the other end of a message channel, as between two workers. */
function connect() {
  const { port1, port2 } = new MessageChannel();
  cleanup.push(() => port1.close());
  comlink.expose(new UserSessions(), port1);
  const worker = comlink.wrap<UserWorkerApi>(port2);
  return { worker, users: new RemoteUsers(worker) };
}

afterEach(async () => {
  cleanup.forEach((close) => close());
  cleanup = [];
  await server?.close();
  server = undefined;
});

it('plays the same customers as without a worker in between', async () => {
  const { users } = connect();
  const [theirs, ours] = [users, new ScriptedUsers()].map((simulator) => simulator.session(scenario, 4));
  expect(await theirs!.open()).toBe(await ours!.open());
  for (const line of ['What is your email?', 'Which order, and why?']) expect(await theirs!.reply(line)).toBe(await ours!.reply(line));
});

it('brings failures over with their kind', async () => {
  const { worker, users } = connect();
  server = await startUserServer({ faults: { server_error: 1 } });
  await worker.configure({ mode: 'endpoint', baseUrl: server.url, model: 'm', maxRetries: 0 });
  await expect(users.session(scenario, 1).open()).rejects.toMatchObject({ name: 'UserError', kind: 'server' });
  await expect(worker.configure({ mode: 'endpoint', baseUrl: 'nowhere', model: 'm' })).rejects.toThrow(/base URL/);
});

it('judges through the worker; a scripted customer has no judge', async () => {
  const { worker, users } = connect();
  expect(await users.judge(['polite'], [{ role: 'user', text: 'Hi' }])).toBeNull();
  const chat = await startChatServer([{ content: '{"results": [{"met": false}]}' }]);
  cleanup.push(chat.close);
  await worker.configure({ mode: 'endpoint', baseUrl: chat.url, model: 'm', maxRetries: 0 });
  expect(await users.judge(['polite'], [{ role: 'user', text: 'Hi' }])).toEqual([false]);
  await expect(users.judge(['polite'], [], AbortSignal.abort())).rejects.toMatchObject({ kind: 'aborted' });
});

it('cancels a request under way', async () => {
  const { worker, users } = connect();
  server = await startUserServer({ faults: { hang: 1 } });
  await worker.configure({ mode: 'endpoint', baseUrl: server.url, model: 'm' });
  const abort = new AbortController();
  const opening = users.session(scenario, 1).open(abort.signal);
  const failed = expect(opening).rejects.toMatchObject({ name: 'UserError', kind: 'aborted' });
  await expect.poll(() => server!.counts.hang).toBe(1);
  abort.abort();
  await failed;
});

it('a closed session is gone, the others go on', async () => {
  const { worker } = connect();
  await worker.open('a', scenario, 1);
  await worker.open('b', scenario, 1);
  await worker.close('a');
  expect(await worker.reply('a', 'Which order?')).toMatchObject({ failure: { kind: 'bad_response' } });
  expect(await worker.reply('b', 'Which order?')).toMatchObject({ text: expect.stringContaining('#W7654321') as string });
});
