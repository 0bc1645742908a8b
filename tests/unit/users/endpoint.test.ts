import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGzip } from 'node:zlib';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { ToolSchema } from '../../../src/records/task.ts';
import type { EndpointOptions } from '../../../src/users/endpoint/client.ts';
import { listModels, testEndpoint } from '../../../src/users/endpoint/test.ts';
import { EndpointUsers } from '../../../src/users/endpoint.ts';
import { GREETING } from '../../../src/users/prompt.ts';
import { PROVIDERS, providerOf } from '../../../src/users/endpoint/providers.ts';
import { startUserServer, type UserServerOptions } from '../../../src/serve/user-server.ts';
import type { EndpointConfig } from '../../../src/records/user.ts';
import { STOP, UserError } from '../../../src/users/types.ts';
import { cancelOrder, customer } from '../../support/customers.ts';
import { reportFaults } from '../../support/faults.ts';

const KEY = 'sk-secret-4711';
const scenario = customer('on_request', [cancelOrder]);
const QUICK: EndpointOptions = { backoffMs: 1 };

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((close) => close()));
});

async function faulty(options: UserServerOptions = {}) {
  const server = await startUserServer(options);
  cleanups.push(server.close);
  return server;
}

/** A server with a given handler. Returns the base URL. */
async function byHand(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => new Promise((resolve) => (server.close(resolve), server.closeAllConnections())));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return JSON.parse(text) as Record<string, unknown>;
}

const completion = (content: unknown) => JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] });

function open(baseUrl: string, config: Partial<EndpointConfig> = {}, options = QUICK, signal?: AbortSignal): Promise<string> {
  return new EndpointUsers({ baseUrl, model: 'm', apiKey: KEY, ...config }, options).session(scenario, 3).open(signal);
}

async function failure(promise: Promise<unknown>): Promise<UserError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof UserError)) throw new Error(`expected a UserError, got ${String(error)}`);
  return error;
}

describe('requests', () => {
  it('swap the roles and send model, seed, temperature and key', async () => {
    const seen: { headers: IncomingMessage['headers']; url?: string; body: Record<string, unknown> }[] = [];
    const baseUrl = await byHand(async (request, response) => {
      seen.push({ headers: request.headers, url: request.url, body: await bodyOf(request) });
      response.end(completion(`answer ${seen.length}`));
    });
    const session = new EndpointUsers({ baseUrl: `${baseUrl}/`, model: 'm', apiKey: KEY, temperature: 0.5, maxTokens: 99 }).session(
      scenario,
      42,
    );
    expect(await session.open()).toBe('answer 1');
    expect(await session.reply('Your email?')).toBe('answer 2');
    expect(seen[1]!.url).toBe('/v1/chat/completions');
    for (const path of ['', '/', '/chat/completions']) await open(`${baseUrl}${path}?api-version=2`);
    expect(new Set(seen.splice(2).map(({ url }) => url))).toEqual(new Set(['/v1/chat/completions?api-version=2']));
    expect(seen[1]!.headers.authorization).toBe(`Bearer ${KEY}`);
    const { messages, ...rest } = seen[1]!.body as { messages: { role: string; content: string }[] };
    expect(rest).toEqual({ model: 'm', temperature: 0.5, max_tokens: 99, seed: 42, stream: false });
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(messages.slice(1).map(({ content }) => content)).toEqual([GREETING, 'answer 1', 'Your email?']);
    expect(messages[0]!.content).toContain(scenario.instruction);
    expect(messages[0]!.content).toContain(STOP);
  });

  it('omit a missing key, and the thoughts of a reasoning model', async () => {
    const baseUrl = await byHand(
      (request, response) =>
        void response.end(completion(`<think>They ask.\nHm.</think>\n key: ${request.headers.authorization ?? 'none'}`)),
    );
    expect(await open(baseUrl, { apiKey: undefined })).toBe('key: none');
  });

  it('a failed answer does not change the history', async () => {
    const lengths: number[] = [];
    const baseUrl = await byHand(async (request, response) => {
      lengths.push(((await bodyOf(request)).messages as unknown[]).length);
      response.writeHead(lengths.length === 2 ? 400 : 200).end(completion('Hm.'));
    });
    const session = new EndpointUsers({ baseUrl, model: 'm' }).session(scenario, 1);
    await session.open();
    expect((await failure(session.reply('Your email?'))).kind).toBe('bad_response');
    await session.reply('Your email?');
    expect(lengths).toEqual([2, 4, 4]);
  });
});

