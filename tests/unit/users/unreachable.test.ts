/** What a browser says of a server that its page cannot reach. The browser's parts are stand-ins; tests/e2e has Chromium's own. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { testEndpoint } from '../../../src/users/endpoint/test.ts';
import { isLocal } from '../../../src/base/unreachable.ts';

afterEach(() => vi.unstubAllGlobals());

interface Browser {
  page?: string;
  /** Whether a request without CORS gets an answer. */
  answers?: boolean;
  isForbidden?: boolean;
  permissions?: Record<string, PermissionState>;
}

async function kindAt(baseUrl: string, { page = 'https://mua.example', answers = false, isForbidden = false, permissions = {} }: Browser) {
  const listeners = new Set<(event: object) => void>();
  vi.stubGlobal('importScripts', () => {});
  vi.stubGlobal('location', new URL(page));
  vi.stubGlobal('addEventListener', (_: string, listener: (event: object) => void) => listeners.add(listener));
  vi.stubGlobal('removeEventListener', (_: string, listener: (event: object) => void) => listeners.delete(listener));
  vi.stubGlobal('navigator', {
    permissions: {
      query: ({ name }: { name: string }) =>
        name in permissions ? Promise.resolve({ state: permissions[name] }) : Promise.reject(new TypeError('unknown')),
    },
  });
  const fetch = (url: string, { mode }: RequestInit) => {
    if (isForbidden) setTimeout(() => listeners.forEach((listen) => listen({ blockedURI: url, effectiveDirective: 'connect-src' })));
    return mode === 'no-cors' && answers ? Promise.resolve(new Response()) : Promise.reject(new TypeError('Failed to fetch'));
  };
  const { kind, message } = await testEndpoint({ baseUrl, model: 'm' }, { fetch: fetch as typeof globalThis.fetch });
  expect(listeners.size).toBe(0);
  expect(message).toContain(
    new URL(baseUrl).origin === 'http://192.168.0.7:1234' && kind === 'local_network' ? 'local network' : new URL(baseUrl).origin,
  );
  return kind;
}

const LAN = 'http://192.168.0.7:1234/v1';

describe('the reason', () => {
  test.each<[string, string, Browser, string]>([
    ['the policy of the page', LAN, { isForbidden: true }, 'policy'],
    ['CORS', LAN, { answers: true }, 'cors'],
    ['mixed content', LAN, {}, 'mixed_content'],
    ['a denied permission', LAN, { permissions: { 'local-network-access': 'denied' } }, 'local_network'],
    ['a denied permission in newer browsers', LAN, { permissions: { 'local-network': 'denied' } }, 'local_network'],
    ['no server, with the permission', LAN, { permissions: { 'local-network': 'granted' } }, 'unreachable'],
    ['no server, from a page of this computer', LAN, { page: 'http://127.0.0.1:8019' }, 'unreachable'],
    ['a server of this computer', 'http://localhost:1234/v1', {}, 'unreachable'],
    [
      'http on the internet, which no permission allows',
      'http://models.example/v1',
      { permissions: { 'local-network': 'granted' } },
      'mixed_content',
    ],
    ['https', 'https://192.168.0.7/v1', {}, 'unreachable'],
  ])('%s', async (_, baseUrl, browser, kind) => {
    expect(await kindAt(baseUrl, browser)).toBe(kind);
  });
});

test.each([
  ['10.1.2.3', true],
  ['172.16.0.1', true],
  ['172.32.0.1', false],
  ['192.168.1.1', true],
  ['[fe80::1]', true],
  ['[2001:db8::1]', false],
  ['mybox', true],
  ['mybox.local', true],
  ['8.8.8.8', false],
  ['example.com', false],
])('%s is in the local network: %s', (hostname, local) => expect(isLocal(hostname)).toBe(local));
