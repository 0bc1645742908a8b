/** An OpenAI-compatible server that is slow, refuses the first requests with HTTP 429, or wants a key. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Slowness {
  /** How many requests get HTTP 429, and for how many seconds they shall wait. */
  refused?: number;
  retryAfter?: number;
  /** How long an answer takes, in milliseconds. */
  answerMs?: number;
  /** Whether each request gets HTTP 401. */
  locked?: boolean;
}

export async function startSlowServer({ refused = 0, retryAfter = 1, answerMs = 0, locked = false }: Slowness) {
  let left = refused;
  const server = createServer((request, response) => {
    let asked = '';
    request.on('data', (piece: Buffer) => (asked += piece.toString()));
    const send = (status: number, body: object, headers = {}) =>
      response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
    if (locked) return void send(401, { error: { message: 'no key' } });
    if (left-- > 0) return void send(429, { error: { message: 'slow down' } }, { 'Retry-After': String(retryAfter) });
    request.on('end', () => {
      // The first message of a conversation has no message of the customer before it.
      const content = asked.includes('"assistant"') ? 'No thanks. ###STOP###' : 'Hello, I need help with my order.';
      const answer = request.url?.endsWith('/models')
        ? { data: [{ id: 'a-model' }] }
        : { choices: [{ finish_reason: 'stop', message: { role: 'assistant', content } }] };
      setTimeout(() => send(200, answer), answerMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, close: () => void (server.close(), server.closeAllConnections()) };
}