describe('a server that means harm', () => {
  const TRIES = { maxRetries: 1, timeoutMs: 300 };

  it('redirects: the key and the conversation go nowhere else', async () => {
    const stolen: unknown[] = [];
    const thief = await byHand((request, response) => {
      stolen.push(request.headers);
      response.end(completion('Hi.'));
    });
    for (const status of [301, 302, 303, 307, 308]) {
      const baseUrl = await byHand((_, response) => void response.writeHead(status, { location: `${thief}/chat/completions` }).end());
      const error = await failure(open(baseUrl));
      expect(error.message).toBe(
        `the user endpoint sends requests on to ${new URL(thief).origin} (redirect): expected the address that answers`,
      );
      expect((await listModels({ baseUrl, model: 'm', apiKey: KEY }, QUICK)).message).toContain('(redirect)');
    }
    expect(stolen).toEqual([]);
  });

  it('redirects with a body that never ends: the connection is closed at once', async () => {
    let closed: Promise<unknown> = Promise.resolve();
    const baseUrl = await byHand((_, response) => {
      closed = new Promise((resolve) => response.on('close', resolve));
      response.writeHead(302, { location: 'http://localhost:9/' }).write(' ');
    });
    const start = performance.now();
    expect((await failure(open(baseUrl, { timeoutMs: 5000 }))).message).toContain('(redirect)');
    await closed;
    expect(performance.now() - start).toBeLessThan(3000);
  });

  it('sends 1 GB: it is stopped at 4 MiB', async () => {
    const part = Buffer.alloc(2 ** 20, ' ');
    let sent = 0;
    let closed: Promise<unknown> = Promise.resolve();
    const baseUrl = await byHand((_, response) => {
      closed = new Promise((resolve) => response.on('close', resolve));
      const more = () => {
        while (sent < 1024 && !response.destroyed) {
          sent++;
          if (!response.write(part)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    });
    const before = process.memoryUsage.rss();
    const error = await failure(open(baseUrl, { timeoutMs: 20_000 }));
    expect(error.message).toBe('the user endpoint sent more than 4194304 bytes: expected a chat completion');
    await closed;
    expect(sent).toBeLessThan(64);
    expect(process.memoryUsage.rss() - before).toBeLessThan(64 * 2 ** 20);
  });

  it.each<[string, RequestListener, string]>([
    ['drips', (_, response) => setInterval(() => response.write(' '), 20).unref(), 'no answer within 300 ms'],
    ['holds the body open', (_, response) => void response.write(completion('Hi.')), 'no answer within 300 ms'],
    ['resets the connection', (request) => void request.socket.resetAndDestroy(), 'cannot be reached'],
    [
      'resets it within the body',
      (request, response) => response.write('{', () => request.socket.resetAndDestroy()),
      'closed the connection before its answer was complete',
    ],
    [
      'ends the body too early',
      (_, response) => response.writeHead(200, { 'content-length': '99' }).write('{', () => response.destroy()),
      'closed the connection before its answer was complete',
    ],
  ])('%s: one sentence, in time', async (_, answer, message) => {
    const start = performance.now();
    const error = await failure(open(await byHand(answer), TRIES));
    expect(error.message).toContain(message);
    expect(performance.now() - start).toBeLessThan(3000);
  });

  it('a server that compresses 1 GB to 1 MB: one sentence', async () => {
    // A busy machine needs longer than 300 ms to unpack 4 MiB.
    const error = await failure(open(await byHand((_, response) => bomb(response)), { ...TRIES, timeoutMs: 20_000 }));
    expect(error.message).toContain('more than 4194304 bytes');
  });

  afterAll(() =>
    reportFaults({
      fault: 'an endpoint redirects, sends 1 GB, sends very slowly, resets the connection or sends a compression bomb',
      how: 'a real HTTP server',
      times: 13,
      lost: 'the turn, which ended in time with an error of one sentence; memory grew by less than 64 MiB, and the key was sent to no other server',
      test: 'tests/unit/users/endpoint.test.ts',
    }),
  );

  function bomb(response: ServerResponse): void {
    response.setHeader('content-encoding', 'gzip');
    const gzip = createGzip({ level: 1 });
    gzip.pipe(response);
    const zeros = Buffer.alloc(2 ** 20, ' ');
    let left = 1024;
    const more = () => {
      while (left-- > 0 && !response.destroyed) if (!gzip.write(zeros)) return void gzip.once('drain', more);
      gzip.end();
    };
    more();
  }
});

describe('models that think, and answers that are cut', () => {
  const choice = (message: object, finish_reason: string | null = 'stop') =>
    JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }] });
  /** Gives the answers one by one and repeats the last answer. Records the bodies of the requests. */
  async function answers(...bodies: string[]) {
    const requests: Record<string, unknown>[] = [];
    const url = await byHand(async (request, response) => {
      requests.push(await bodyOf(request));
      response.end(bodies[Math.min(requests.length, bodies.length) - 1]);
    });
    return { url, requests };
  }

  it('may answer with 4096 tokens, as in MUA-RL', async () => {
    const { url, requests } = await answers(choice({ content: 'Hi.' }));
    await open(url);
    expect(requests[0]!.max_tokens).toBe(4096);
  });

  it.each([
    ['reasoning_content', { content: 'Hi.', reasoning_content: 'They greet me.' }],
    ['reasoning', { content: '\n\nHi.', reasoning: 'They greet me.' }],
    ['a closed block', { content: '<think>\nThey greet me.\n</think>\n\nHi.' }],
    ['an empty block', { content: '<think>\n\n</think>\n\nHi.' }],
    ['a block that the chat template opened', { content: 'They greet me.\n</think>\nHi.' }],
    ['two blocks', { content: '<think>They</think>Hi<THINKING>greet ###STOP###</THINKING>.' }],
    [
      'parts',
      {
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'They greet me.' }] },
          { type: 'text', text: 'Hi.' },
        ],
      },
    ],
  ])("thoughts in %s are not the customer's words", async (_, message) => {
    const { url, requests } = await answers(choice(message));
    const session = new EndpointUsers({ baseUrl: url, model: 'm' }, QUICK).session(scenario, 1);
    expect(await session.open()).toBe('Hi.');
    await session.reply('Which order?');
    expect((requests[1]!.messages as unknown[])[2]).toEqual({ role: 'assistant', content: 'Hi.' });
  });

  it.each([
    ['finish_reason length', choice({ content: 'I want to cancel or' }, 'length')],
    ['finish_reason MAX_TOKENS', choice({ content: 'I want to cancel or' }, 'MAX_TOKENS')],
    ['an open block', choice({ content: '<think>They greet me, so I' })],
    ['an open block after words', choice({ content: 'Hi. <think>Now I' }, null)],
    ['thoughts only', choice({ content: null, reasoning_content: 'They greet' }, 'length')],
  ])('%s: the request is repeated with twice the tokens', async (_, body) => {
    const { url, requests } = await answers(body, body, choice({ content: 'Hi.' }));
    expect(await open(url, { maxTokens: 100 })).toBe('Hi.');
    expect(requests.map((request) => request.max_tokens)).toEqual([100, 200, 400]);
  });

  it("an answer that is cut off every time is an error, never the customer's words", async () => {
    const { url, requests } = await answers(choice({ content: 'I want to cancel or' }, 'length'));
    const error = await failure(open(url, { maxTokens: 100 }));
    expect(error.kind).toBe('bad_response');
    expect(error.message).toMatch(/cut its answer off .*max_tokens 400 \(after 3 attempts\)/);
    expect(requests).toHaveLength(3);
    expect((await failure(open(url, { maxRetries: 0 }))).kind).toBe('bad_response');
    expect(requests).toHaveLength(4);
  });

  it('an incomplete call is not executed', async () => {
    const cut = { content: null, tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{"at": "or' } }, {}] };
    const { url, requests } = await answers(choice(cut, 'length'), choice({ content: 'Hi.' }));
    const made: unknown[] = [];
    const look = {
      type: 'function',
      function: { name: 'look', description: '', parameters: { type: 'object', properties: {}, required: [] } },
    };
    const tools = { schemas: [look as ToolSchema], call: (calls: unknown[]) => (made.push(...calls), Promise.resolve([])) };
    expect(await new EndpointUsers({ baseUrl: url, model: 'm' }, QUICK).session(scenario, 1, tools).open()).toBe('Hi.');
    expect([made, requests.length]).toEqual([[], 2]);
  });

  it('a filtered answer is an error', async () => {
    const { url } = await answers(choice({ content: 'I want to' }, 'content_filter'));
    expect((await failure(open(url, { maxRetries: 0 }))).message).toContain('content filter');
  });

  it('the request to a judge is also repeated if the answer is cut off', async () => {
    const { url, requests } = await answers(
      choice({ content: '{"results": [{"met": true}]}' }, 'length'),
      choice({ content: '<think>Was it polite?</think>{"results": [{"met": false}]}' }),
    );
    expect(await new EndpointUsers({ baseUrl: url, model: 'm' }, QUICK).judge(['polite'], [])).toEqual([false]);
    expect(requests.map((request) => request.max_tokens)).toEqual([4096, 8192]);
  });
});

