/** Each fault of `endpoint-faults.ts`, played by a real HTTP server. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, test } from 'vitest';
import type { EndpointConfig } from '../../../src/records/user.ts';
import { EndpointUsers } from '../../../src/users/endpoint.ts';
import { cancelOrder, customer } from '../../support/customers.ts';
import { choice, ENDPOINT_FAULTS, type EndpointFault, GOOD, type Reply, type Sent } from '../../support/endpoint-faults.ts';

const KEY = 'sk-secret-4711';
const scenario = customer('on_request', [cancelOrder]);
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(cleanups.splice(0).map((close) => close())));

interface Asked {
  sent: Sent;
  at: number;
}

async function play(answer: EndpointFault['answer']): Promise<{ baseUrl: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += String(part);
    const sent = JSON.parse(text) as Sent;
    const { status = 200, headers = {}, body, staysOpen } = answer(sent, asked.length);
    asked.push({ sent, at: performance.now() });
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    const written = typeof body === 'string' ? body : JSON.stringify(body);
    if (staysOpen) response.write(written);
    else response.end(written);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => new Promise((resolve) => (server.close(resolve), server.closeAllConnections())));
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked };
}

const usersAt = (baseUrl: string, config: Partial<EndpointConfig> = {}) =>
  new EndpointUsers({ baseUrl, model: 'm', apiKey: KEY, timeoutMs: 5000, maxRetries: 2, ...config }, { backoffMs: 1 });

const outcome = (promise: Promise<string>) =>
  promise.then(
    (text) => ({ text, error: '' }),
    (error: Error) => ({ text: '', error: error.message }),
  );

describe('each fault of a server', () => {
  it.each(ENDPOINT_FAULTS.map((fault) => [fault.fault, fault.does, fault] as const))('%s: the client %s', async (_, does, fault) => {
    const { baseUrl, asked } = await play(fault.answer);
    const users = usersAt(baseUrl);
    const { text, error } = await outcome(users.session(scenario, 3).open());
    const bodies = asked.map(({ sent }) => sent);
    const [first, second] = bodies;
    if (does.startsWith('fails')) {
      expect(error).toContain(fault.words);
      expect(bodies).toHaveLength(does.includes('retries') ? 3 : 1);
      return;
    }
    expect({ text, error }).toEqual({ text: 'Hi.', error: '' });
    if (does === 'reads the answer') expect(bodies).toHaveLength(1);
    else if (fault.last) {
      for (const [name, value] of Object.entries(fault.last)) expect(bodies.at(-1)![name]).toEqual(value);
      const before = bodies.length;
      await users.session(scenario, 3).open();
      expect(asked).toHaveLength(before + 1);
    } else {
      expect(bodies).toHaveLength(2);
      if (does.includes('another seed')) expect(second!.seed).not.toBe(first!.seed);
      else expect(second!.seed).toBe(first!.seed);
      expect(second!.max_tokens).toBe(does.includes('twice') ? 8192 : 4096);
      const waited = asked[1]!.at - asked[0]!.at;
      expect(waited).toBeGreaterThanOrEqual(0.9 * (fault.wait ?? 0));
      expect(waited).toBeLessThan(10_000);
    }
  });

  test('there are at least 60', () => expect(ENDPOINT_FAULTS.length).toBeGreaterThanOrEqual(60));
});

describe('what stays in the words', () => {
  it.each([
    'My email is <ann@example.com>.',
    'See <https://example.com/a?b=c>.',
    'I have <3 orders, and 2 > 1.',
    'It is <b>urgent</b>.',
    'My name is [Ann].',
    '###STOP###',
    'I was thinking: can you cancel it?',
    'Write to <the shop>.',
  ])('%s', async (content) => {
    const { baseUrl, asked } = await play(() => choice({ content }));
    expect(await usersAt(baseUrl).session(scenario, 1).open()).toBe(content);
    expect(asked).toHaveLength(1);
  });
});

test('each retry of an unusable answer has another seed, and the seeds repeat with the session', async () => {
  const seeds = async () => {
    const { baseUrl, asked } = await play((_, before) => (before < 3 ? choice({ content: '' }) : GOOD));
    await usersAt(baseUrl, { maxRetries: 3 }).session(scenario, 3).open();
    return asked.map(({ sent }) => sent.seed);
  };
  const first = await seeds();
  expect(new Set(first).size).toBe(4);
  expect(first[0]).toBe(3);
  expect(await seeds()).toEqual(first);
});

test('a judge that gives no verdict is asked again with a seed', async () => {
  const { baseUrl, asked } = await play((_, before) =>
    choice({ content: before === 0 ? 'Yes.' : '<audit>fine</audit>{"results": [{"met": true}]}' }),
  );
  expect(await usersAt(baseUrl).judge(['polite'], [])).toEqual([true]);
  expect(asked.map(({ sent }) => typeof sent.seed)).toEqual(['undefined', 'number']);
});

test('a field that one model refuses is still sent to another model of the server', async () => {
  const { baseUrl, asked } = await play((sent) =>
    sent.model === 'm' && 'temperature' in sent
      ? { status: 400, body: { error: { message: 'temperature is deprecated for this model.' } } }
      : choice({ content: sent.model === 'm' ? 'Hi.' : '{"results": [{"met": true}]}' }),
  );
  const users = usersAt(baseUrl, { judgeModel: 'j' });
  await users.session(scenario, 1).open();
  await users.judge(['polite'], []);
  expect(asked.map(({ sent }) => [sent.model, sent.temperature])).toEqual([
    ['m', 0],
    ['m', undefined],
    ['j', 0],
  ]);
});

test('many conversations that begin together learn of a refused field together', async () => {
  const { baseUrl, asked } = await play((sent) =>
    'max_tokens' in sent ? { status: 400, body: { error: { message: 'max_tokens is not supported', param: 'max_tokens' } } } : GOOD,
  );
  const users = usersAt(baseUrl);
  await Promise.all(Array.from({ length: 8 }, (_, seed) => users.session(scenario, seed).open()));
  expect(asked.filter(({ sent }) => sent.max_completion_tokens === 4096)).toHaveLength(8);
  expect(asked.length).toBeLessThanOrEqual(16);
  expect(users.changes).toEqual(['max_tokens is sent as max_completion_tokens']);
});

test('temperature, length and more fields are settings', async () => {
  const { baseUrl, asked } = await play(() => GOOD);
  const extraBody = { top_k: 20, chat_template_kwargs: { enable_thinking: false }, seed: null, max_completion_tokens: 7 };
  await usersAt(baseUrl, { temperature: 0.7, maxTokens: 99, extraBody }).session(scenario, 1).open();
  const { messages: _, ...rest } = asked[0]!.sent;
  expect(rest).toEqual({
    model: 'm',
    temperature: 0.7,
    stream: false,
    top_k: 20,
    chat_template_kwargs: { enable_thinking: false },
    max_completion_tokens: 7,
  });
});

test.each([
  [{ temperature: -1 }, 'temperature is -1: expected a number from 0 on'],
  [{ maxTokens: 0.5 }, 'maxTokens is 0.5: expected a whole number from 1 on'],
  [{ extraBody: [] as unknown as Record<string, unknown> }, 'extraBody is []: expected a JSON object'],
  [{ extraBody: { messages: [] } }, 'extraBody has the field "messages": expected fields that the client does not write itself'],
])('%j is refused', (config, message) => {
  expect(() => usersAt('http://localhost/v1', config)).toThrow(message);
});

test('a temperature that the visitor chose is not left out because it is out of range', async () => {
  const { baseUrl, asked } = await play(() => ({ status: 400, body: { error: { message: 'temperature must be between 0 and 2' } } }));
  expect((await outcome(usersAt(baseUrl, { temperature: 5 }).session(scenario, 1).open())).error).toContain('between 0 and 2');
  expect(asked).toHaveLength(1);
});

describe('calls of tools', () => {
  const look = {
    type: 'function' as const,
    function: { name: 'look', description: '', parameters: { type: 'object' as const, properties: {} } },
  };
  const talk = async (replies: Reply[]) => {
    const made: unknown[] = [];
    const { baseUrl, asked } = await play((_, before) => replies[before] ?? GOOD);
    const tools = {
      schemas: [look],
      call: (calls: unknown[]) => (made.push(...calls), Promise.resolve(calls.map(() => ({ text: 'seen', error: false })))),
    };
    expect(
      await usersAt(baseUrl)
        .session(scenario, 1, tools as never)
        .open(),
    ).toBe('Hi.');
    return { made, messages: asked.at(-1)!.sent.messages as Record<string, unknown>[] };
  };

  test('more fields of a call and its thoughts are sent back', async () => {
    const call = {
      id: 'a',
      type: 'function',
      function: { name: 'look', arguments: '{}' },
      extra_content: { google: { thought_signature: 'c2ln' } },
    };
    const { messages } = await talk([choice({ content: null, tool_calls: [call], reasoning_content: 'I look.' }, 'tool_calls')]);
    expect(messages[2]).toEqual({ role: 'assistant', content: null, tool_calls: [call], reasoning_content: 'I look.' });
    expect(messages[3]).toEqual({ role: 'tool', tool_call_id: 'a', content: 'seen' });
  });

  test('ids are unique in the conversation', async () => {
    const called = (id?: string) =>
      choice({
        tool_calls: [
          { id, function: { name: 'look', arguments: {} } },
          { id, function: { name: 'look' } },
        ],
      });
    const { messages, made } = await talk([called('call_0'), called(), called('call_0')]);
    const ids = messages.flatMap(({ tool_calls: calls = [] }) => (calls as { id: string }[]).map(({ id }) => id));
    expect(new Set(ids).size).toBe(6);
    expect(messages.filter(({ role }) => role === 'tool').map(({ tool_call_id: id }) => id)).toEqual(ids);
    expect(ids[0]).toBe('call_0');
    for (const id of ids.slice(1)) expect(id).toMatch(/^[a-z0-9]{9}$/);
    expect(made).toHaveLength(6);
  });

  test('a stream of parts of calls is joined', async () => {
    const part = (...calls: object[]) => `data: ${JSON.stringify({ choices: [{ delta: { tool_calls: calls } }] })}\n\n`;
    const body = [
      part({ index: 0, id: 'a', type: 'function', function: { name: 'look', arguments: '' } }),
      part({ index: 0, function: { arguments: '{"at":' } }),
      part({ index: 0, function: { arguments: ' 1}' } }, { index: 1, id: 'b', function: { name: 'look', arguments: '{"at": 2}' } }),
      'data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n',
    ].join('');
    const { made } = await talk([{ body }]);
    expect(made).toEqual([
      { name: 'look', arguments: { at: 1 } },
      { name: 'look', arguments: { at: 2 } },
    ]);
  });
});

test('the key is in no error, whatever the server says', async () => {
  for (const body of [
    `Bearer ${KEY}`,
    { detail: [{ loc: ['x'], msg: KEY }] },
    `{"error": "{\\"message\\": \\"${KEY}\\"}"}`,
    { error: KEY },
  ]) {
    const { baseUrl } = await play(() => ({ status: 400, body }));
    const { error } = await outcome(usersAt(baseUrl).session(scenario, 1).open());
    expect(error).toContain('…');
    expect(error).not.toContain(KEY);
  }
});
