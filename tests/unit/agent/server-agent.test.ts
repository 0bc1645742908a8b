/** An agent behind a real HTTP server: what it is sent, how its answers are read, and what a failure does. */
import { afterEach, describe, expect, it, test } from 'vitest';
import { consentGuard } from '../../../src/agent/players.ts';
import { collectRollouts } from '../../../src/agent/rollouts.ts';
import { runEpisode } from '../../../src/agent/episode.ts';
import { NO_TOKENS } from '../../../src/agent/server/server-turns.ts';
import { toMessages } from '../../../src/agent/trajectory.ts';
import { readTrajectory } from '../../../src/exchange/trajectory-schema.ts';
import type { AgentServer } from '../../../src/records/agent-server.ts';
import { STOP } from '../../../src/users/types.ts';
import { type AgentReply, type AgentRequest, calling, startAgentServer } from '../../support/agent-server.ts';
import { choice, ENDPOINT_FAULTS, type Reply } from '../../support/endpoint-faults.ts';
import { domain, OrderDesk, ReplayUser, type Script, stage } from '../../support/episodes.ts';
import { LIMITS, servedBy } from '../../support/served-episodes.ts';

const cleanups: (() => void)[] = [];
afterEach(() => cleanups.splice(0).forEach((close) => close()));

const KEY = 'sk-agent-4711';
const FIND = { name: 'find_user_id_by_email', arguments: { email: 'mia@example.com' } };
const CANCEL = { name: 'cancel_pending_order', arguments: { order_id: '#W1234567', reason: 'no longer needed' } };
const words = (content: unknown, more: object = {}) => ({ content, ...more });

/** Plays an episode in which the server gives these answers. */
async function play(
  replies: readonly AgentReply[] | ((request: AgentRequest, before: number) => AgentReply),
  {
    server: more = {},
    user = ['Cancel my order.', STOP],
    ...script
  }: Partial<Omit<Script, 'agent'>> & { server?: Partial<AgentServer> } = {},
) {
  const server = await startAgentServer((request, before) => (typeof replies === 'function' ? replies(request, before) : replies[before]!));
  cleanups.push(server.close);
  const { options, users, environments } = stage({ ...script, agent: [], user, tokenizer: NO_TOKENS });
  const { sampler: _, ...rest } = options;
  const agents = servedBy({ baseUrl: server.url, model: 'm', apiKey: KEY, maxRetries: 0, ...more });
  const trajectory = await runEpisode({ ...rest, limits: { ...rest.limits, max_model_len: Number.MAX_SAFE_INTEGER }, agents });
  return { trajectory, users, environments, requests: server.requests, headers: server.headers };
}
const last = (requests: readonly AgentRequest[]) => requests.at(-1)!.messages;

describe('what the server gets', () => {
  it('is the policy, the tools, and the conversation with ids and arguments as the model wrote them', async () => {
    const call = {
      id: 'functions.find:0',
      type: 'function',
      function: { name: FIND.name, arguments: '{ "email":"mia@example.com" }' },
      extra_content: { signature: 's' },
    };
    const { trajectory, requests, headers } = await play(
      [words('Let me look.', { tool_calls: [call] }), calling([CANCEL], 'c'), words('Done.')],
      {
        sampling: { temperature: 0.25, top_p: 1, top_k: 0 },
        server: { maxTokens: 77, extraBody: { top_k: 20 } },
      },
    );
    expect(trajectory).toMatchObject({
      reward: 1,
      termination: 'user_stop',
      toolCalls: { find_user_id_by_email: 1, cancel_pending_order: 1 },
    });
    expect(last(requests)).toEqual([
      { role: 'system', content: 'Serve the customer.' },
      { role: 'user', content: 'Cancel my order.' },
      { role: 'assistant', content: 'Let me look.', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'functions.find:0', content: 'mia_garcia_4516' },
      { role: 'assistant', content: null, ...calling([CANCEL], 'c') },
      { role: 'tool', tool_call_id: 'c-0', content: '{"order_id": "#W1234567", "status": "cancelled"}' },
    ]);
    expect(requests[0]).toMatchObject({ model: 'm', temperature: 0.25, max_tokens: 77, top_k: 20, tools: domain.tools, stream: false });
    expect(headers[0]!.authorization).toBe(`Bearer ${KEY}`);
    expect(JSON.stringify(trajectory)).not.toContain(KEY);
    // The record has the arguments as values.
    expect(trajectory.nodes.find(({ toolCall }) => toolCall)!.toolCall).toEqual(FIND);
  });

  it('has unique ids, also if the server sends none or repeats them', async () => {
    const raw = (id?: string) => ({
      tool_calls: [{ ...(id && { id }), function: { name: FIND.name, arguments: JSON.stringify(FIND.arguments) } }],
    });
    const { trajectory, requests } = await play([raw('call_0'), raw('call_0'), raw(), words('Done.')]);
    const made = last(requests).flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id));
    const answered = last(requests).flatMap(({ tool_call_id: id }) => id ?? []);
    expect(new Set(made).size).toBe(3);
    expect(answered).toEqual(made);
    expect(made[0]).toBe('call_0');
    expect(trajectory.nodes.flatMap(({ callIds = [] }) => callIds)).toEqual(made);
    expect(toMessages(trajectory).messages.flatMap(({ tool_call_id: id }) => id ?? [])).toEqual(made);
  });

  it('has another seed in each trial, and the same one if the trial is repeated', async () => {
    const seed = async (stream: number) => (await play([words('Hi.')], { stream })).requests[0]!.seed;
    for (let stream = 0; stream < 8; stream++) expect(Number(await seed(stream))).toBeLessThan(2 ** 31);
    expect(await seed(3)).toBe(await seed(3));
    expect(await seed(3)).not.toBe(await seed(4));
  });
});

