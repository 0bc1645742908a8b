/** The service worker with the tabs, caches and network of a test: the first visit, and a new build while another tab trains. */
import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';

const SCOPE = 'https://x.example/app/';

class FakeCaches {
  readonly all = new Map<string, Map<string, string>>();
  open = async (name: string) => {
    const own = this.all.get(name) ?? new Map<string, string>();
    this.all.set(name, own);
    return {
      addAll: async (requests: { url: string }[]) => requests.forEach(({ url }) => own.set(url, `${url} of ${name}`)),
      match: async (file: string) => own.get(file),
      put: async () => {},
    };
  };
  keys = async () => [...this.all.keys()];
  delete = async (name: string) => this.all.delete(name);
  match = async (file: string) => [...this.all.values()].map((own) => own.get(file)).find(Boolean);
}

/** A build that was installed and activated. `tabs` are the open tabs. */
async function build(version: string, files: string[], caches: FakeCaches, tabs: string[]) {
  const listeners: Record<string, (event: object) => void> = {};
  const claimed: string[] = [];
  const self = {
    addEventListener: (name: string, listener: (event: object) => void) => (listeners[name] = listener),
    registration: { scope: SCOPE },
    clients: { matchAll: async () => tabs, claim: async () => void claimed.push(...tabs) },
    skipWaiting: () => {},
  };
  const source = readFileSync('workers/service-worker.js', 'utf8')
    .replace("'__FILES__'", JSON.stringify(JSON.stringify(files)))
    .replace("'__LATER__'", "'[]'")
    .replace('__VERSION__', version);
  const network = (request: { url: string }) => Promise.resolve(`${request.url} of the network`);
  class Request {
    constructor(readonly url: string) {}
  }
  runInNewContext(source, { self, caches, fetch: network, Request, JSON, Promise, Response });
  const happen = async (name: string, event: object = {}) => {
    const waits: unknown[] = [];
    let answer: unknown;
    listeners[name]!({ ...event, waitUntil: (work: unknown) => waits.push(work), respondWith: (given: unknown) => (answer = given) });
    await Promise.all(waits);
    return answer === undefined ? 'not answered' : await answer;
  };
  await happen('install');
  await happen('activate');
  return {
    claimed,
    get: (file: string, mode = 'cors') => happen('fetch', { request: { url: SCOPE + file, method: 'GET', mode } }),
  };
}

test('the tab of the first visit is claimed, so it finds its parts without a network', async () => {
  const caches = new FakeCaches();
  const { claimed, get } = await build('1', ['index.html', 'assets/a-1.js'], caches, ['first']);
  expect(claimed).toEqual(['first']);
  expect(await get('assets/a-1.js')).toBe('assets/a-1.js of mua-build-1');
  expect(await get('user/v1/chat')).toBe('not answered');
});

test('a tab that trains keeps the parts of its build until it is the only tab, or closed', async () => {
  const caches = new FakeCaches();
  const tabs = ['asks for the new build', 'trains'];
  await build('1', ['index.html', 'assets/a-1.js'], caches, tabs);
  const { get } = await build('2', ['index.html', 'assets/a-2.js'], caches, tabs);
  expect(await get('assets/a-1.js')).toBe('assets/a-1.js of mua-build-1');
  expect(await get('assets/a-2.js')).toBe('assets/a-2.js of mua-build-2');
  expect(await get('', 'navigate')).toBe('index.html of mua-build-2');
  expect(await caches.keys()).toEqual(['mua-build-1', 'mua-build-2']);
  tabs.pop();
  await get('', 'navigate');
  expect(await caches.keys()).toEqual(['mua-build-2']);
  expect(await get('assets/a-1.js')).toBe(`${SCOPE}assets/a-1.js of the network`);
});