describe('faults', () => {
  it.each([
    ['rate_limit', 'rate_limit'],
    ['server_error', 'server'],
    ['garbage', 'bad_response'],
    ['hang', 'timeout'],
  ] as const)('%s at every attempt ends as %s', async (fault, kind) => {
    const server = await faulty({ faults: { [fault]: 1 }, retryAfter: 0 });
    const error = await failure(open(server.url, { maxRetries: 2, timeoutMs: fault === 'hang' ? 60 : 10_000 }));
    expect(error.kind).toBe(kind);
    expect(error.message).toMatch(/after 3 attempts/);
    expect(error.message).not.toContain(KEY);
    expect(server.counts).toMatchObject({ requests: 3, [fault]: 3, answered: 0 });
  });

  it('pass when the server recovers', async () => {
    const server = await faulty({ faults: { rate_limit: 0.2, server_error: 0.2, garbage: 0.2, hang: 0.1 }, retryAfter: 0, seed: 1 });
    const users = new EndpointUsers({ baseUrl: server.url, model: 'scripted-user', timeoutMs: 2000, maxRetries: 20 }, QUICK);
    const texts = await Promise.all(Array.from({ length: 16 }, (_, seed) => users.session(scenario, seed).open()));
    expect(texts.every((text) => /cancel an order/.test(text))).toBe(true);
    const { answered, requests, rate_limit, server_error, garbage, hang } = server.counts;
    expect(answered).toBe(16);
    expect(Math.min(rate_limit, server_error, garbage, hang)).toBeGreaterThan(0);
    expect(answered + rate_limit + server_error + garbage + hang).toBe(requests);
  });

  it('Retry-After is waited for, in seconds and as a date', async () => {
    for (const header of ['1', () => new Date(Date.now() + 2000).toUTCString()]) {
      const times: number[] = [];
      const baseUrl = await byHand((_, response) => {
        times.push(performance.now());
        if (times.length === 1) response.writeHead(429, { 'Retry-After': typeof header === 'string' ? header : header() }).end();
        else response.end(completion('Hi.'));
      });
      expect(await open(baseUrl)).toBe('Hi.');
      expect(times[1]! - times[0]!).toBeGreaterThan(900);
    }
  });

  it('the waiting time grows with each attempt', async () => {
    const times: number[] = [];
    const baseUrl = await byHand((_, response) => {
      times.push(performance.now());
      response.writeHead(500).end();
    });
    await failure(open(baseUrl, { maxRetries: 3 }, { backoffMs: 40 }));
    const waits = times.slice(1).map((time, i) => time - times[i]!);
    // At least half of 40, 80 and 160 ms.
    waits.forEach((wait, i) => expect(wait).toBeGreaterThan(0.95 * 20 * 2 ** i));
    expect(waits).toHaveLength(3);
  });

  it.each([
    [401, 'auth'],
    [403, 'auth'],
    [404, 'bad_response'],
    [400, 'bad_response'],
  ] as const)('HTTP %i is final', async (status, kind) => {
    let requests = 0;
    const baseUrl = await byHand((_, response) => {
      requests += 1;
      response.writeHead(status).end(JSON.stringify({ error: { message: `bad key ${KEY} or so` } }));
    });
    const error = await failure(open(baseUrl));
    expect([error.kind, requests]).toEqual([kind, 1]);
    expect(error.message).toContain(String(status));
    expect(error.message).not.toContain(KEY);
  });

  it.each([completion(''), completion(null), '{}', '[]', 'null', '<html>', completion('<think>only thoughts</think>')])(
    '%s is not an answer',
    async (body) => {
      const baseUrl = await byHand((_, response) => void response.end(body));
      expect((await failure(open(baseUrl, { maxRetries: 0 }))).kind).toBe('bad_response');
    },
  );

  it('an address without a server is a network failure; the message omits the key in the address', async () => {
    const { url, close } = await startUserServer();
    await close();
    const error = await failure(open(`${url}?key=${KEY}`, { maxRetries: 1 }));
    expect(error.kind).toBe('network');
    expect(error.message).not.toContain(KEY);
  });

  it('no error contains the key, for any answer of the server', async () => {
    const baseUrl = await byHand(
      (_, response) => void response.writeHead(500).end(JSON.stringify({ error: `Authorization: Bearer ${KEY}` })),
    );
    const error = await failure(open(baseUrl, { maxRetries: 1 }));
    expect(`${error.message} ${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`).not.toContain(KEY);
    expect(error.message).toContain('Authorization: Bearer …');
  });
});