test('a call keeps the text of its arguments if JavaScript would change its numbers', async () => {
  const written = (text: string) => ({ id: text, type: 'function', function: { name: FIND.name, arguments: text } });
  const texts = ['{"email": 5.0}', '{"email": 12345678901234567890}', '{ "email": 5 }'];
  const { trajectory } = await play([...texts.map((text) => words(null, { tool_calls: [written(text)] })), words('Done.')]);
  const called = trajectory.nodes.flatMap(({ toolCall }) => (toolCall ? [toolCall.exact] : []));
  expect(called).toEqual([texts[0], texts[1], undefined]);
});

describe('thoughts', () => {
  it.each([
    ['in reasoning_content', { content: 'Done.', reasoning_content: 'They want it ###STOP###.' }],
    ['in reasoning', { content: 'Done.', reasoning: 'They want it ###STOP###.' }],
    ['in <think>', { content: '<think>They want it ###STOP###.</think>\n\nDone.' }],
    ['opened by the template', { content: 'They want it ###STOP###.</think>Done.' }],
    [
      'in a part',
      {
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'They want it ###STOP###.' }] },
          { type: 'text', text: 'Done.' },
        ],
      },
    ],
    [
      'in channels of harmony',
      {
        content:
          '<|channel|>analysis<|message|>They want it ###STOP###.<|end|><|start|>assistant<|channel|>final<|message|>Done.<|return|>',
      },
    ],
  ])('%s are kept in the record and out of the conversation', async (_, reply) => {
    const { trajectory, users, requests } = await play([reply, words('Bye.')], { user: ['Hello.', 'Thanks.', STOP] });
    expect(users.heard[0]).toBe('Done.');
    const turn = trajectory.nodes.find(({ role }) => role === 'assistant')!;
    expect(turn).toMatchObject({ content: 'Done.', thoughts: 'They want it ###STOP###.' });
    expect(JSON.stringify(last(requests))).not.toContain('They want');
    expect(toMessages(trajectory).messages.find(({ role }) => role === 'assistant')!.reasoning_content).toBe('They want it ###STOP###.');
    expect(readTrajectory(JSON.parse(JSON.stringify(trajectory)), 'it', 'line 1')).toEqual(JSON.parse(JSON.stringify(trajectory)));
  });

  it('in a field of their own go back beside calls, because some servers refuse the calls without them', async () => {
    const { requests } = await play([{ ...calling([FIND]), reasoning_content: 'Look first.' }, words('Done.')]);
    expect(last(requests)[2]).toMatchObject({ role: 'assistant', reasoning_content: 'Look first.' });
  });
});

