/** An agent that a model of transformers.js plays: what the model is asked, how its text is read, and what a failure does. */
import { describe, expect, it, test } from 'vitest';
import { runEpisode } from '../../../src/agent/episode.ts';
import { consentGuard } from '../../../src/agent/players.ts';
import { serverAgents } from '../../../src/agent/server/agents.ts';
import { NO_TOKENS } from '../../../src/agent/server/server-turns.ts';
import { TabModel } from '../../../src/agent/server/tab-model.ts';
import { toMessages } from '../../../src/agent/trajectory.ts';
import type { Generated, Generation } from '../../../src/local/api.ts';
import type { TabAgent } from '../../../src/records/agent-server.ts';
import { LocalHosts } from '../../../src/users/local-hosts.ts';
import { STOP } from '../../../src/users/types.ts';
import { domain, type Script, stage } from '../../support/episodes.ts';
import { FakeWorkers, type Generate, said } from '../../support/model-workers.ts';

const AGENT: TabAgent = { source: 'bundled', model: 'm', precision: 'q4', device: 'wasm' };
const FIND = { name: 'find_user_id_by_email', arguments: { email: 'mia@example.com' } };
const CANCEL = { name: 'cancel_pending_order', arguments: { order_id: '#W1234567', reason: 'no longer needed' } };
/** As Qwen3 writes a call. */
const hermes = (...calls: { name: string; arguments: object }[]) =>
  calls.map((call) => `<tool_call>\n${JSON.stringify(call)}\n</tool_call>`).join('\n');

interface Played extends Partial<Omit<Script, 'agent'>> {
  agent?: Partial<TabAgent>;
}

/** Plays an episode in which the model writes these texts. */
async function play(
  texts: readonly (string | Partial<Generated>)[] | Generate,
  { agent, user = ['Cancel my order.', STOP], ...script }: Played = {},
) {
  const left = typeof texts === 'function' ? [] : [...texts];
  const next: Generate = async () => {
    const text = left.shift()!;
    return typeof text === 'string' ? said(text) : { value: { text: '', isCut: false, promptTokens: 7, tokens: 3, ...text } };
  };
  const workers = new FakeWorkers(typeof texts === 'function' ? texts : next);
  const { options, users, environments } = stage({ ...script, agent: [], user, tokenizer: NO_TOKENS });
  const { sampler: _, ...rest } = options;
  const model = new TabModel({ ...AGENT, ...agent }, new LocalHosts(workers.spawn));
  const agents = serverAgents(model, agent?.format);
  const trajectory = await runEpisode({ ...rest, limits: { ...rest.limits, max_model_len: Number.MAX_SAFE_INTEGER }, agents });
  return { trajectory, users, environments, workers, requests: workers.requests };
}
const last = (requests: readonly Generation[]) => requests.at(-1)!.messages;

test('the chat template gets the tools, and the conversation with calls as objects', async () => {
  const { trajectory, requests } = await play([`Let me look.\n${hermes(FIND)}`, hermes(CANCEL), 'Done.'], {
    sampling: { temperature: 0.25, top_p: 1, top_k: 0 },
    agent: { maxTokens: 77 },
  });
  expect(trajectory).toMatchObject({
    reward: 1,
    termination: 'user_stop',
    toolCalls: { find_user_id_by_email: 1, cancel_pending_order: 1 },
  });
  expect(last(requests)).toEqual([
    { role: 'system', content: 'Serve the customer.' },
    { role: 'user', content: 'Cancel my order.' },
    { role: 'assistant', content: 'Let me look.', tool_calls: [{ id: 'call00000', type: 'function', function: FIND }] },
    { role: 'tool', content: 'mia_garcia_4516', tool_call_id: 'call00000' },
    { role: 'assistant', content: '', tool_calls: [{ id: 'call00001', type: 'function', function: CANCEL }] },
    { role: 'tool', content: '{"order_id": "#W1234567", "status": "cancelled"}', tool_call_id: 'call00001' },
  ]);
  expect(requests[0]).toMatchObject({ tools: domain.tools, maxTokens: 77, temperature: 0.25, thinks: false });
  expect(new Set(requests.map(({ conversation }) => conversation)).size).toBe(1);
  expect(new Set(requests.map(({ seed }) => seed)).size).toBe(3);
  expect(trajectory.agentRequests).toMatchObject(Array(3).fill({ prompt: 7, completion: 3, retry: false }));
});

test('the same trial has the same seeds, another trial has others and another conversation', async () => {
  const first = async (stream: number) => (await play(['Hi.'], { stream })).requests[0]!;
  const [one, again, other] = [await first(3), await first(3), await first(4)];
  expect(again.seed).toBe(one.seed);
  expect(other.seed).not.toBe(one.seed);
  expect(other.conversation).not.toBe(one.conversation);
});

