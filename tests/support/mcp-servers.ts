/** MCP servers for tests, written without the SDK, so that they can break the protocol. They serve over HTTP, or in memory. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { offerServer } from '../../src/mcp/here.ts';
import type { McpTarget } from '../../src/mcp/types.ts';

export interface Asked {
  id?: number | string;
  method: string;
  params?: { name?: string; arguments?: Record<string, unknown>; cursor?: string };
}

/** Answers a request with a result, an error, or `SILENT`. */
export type Answer = { result: unknown } | { error: { code: number; message: string } } | typeof SILENT;
export const SILENT = Symbol('no answer');

export interface FakeServer {
  list?: (params: NonNullable<Asked['params']>) => object | Promise<object>;
  call?: (name: string, args: Record<string, unknown>) => object | typeof SILENT | Promise<object | typeof SILENT>;
}

export const tool = (name: string, more: object = {}) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  ...more,
});
export const text = (words: string, more: object = {}) => ({ content: [{ type: 'text', text: words }], ...more });

/** The answer of a server of 2025-11-25. */
async function answer({ method, params = {} }: Asked, { list, call }: FakeServer): Promise<Answer> {
  if (method === 'initialize')
    return { result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'fake', version: '1' } } };
  if (method === 'tools/list') return { result: list ? await list(params) : { tools: [tool('say')] } };
  if (method !== 'tools/call') return { error: { code: -32601, message: 'Method not found' } };
  const result = await (call ?? (() => text('hello')))(params.name!, params.arguments ?? {});
  return result === SILENT ? SILENT : { result };
}

/** A target whose server runs in memory. A function makes a new server for each connection. */
export function fakeHere(made: FakeServer | (() => FakeServer), name: string): McpTarget {
  offerServer(name, async (transport) => {
    const server = typeof made === 'function' ? made() : made;
    transport.onmessage = (message) => {
      if (!('method' in message) || !('id' in message)) return;
      void answer(message as Asked, server).then((given) => {
        if (given !== SILENT) void transport.send({ jsonrpc: '2.0', id: message.id, ...given } as Parameters<typeof transport.send>[0]);
      });
    };
    await transport.start();
  });
  return { kind: 'here', server: name };
}

export interface FakeHttp {
  url: string;
  requests: { method: string; headers: IncomingMessage['headers']; asked: Asked | null }[];
  close(): Promise<void>;
}

/** Serves over HTTP. `special` may answer a request itself, and then returns true. */
export async function fakeHttp(
  server: FakeServer,
  special: (asked: Asked | null, response: ServerResponse, request: IncomingMessage) => boolean | Promise<boolean> = () => false,
): Promise<FakeHttp> {
  const requests: FakeHttp['requests'] = [];
  const http = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      void (async () => {
        const asked = body ? (JSON.parse(body) as Asked) : null;
        requests.push({ method: request.method!, headers: request.headers, asked });
        if (await special(asked, response, request)) return;
        if (!asked) return void response.writeHead(405).end();
        if (asked.id === undefined) return void response.writeHead(202).end();
        const given = await answer(asked, server);
        if (given !== SILENT) json(response, { jsonrpc: '2.0', id: asked.id, ...given });
      })();
    });
  });
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    requests,
    close: () =>
      new Promise((done) => {
        http.close(() => done());
        http.closeAllConnections();
      }),
  };
}

export const json = (response: ServerResponse, body: unknown, status = 200): void =>
  void response.writeHead(status, { 'Content-Type': 'application/json' }).end(typeof body === 'string' ? body : JSON.stringify(body));