describe('several calls in one message', () => {
  const both = { ...calling([FIND, CANCEL]) };
  it('are all made where the benchmark allows it', async () => {
    const { environments, requests, trajectory } = await play([both, words('Done.')], { rules: { callsPerMessage: Infinity } });
    expect(environments.calls.map(({ name }) => name)).toEqual([FIND.name, CANCEL.name]);
    expect(
      last(requests)
        .slice(2)
        .map(({ role, tool_call_id: id }) => [role, id]),
    ).toEqual([
      ['assistant', undefined],
      ['tool', 'c-0'],
      ['tool', 'c-1'],
    ]);
    expect(trajectory).toMatchObject({ reward: 1, turns: 3 });
  });
  it('count as one step with all their results, as in tau2-bench', async () => {
    // customer 1, message 2, results 3, speech 4
    const { requests, trajectory } = await play([both, words('Done.')], { rules: { callsPerMessage: Infinity, maxSteps: 4 } });
    expect(requests).toHaveLength(2);
    expect(trajectory.termination).toBe('max_turns');
  });
  it('are all refused if one of them cannot be read, and each gets the reason', async () => {
    const [one] = calling([FIND]).tool_calls;
    const broken = { id: 'z', type: 'function', function: { name: CANCEL.name, arguments: '{' } };
    const { environments, requests } = await play([{ tool_calls: [one, broken] }, words('Done.')], {
      rules: { callsPerMessage: Infinity },
    });
    expect(environments.calls).toEqual([]);
    const content = 'Error: the tool call\'s "arguments" is not valid JSON';
    expect(last(requests).slice(3)).toEqual(['c-0', 'z'].map((id) => ({ role: 'tool', tool_call_id: id, content })));
  });
  it('become one where it allows one: the others are dropped, also from the conversation', async () => {
    const { environments, requests } = await play([both, words('Done.')]);
    expect(environments.calls.map(({ name }) => name)).toEqual([FIND.name]);
    expect(last(requests)[2]!.tool_calls).toHaveLength(1);
    expect(last(requests)).toHaveLength(4);
  });
});

describe('a call that cannot be made', () => {
  const raw = (name: string, text: string) => ({ tool_calls: [{ id: 'a', type: 'function', function: { name, arguments: text } }] });
  it.each([
    ['malformed arguments', raw(CANCEL.name, '{"order_id": '), 'Error: the tool call\'s "arguments" is not valid JSON'],
    ['arguments that are no object', raw(CANCEL.name, '[1]'), 'Error: the tool call\'s "arguments" is not a JSON object'],
    ['an unknown tool', raw('refund', '{}'), 'Error: unknown tool "refund"'],
    ['broken markup in the text', words('<tool_call>\n{"name": \n</tool_call>'), 'Error: the tool call is not valid JSON'],
  ])('%s: the model reads the error and goes on', async (_, reply, error) => {
    const { trajectory, requests } = await play([reply, calling([CANCEL], 'b'), words('Done.')]);
    expect(trajectory).toMatchObject({ reward: 1, parseErrors: 1, termination: 'user_stop' });
    expect(last(requests)[3]).toMatchObject({ content: error, ...('tool_calls' in reply && { role: 'tool', tool_call_id: 'a' }) });
  });

  it('ends the episode if the policy says so, with a score', async () => {
    const { trajectory } = await play([raw(CANCEL.name, '{')], { limits: { malformed_policy: 'end' } });
    expect(trajectory).toMatchObject({ termination: 'malformed_call', reward: 0 });
  });

  it('a benchmark that answers unknown tools gets the call', async () => {
    const { environments } = await play([raw('refund', '{}'), words('Done.')], { rules: { passUnknownTools: true } });
    expect(environments.calls).toEqual([{ name: 'refund', arguments: {} }]);
  });

  it('empty arguments mean none', async () => {
    const { environments } = await play([raw('transfer_to_human_agents', '')]);
    expect(environments.calls).toEqual([{ name: 'transfer_to_human_agents', arguments: {} }]);
  });
});

describe('an answer with neither text nor calls', () => {
  it.each([words(''), words(null), words(null, { reasoning_content: 'Hm.' }), words('<think>Hm.</think>')])(
    'is the agent’s act: it says nothing (%j)',
    async (reply) => {
      const { trajectory, users, requests } = await play([reply]);
      expect(users.heard).toEqual(['']);
      expect(trajectory).toMatchObject({ reward: 0, termination: 'user_stop' });
      expect(requests).toHaveLength(1);
    },
  );
  it('ends the episode where the benchmark says so', async () => {
    expect((await play([words('')], { rules: { emptyTurnEnds: true } })).trajectory).toMatchObject({
      termination: 'malformed_call',
      reward: 0,
    });
  });
});

