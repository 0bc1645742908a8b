/** Attacks on `mua user-server`: no request takes long, and pages of other origins are refused. */
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { ToolSchema, UserScenario } from '../../../src/records/task.ts';
import { HandsOnCustomer } from '../../../src/domains/telecom/customer.ts';
import { readInstruction } from '../../../src/domains/retail/customer/instruction.ts';
import { scriptedCustomer } from '../../../src/domains/retail/customer/customer.ts';
import { startUserServer, type UserServer, type UserServerOptions } from '../../../src/serve/user-server.ts';
import { cancelOrder, customer, returnLamp } from '../../support/customers.ts';

let server: UserServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});
const start = async (options?: UserServerOptions) => (server = await startUserServer(options));

const post = (body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${server!.url}/chat/completions`, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), headers });
const messageOf = async (response: Response) => ((await response.json()) as { error: { message: string } }).error.message;

/** Milliseconds of CPU time that `work` takes, so that other processes do not count. */
async function cpuTime(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const GREETING = { role: 'user', content: 'Hi! How can I help you today?' };
const tool = (name: string): ToolSchema => ({
  type: 'function',
  function: { name, description: '', parameters: { type: 'object', properties: {}, required: [] } },
});
const says = (content: string) => [{ role: 'system', content: 'You want to cancel an order.' }, GREETING, { role: 'user', content }];

describe('a request that is made to hang the server is answered within a second', () => {
  it('if a tool name is a regular expression', async () => {
    await start();
    const body = JSON.stringify({ messages: says(`${'a'.repeat(60)}!`), tools: [tool('(a+)+$')] });
    expect(body.length).toBeLessThan(400);
    const took = await cpuTime(async () => {
      const response = await post(body);
      expect([response.status, await messageOf(response)]).toEqual([
        400,
        'tools.0.function.name: expected up to 64 letters, digits, _ and -',
      ]);
    });
    expect(took).toBeLessThan(1000);
  });

  it('if a wish is a regular expression', async () => {
    await start();
    const words = { items: ['lamp'], new_items: ['(a+)+$ red'] };
    const scenario = customer('upfront', [{ ...returnLamp, intent: 'exchange', words }]);
    const line = `Exchange in order #W1234567: ${'a'.repeat(60)}! Shall I go ahead?`;
    const took = await cpuTime(async () => expect((await post({ messages: says(line), scenario })).status).toBe(200));
    expect(took).toBeLessThan(1000);
  });

  it.each([
    ['instruction', (text: string) => ({ messages: [{ role: 'system', content: text }, GREETING] })],
    [
      'instruction of a customer with tools',
      (text: string) => ({
        messages: [{ role: 'system', content: text }, GREETING, { role: 'user', content: 'Your name?' }],
        tools: [tool('look')],
      }),
    ],
    ['message', (text: string) => ({ messages: says(text), scenario: customer('upfront', [returnLamp, cancelOrder]) })],
    [
      'message to a customer with tools',
      (text: string) => ({ messages: says(text), tools: [tool('look'), tool('check_payment_request')] }),
    ],
    [
      'tool result',
      (text: string) => ({ messages: [...says('Please use look.'), { role: 'tool', content: text }], tools: [tool('look')] }),
    ],
  ])(
    'when the %s repeats what patterns look for',
    async (_, body) => {
      await start();
      const units = [
        ...['a', '1', ' ', '(', '\n', ' \n', 'a@', 'a.', 'the ', 'to 1', 'return ', 'return x\n', 'which one ', 'help you ', 'visa or '],
        ...['only when ', 'change ', 'exchange ', 'reseat ', 'check ', 'You are A ', 'want to ', 'order #W1234567 return ', 'zip ', '1 '],
      ];
      for (const unit of units) {
        const took = await cpuTime(async () => (await post(body(unit.repeat(400_000 / unit.length)))).text());
        expect(took, JSON.stringify(unit)).toBeLessThan(1000);
      }
    },
    60_000,
  );

  it('if a whole conversation is long', async () => {
    await start();
    const lines = Array.from({ length: 100 }, () => ({ role: 'user', content: `which one ${'return the '.repeat(700)}` }));
    const tools = Array.from({ length: 128 }, (_, i) => tool(`return_${i}`));
    const messages = [...says('Hi.'), ...lines];
    const took = await cpuTime(async () => {
      expect((await post({ messages, scenario: customer('upfront', [returnLamp, cancelOrder]) })).status).toBe(200);
      expect((await post({ messages, tools })).status).toBe(200);
    });
    expect(took).toBeLessThan(2000);
  });

  it.each([
    ['1,001 messages', { messages: Array.from({ length: 1001 }, () => GREETING) }, /^messages: /],
    ['129 tools', { messages: [GREETING], tools: Array.from({ length: 129 }, (_, i) => tool(`t${i}`)) }, /^tools: /],
  ])('when it has %s: it is refused', async (_, body, message) => {
    await start();
    const response = await post(body);
    expect(response.status).toBe(400);
    expect(await messageOf(response)).toMatch(message);
  });
});

