import { afterEach, describe, expect, it } from 'vitest';
import { EndpointUsers } from '../../src/users/endpoint.ts';
import { readInstruction } from '../../src/users/instruction.ts';
import { scenarioIn, systemPrompt } from '../../src/users/prompt.ts';
import { ScriptedUsers } from '../../src/users/scripted.ts';
import { startUserServer, type UserServer, type UserServerOptions } from '../../src/users/server.ts';
import { STOP } from '../../src/users/types.ts';
import { cancelOrder, customer, returnLamp } from '../support/customers.ts';

let server: UserServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});
const start = async (options?: UserServerOptions) => (server = await startUserServer(options));

const post = (body: unknown, init: RequestInit = {}) =>
  fetch(`${server!.url}/chat/completions`, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), ...init });
const textOf = async (response: Response) => ((await response.json()) as { choices: { message: { content: string } }[] }).choices[0]!.message.content;

const scenarios = [customer('upfront', [returnLamp, cancelOrder]), customer('on_request', [cancelOrder, returnLamp]), customer('pushy', [{ ...cancelOrder, impossible: true }, returnLamp])];
const lines = ['What is your email, or your name and zip?', 'Which order, and why?', 'Cancel order #W7654321, no longer needed. Yes or no?', 'Done. Anything else?', 'Which order?', 'Sorry, I cannot do that. Anything else?', 'Sorry.', 'hm'];

it('plays the same customer as the scripted user in the page, for every seed', async () => {
  const { url } = await start();
  const served = new EndpointUsers({ baseUrl: url, model: 'scripted-user' });
  const local = new ScriptedUsers();
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
  const body = { model: 'x', seed: 1, messages: [{ role: 'system', content: systemPrompt(scenarios[0]!) }, { role: 'user', content: 'Hi! How can I help you today?' }] };

  it('answers as an OpenAI chat completion, to any page', async () => {
    await start();
    const response = await post(body);
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    const answer = (await response.json()) as { object: string; choices: unknown[] };
    expect(answer.object).toBe('chat.completion');
    expect(answer.choices).toEqual([{ index: 0, message: { role: 'assistant', content: expect.stringMatching(/#W1234567/) as string }, finish_reason: 'stop' }]);
    const preflight = await fetch(`${server!.url}/chat/completions`, { method: 'OPTIONS', headers: { Origin: 'https://example.com', 'Access-Control-Request-Method': 'POST' } });
    expect(preflight.ok).toBe(true);
    expect(preflight.headers.get('access-control-allow-headers')).toMatch(/authorization/i);
  });

  it('lists its model, and nothing else', async () => {
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

  it('is stateless and takes its own seed where a request has none', async () => {
    await start({ seed: 5 });
    const { seed: _, ...seedless } = body;
    const [a, b, c] = await Promise.all([post(seedless), post({ ...body, seed: 5 }), post(seedless)].map(async (response) => textOf(await response)));
    expect([b, c]).toEqual([a, a]);
  });

  it('plays a plain instruction of another client', async () => {
    await start();
    const instruction = 'You are Mia Garcia and live in zip code 78712. Your email is mia@example.com. You want to cancel order #W7654321 because you ordered it by mistake.';
    const messages = [{ role: 'system', content: instruction }, { role: 'user', content: 'Hi!' }];
    const opening = await textOf(await post({ messages }));
    expect(opening).toMatch(/cancel order #W7654321/);
    messages.push({ role: 'assistant', content: opening }, { role: 'user', content: 'What is your email?' });
    expect(await textOf(await post({ messages }))).toContain('mia@example.com');
  });
});

describe('faults', () => {
  it('come in the asked shares, the same for the same seed', async () => {
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

  it('close drops hanging requests', async () => {
    await start({ faults: { hang: 1 } });
    const hanging = post({ messages: [{ role: 'user', content: 'Hi!' }] }).then(() => 'answered', () => 'dropped');
    await expect.poll(() => server!.counts.hang).toBe(1);
    await server!.close();
    server = undefined;
    expect(await hanging).toBe('dropped');
  });
});

describe('the scenario in the prompt', () => {
  it('comes out as it went in', () => {
    for (const scenario of scenarios) expect(scenarioIn(systemPrompt(scenario))).toEqual(scenario);
  });

  it('is null where there is none or a broken one', () => {
    expect(scenarioIn('You are Mia.')).toBeNull();
    expect(scenarioIn('```json\n{"persona": 1}\n```')).toBeNull();
    expect(scenarioIn('```json\n{\n```')).toBeNull();
  });
});

describe('readInstruction', () => {
  it('reads identity, wishes and manner', () => {
    const text = 'You are Sam Smith and live in zip code 02182. You do not remember your email. You want to return the keyboard and the chair of order #W9513466, with the refund to your PayPal. When that is settled, you also want to cancel order #W9166829 because it is no longer needed. You are brief and give a piece of information only when the agent asks for it.';
    const scenario = readInstruction(text);
    expect(scenario.persona).toBe('on_request');
    expect(scenario.identity).toEqual({ first_name: 'Sam', last_name: 'Smith', zip: '02182' });
    expect(scenario.wishes).toEqual([
      { intent: 'return', slots: { order_id: '#W9513466' }, words: { items: ['keyboard', 'chair'], payment: ['PayPal'] }, impossible: false },
      { intent: 'cancel', slots: { order_id: '#W9166829', reason: 'no longer needed' }, words: {}, impossible: false },
    ]);
  });

  it('says in the first person what it does not understand', () => {
    const scenario = readInstruction('You want to know your opening hours.');
    expect(scenario.wishes).toEqual([]);
    expect(scenario.instruction).toBe('I want to know my opening hours.');
  });
});