it('a refusal is what the agent says', async () => {
  expect((await play([words(null, { refusal: 'I cannot do this.' })])).users.heard).toEqual(['I cannot do this.']);
});

describe('a server that leaves calls in the text', () => {
  const text = '<tool_call>\n{"name": "find_user_id_by_email", "arguments": {"email": "mia@example.com"}}\n</tool_call>';
  it.each([text, '[TOOL_CALLS][{"name": "f"}]', '<function=f>{}</function>', '<｜tool▁calls▁begin｜>f'])(
    'is a fault of its settings: the episode is not scored (%s)',
    async (content) => {
      const { trajectory } = await play([words(content)], { server: { maxRetries: 5 } });
      expect(trajectory).toMatchObject({ reward: null, termination: 'agent_error' });
      expect(trajectory.error).toMatch(/sent a call as text .*reader of tool calls, or choose the format “text”/);
    },
  );
  it('works with the format “text”', async () => {
    const { trajectory, requests } = await play([words(`<think>Look.</think>${text} and more`), words('Done.')], {
      server: { format: 'text' },
    });
    expect(trajectory.toolCalls).toEqual({ find_user_id_by_email: 1 });
    expect(requests[0]!.tools).toBeUndefined();
    expect(last(requests)).toEqual([
      { role: 'system', content: expect.stringMatching(/^Serve the customer\.\n\n# Tools\n[^]*"find_user_id_by_email"/) as string },
      { role: 'user', content: 'Cancel my order.' },
      { role: 'assistant', content: text },
      { role: 'user', content: '<tool_response>\nmia_garcia_4516\n</tool_response>' },
    ]);
    expect(trajectory.nodes.find(({ toolCall }) => toolCall)!.thoughts).toBe('Look.');
  });
});

test('a guard replaces a turn, and the server reads what the agent said instead', async () => {
  const guard = consentGuard((call) => (call.name === CANCEL.name ? 'Shall I cancel it?' : null));
  const { trajectory, requests, environments } = await play([calling([CANCEL], 'a'), calling([CANCEL], 'b'), words('Done.')], {
    player: guard,
    user: ['Cancel my order.', 'Yes, please.', STOP],
  });
  expect(environments.calls).toHaveLength(1);
  expect(last(requests).slice(2, 4)).toEqual([
    { role: 'assistant', content: 'Shall I cancel it?' },
    { role: 'user', content: 'Yes, please.' },
  ]);
  expect(trajectory.nodes.find(({ by }) => by === 'guard')!.content).toBe('Shall I cancel it?');
});

describe('each fault of a server', () => {
  /** The agent's own acts, which are faults of a customer. */
  const ACTS = new Map([
    ['an empty answer', ''],
    ['`content: null`', ''],
    ['a refusal', 'I cannot do this.'],
    ['thoughts and nothing else', ''],
  ]);
  const said = (reply: Reply): string | null => {
    const { body } = reply as { body?: { choices?: [{ message: { content?: unknown }; finish_reason?: string }] } };
    const content = body?.choices?.[0]?.message.content;
    return typeof content === 'string' ? content : null;
  };

  it.each(ENDPOINT_FAULTS.map((fault) => [fault.fault, fault] as const))(
    '%s: a word is heard, or the episode has no score',
    async (name, fault) => {
      const { createServer } = await import('node:http');
      let asked = 0;
      const server = createServer(async (request, response) => {
        let text = '';
        for await (const part of request) text += String(part);
        const { status = 200, headers = {}, body, staysOpen } = fault.answer(JSON.parse(text) as Record<string, unknown>, asked++);
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        const written = typeof body === 'string' ? body : JSON.stringify(body);
        if (staysOpen) response.write(written);
        else response.end(written);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      cleanups.push(() => (server.close(), server.closeAllConnections()));
      const { options, users } = stage({
        agent: [],
        user: ['Hello.', STOP],
        tokenizer: NO_TOKENS,
        sampling: { temperature: 0, top_p: 1, top_k: 0 },
      });
      const { sampler: _, ...rest } = options;
      const address = server.address() as { port: number };
      const agents = servedBy({ baseUrl: `http://127.0.0.1:${address.port}/v1`, model: 'm', maxRetries: 2, timeoutMs: 5000, apiKey: KEY });
      const trajectory = await runEpisode({ ...rest, limits: { ...rest.limits, max_model_len: Number.MAX_SAFE_INTEGER }, agents });
      if (fault.does.startsWith('fails')) {
        expect(trajectory).toMatchObject({ reward: null, termination: 'agent_error' });
        expect(trajectory.error).toContain(fault.words);
        expect(trajectory.error).not.toContain('user endpoint');
      } else if (trajectory.reward === null) {
        // Only a call that the server should have read.
        expect(name).toBe('a call of a tool as text');
      } else if (users.heard[0] !== 'Hi.') {
        // What is no word of a customer can be a word of an agent.
        expect(users.heard).toEqual([ACTS.get(name) ?? said(fault.answer({}, 0))]);
        expect(fault.does).toBe('asks again with another seed');
      }
    },
  );

  test('a thought never reaches the customer, whatever its mark', async () => {
    for (const { fault, answer, does } of ENDPOINT_FAULTS.filter(({ does: kind }) => kind === 'reads the answer')) {
      const body = answer({}, 0).body as { choices?: [{ message: object }] } | string;
      if (typeof body === 'string' || !body.choices) continue;
      const { users } = await play([{ ...(body.choices[0].message as AgentReply) }]);
      expect(users.heard, `${fault} ${does}`).toEqual(['Hi.']);
    }
    expect(choice({ content: 'x' }).body).toBeTruthy();
  });
});

describe('a trial without a score', () => {
  const collect = (url: string, n: number, more: Partial<AgentServer> = {}) =>
    collectRollouts(
      {
        domain,
        environments: new OrderDesk(),
        users: { session: () => new ReplayUser(['Cancel my order.', STOP]).session(null, 0) },
        tokenizer: NO_TOKENS,
        rules: stage({ agent: [], user: [] }).options.rules,
        agents: servedBy({ baseUrl: url, model: 'm', maxRetries: 0, ...more }),
      },
      {
        tasks: [stage({ agent: [], user: [] }).options.task],
        n,
        limits: LIMITS,
        sampling: { temperature: 0, top_p: 1, top_k: 0 },
        seed: 1,
        firstStream: 0,
        label: 'eval',
        concurrency: 1,
      },
    );

  it('is played again, and all its requests are counted', async () => {
    const server = await startAgentServer((_, before) => (before === 0 ? { status: 500, body: { error: 'busy' } } : words('Done.')));
    cleanups.push(server.close);
    const { groups, dropped, retried } = await collect(server.url, 1);
    expect({ dropped, retried }).toEqual({ dropped: [], retried: 1 });
    expect(groups[0]![0]!.agentRequests).toMatchObject([{ seconds: null }, { prompt: 100, completion: 10 }]);
  });

  it('is dropped after three attempts; the others have their scores', async () => {
    const server = await startAgentServer((_, before) => (before === 0 ? words('Done.') : { status: 500, body: { error: 'busy' } }));
    cleanups.push(server.close);
    const { groups, dropped } = await collect(server.url, 2);
    expect(groups[0]!.map(({ reward }) => reward)).toEqual([0]);
    expect(dropped).toMatchObject([{ reward: null, termination: 'agent_error', verdict: null }]);
    expect(server.requests).toHaveLength(4);
  });

  it('after the budget is spent, the server is asked no more', async () => {
    const server = await startAgentServer(() => words('Done.'));
    cleanups.push(server.close);
    // An answer costs 100 · 10 / 1e6 + 10 · 100 / 1e6 = 0.002.
    const { groups, dropped } = await collect(server.url, 4, { promptPrice: 10, completionPrice: 100, budget: 0.003 });
    expect(groups[0]).toHaveLength(2);
    expect(dropped.map(({ error }) => error)).toEqual(Array(2).fill('the agent has cost 0.004, and its budget is 0.003'));
    expect(server.requests).toHaveLength(2);
    expect(groups[0]![0]!.agentRequests).toMatchObject([{ cost: 0.002 }]);
  });
});
