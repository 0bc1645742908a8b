import { afterEach, describe, expect, it } from 'vitest';
import { EndpointUsers } from '../../../src/users/endpoint.ts';
import { readInstruction } from '../../../src/domains/retail/customer/instruction.ts';
import { customerPrompt, instructionIn } from '../../../src/users/prompt.ts';
import { tau2Prompt } from '../../../src/benchmarks/tau2/user-prompt.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { startUserServer, type UserServer, type UserServerOptions } from '../../../src/serve/user-server.ts';
import { STOP } from '../../../src/users/types.ts';
import { cancelOrder, customer, returnLamp } from '../../support/customers.ts';
import { customerScripts } from '../../../src/domains/registry.ts';

let server: UserServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});
const start = async (options?: UserServerOptions) => (server = await startUserServer(options));

const post = (body: unknown, init: RequestInit = {}) =>
  fetch(`${server!.url}/chat/completions`, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), ...init });
const textOf = async (response: Response) =>
  ((await response.json()) as { choices: { message: { content: string } }[] }).choices[0]!.message.content;

const scenarios = [
  customer('upfront', [returnLamp, cancelOrder]),
  customer('on_request', [cancelOrder, returnLamp]),
  customer('pushy', [{ ...cancelOrder, impossible: true }, returnLamp]),
];
const lines = [
  'What is your email, or your name and zip?',
  'Which order, and why?',
  'Cancel order #W7654321, no longer needed. Yes or no?',
  'Done. Anything else?',
  'Which order?',
  'Sorry, I cannot do that. Anything else?',
  'Sorry.',
  'hm',
];

it('plays the same customer as the scripted customer in the page, for every seed', async () => {
  const { url } = await start();
  const served = new EndpointUsers({ baseUrl: url, model: 'scripted-user' });
  const local = new ScriptedUsers(customerScripts);
  for (const scenario of scenarios) {
    for (const seed of [0, 1, 2, 77]) {
      const [theirs, ours] = [served, local].map((users) => users.session(scenario, seed));
      const said = [await ours!.open()];
      expect(await theirs!.open()).toBe(said[0]);
      for (const line of lines) {
        if (said.at(-1)!.includes(STOP)) break;
        said.push(await ours!.reply(line));
        expect(await theirs!.reply(line)).toBe(said.at(-1));
      }
      expect(said.length).toBeGreaterThan(4);
    }
  }
});

