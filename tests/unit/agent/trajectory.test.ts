import { expect, it } from 'vitest';
import { runEpisode } from '../../../src/agent/episode.ts';
import { path } from '../../../src/base/message-path.ts';
import { annotate, flatten, toMessages } from '../../../src/agent/trajectory.ts';
import type { MessageNode } from '../../../src/records/trajectory.ts';
import { parseConversations } from '../../../src/agent/conversation.ts';
import { STOP } from '../../../src/users/types.ts';
import { domain, stage } from '../../support/episodes.ts';

const node = (id: number, parent: number | null, tokens: number[], sampled = false): MessageNode => ({
  id,
  parent,
  role: sampled ? 'assistant' : 'user',
  text: '',
  tokens,
  mask: tokens.map(() => Number(sampled)),
  logprobs: tokens.map((token) => (sampled ? -token : null)),
});

/** 0 ─ 1 ─ 2 and a fork 0 ─ 3. */
const graph = () => ({ nodes: [node(0, null, [10, 11]), node(1, 0, [12], true), node(2, 1, [13]), node(3, 0, [14, 15], true)], leaf: 2 });

it('walks from the root to the leaf of a fork', () => {
  expect(path(graph()).map(({ id }) => id)).toEqual([0, 1, 2]);
  expect(flatten({ ...graph(), leaf: 3 })).toEqual({ tokens: [10, 11, 14, 15], lossMask: [0, 0, 1, 1], logprobs: [0, 0, -14, -15] });
});

it('refuses a broken graph', () => {
  expect(() => path({ nodes: [node(1, 0, [])], leaf: 1 })).toThrow('trajectory node 0 is missing');
  expect(() => path({ nodes: [node(0, 1, []), node(1, 0, [])], leaf: 1 })).toThrow('its own ancestor');
});

it('annotates tokens of each node, and distinguishes a missing value from zero', () => {
  const trajectory = graph();
  annotate(trajectory, 'advantage', [null, null, 0, null]);
  expect(trajectory.nodes.map(({ annotations }) => annotations)).toEqual([undefined, { advantage: [0] }, undefined, undefined]);
  annotate(trajectory, 'entropy', [1, 2, 3, 4]);
  expect(trajectory.nodes[1]!.annotations).toEqual({ advantage: [0], entropy: [3] });
  expect(() => annotate(trajectory, 'ratio', [1])).toThrow('annotation ratio has 1 values: expected one for each of the 4 tokens');
});

it('becomes chat JSONL with call ids, raw broken turns and their errors', async () => {
  const call = '<tool_call>\n{"name": "find_user_id_by_email", "arguments": {"email": "a@b.c"}}\n</tool_call>';
  const { options } = stage({ agent: [`Let me see.\n${call}`, '<tool_call>{</tool_call>', 'Hello<|im_end|>'], user: ['Hi', STOP] });
  const conversation = toMessages(await runEpisode(options), domain.tools);
  expect(conversation).toEqual({
    tools: domain.tools,
    messages: [
      { role: 'system', content: 'Serve the customer.' },
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: 'Let me see.',
        tool_calls: [{ id: 'call_3', type: 'function', function: { name: 'find_user_id_by_email', arguments: { email: 'a@b.c' } } }],
      },
      { role: 'tool', content: 'mia_garcia_4516', name: 'find_user_id_by_email', tool_call_id: 'call_3' },
      { role: 'assistant', content: '<tool_call>{</tool_call>' },
      { role: 'tool', content: 'Error: the tool call is not valid JSON' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: STOP },
    ],
  });
  expect(parseConversations(JSON.stringify(conversation))).toEqual([conversation]);
});

it.each(['<|im_end|>', '<|eot_id|>', ''])('keeps a turn that could not be parsed as it is, without its end %s', (end) => {
  const broken = { ...node(0, null, [1], true), text: `<tool_call>{"a": "<|im_end|>"}${end}`, parseError: 'no end tag' };
  expect(toMessages({ nodes: [broken], leaf: 0 }).messages).toEqual([{ role: 'assistant', content: '<tool_call>{"a": "<|im_end|>"}' }]);
});

it('exports a call with its name and arguments alone', () => {
  const toolCall = { name: 'pay', arguments: { amount: 50 }, exact: '{"amount": 50.0}' };
  const { messages } = toMessages({ nodes: [{ ...node(0, null, [1], true), toolCall }], leaf: 0 });
  expect(messages[0]!.tool_calls!.map((call) => call.function)).toEqual([{ name: 'pay', arguments: { amount: 50 } }]);
});
