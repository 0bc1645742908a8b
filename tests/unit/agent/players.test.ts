/** Players beside the model: guards that replace a sampled turn, and experts that play without a model. */
import { expect, test } from 'vitest';
import { runEpisode } from '../../../src/agent/episode.ts';
import { consentGuard, guards, retryGuard } from '../../../src/agent/players.ts';
import { flatten } from '../../../src/agent/trajectory.ts';
import { TIMEOUT } from '../../../src/environments/faults.ts';
import { proposalOf } from '../../../src/domains/retail/proposal.ts';
import type { ChatMessage } from '../../../src/records/conversation.ts';
import type { ToolCall } from '../../../src/records/task.ts';
import { stage } from '../../support/episodes.ts';

const CANCEL: ToolCall = { name: 'cancel_pending_order', arguments: { order_id: '#W1234567', reason: 'no longer needed' } };
const QUESTION = 'Cancel order #W1234567, no longer needed. Yes or no?';
const user = (content: string): ChatMessage => ({ role: 'user', content });
const agent = (content: string): ChatMessage => ({ role: 'assistant', content });
const called: ChatMessage = { role: 'assistant', content: '', tool_calls: [{ type: 'function', function: CANCEL }] };
const answered = (content: string): ChatMessage => ({ role: 'tool', name: CANCEL.name, content });

test('the consent guard asks before a write, and lets a confirmed write pass', () => {
  const guard = consentGuard(proposalOf);
  expect(guard.instead!([CANCEL], [user('Cancel #W1234567.')])).toEqual({ say: QUESTION });
  expect(guard.instead!([CANCEL], [agent(QUESTION), user('Yes, go ahead.')])).toBeNull();
  expect(guard.instead!([CANCEL], [agent(QUESTION), user('No, wait.')])).toEqual({ say: QUESTION });
  // The yes answered the question about another order.
  const other = { ...CANCEL, arguments: { ...CANCEL.arguments, order_id: '#W7654321' } };
  expect(guard.instead!([other], [agent(QUESTION), user('Yes.')])).toEqual({
    say: 'Cancel order #W7654321, no longer needed. Yes or no?',
  });
  // A call that changes nothing, and speech, are the model's.
  expect(guard.instead!([{ name: 'get_order_details', arguments: { order_id: '#W1234567' } }], [])).toBeNull();
  expect(guard.instead!([], [user('Hello')])).toBeNull();
});

test('the retry guard calls the tool again, unless the model does', () => {
  const timedOut = [user('Cancel it.'), called, answered(TIMEOUT)];
  expect(retryGuard.instead!([], timedOut)).toEqual({ call: CANCEL });
  expect(retryGuard.instead!([CANCEL], timedOut)).toBeNull();
  expect(retryGuard.instead!([], [...timedOut, called, answered('{}')])).toBeNull();
  expect(guards(retryGuard, consentGuard(proposalOf)).instead!([CANCEL], [user('Cancel it.')])).toEqual({ say: QUESTION });
});

test('a replaced turn is not the model’s: mask 0, and the sampler reads the whole conversation again', async () => {
  const call = `<tool_call>\n${JSON.stringify(CANCEL)}\n</tool_call>`;
  const { options, sampler, environments } = stage({
    agent: [call, call, 'Done.<|im_end|>'],
    user: ['Cancel #W1234567.', 'Yes.', '###STOP###'],
    player: consentGuard(proposalOf),
  });
  const trajectory = await runEpisode(options);
  const said = trajectory.nodes.filter(({ role }) => role === 'assistant');
  expect(said.map(({ by, content, toolCall }) => [by, content, toolCall?.name])).toEqual([
    ['guard', QUESTION, undefined],
    [undefined, '', CANCEL.name],
    [undefined, 'Done.', undefined],
  ]);
  expect(said.map(({ mask }) => mask.every((m) => m === 1))).toEqual([false, true, true]);
  expect(said[0]!.mask).not.toContain(1);
  expect(said[0]!.logprobs.every((logprob) => logprob === null)).toBe(true);
  expect(trajectory).toMatchObject({ reward: 1, violations: [] });
  expect(environments.calls).toEqual([CANCEL]);
  // The first sequence got the discarded turn. The second one has its own random stream, and exactly the tokens of the conversation.
  expect(sampler.opened.map(({ seed }) => seed)).toEqual([7, 7]);
  expect(sampler.opened[0]!.stream).not.toBe(sampler.opened[1]!.stream);
  expect(sampler.closed).toBe(2);
  const { tokens } = flatten(trajectory);
  const discarded = sampler.seen.findIndex(
    (token, i) => i > 0 && token === tokens[0] && tokens.slice(0, 20).every((t, k) => sampler.seen[i + k] === t),
  );
  const second = sampler.seen.slice(discarded);
  expect(second.length).toBeGreaterThan(100);
  expect(second).toEqual(tokens.slice(0, second.length));
});

test('an expert plays without a model', async () => {
  const lines = ['Your email?', 'Bye.'];
  const { options, sampler } = stage({
    agent: [],
    user: ['Hello.', 'a@b.com', '###STOP###'],
    player: { act: () => ({ say: lines.shift()! }) },
  });
  const { nodes, turns } = await runEpisode(options);
  expect(nodes.filter(({ role }) => role === 'assistant').map(({ by, text }) => [by, text])).toEqual([
    ['person', 'Your email?'],
    ['person', 'Bye.'],
  ]);
  expect([turns, sampler.opened.length]).toEqual([2, 0]);
});