describe('abort', () => {
  it('ends an active request', async () => {
    const server = await faulty({ faults: { hang: 1 } });
    const abort = new AbortController();
    const error = failure(open(server.url, {}, QUICK, abort.signal));
    await expect.poll(() => server.counts.requests).toBe(1);
    abort.abort();
    expect((await error).kind).toBe('aborted');
    expect(server.counts.requests).toBe(1);
  });

  it('ends the wait for the next attempt', async () => {
    const server = await faulty({ faults: { rate_limit: 1 }, retryAfter: 30 });
    const abort = new AbortController();
    const error = failure(open(server.url, {}, QUICK, abort.signal));
    await expect.poll(() => server.counts.rate_limit).toBe(1);
    setTimeout(() => abort.abort(), 20);
    expect((await error).kind).toBe('aborted');
  });

  it('ends the wait for a turn, and gives the turn to the next', async () => {
    const release: (() => void)[] = [];
    const baseUrl = await byHand((_, response) => void release.push(() => void response.end(completion('Hi.'))));
    const users = new EndpointUsers({ baseUrl, model: 'm', concurrency: 1 });
    const abort = new AbortController();
    const first = users.session(scenario, 1).open();
    const second = failure(users.session(scenario, 2).open(abort.signal));
    const third = users.session(scenario, 3).open();
    await expect.poll(() => release.length).toBe(1);
    abort.abort();
    expect((await second).kind).toBe('aborted');
    release[0]!();
    expect(await first).toBe('Hi.');
    await expect.poll(() => release.length).toBe(2);
    release[1]!();
    expect(await third).toBe('Hi.');
  });

  it('before the start sends nothing', async () => {
    const server = await faulty();
    expect((await failure(open(server.url, {}, QUICK, AbortSignal.abort()))).kind).toBe('aborted');
    expect(server.counts.requests).toBe(0);
  });
});

