/** A language model that plays the customer must not learn the gold arguments: its requests hold the instruction only. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { makeTasks } from '../../../src/domains/retail/tasks.ts';
import { makeTelecomTasks } from '../../../src/domains/telecom/generator.ts';
import { telecomTask } from '../../../src/domains/telecom/definition.ts';
import { telecom } from '../../../src/domains/telecom/exact.ts';
import type { Json } from '../../../src/records/json.ts';
import type { Task, Wish } from '../../../src/records/task.ts';
import { EndpointUsers } from '../../../src/users/endpoint.ts';
import { customerPrompt } from '../../../src/users/prompt.ts';
import { tau2Prompt } from '../../../src/benchmarks/tau2/user-prompt.ts';
import { SCRIPTED_MODEL, SCRIPTED_MODELS } from '../../../src/users/scripted-server.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { startUserServer } from '../../../src/serve/user-server.ts';
import { STOP } from '../../../src/users/types.ts';
import { customerScripts } from '../../../src/domains/registry.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((close) => close()));
});

const retail = ['nano', 'small', 'full'].flatMap((level) =>
  (['train', 'heldout'] as const).flatMap((split) => makeTasks({ domain: 'retail', level, split, seed: 11, count: 15 })),
);
const phones = ['nano', 'full'].flatMap((level) => makeTelecomTasks({ level, split: 'train', seed: 11, count: 10 }).map(telecomTask));

/** A server of another program. It answers every chat request, and `GET /models` with `models`, or with 404 if `models` is absent. */
async function foreign(models?: object) {
  const bodies: string[] = [];
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      if (request.method === 'GET') return void response.writeHead(models ? 200 : 404).end(JSON.stringify(models ?? {}));
      bodies.push(body);
      response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }] }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => (server.close(), server.closeAllConnections()));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, bodies, asked };
}

/** All texts in a value. */
const textsIn = (value: Json): string[] =>
  typeof value === 'string' ? [value] : value !== null && typeof value === 'object' ? Object.values(value).flatMap(textsIn) : [];

/** Ids among the gold arguments: words with a digit. */
const goldIds = ({ actions, scenario: { wishes } }: Task) =>
  [...actions.flatMap(({ arguments: args }) => textsIn(args)), ...wishes.flatMap(({ slots }) => textsIn(slots))].filter((text) =>
    /^(?=.*\d)\S+$/.test(text),
  );

/** All facts of a wish that the scripted customer tells after a question. */
const facts = ({ slots, words }: Pick<Wish, 'slots' | 'words'>) => [
  ...(slots.order_id ? [slots.order_id as string] : []),
  ...(slots.reason ? [slots.reason === 'ordered by mistake' ? 'by mistake' : 'no longer needed'] : []),
  ...Object.entries(words).flatMap(([name, texts]) => texts.map((text) => (name === 'owner' || name === 'order' ? text.slice(3) : text))),
];

describe.each([
  ['that lists another model', 'qwen3:4b', { object: 'list', data: [{ id: 'qwen3:4b', owned_by: 'library' }] }],
  ['that names a model like ours', SCRIPTED_MODEL, { object: 'list', data: [{ id: SCRIPTED_MODEL, owned_by: 'library' }] }],
  ['that lists our model among others', SCRIPTED_MODEL, { object: 'list', data: [...SCRIPTED_MODELS.data, { id: 'qwen3:4b' }] }],
  ['without a list of models', SCRIPTED_MODEL, undefined],
])('a server %s', (_, model, models) => {
  it('gets no id of the gold arguments, except ids in the instruction', async () => {
    const { url, bodies } = await foreign(models);
    const users = new EndpointUsers({ baseUrl: url, model, concurrency: 16 });
    let ids = 0;
    await Promise.all(
      [...retail, ...phones].map(async (task) => {
        const tools = task.domain === 'telecom' ? { schemas: telecom.userTools, call: () => Promise.resolve([]) } : undefined;
        const session = users.session(task.scenario, 1, tools);
        await session.open();
        await session.reply('Which order, and which items?');
      }),
    );
    expect(bodies).toHaveLength(2 * (retail.length + phones.length));
    const leaked: string[] = [];
    // The user tools of telecom have the same names and values for all tasks.
    const tools = JSON.stringify(telecom.userTools);
    for (const task of [...retail, ...phones]) {
      const { instruction } = task.scenario;
      const mine = bodies.filter((body) => body.includes(JSON.stringify(instruction).slice(1, -1)));
      expect(mine.length).toBeGreaterThanOrEqual(2);
      const hidden = goldIds(task).filter((id) => !instruction.includes(id) && !tools.includes(id));
      ids += hidden.length;
      leaked.push(...hidden.filter((id) => mine.some((body) => body.includes(id))));
    }
    expect(leaked).toEqual([]);
    expect(bodies.filter((body) => 'scenario' in (JSON.parse(body) as object))).toEqual([]);
    expect(ids).toBeGreaterThan(100);
  });
});

