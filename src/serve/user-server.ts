/**
 * @file Serves the scripted customer at `/v1/chat/completions` on this computer, for Node. The server keeps no state: every request holds
 * the whole conversation, which is replayed with the same seed. Injected faults test the clients.
 *
 * Foreign web pages must not reach the server, so host names and origins other than this computer's are refused. The `Host` check stops
 * DNS rebinding, and the `Origin` check stops requests that need no preflight.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Dice } from '../base/dice.ts';
import type { Move } from '../users/types.ts';
import { stranger } from '../users/loopback.ts';
import { SCRIPTED_MODEL, SCRIPTED_MODELS } from '../users/scripted-server.ts';
import { answer } from './user-request.ts';

export type Fault = 'rate_limit' | 'server_error' | 'hang' | 'garbage';

export interface UserServerOptions {
  /** The port on 127.0.0.1. 0 chooses a free port. */
  port?: number;
  /** The seed of requests that have no seed, and of the injected faults. */
  seed?: number;
  /** For each kind of fault, the share of requests (0…1) that get it. */
  faults?: Partial<Record<Fault, number>>;
  /** `Retry-After` of injected rate limits, in seconds. */
  retryAfter?: number;
  /** Origins whose pages may use the server too, such as `https://example.com`. Pages of this computer always may. */
  allowOrigins?: readonly string[];
  /** The time in which a request must arrive, in milliseconds. A slower request is answered with 408. */
  requestTimeoutMs?: number;
}

export interface UserServer {
  /** Base URL for clients, with `/v1`. */
  url: string;
  /** Closes all connections, also those whose requests hang. */
  close(): Promise<void>;
  /** Numbers of chat requests so far: all of them, those with each fault, and those that were answered or rejected. */
  counts: Record<Fault | 'requests' | 'answered' | 'rejected', number>;
}

const MAX_BODY_BYTES = 1 << 20;
const CORS_HEADERS = {
  'Access-Control-Allow-Methods': 'GET, POST, OPTIONS',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type',
  'Access-Control-Allow-Private-Network': 'true',
  'Access-Control-Expose-Headers': 'Retry-After',
};

/** The error for a request that is refused with an HTTP status. */
class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** @throws RangeError for an option that is invalid, and Node's error if the port is taken. */
export async function startUserServer({
  port = 0,
  seed = 0,
  faults = {},
  retryAfter = 1,
  allowOrigins = [],
  requestTimeoutMs = 10_000,
}: UserServerOptions = {}): Promise<UserServer> {
  checkFaults(faults);
  const allowed = new Set(allowOrigins.map(readOrigin));
  const counts: UserServer['counts'] = { requests: 0, answered: 0, rejected: 0, rate_limit: 0, server_error: 0, hang: 0, garbage: 0 };

  async function complete(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const number = counts.requests++;
    try {
      const body = await bodyOf(request);
      const fault = drawFault(faults, new Dice('fault', seed, number));
      if (fault) {
        counts[fault] += 1;
        return fail(response, fault, number);
      }
      const move = await answer(JSON.parse(body), seed);
      counts.answered += 1;
      send(response, 200, JSON.stringify(completion(move, number)));
    } catch (error) {
      counts.rejected += 1;
      // If the request came too slowly, Node has answered it already.
      if (!response.destroyed) sendError(response, error instanceof Refusal ? error.status : 400, (error as Error).message);
    }
  }

  function fail(response: ServerResponse, fault: Fault, number: number): void {
    if (fault === 'rate_limit') sendError(response, 429, 'rate limit reached (injected)', { 'Retry-After': String(retryAfter) });
    if (fault === 'server_error') sendError(response, 500, 'internal error (injected)');
    // Odd garbage answers are broken JSON, even ones are a completion with an empty message.
    if (fault === 'garbage')
      send(response, 200, counts.garbage % 2 ? '{"choices": [{"mess' : JSON.stringify(completion({ say: '' }, number)));
    // A request with the fault `hang` gets no answer, so the client must give up.
  }

  const timeouts = { requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs, connectionsCheckingInterval: 250 };
  const server = createServer(timeouts, (request, response) => {
    const { url = '/' } = request;
    response.setHeader('Vary', 'Origin').setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    const refused = stranger(request.headers, allowed);
    if (refused) {
      const hint = refused.startsWith('pages') ? `: start the server with --allow-origin ${request.headers.origin}` : '';
      return sendError(response, 403, refused + hint);
    }
    if (request.headers.origin) response.setHeader('Access-Control-Allow-Origin', request.headers.origin);
    if (!URL.canParse(url, 'http://localhost'))
      return sendError(response, 400, `${url} is not an address: expected one such as /v1/models`);
    const path = new URL(url, 'http://localhost').pathname.replace(/\/+$/, '');
    if (request.method === 'OPTIONS') response.writeHead(204, CORS_HEADERS).end();
    else if (request.method === 'POST' && path === '/v1/chat/completions') void complete(request, response);
    else if (request.method === 'GET' && path === '/v1/models') send(response, 200, JSON.stringify(SCRIPTED_MODELS));
    else sendError(response, 404, `${request.method} ${path} is not served: expected POST /v1/chat/completions or GET /v1/models`);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    counts,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      }),
  };
}

/** @throws RangeError if the text is not an origin */
function readOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`)
    throw new RangeError(`--allow-origin is "${text}": expected an origin such as https://example.com`);
  return url.origin;
}

function checkFaults(faults: Partial<Record<Fault, number>>): void {
  const entries = Object.entries(faults);
  for (const [name, share] of entries)
    if (!(share >= 0 && share <= 1)) throw new RangeError(`fault ${name} is ${share}: expected a share from 0 to 1`);
  const total = entries.reduce((sum, [, share]) => sum + share, 0);
  if (total > 1) throw new RangeError(`the faults' shares add up to ${total}: expected at most 1`);
}

function drawFault(faults: Partial<Record<Fault, number>>, dice: Dice): Fault | null {
  let at = dice.unit();
  for (const [fault, share] of Object.entries(faults) as [Fault, number][]) if ((at -= share) < 0) return fault;
  return null;
}

function completion(move: Move, number: number) {
  const message =
    'say' in move
      ? { role: 'assistant', content: move.say }
      : {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: `call_${number}`, type: 'function', function: { name: move.call.name, arguments: JSON.stringify(move.call.arguments) } },
          ],
        };
  return {
    id: `chatcmpl-${number}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: SCRIPTED_MODEL,
    choices: [{ index: 0, message, finish_reason: 'say' in move ? 'stop' : 'tool_calls' }],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  };
}

/** @throws Refusal if the body is too long */
async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Does not destroy the request, because a destroyed request could not be answered.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new Refusal(413, `the body is longer than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}): void {
  // The rest of a refused body is still on the connection, so the connection cannot be used again.
  if (status === 403 || status === 413) response.setHeader('Connection', 'close');
  if (response.hasHeader('Access-Control-Allow-Origin')) headers = { ...CORS_HEADERS, ...headers };
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(body);
}

function sendError(response: ServerResponse, status: number, message: string, headers: Record<string, string> = {}): void {
  send(
    response,
    status,
    JSON.stringify({ error: { message, type: status === 429 ? 'rate_limit_error' : 'invalid_request_error' } }),
    headers,
  );
}