describe('the calls of a model, as its chat template shows them', () => {
  const { name, arguments: args } = CANCEL;
  const json = JSON.stringify(args);
  it.each([
    ['Qwen3 and Hermes', hermes(CANCEL)],
    ['Llama 3.2', `{"name": "${name}", "parameters": ${json}}`],
    ['Llama 3.1', `<|python_tag|>{"name": "${name}", "parameters": ${json}}`],
    ['Mistral 7B v0.3', `[TOOL_CALLS] [{"name": "${name}", "arguments": ${json}}]`],
    ['Mistral Small 3.2', `[TOOL_CALLS]${name}[ARGS]${json}`],
    ['Phi-4-mini', `<|tool_call|>[{"name": "${name}", "arguments": ${json}}]<|/tool_call|>`],
    ['Granite 3', `<|tool_call|>[{"name": "${name}", "arguments": ${json}}]`],
    ['Functionary', `<function=${name}>${json}</function>`],
    [
      'Qwen3-Coder',
      `<tool_call>\n<function=${name}>\n<parameter=order_id>\n#W1234567\n</parameter>\n<parameter=reason>\nno longer needed\n</parameter>\n</function>\n</tool_call>`,
    ],
  ])('%s', async (_, text) => {
    const { environments, requests } = await play([text, 'Done.']);
    expect(environments.calls).toEqual([CANCEL]);
    expect(last(requests)[2]).toEqual({
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'call00000', type: 'function', function: CANCEL }],
    });
  });

  it('arguments in tags have the types of the schema', async () => {
    const typed = { ...domain.tools[0]!, function: { ...domain.tools[0]!.function, name: 'set', parameters: { type: 'object' as const, properties: { code: { type: 'string' }, count: { type: 'integer' }, all: { type: 'boolean' } }, required: [] } } }; // prettier-ignore
    const tags =
      '<function=set><parameter=code>\n007\n</parameter><parameter=count>\n2\n</parameter><parameter=all>true</parameter></function>';
    const { environments } = await play([tags, 'Done.'], { domain: { ...domain, tools: [typed] } });
    expect(environments.calls).toEqual([{ name: 'set', arguments: { code: '007', count: 2, all: true } }]);
  });

  it('a form that is not read is a fault of the evaluation, not of the agent', async () => {
    const { trajectory } = await play(['<|tool_call_start|>[cancel_pending_order(order_id="#W1")]<|tool_call_end|>']);
    expect(trajectory).toMatchObject({ reward: null, termination: 'agent_error' });
    expect(trajectory.error).toContain('wrote a call in a form that is not read (“<|tool_call”)');
  });

  it('JSON that is no call is said', async () => {
    const { users } = await play(['{"status": "cancelled"}']);
    expect(users.heard).toEqual(['{"status": "cancelled"}']);
  });
});

describe('several calls in one message', () => {
  it.each([
    ['Hermes', hermes(FIND, CANCEL)],
    ['a list', `[TOOL_CALLS][${JSON.stringify(FIND)}, ${JSON.stringify(CANCEL)}]`],
    ['Llama', `<|python_tag|>${JSON.stringify(FIND)}; ${JSON.stringify(CANCEL)}`],
  ])('are all made where the benchmark allows it (%s)', async (_, both) => {
    const { environments, requests } = await play([both, 'Done.'], { rules: { callsPerMessage: Infinity } });
    expect(environments.calls.map(({ name }) => name)).toEqual([FIND.name, CANCEL.name]);
    expect(last(requests).slice(3)).toMatchObject([
      { role: 'tool', tool_call_id: 'call00000' },
      { role: 'tool', tool_call_id: 'call00001' },
    ]);
  });
  it('become one where it allows one: the others are dropped, also from the conversation', async () => {
    const { environments, requests } = await play([hermes(FIND, CANCEL), 'Done.']);
    expect(environments.calls.map(({ name }) => name)).toEqual([FIND.name]);
    expect(last(requests)[2]).toMatchObject({ tool_calls: [{ function: FIND }] });
    expect(last(requests)).toHaveLength(4);
  });
});

describe('a call that cannot be made', () => {
  it.each([
    ['no JSON', '<tool_call>\n{"name": \n</tool_call>', 'Error: the tool call is not valid JSON'],
    ['no end', '<tool_call>\n{"name": "x"}', 'Error: <tool_call> without </tool_call>'],
    ['no JSON in a list', '[TOOL_CALLS][{"name": ', 'Error: the tool call is not valid JSON'],
    ['no object', hermes({ name: CANCEL.name, arguments: [1] }), 'Error: the tool call\'s "arguments" is a list: expected a JSON object'],
    ['an unknown tool', hermes({ name: 'refund', arguments: {} }), 'Error: unknown tool "refund"'],
  ])('%s: the model reads the error and goes on', async (_, text, error) => {
    const { trajectory, requests } = await play([text, hermes(CANCEL), 'Done.']);
    expect(trajectory).toMatchObject({ reward: 1, parseErrors: 1, termination: 'user_stop' });
    expect(last(requests).slice(2, 4)).toEqual([
      { role: 'assistant', content: text.trim() },
      { role: 'user', content: error },
    ]);
  });
  it('ends the episode if the policy says so, with a score', async () => {
    const { trajectory } = await play(['<tool_call>x</tool_call>'], { limits: { malformed_policy: 'end' } });
    expect(trajectory).toMatchObject({ termination: 'malformed_call', reward: 0 });
  });
});

