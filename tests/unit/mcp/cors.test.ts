/** A server by address from a page: what the page can do, and what a visitor reads, for each way in which CORS can be set up. */
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { McpServer as OlderServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { connect } from '../../../src/mcp/index.ts';
import type { McpServer } from '../../../src/mcp/types.ts';
import { type FakeHttp, fakeHttp } from '../../support/mcp-servers.ts';
import { ALL_HEADERS, HEADERS_2025, startNotes } from '../../support/mcp-notes.ts';

interface Cors {
  /** The value of Access-Control-Allow-Headers; null: no header of CORS. */
  allow: string | null;
  expose?: string;
}

const SAFE = ['accept', 'content-type'];
const real = globalThis.fetch;
const PAGE = 'https://mua.example';

/** `fetch` as a browser does it for a page of another origin (Fetch standard, §3.3). */
const browserFetch =
  ({ allow, expose = '' }: Cors): typeof fetch =>
  async (input, init = {}) => {
    const headers = new Headers(init.headers);
    if (init.mode === 'no-cors') return real(input, { method: 'GET' }).then(() => new Response());
    const isSimple = (name: string) => SAFE.includes(name) && (name !== 'content-type' || headers.get(name) === 'text/plain');
    const asked = [...headers.keys()].filter((name) => !isSimple(name));
    const allowed = (allow ?? '').split(', ');
    if (allow === null || asked.some((name) => !allowed.includes(name))) throw new TypeError('Failed to fetch');
    const { body, status, headers: all } = await real(input, init);
    const shown = [...all].filter(([name]) => ['content-type', ...expose.split(', ')].includes(name));
    return new Response(body, { status, headers: shown });
  };

let servers: { close(): Promise<void> }[] = [];
beforeEach(() => {
  vi.stubGlobal('WorkerGlobalScope', class {});
  vi.stubGlobal('importScripts', () => {});
  vi.stubGlobal('addEventListener', () => {});
  vi.stubGlobal('removeEventListener', () => {});
  vi.stubGlobal('location', new URL(PAGE));
});
afterEach(async () => {
  vi.unstubAllGlobals();
  await Promise.all(servers.map((server) => server.close()));
  servers = [];
});

/** A server of version 2026-07-28, which also knows the older ones without sessions. */
async function notes(): Promise<string> {
  const server = await startNotes(null);
  servers.push(server);
  return server.url;
}

/** A server of the first SDK with sessions: each request must repeat the id that only a header of an answer tells. */
async function sessions(): Promise<string> {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => 'own-session', enableJsonResponse: true });
  const server = new OlderServer({ name: 'older', version: '1' });
  server.registerTool('say', { description: 'Says hello.' }, () => ({ content: [{ type: 'text', text: 'hello' }] }));
  await server.connect(transport as Parameters<typeof server.connect>[0]);
  const http: FakeHttp = await fakeHttp({}, async (asked, response, request) => {
    await transport.handleRequest(request, response, asked ?? undefined);
    return true;
  });
  servers.push(http);
  return http.url;
}

async function from(url: string, cors: Cors, headers: Record<string, string> = {}): Promise<McpServer | string> {
  vi.stubGlobal('fetch', browserFetch(cors));
  try {
    const { server, close } = await connect({ kind: 'url', url, headers }, { timeout: 5 });
    await close();
    return server;
  } catch (error) {
    return (error as Error).message;
  }
}

test('all headers are allowed: the newest protocol, or the older one of an older server', async () => {
  expect(await from(await notes(), { allow: ALL_HEADERS })).toMatchObject({ protocol: '2026-07-28', name: 'notes' });
  const older = await from(await sessions(), { allow: ALL_HEADERS, expose: 'mcp-session-id' });
  expect(older).toMatchObject({ protocol: '2025-11-25', name: 'older' });
  expect(older).not.toHaveProperty('note');
});

test('only the headers of 2025 are allowed: the older protocol, with a note that names the missing headers', async () => {
  for (const url of [await notes(), await sessions()])
    expect(await from(url, { allow: HEADERS_2025, expose: 'mcp-session-id' })).toMatchObject({
      era: 'legacy',
      note: expect.stringMatching(/mcp-method and mcp-name in Access-Control-Allow-Headers/) as string,
    });
});

test('the page cannot read the session: the header to expose is named', async () => {
  for (const allow of [ALL_HEADERS, HEADERS_2025])
    expect(await from(await sessions(), { allow })).toMatch(/must also send Access-Control-Expose-Headers: Mcp-Session-Id/);
});

test('no CORS: all headers are named, with the origin of the page', async () => {
  const message = await from(await notes(), { allow: null });
  expect(message).toMatch(/^A server answers at http:\/\/127\.0\.0\.1:\d+, but it does not let this page read the answer \(CORS\)/);
  expect(message).toContain(`Access-Control-Allow-Origin: ${PAGE};`);
  expect(message).toContain(`Access-Control-Allow-Headers: ${HEADERS_2025}, mcp-method, mcp-name;`);
  expect(message).toContain('If it needs a key, enter the key');
});

test.each([
  ['content-type', 'mcp-protocol-version, mcp-session-id', {}, 'the header content-type: add it'],
  ['two headers', 'content-type', {}, 'the headers mcp-protocol-version, mcp-session-id: add them'],
  ['the key', HEADERS_2025, { Authorization: 'Bearer sk-4711-4711' }, 'the header authorization: add it'],
  ['a header of the visitor', HEADERS_2025, { 'X-Team': 'blue' }, 'the header x-team: add it'],
])('one part is missing: %s', async (_, allow, headers, says) => {
  const message = await from(await notes(), { allow }, headers as Record<string, string>);
  expect(message).toContain(`It allows this page, but not ${says} to its Access-Control-Allow-Headers.`);
  expect(message).not.toContain('sk-4711');
});

test('no server, and plain http from a page with https', async () => {
  const gone = await startNotes(null);
  await gone.close();
  expect(await from(gone.url, { allow: null })).toBe(
    `No server answers at ${new URL(gone.url).origin}. Start the server, or correct the address.`,
  );
  expect(await from('http://mcp.invalid/mcp', { allow: null })).toContain('(mixed content)');
});
