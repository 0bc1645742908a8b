/** Servers by address: both eras of the protocol, secrets, redirects, streams and failures of HTTP. */
import type { ServerResponse } from 'node:http';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { connect } from '../../../src/mcp/index.ts';
import type { McpConnection, McpLimits } from '../../../src/mcp/types.ts';
import { type FakeHttp, fakeHttp, json, text, tool } from '../../support/mcp-servers.ts';

const LIMITS: Partial<McpLimits> = { timeout: 2, bytes: 100_000 };
const KEY = 'sk-very-secret-1234';
const cleanUps: (() => Promise<unknown>)[] = [];
afterAll(() => Promise.all(cleanUps.map((close) => close())));
afterEach(() => vi.unstubAllGlobals());

const serve = async (...given: Parameters<typeof fakeHttp>): Promise<FakeHttp> => {
  const http = await fakeHttp(...given);
  cleanUps.push(http.close);
  return http;
};
const open = async (url: string, headers: Record<string, string> = {}, limits: Partial<McpLimits> = {}): Promise<McpConnection> => {
  const connection = await connect({ kind: 'url', url, headers }, { ...LIMITS, ...limits });
  cleanUps.push(() => connection.close());
  return connection;
};

describe('eras', () => {
  const modern = () => {
    const server = new McpServer({ name: 'both', version: '2' }, { capabilities: { tools: {} } });
    server.registerTool('add', { description: 'Adds one.' }, () => text('1') as { content: { type: 'text'; text: string }[] });
    return server;
  };

  test.each(['stateless', 'reject'] as const)(
    'a server of 2026-07-28 (%s of older clients) is asked with the newer protocol',
    async (legacy) => {
      const { fetch } = createMcpHandler(modern, { legacy });
      vi.stubGlobal('fetch', (url: URL, init: RequestInit) => fetch(new Request(url, init)));
      const { server, call } = await open('http://localhost/mcp');
      expect(server).toMatchObject({ name: 'both', version: '2', era: 'modern', protocol: '2026-07-28' });
      expect((await call('add', {})).text).toBe('1');
    },
  );

  test('a server of 2025-11-25 is asked with the older one, without a stream for announcements, and its session is ended', async () => {
    const http = await serve({}, (asked, response) => {
      if (asked?.method === 'initialize') response.setHeader('Mcp-Session-Id', 'own-session');
      return false;
    });
    const connection = await open(http.url);
    expect(connection.server).toMatchObject({ name: 'fake', era: 'legacy', protocol: '2025-11-25' });
    await connection.close();
    expect(http.requests.map(({ method, asked }) => asked?.method ?? method)).toEqual([
      'server/discover',
      'initialize',
      'notifications/initialized',
      'tools/list',
      'DELETE',
    ]);
    expect(http.requests.at(-1)!.headers['mcp-session-id']).toBe('own-session');
  });

  /** A server of 2025-11-25 that answers the question of the newer protocol in an odd way. */
  const odd = (probe: (response: ServerResponse) => unknown) =>
    serve({}, (asked, response) => {
      if (asked?.method !== 'server/discover') return false;
      probe(response);
      return true;
    });

  test.each<[string, (response: ServerResponse) => unknown, number]>([
    ['no answer', () => {}, 1],
    ['a stream without an answer', (response) => response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(': hello\n\n'), 1],
    ['HTTP 202', (response) => response.writeHead(202).end(), 0.5],
    ['HTTP 200 without a body', (response) => response.writeHead(200).end(), 0.5],
  ])('a server of 2025-11-25 whose first answer is %s gets the older protocol in time', async (_, probe, seconds) => {
    const http = await odd(probe);
    const start = performance.now();
    const { server, call } = await open(http.url, {}, { timeout: 1 });
    expect(performance.now() - start).toBeLessThan(1000 * seconds);
    expect(server).toMatchObject({ name: 'fake', era: 'legacy', protocol: '2025-11-25' });
    expect((await call('say', {})).text).toBe('hello');
  });

  test('a server that answers nothing, and one that takes all with HTTP 202, are told in the time limit', async () => {
    const start = performance.now();
    const hangs = await serve({}, () => true);
    const late = await open(hangs.url, {}, { timeout: 0.5 }).catch((error: Error) => error);
    expect(late).toMatchObject({ kind: 'timeout', message: expect.stringContaining('did not answer the connection in 0.5 s') as string });
    expect(hangs.requests.map(({ asked }) => asked?.method)).toEqual(['server/discover', 'initialize']);
    const takes = await serve({}, (_, response) => Boolean(response.writeHead(202).end()));
    await expect(open(takes.url)).rejects.toMatchObject({
      kind: 'protocol',
      message: 'the server takes a request with HTTP 202 and does not answer it: expected HTTP 200 with a result',
    });
    expect(performance.now() - start).toBeLessThan(1500);
  });

  test('a question to a person in the middle of a call is refused, in both eras', async () => {
    const newer = await serve({}, (asked, response) => {
      const results: Record<string, object> = {
        'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, ttlMs: 0, cacheScope: 'private' },
        'tools/list': { tools: [tool('ask')], ttlMs: 0, cacheScope: 'private' },
      };
      const asks = {
        method: 'elicitation/create',
        params: { mode: 'form', message: 'Your password?', requestedSchema: { type: 'object', properties: {} } },
      };
      const result =
        asked && asked.method in results
          ? { resultType: 'complete', ...results[asked.method] }
          : { resultType: 'input_required', inputRequests: { q: asks } };
      json(response, { jsonrpc: '2.0', id: asked?.id, result });
      return true;
    });
    const connection = await open(newer.url);
    expect(connection.server.era).toBe('modern');
    await expect(connection.call('ask', {})).rejects.toMatchObject({
      kind: 'protocol',
      message: expect.stringContaining('input_required') as string,
    });

    const older = await serve({}, (asked, response) => {
      if (asked?.method !== 'tools/call') return false;
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      const send = (message: object) => response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
      send({
        id: 'q',
        method: 'elicitation/create',
        params: { message: 'Your password?', requestedSchema: { type: 'object', properties: {} } },
      });
      setTimeout(() => {
        send({ id: asked.id, result: text('no answer') });
        response.end();
      }, 50);
      return true;
    });
    const { call } = await open(older.url);
    expect((await call('ask', {})).text).toBe('no answer');
    const asked = await vi.waitFor(
      () => older.requests.find((request) => request.asked?.id === 'q')?.asked ?? Promise.reject(new Error('no answer yet')),
      5000,
    );
    const refused = asked as unknown as { error: { code: number } };
    expect(refused.error.code).toBe(-32601);
  });
});

