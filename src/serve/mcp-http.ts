/** @file The worlds of a server over MCP's Streamable HTTP, at `/mcp`, in both eras of the protocol. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { createMcpHandler, isLegacyRequest, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { isObject } from '../base/json.ts';
import { McpWorlds, type Place } from './mcp-worlds.ts';
import { ProtocolError } from './protocol.ts';
import type { Sessions } from './sessions.ts';

interface McpHttpOptions {
  /** Maximum size of a request. */
  maxBytes: number;
  sessionSeconds: number;
  idleSeconds: number;
  /** Whether this process is the only one of its server. A client may send each request over another connection, to another process. */
  alone: boolean;
  /** Whether pages of this computer may ask without a token. */
  open: boolean;
}

const ASKED_HEADERS = 'content-type, accept, authorization, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, last-event-id';

export class McpHttp {
  readonly #worlds: McpWorlds;
  /** Session id → its transport and place. */
  readonly #sessions = new Map<string, { transport: WebStandardStreamableHTTPServerTransport; place: Place }>();
  readonly #modern;

  constructor(
    sessions: Sessions,
    private readonly options: McpHttpOptions,
  ) {
    this.#worlds = new McpWorlds(sessions, options);
    this.#modern = createMcpHandler(() => this.#worlds.server(null), { legacy: 'reject', maxRequestBodySize: options.maxBytes });
  }

  /** Answers a request of a client that may use the server. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Pages of other origins are refused before.
    if (this.options.open && request.headers.origin !== undefined) {
      response.setHeader('Access-Control-Allow-Origin', request.headers.origin);
      response.setHeader('Vary', 'Origin');
      response.setHeader('Access-Control-Allow-Methods', 'GET, POST, DELETE');
      response.setHeader('Access-Control-Allow-Headers', ASKED_HEADERS);
      response.setHeader('Access-Control-Expose-Headers', 'Mcp-Session-Id');
      if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    }
    const aborted = new AbortController();
    response.once('close', () => aborted.abort());
    let answer: Response;
    try {
      answer = await this.#answer(await asWeb(request, this.options.maxBytes, aborted.signal));
    } catch (error) {
      if (aborted.signal.aborted) return;
      answer = error instanceof ProtocolError ? refused(503, -32000, error.message) : refused(500, -32603, (error as Error).message);
    }
    response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), 'Cache-Control': 'no-store' });
    response.flushHeaders();
    // If the client leaves, the stream ends, so that the client may open another one.
    await pipeline(answer.body ? Readable.fromWeb(answer.body as ReadableStream) : [], response).catch(() => {});
  }

  async #answer(request: Request | null): Promise<Response> {
    const { maxBytes, alone } = this.options;
    if (!request) return refused(413, -32600, `the request has more than ${maxBytes} bytes: expected a smaller one`);
    if (!alone) return refused(503, -32000, 'the server has several processes, between which MCP has no sessions: expected --workers 1');
    const id = request.headers.get('mcp-session-id');
    if (id === null) {
      const body: unknown =
        request.method === 'POST'
          ? await request
              .clone()
              .json()
              .catch(() => null)
          : null;
      // So OpenEnv’s validator finds out whether the path speaks JSON-RPC.
      if (isObject(body) && !('method' in body))
        return refused(200, -32600, 'the request has no method: expected a request of JSON-RPC 2.0');
      if (!(await isLegacyRequest(request.clone(), undefined, { maxRequestBodySize: maxBytes }))) return this.#modern.fetch(request);
      if (!isObject(body) || body.method !== 'initialize')
        return refused(request.method === 'GET' ? 405 : 400, -32600, 'there is no session: expected initialize first');
      return this.#begin(request);
    }
    const known = this.#sessions.get(id);
    if (!known) return refused(404, -32001, 'the session does not exist or is over: expected initialize again');
    known.place.heard = Date.now();
    return known.transport.handleRequest(request);
  }

  async #begin(request: Request): Promise<Response> {
    const place = this.#worlds.open();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void this.#sessions.set(id, { transport, place }),
      onsessionclosed: (id) => {
        this.#sessions.delete(id);
        this.#worlds.end(place);
      },
      maxRequestBodySize: this.options.maxBytes,
    });
    await this.#worlds.server(place).connect(transport);
    const answer = await transport.handleRequest(request);
    if (transport.sessionId === undefined) this.#worlds.end(place, 1003);
    return answer;
  }

  /** Ends the sessions whose time is over. */
  sweep(now: number): void {
    const over = new Set(this.#worlds.sweep(now));
    for (const [id, { transport, place }] of this.#sessions)
      if (over.has(place)) {
        this.#sessions.delete(id);
        void transport.close();
      }
  }

  async close(): Promise<void> {
    this.#worlds.close();
    await Promise.all([this.#modern.close(), ...[...this.#sessions.values()].map(({ transport }) => transport.close())]);
    this.#sessions.clear();
  }
}

const refused = (status: number, code: number, message: string) =>
  Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status });

/** The request as web standards have it. Null if its body is too large. */
async function asWeb(request: IncomingMessage, maxBytes: number, signal: AbortSignal): Promise<Request | null> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += (part as Buffer).length;
    if (bytes > maxBytes) return null;
    parts.push(part as Buffer);
  }
  const headers = new Headers(Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]));
  const { method = 'GET', url = '/mcp' } = request;
  return new Request(`http://localhost${url}`, { method, headers, signal, ...(bytes > 0 && { body: Buffer.concat(parts) }) });
}
