/** Models in the tab for customers and agents: which of them share a worker, how many are in memory, and how loading is cancelled. */
import { expect, test } from 'vitest';
import type { Generation } from '../../../src/local/api.ts';
import { LocalHosts, type HostedModel } from '../../../src/users/local-hosts.ts';
import { serverWaits } from '../../../src/users/waits.ts';
import { FakeWorkers, said } from '../../support/model-workers.ts';

const model = (name: string, more: Partial<HostedModel> = {}): HostedModel => ({ source: 'bundled', model: name, precision: 'q4', device: 'wasm', ...more }); // prettier-ignore
const request = (conversation: string): Generation => ({ conversation, messages: [], tools: [], maxTokens: 5, temperature: 0, seed: 1 });

test('the same model on the same device is loaded once', async () => {
  const workers = new FakeWorkers(async () => said('ok'));
  const hosts = new LocalHosts(workers.spawn);
  // The temperature belongs to the customer, not to the model.
  const customer = { ...model('a'), mode: 'local', temperature: 1 };
  await Promise.all([hosts.load(model('a')), hosts.generate(customer, request('customer')), hosts.generate(model('a'), request('agent'))]);
  expect([workers.spawned, workers.mostRunning]).toEqual([1, 1]);
  await hosts.load(model('a', { precision: 'q8' }));
  expect(workers.spawned).toBe(2);
});

test('at most two models stay in memory: the ones that were used last', async () => {
  const workers = new FakeWorkers(async () => said('ok'));
  const hosts = new LocalHosts(workers.spawn);
  for (const name of ['a', 'b', 'a', 'c']) await hosts.generate(model(name), request(name));
  expect([workers.spawned, workers.terminated]).toEqual([3, 1]);
  await hosts.generate(model('a'), request('a'));
  expect(workers.spawned).toBe(3);
  await hosts.generate(model('b'), request('b'));
  expect([workers.spawned, workers.terminated]).toEqual([4, 2]);
});

test('a model that writes is not removed for another one', async () => {
  const workers = new FakeWorkers(async ({ conversation }) => {
    if (conversation === 'a') await hosts.generate(model('b'), request('b')).then(() => hosts.generate(model('c'), request('c')));
    return said(conversation);
  });
  const hosts = new LocalHosts(workers.spawn);
  expect((await hosts.generate(model('a'), request('a'))).text).toBe('a');
});

test('loading is shown, can be cancelled at once, and can begin again', async () => {
  const shown: string[] = [];
  serverWaits.listen((text) => shown.push(text));
  const workers = new FakeWorkers(async () => said('ok'));
  const hosts = new LocalHosts(workers.spawn);
  workers.load = (onDownload) => {
    onDownload?.(1_500_000, 3_000_000);
    return new Promise(() => {});
  };
  const abort = new AbortController();
  const loading = hosts.load(model('a'), abort.signal);
  await expect.poll(() => shown.at(-1)).toBe('downloading a: 1.5 of 3.0 MB');
  abort.abort();
  await expect(loading).rejects.toMatchObject({ kind: 'aborted' });
  expect([workers.terminated, shown.at(-1)]).toEqual([1, '']);
  workers.load = () => ({ value: null });
  expect((await hosts.generate(model('a'), request('a'))).text).toBe('ok');
  expect(shown).toContain('a writes a message');
});