describe('streams', () => {
  const streaming = (write: (send: (text: string) => void) => void) =>
    serve({}, (asked, response) => {
      if (asked?.method !== 'tools/call') return false;
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      write((words) => response.write(words));
      return true;
    });

  test('an endless stream is cut at the limit of bytes', async () => {
    const http = await streaming((send) => {
      const timer = setInterval(() => send(`: ${'x'.repeat(10_000)}\n\n`), 1);
      setTimeout(() => clearInterval(timer), 1500);
    });
    const start = performance.now();
    await expect((await open(http.url)).call('say', {})).rejects.toMatchObject({ kind: 'limit' });
    expect(performance.now() - start).toBeLessThan(1500);
  });

  test('a quiet stream without an answer ends in time, and the connection goes on', async () => {
    let calls = 0;
    const http = await serve({}, (asked, response) => {
      if (asked?.method !== 'tools/call' || ++calls > 1) return false;
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(': hello\n\n');
      return true;
    });
    const { call } = await open(http.url, {}, { timeout: 0.3 });
    await expect(call('say', {})).rejects.toMatchObject({ kind: 'timeout' });
    expect((await call('say', {})).text).toBe('hello');
  });
});

test('a closed connection leaves no timer, for which a command would wait', async () => {
  const http = await serve({}, (asked, response) => {
    if (asked?.method === 'initialize') response.setHeader('Mcp-Session-Id', 'own-session');
    if (asked?.method !== 'tools/call') return false;
    // The stream stays open after the result.
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    return response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: asked.id, result: text('hello') })}\n\n`);
  });
  const [set, clear] = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'clearTimeout')];
  const connection = await open(http.url);
  expect((await connection.call('say', {})).text).toBe('hello');
  await connection.close();
  const limits = set.mock.calls.flatMap(([, ms], i) => (ms === 2000 ? [set.mock.results[i]!.value as unknown] : []));
  const cleared = clear.mock.calls.map(([timer]) => timer as unknown);
  vi.restoreAllMocks();
  expect(limits.length).toBeGreaterThan(5);
  expect(limits.filter((timer) => !cleared.includes(timer))).toEqual([]);
});

describe('secrets and redirects', () => {
  test('a redirect to another origin is not followed, and the other server gets nothing', async () => {
    const other = await serve({});
    const http = await serve({}, (_, response) => {
      response.writeHead(307, { Location: other.url }).end();
      return true;
    });
    await expect(open(http.url, { Authorization: `Bearer ${KEY}` })).rejects.toMatchObject({ kind: 'blocked' });
    expect(other.requests).toEqual([]);
  });

  test('a redirect within the origin is followed', async () => {
    const http = await serve({}, (_, response, request) => {
      if (request.url === '/mcp/') return false;
      response.writeHead(307, { Location: '/mcp/' }).end();
      return true;
    });
    expect((await open(http.url)).server.name).toBe('fake');
  });

  test('a key that a server repeats is in no error and in no result', async () => {
    const http = await serve(
      { call: () => text(`your key is ${KEY}`, { structuredContent: { key: KEY } }) },
      (asked, response, request) => {
        if (asked?.method !== 'tools/call' || asked.params?.name !== 'fail') return false;
        json(response, `bad header ${request.headers.authorization}`, 418);
        return true;
      },
    );
    const { call } = await open(http.url, { Authorization: `Bearer ${KEY}` });
    expect(http.requests[0]!.headers.authorization).toBe(`Bearer ${KEY}`);
    const result = await call('say', {});
    expect(result).toMatchObject({ text: 'your key is …', structured: { key: '…' } });
    const error = await call('fail', {}).catch((thrown: Error) => thrown);
    expect(String(error)).toMatch(/HTTP 418/);
    expect(JSON.stringify([error, String(error), (error as Error).stack])).not.toContain(KEY);
  });

  test('a key does not travel without encryption, except to this computer', async () => {
    const url = 'http://mcp.example.org/mcp';
    await expect(open(url, { Authorization: `Bearer ${KEY}` })).rejects.toMatchObject({ kind: 'blocked' });
    await expect(open(`${url}?api_key=${KEY}`)).rejects.toMatchObject({ kind: 'blocked' });
  });

  test('401 and 403 name the header that is expected', async () => {
    for (const status of [401, 403]) {
      const http = await serve({}, (_, response) => {
        json(response, { error: 'no' }, status);
        return true;
      });
      await expect(open(http.url)).rejects.toMatchObject({ kind: 'auth', message: expect.stringContaining('Authorization') as string });
    }
  });
});

describe('failures', () => {
  test.each([
    ['a page instead of an answer', 'text/html', '<html>', 'protocol'],
    ['text that is not JSON', 'application/json', '{"jsonrpc":"2.0","id":1,"result":NaN}', 'protocol'],
    ['JSON that is no answer', 'application/json', '{"hello":1}', 'protocol'],
  ])('%s', async (_, type, body, kind) => {
    const http = await serve({}, (__, response) => {
      response.writeHead(200, { 'Content-Type': type }).end(body);
      return true;
    });
    await expect(open(http.url)).rejects.toMatchObject({ name: 'McpError', kind });
  });

  test('the address of the older HTTP+SSE says what is expected', async () => {
    const http = await serve({}, (_, response) => {
      response.writeHead(405).end('Method Not Allowed');
      return true;
    });
    await expect(open(http.url)).rejects.toThrow(
      /expected the address of Streamable HTTP.*HTTP\+SSE of version 2024-11-05 is not supported/,
    );
  });

  test('the words of a server that refuses a call are shown', async () => {
    const http = await serve({}, (asked, response) => {
      if (asked?.method !== 'tools/call') return false;
      response.writeHead(403).end('only on weekdays');
      return true;
    });
    await expect((await open(http.url)).call('say', {})).rejects.toMatchObject({
      kind: 'auth',
      message: expect.stringContaining('only on weekdays') as string,
    });
  });

  test('a server that is not there, and one that hangs up', async () => {
    const gone = await serve({});
    await gone.close();
    await expect(open(gone.url)).rejects.toMatchObject({ kind: 'unreachable', message: expect.stringContaining('ECONNREFUSED') as string });
    const hangsUp = await serve({}, (_, response) => {
      response.destroy();
      return true;
    });
    await expect(open(hangsUp.url)).rejects.toMatchObject({ kind: 'unreachable' });
  });

  test('a server that needs half of the time limit for its first answer', async () => {
    const http = await serve({}, async (asked) => {
      if (asked?.method === 'server/discover') await new Promise((done) => setTimeout(done, 1000));
      return false;
    });
    expect((await open(http.url)).server.name).toBe('fake');
  });

  test('a session that the server has forgotten', async () => {
    const http = await serve({}, (asked, response) => {
      if (asked?.method !== 'tools/call') return false;
      json(response, { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } }, 404);
      return true;
    });
    await expect((await open(http.url)).call('say', {})).rejects.toMatchObject({
      kind: 'closed',
      message: expect.stringContaining('connect again') as string,
    });
  });

  test('wrong targets and limits name the field', async () => {
    await expect(open('ftp://a')).rejects.toThrow('expected http(s)://HOST/PATH');
    await expect(open(`https://me:${KEY}@a/mcp`)).rejects.toThrow('expected them in a header');
    await expect(open('https://a/mcp', { 'Bad\nName': KEY })).rejects.toThrow('a header for the MCP server is not valid');
    await expect(open('https://a/mcp', {}, { timeout: NaN })).rejects.toThrow('limits.timeout is NaN: expected seconds above 0');
    await expect(open('https://a/mcp', {}, { tools: 0.5 })).rejects.toThrow('limits.tools is 0.5: expected a whole number from 1 up');
    await expect(connect({ kind: 'here', server: 'nowhere' })).rejects.toThrow('there is no MCP server "nowhere" here');
    await expect(connect({ kind: 'command', command: 'ls', args: [] })).rejects.toMatchObject({ kind: 'blocked' });
  });
});