describe('the customers themselves take names and words literally', () => {
  const phone = { problem: 'service', place: null, refuel: null, terse: true };
  const scenario: UserScenario = { ...customer('upfront', []), phone };

  it('tools', async () => {
    const evil = new HandsOnCustomer(scenario, [tool('(a+)+$')], 1);
    expect(await cpuTime(() => evil.hear(`${'a'.repeat(60)}!`))).toBeLessThan(1000);
    expect(new HandsOnCustomer(scenario, [tool('look.up')], 1).hear('Please use look.up now.')).toEqual({
      call: { name: 'look.up', arguments: {} },
    });
    expect(new HandsOnCustomer(scenario, [tool('look.up')], 1).hear('Please use look_up now.')).not.toHaveProperty('call');
  });

  it('parameters with names that every object has', () => {
    const named = tool('look');
    named.function.parameters.properties = { constructor: { type: 'string' }, toString: { type: 'string' } };
    expect(new HandsOnCustomer(scenario, [named], 1).hear('Please use look.')).toEqual({ call: { name: 'look', arguments: {} } });
  });

  it('options', async () => {
    const wish = { ...returnLamp, intent: 'exchange' as const, words: { items: ['lamp'], new_items: ['(a+)+$ red'] } };
    const user = scriptedCustomer(customer('upfront', [wish]), 1);
    user.open();
    expect(await cpuTime(() => user.reply(`Exchange in order #W1234567: ${'a'.repeat(60)}! Yes or no?`))).toBeLessThan(1000);
  });

  it('instructions', async () => {
    expect(await cpuTime(() => readInstruction('a'.repeat(1 << 20)))).toBeLessThan(1000);
  });

  it('and distinguish a choice of payments from a yes-or-no question', () => {
    const wish = {
      ...cancelOrder,
      intent: 'modify_payment' as const,
      slots: { order_id: '#W7654321', payment_method_id: 'paypal_1' },
      words: { payment: ['PayPal'] },
    };
    const answer = (line: string) => {
      const user = scriptedCustomer(customer('upfront', [wish]), 1);
      user.open();
      return user.reply(line);
    };
    expect(answer('Shall I charge PayPal, or the credit card, for order #W7654321?')).toContain('PayPal');
    expect(answer('Shall I charge PayPal for order #W7654321? Or not.')).toMatch(/^Yes/);
  });
});

describe('a page of the web', () => {
  const body = JSON.stringify({ messages: says('Hi.') });

  /** The status of a request with this Host header. */
  const statusFor = (host: string) =>
    new Promise<number>((resolve, reject) => {
      const url = new URL(`${server!.url}/models`);
      const asked = httpRequest(url, { headers: { Host: host } }, (response) => resolve((response.resume(), response.statusCode!)));
      asked.on('error', reject).end();
    });

  it.each([
    'evil.example',
    'evil.example:8018',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '127.0.0.1@evil.example',
    '10.0.0.1',
    '[::2]',
  ])('that is rebound to this computer as %s gets 403', async (host) => {
    await start();
    expect(await statusFor(host)).toBe(403);
  });

  it.each(['localhost', 'LOCALHOST:1', '127.0.0.1:8018', '127.0.0.2', '[::1]:8018'])('does not stop the name %s', async (host) => {
    await start();
    expect(await statusFor(host)).toBe(200);
  });

  it.each(['https://evil.example', 'http://localhost.evil.example', 'null', 'file://'])(
    'at %s gets no answer and no CORS',
    async (origin) => {
      const { counts } = await start();
      const refused = await post(body, { Origin: origin, 'Content-Type': 'text/plain' });
      expect(refused.status).toBe(403);
      expect(await messageOf(refused)).toContain(`--allow-origin ${origin}`);
      const preflight = await fetch(`${server!.url}/chat/completions`, { method: 'OPTIONS', headers: { Origin: origin } });
      for (const { headers } of [refused, preflight])
        expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
      expect(counts.requests).toBe(0);
    },
  );

  it.each(['http://localhost:5173', 'http://127.0.0.1:8017', 'https://[::1]:1'])('of this computer at %s may ask', async (origin) => {
    await start();
    const response = await post(body, { Origin: origin });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
    expect(response.headers.get('vary')).toBe('Origin');
  });

  it('may ask if its origin is allowed', async () => {
    await start({ allowOrigins: ['https://example.com/'] });
    const response = await post(body, { Origin: 'https://example.com' });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, 'https://example.com']);
    expect((await post(body, { Origin: 'https://example.com:8443' })).status).toBe(403);
  });

  it.each(['*', 'example.com', 'https://example.com/page', 'file:///tmp'])('cannot be allowed as %s', async (origin) => {
    await expect(startUserServer({ allowOrigins: [origin] })).rejects.toThrow(/--allow-origin is .*expected an origin/);
  });
});

describe('a body', () => {
  it('that comes too slowly is answered with 408', async () => {
    const { url } = await start({ requestTimeoutMs: 100 });
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      let text = '';
      socket
        .on('data', (chunk: Buffer) => (text += chunk.toString()))
        .on('close', () => resolve(text))
        .on('error', reject);
      socket.write('POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{');
    });
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    await expect.poll(() => server!.counts.rejected).toBe(1);
  });

  it('that is too long is answered with 413', async () => {
    await start();
    const response = await post(' '.repeat((1 << 20) + 1));
    expect(response.status).toBe(413);
    expect(await messageOf(response)).toMatch(/longer than 1048576 bytes/);
    expect((await post({ messages: says('Hi.') })).status).toBe(200);
  });
});