it('never has more active requests than the limit, and reaches the limit', async () => {
  const held: (() => void)[] = [];
  let most = 0;
  const baseUrl = await byHand((_, response) => {
    most = Math.max(
      most,
      held.push(() => response.end(completion('Hi.'))),
    );
    // Three requests are answered together, after a fourth request had time to arrive.
    if (held.length === 3) setTimeout(() => held.splice(0).forEach((answer) => answer()), 15);
  });
  const users = new EndpointUsers({ baseUrl, model: 'm', concurrency: 3 });
  await Promise.all(Array.from({ length: 12 }, (_, seed) => users.session(scenario, seed).open()));
  expect(most).toBe(3);
});

describe('configuration', () => {
  it.each([
    [{ baseUrl: 'localhost' }, /base URL/],
    [{ baseUrl: 'file:///v1' }, /base URL/],
    [{ model: '' }, /model is empty/],
    [{ concurrency: 0 }, /concurrency is 0/],
  ])('%j is refused', (wrong, message) => {
    expect(() => new EndpointUsers({ baseUrl: 'http://localhost/v1', model: 'm', ...wrong })).toThrow(message);
  });
});

describe('testEndpoint', () => {
  const kindOf = async (baseUrl: string, config: Partial<EndpointConfig> = {}) =>
    (await testEndpoint({ baseUrl, model: 'm', apiKey: KEY, ...config })).kind;
  const answering = (status: number, body = '{}') => byHand((_, response) => void response.writeHead(status).end(body));

  it('distinguishes the reasons', async () => {
    const { url, close } = await startUserServer();
    expect(await testEndpoint({ baseUrl: url, model: 'm' })).toMatchObject({ ok: true, kind: 'ok' });
    await close();
    expect(await kindOf(url)).toBe('unreachable');
    expect(await kindOf('no address')).toBe('bad_config');
    expect(await kindOf(await answering(401))).toBe('auth');
    expect(await kindOf(await answering(403))).toBe('auth');
    expect(await kindOf(await answering(404))).toBe('model_missing');
    expect(await kindOf(await answering(429))).toBe('rate_limit');
    expect(await kindOf(await answering(503))).toBe('server');
    expect(await kindOf(await answering(200, 'no JSON'))).toBe('bad_answer');
    expect(await kindOf((await faulty({ faults: { hang: 1 } })).url, { timeoutMs: 50 })).toBe('timeout');
    expect(await kindOf(await byHand((_, response) => response.write('{', () => response.destroy())))).toBe('server');
  });

  const withModels = (status: number, body: string) =>
    byHand((request, response) => {
      const isList = request.url === '/v1/models';
      response.writeHead(isList ? 200 : status).end(isList ? '{"data":[{"id":"qwen3:4b"},{"id":"llama3"}]}' : body);
    });

  it('names the models that the server has instead', async () => {
    const baseUrl = await withModels(400, '{"error":"no such model"}');
    const report = await testEndpoint({ baseUrl, model: 'gpt' });
    expect(report).toEqual({
      ok: false,
      kind: 'model_missing',
      message: 'The server has no model “gpt”. It has qwen3:4b, llama3.',
      models: ['qwen3:4b', 'llama3'],
    });
    expect((await testEndpoint({ baseUrl, model: 'llama3' })).kind).toBe('bad_answer');
    expect((await listModels({ baseUrl, model: '' })).models).toEqual(['qwen3:4b', 'llama3']);
  });

  it('tells a missing key from a refused one, an empty answer, and a server of another kind', async () => {
    const refusing = await answering(401);
    expect((await testEndpoint({ baseUrl: refusing, model: 'm' })).message).toMatch(/needs an API key/);
    expect((await testEndpoint({ baseUrl: refusing, model: 'm', apiKey: KEY })).message).toMatch(/refused the API key/);
    expect((await testEndpoint({ baseUrl: await withModels(200, completion('')), model: 'llama3' })).message).toMatch(/empty answer/);
    expect((await testEndpoint({ baseUrl: await answering(200, '<html>'), model: 'm' })).message).toMatch(
      /no list of models at this address/,
    );
    expect(await listModels({ baseUrl: await answering(200, '<html>'), model: '' })).toMatchObject({ ok: false, kind: 'bad_answer' });
    expect(await listModels({ baseUrl: 'no address', model: '' })).toMatchObject({ ok: false, kind: 'bad_answer' });
  });
});

describe('providers', () => {
  it('are recognised by host and port, so that settings without a choice still have one', () => {
    for (const { id, baseUrl } of PROVIDERS) expect(providerOf(baseUrl).id).toBe(id);
    expect(providerOf('http://127.0.0.1:1234/').id).toBe('lm-studio');
    expect(providerOf('http://192.168.0.7:1234/v1').id).toBe('other');
    expect(providerOf('no address').id).toBe('other');
  });
});