describe('thoughts', () => {
  it.each(['<think>\nThey want it.\n</think>\n\nDone.', 'They want it.</think>Done.'])(
    'are kept in the record and out of the conversation',
    async (text) => {
      const { trajectory, users, requests } = await play([text, 'Bye.'], { user: ['Hello.', 'Thanks.', STOP], agent: { thinks: true } });
      expect(users.heard[0]).toBe('Done.');
      expect(trajectory.nodes.find(({ role }) => role === 'assistant')).toMatchObject({ content: 'Done.', thoughts: 'They want it.' });
      expect(JSON.stringify(last(requests))).not.toContain('They want');
      expect(requests[0]).toMatchObject({ thinks: true, maxTokens: 4096 });
      expect(toMessages(trajectory).messages.find(({ role }) => role === 'assistant')!.reasoning_content).toBe('They want it.');
    },
  );
  it('a call in them does not count', async () => {
    const { environments } = await play([`<think>${hermes(CANCEL)}</think>Which order?`]);
    expect(environments.calls).toEqual([]);
  });
});

describe('a technical failure is not scored', () => {
  it.each<[string, Generate, string]>([
    ['a cut message', async () => ({ value: { text: 'I will', isCut: true, promptTokens: 7, tokens: 1024 } }), 'the agent’s model did not end its message within 1024 tokens: raise the most tokens of a message'],
    ['thoughts without an end', async () => said('<think>Hm.'), 'the agent’s model did not end its thoughts (<think> is not closed)'],
    ['no memory', async () => ({ failure: { kind: 'memory', message: 'memory ran out at 9 tokens', isFatal: true } }), 'memory ran out at 9 tokens'],
    ['a long conversation', async () => ({ failure: { kind: 'length', message: 'the conversation has 9 tokens: expected fewer than 8', isFatal: false } }), 'the conversation has 9 tokens: expected fewer than 8'],
    ['a template', async () => ({ failure: { kind: 'files', message: 'the chat template fails', isFatal: false } }), 'the chat template fails'],
  ])('%s', async (_, generate, error) => {
    const { trajectory, workers } = await play(generate);
    expect(trajectory).toMatchObject({ reward: null, termination: 'agent_error', error });
    expect(workers.requests).toHaveLength(1);
  }); // prettier-ignore

  it('time', async () => {
    const stoppable: Generate = async (_, stopped) => {
      await stopped;
      return { failure: { kind: 'cancelled', message: 'the generation was cancelled', isFatal: false } };
    };
    const { trajectory } = await play(stoppable, { agent: { timeoutMs: 20 } });
    expect(trajectory).toMatchObject({ termination: 'agent_error', error: 'the model "m" in the tab gave no answer within 20 ms' });
  });
});

test('a cancelled evaluation stops the generation at once, and scores nothing', async () => {
  const abort = new AbortController();
  let isStopped = false;
  const { trajectory } = await play(
    async (_, stopped) => {
      abort.abort(new Error('the evaluation was cancelled'));
      await stopped;
      isStopped = true;
      return { failure: { kind: 'cancelled', message: 'the generation was cancelled', isFatal: false } };
    },
    { signal: abort.signal },
  );
  expect(trajectory).toMatchObject({ reward: null, termination: 'aborted' });
  expect(isStopped).toBe(true);
});

test('empty words are the agent’s own act', async () => {
  const { trajectory, users } = await play(['']);
  expect(users.heard).toEqual(['']);
  expect(trajectory).toMatchObject({ reward: 0, termination: 'user_stop' });
});

test('with the format “text”, tools and results stand in the messages as for our own models', async () => {
  const { environments, requests } = await play([hermes(CANCEL), 'Done.'], { agent: { format: 'text' } });
  expect(environments.calls).toEqual([CANCEL]);
  expect(requests[0]!.tools).toEqual([]);
  expect(requests[0]!.messages[0]!.content).toMatch(/^Serve the customer\.\n\n# Tools\n[^]*"cancel_pending_order"/);
  expect(last(requests).slice(2)).toEqual([
    { role: 'assistant', content: hermes(CANCEL) },
    { role: 'user', content: '<tool_response>\n{"order_id": "#W1234567", "status": "cancelled"}\n</tool_response>' },
  ]);
});

test('a guard replaces a turn, and the model reads what the agent said instead', async () => {
  const guard = consentGuard((call) => (call.name === CANCEL.name ? 'Shall I cancel it?' : null));
  const { requests, environments } = await play([hermes(CANCEL), hermes(CANCEL), 'Done.'], {
    player: guard,
    user: ['Cancel my order.', 'Yes, please.', STOP],
  });
  expect(environments.calls).toHaveLength(1);
  expect(last(requests).slice(2, 4)).toEqual([
    { role: 'assistant', content: 'Shall I cancel it?' },
    { role: 'user', content: 'Yes, please.' },
  ]);
});