it('identifies only a server with our model name, and only once', async () => {
  const { url, asked } = await foreign();
  for (const model of ['m', SCRIPTED_MODEL]) {
    const session = new EndpointUsers({ baseUrl: `${url}?api-version=2`, model }).session(retail[0]!.scenario, 1);
    await session.open();
    await session.reply('Which order?');
  }
  const post = 'POST /v1/chat/completions?api-version=2';
  expect(asked).toEqual([post, post, 'GET /v1/models?api-version=2', post, post]);
});

it('our own server plays every generated and imported task in the same way as the page', async () => {
  const server = await startUserServer();
  cleanups.push(server.close);
  const served = new EndpointUsers({ baseUrl: server.url, model: SCRIPTED_MODEL });
  const local = new ScriptedUsers(customerScripts);
  const imported = retail.slice(0, 5).map(({ scenario }) => ({ ...scenario, identity: {}, wishes: [], benchmark: 'tau1' as const }));
  const lines = ['What is your email, or your name and zip code?', 'Which order, which items, and how do you pay?', 'Anything else?'];
  for (const scenario of [...retail.map((task) => task.scenario).filter((_, i) => i % 3 === 0), ...imported]) {
    const [theirs, ours] = [served, local].map((users) => users.session(scenario, 3));
    const said = [await ours!.open()];
    expect(await theirs!.open()).toBe(said[0]);
    for (const line of lines) {
      if (said.at(-1)!.includes(STOP)) break;
      said.push(await ours!.reply(line));
      expect(await theirs!.reply(line)).toBe(said.at(-1));
    }
  }
});

describe('the instruction of a generated task contains all facts for the customer', () => {
  it('in retail: identity, wishes and changed wishes', () => {
    for (const { scenario } of retail) {
      const { identity, wishes, instruction } = scenario;
      for (const fact of Object.values(identity)) expect(instruction).toContain(fact);
      for (const wish of wishes)
        for (const fact of [...facts(wish), ...(wish.insteadOf ? facts(wish.insteadOf) : [])]) expect(instruction).toContain(fact);
      const swaps = wishes.some(({ words, insteadOf }) => words.new_items ?? insteadOf?.words.new_items);
      expect(instruction.includes('All other options of these items stay the same.')).toBe(Boolean(swaps));
    }
    expect(retail.some(({ scenario }) => scenario.wishes.some(({ insteadOf }) => insteadOf))).toBe(true);
  });

  it('in telecom: identity, location and the data they would buy', () => {
    for (const { scenario } of phones) {
      const { identity, phone, instruction } = scenario;
      for (const fact of Object.values(identity)) expect(instruction).toContain(fact);
      if (phone!.place) expect(instruction).toContain(phone!.place);
      if (phone!.refuel && phone!.problem !== 'service') expect(instruction).toContain(`${phone!.refuel} GB`);
    }
  });
});

describe('the prompt', () => {
  const instruction = 'Your user id is mia_li_3668. You want to fly to Seattle.';

  it("is tau-bench's prompt in every domain of tau-bench: it names no shop and contains only the instruction", () => {
    const prompt = customerPrompt(instruction);
    expect(prompt).toContain(`\n\nInstruction: ${instruction}\n\nRules:\n`);
    expect(prompt).not.toMatch(/shop|order|json/i);
    expect(prompt).toContain(STOP);
  });

  it("holds tau2-bench's scenario in its tags", () => {
    expect(tau2Prompt(instruction, false).endsWith(`\n\n<scenario>\n${instruction}\n</scenario>`)).toBe(true);
  });
});