describe('the interface', () => {
  const body = {
    model: 'x',
    seed: 1,
    messages: [
      { role: 'system', content: customerPrompt(scenarios[0]!.instruction) },
      { role: 'user', content: 'Hi! How can I help you today?' },
    ],
    scenario: scenarios[0]!,
  };

  it('answers as an OpenAI chat completion, to pages of this computer', async () => {
    await start();
    const origin = 'http://localhost:5173';
    const response = await post(body, { headers: { Origin: origin } });
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
    const answer = (await response.json()) as { object: string; choices: unknown[] };
    expect(answer.object).toBe('chat.completion');
    expect(answer.choices).toEqual([
      { index: 0, message: { role: 'assistant', content: expect.stringMatching(/#W1234567/) as string }, finish_reason: 'stop' },
    ]);
    const preflight = await fetch(`${server!.url}/chat/completions`, {
      method: 'OPTIONS',
      headers: { Origin: origin, 'Access-Control-Request-Method': 'POST' },
    });
    expect(preflight.ok).toBe(true);
    expect(preflight.headers.get('access-control-allow-origin')).toBe(origin);
    expect(preflight.headers.get('access-control-allow-headers')).toMatch(/authorization/i);
  });

  it('lists only its model', async () => {
    const { url } = await start();
    expect(await (await fetch(`${url}/models`)).json()).toMatchObject({ object: 'list', data: [{ id: 'scripted-user' }] });
    expect((await fetch(`${url}/embeddings`)).status).toBe(404);
    expect((await fetch(`${new URL(url).origin}//`)).status).toBe(400);
  });

  it.each([
    ['no JSON', '{'],
    ['no messages', { messages: [] }],
    ['messages without text', { messages: [{ role: 'user' }] }],
    ['nothing', 'null'],
  ])('rejects %s and says why', async (_, wrong) => {
    await start();
    const response = await post(wrong);
    expect(response.status).toBe(400);
    expect(((await response.json()) as { error: { message: string } }).error.message).toMatch(/messages|JSON/);
    expect(server!.counts.rejected).toBe(1);
  });

  it('is stateless and uses its own seed if a request has no seed', async () => {
    await start({ seed: 5 });
    const { seed: _, ...seedless } = body;
    const [a, b, c] = await Promise.all(
      [post(seedless), post({ ...body, seed: 5 }), post(seedless)].map(async (response) => textOf(await response)),
    );
    expect([b, c]).toEqual([a, a]);
  });

  it('plays a plain instruction of another client', async () => {
    await start();
    const instruction =
      'You are Mia Garcia and live in zip code 78712. Your email is mia@example.com. You want to cancel order #W7654321 because you ordered it by mistake.';
    const messages = [
      { role: 'system', content: instruction },
      { role: 'user', content: 'Hi!' },
    ];
    const opening = await textOf(await post({ messages }));
    expect(opening).toMatch(/cancel order #W7654321/);
    messages.push({ role: 'assistant', content: opening }, { role: 'user', content: 'What is your email?' });
    expect(await textOf(await post({ messages }))).toContain('mia@example.com');
  });
});

describe('faults', () => {
  it('occur with the given shares, and the same for the same seed', async () => {
    const draw = async (seed: number) => {
      const { close } = await start({ seed, faults: { server_error: 0.3, rate_limit: 0.2 }, retryAfter: 7 });
      const statuses: number[] = [];
      for (let i = 0; i < 60; i++) {
        const response = await post({ messages: [{ role: 'user', content: 'Hi!' }] });
        if (response.status === 429) expect(response.headers.get('retry-after')).toBe('7');
        statuses.push(response.status);
        await response.text();
      }
      await close();
      server = undefined;
      return statuses;
    };
    const [a, again, b] = [await draw(1), await draw(1), await draw(2)];
    expect(again).toEqual(a);
    expect(b).not.toEqual(a);
    const share = (status: number) => a.filter((other) => other === status).length / a.length;
    expect(share(500)).toBeGreaterThan(0.15);
    expect(share(500)).toBeLessThan(0.45);
    expect(share(429)).toBeGreaterThan(0.05);
    expect(share(429)).toBeLessThan(0.35);
  });

  it('impossible shares are refused', async () => {
    await expect(startUserServer({ faults: { hang: 1.5 } })).rejects.toThrow(/fault hang is 1.5/);
    await expect(startUserServer({ faults: { hang: 0.6, garbage: 0.6 } })).rejects.toThrow(/add up to 1.2/);
  });

  it('close ends hanging requests', async () => {
    await start({ faults: { hang: 1 } });
    const hanging = post({ messages: [{ role: 'user', content: 'Hi!' }] }).then(
      () => 'answered',
      () => 'dropped',
    );
    await expect.poll(() => server!.counts.hang).toBe(1);
    await server!.close();
    server = undefined;
    expect(await hanging).toBe('dropped');
  });
});

describe('the scenario of a request', () => {
  it.each([
    ['a persona that does not exist', { ...scenarios[0]!, persona: 1 }, /^scenario.persona: /],
    ['no identity', { ...scenarios[0]!, identity: null }, /^scenario.identity: /],
    ['a wish without words', { ...scenarios[0]!, wishes: [{ ...cancelOrder, words: null }] }, /^scenario.wishes.0.words: /],
    ['too many wishes', { ...scenarios[0]!, wishes: Array.from({ length: 33 }, () => cancelOrder) }, /^scenario.wishes: /],
  ])('with %s is refused', async (_, scenario, message) => {
    await start();
    const response = await post({ messages: [{ role: 'user', content: 'Hi!' }], scenario });
    expect(response.status).toBe(400);
    expect(((await response.json()) as { error: { message: string } }).error.message).toMatch(message);
  });
});

describe('the instruction of a prompt', () => {
  it('is read from both prompts', () => {
    const instruction = 'You are Mia Garcia.\nYou want to cancel order #W7654321.';
    expect(instructionIn(customerPrompt(instruction))).toBe(instruction);
    expect(instructionIn(tau2Prompt(instruction, true))).toBe(instruction);
    expect(instructionIn(` ${instruction}\n\nBe polite. `)).toBe(`${instruction}\n\nBe polite.`);
  });
});

describe('readInstruction', () => {
  it('reads identity, wishes and manner', () => {
    const text =
      'You are Sam Smith and live in zip code 02182. You do not remember your email. You want to return the keyboard and the chair of order #W9513466, with the refund to your PayPal. When that is settled, you also want to cancel order #W9166829 because it is no longer needed. You are brief and give a piece of information only when the agent asks for it.';
    const scenario = readInstruction(text);
    expect(scenario.persona).toBe('on_request');
    expect(scenario.identity).toEqual({ first_name: 'Sam', last_name: 'Smith', zip: '02182' });
    expect(scenario.wishes).toEqual([
      {
        intent: 'return',
        slots: { order_id: '#W9513466' },
        words: { items: ['keyboard', 'chair'], payment: ['PayPal'] },
        impossible: false,
      },
      { intent: 'cancel', slots: { order_id: '#W9166829', reason: 'no longer needed' }, words: {}, impossible: false },
    ]);
  });

  it('repeats unknown text in the first person', () => {
    const scenario = readInstruction('You want to know your opening hours.');
    expect(scenario.wishes).toEqual([]);
    expect(scenario.instruction).toBe('I want to know my opening hours.');
  });
});
