/**
 * @file The scripted user behind `/v1/chat/completions` on this machine, for Node. It keeps no state: every request holds
 * the whole conversation, which is replayed to the same seed. Faults can be injected, to test those who call it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Dice } from '../environments/dice.ts';
import type { ToolSchema } from '../environments/types.ts';
import { HandsOnCustomer, type Move } from './hands-on.ts';
import { readInstruction } from './instruction.ts';
import { scenarioIn } from './prompt.ts';
import { ScriptedCustomer } from './scripted.ts';

export type Fault = 'rate_limit' | 'server_error' | 'hang' | 'garbage';

export interface UserServerOptions {
  /** On 127.0.0.1; 0 chooses a free one. */
  port?: number;
  /** For requests that bring no seed, and for the faults. */
  seed?: number;
  /** Share of requests (0…1) that fail in each way. */
  faults?: Partial<Record<Fault, number>>;
  /** `Retry-After` of injected rate limits, in seconds. */
  retryAfter?: number;
}

export interface UserServer {
  /** Base URL for clients, with `/v1`. */
  url: string;
  /** Drops open connections, hanging ones too. */
  close(): Promise<void>;
  /** Chat requests so far, by how they were answered. */
  counts: Record<Fault | 'requests' | 'answered' | 'rejected', number>;
}

const SCRIPTED_MODEL = 'scripted-user';
const MAX_BODY_BYTES = 4 << 20;
const HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, POST, OPTIONS',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type',
  'Access-Control-Allow-Private-Network': 'true',
  'Access-Control-Expose-Headers': 'Retry-After',
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

/** @throws RangeError for shares outside 0…1 or above 1 together, and Node's error when the port is taken. */
export async function startUserServer({ port = 0, seed = 0, faults = {}, retryAfter = 1 }: UserServerOptions = {}): Promise<UserServer> {
  checkFaults(faults);
  const counts: UserServer['counts'] = { requests: 0, answered: 0, rejected: 0, rate_limit: 0, server_error: 0, hang: 0, garbage: 0 };

  async function complete(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const number = counts.requests++;
    const fault = drawFault(faults, new Dice('fault', seed, number));
    if (fault) counts[fault] += 1;
    if (fault === 'hang') return; // the client must give up
    if (fault === 'rate_limit') return sendError(response, 429, 'rate limit reached (injected)', { 'Retry-After': String(retryAfter) });
    if (fault === 'server_error') return sendError(response, 500, 'internal error (injected)');
    // In turn: no JSON, and a completion that says nothing.
    if (fault === 'garbage') return send(response, 200, counts.garbage % 2 ? '{"choices": [{"mess' : JSON.stringify(completion({ say: '' }, number)));
    try {
      const move = answer(JSON.parse(await bodyOf(request)), seed);
      counts.answered += 1;
      send(response, 200, JSON.stringify(completion(move, number)));
    } catch (error) {
      counts.rejected += 1;
      sendError(response, 400, (error as Error).message);
    }
  }

  const server = createServer((request, response) => {
    const { url = '/' } = request;
    if (!URL.canParse(url, 'http://localhost')) return sendError(response, 400, `${url} is no address: expected one such as /v1/models`);
    const path = new URL(url, 'http://localhost').pathname.replace(/\/+$/, '');
    if (request.method === 'OPTIONS') response.writeHead(204, HEADERS).end();
    else if (request.method === 'POST' && path === '/v1/chat/completions') void complete(request, response);
    else if (request.method === 'GET' && path === '/v1/models') send(response, 200, JSON.stringify({ object: 'list', data: [{ id: SCRIPTED_MODEL, object: 'model', created: 0, owned_by: 'mua-rl-playground' }] }));
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

function checkFaults(faults: Partial<Record<Fault, number>>): void {
  const entries = Object.entries(faults);
  for (const [name, share] of entries) if (!(share >= 0 && share <= 1)) throw new RangeError(`fault ${name} is ${share}: expected a share from 0 to 1`);
  const total = entries.reduce((sum, [, share]) => sum + share, 0);
  if (total > 1) throw new RangeError(`the faults' shares add up to ${total}: expected at most 1`);
}

function drawFault(faults: Partial<Record<Fault, number>>, dice: Dice): Fault | null {
  let at = dice.unit();
  for (const [fault, share] of Object.entries(faults) as [Fault, number][]) if ((at -= share) < 0) return fault;
  return null;
}

/** The customer's next words or call. The first message with role `user` is the agent's greeting, which the opening answers. */
function answer(body: unknown, fallbackSeed: number): Move {
  const { messages, seed, tools } = (body ?? {}) as { messages?: unknown; seed?: unknown; tools?: unknown };
  if (!Array.isArray(messages) || !messages.length) throw new Error('messages: expected a list of at least one message');
  const texts = messages.map((message: unknown, i) => {
    const { role, content, tool_calls } = (message ?? {}) as { role?: unknown; content?: unknown; tool_calls?: unknown };
    const empty = content === null && Array.isArray(tool_calls);
    if (typeof role !== 'string' || !(empty || typeof content === 'string')) throw new Error(`messages[${i}]: expected a role and a content, both strings`);
    return { role, content: empty ? '' : (content as string) };
  });
  const prompt = texts.filter(({ role }) => role === 'system' || role === 'developer').map(({ content }) => content).join('\n\n');
  const scenario = scenarioIn(prompt) ?? readInstruction(prompt);
  const ownSeed = typeof seed === 'number' ? seed : fallbackSeed;
  const [, ...heard] = texts.filter(({ role }) => role === 'user' || role === 'tool');
  if (Array.isArray(tools) && tools.length) {
    const customer = new HandsOnCustomer(scenario, tools as ToolSchema[], ownSeed);
    return heard.reduce<Move>((_, { role, content }) => (role === 'tool' ? customer.result(content) : customer.hear(content)), { say: customer.open() });
  }
  const customer = new ScriptedCustomer(scenario, ownSeed);
  return { say: heard.reduce((_, { content }) => customer.reply(content), customer.open()) };
}

function completion(move: Move, number: number) {
  const message = 'say' in move
    ? { role: 'assistant', content: move.say }
    : { role: 'assistant', content: null, tool_calls: [{ id: `call_${number}`, type: 'function', function: { name: move.call.name, arguments: JSON.stringify(move.call.arguments) } }] };
  return {
    id: `chatcmpl-${number}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: SCRIPTED_MODEL,
    choices: [{ index: 0, message, finish_reason: 'say' in move ? 'stop' : 'tool_calls' }],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new Error(`the body is longer than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { ...HEADERS, 'Content-Type': 'application/json', ...headers }).end(body);
}

function sendError(response: ServerResponse, status: number, message: string, headers: Record<string, string> = {}): void {
  send(response, status, JSON.stringify({ error: { message, type: status === 429 ? 'rate_limit_error' : 'invalid_request_error' } }), headers);
}
