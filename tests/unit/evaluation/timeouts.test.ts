/** What a trial says about timeouts and about offers to reserved customers, and the shares over trials. */
import { expect, test } from 'vitest';
import { TIMEOUT } from '../../../src/environments/faults.ts';
import { calledAgainShare, offeredShare, resultOf } from '../../../src/evaluation/trial-result.ts';
import type { Persona } from '../../../src/records/conditions.ts';
import type { MessageNode, Trajectory } from '../../../src/records/trajectory.ts';
import { task } from '../../support/episodes.ts';

const CALL = { name: 'cancel_pending_order', arguments: { order_id: '#W1234567' } };
/** `result` changed no row, `write` changed one. A late call is a `write` with the text of a timeout. */
type Short = ['user' | 'say', string] | ['call'] | ['result' | 'write', string];

const trial = (...messages: Short[]) => trialWith('upfront', ...messages);

function trialWith(persona: Persona, ...messages: Short[]) {
  const nodes = messages.map(([kind, text = ''], id): MessageNode => {
    const role = kind === 'user' ? 'user' : kind === 'result' || kind === 'write' ? 'tool' : 'assistant';
    const node = { id, parent: id === 0 ? null : id - 1, role, text, tokens: [], mask: [], logprobs: [] } as MessageNode;
    if (kind === 'call') return { ...node, toolCall: CALL };
    const changes = kind === 'write' ? [{ call: 0, table: 'orders', key: '#W1234567', before: {}, after: {} }] : [];
    return role === 'tool' ? { ...node, toolResult: { name: CALL.name, error: text === TIMEOUT, index: 0, changes, ms: 0 } } : node;
  });
  const rest = { id: '0-0', index: 0, reward: 1, termination: 'user_stop', turns: 1, violations: [], toolCalls: {} };
  return resultOf({
    ...rest,
    task: { ...task, domain: 'retail', scenario: { ...task.scenario, persona } },
    nodes,
    leaf: nodes.length - 1,
  } as unknown as Trajectory);
}

test('counts timeouts and the calls after them', () => {
  const again = trial(['user', 'Cancel it.'], ['call'], ['result', TIMEOUT], ['call'], ['result', '{}'], ['say', 'Done.']);
  const claimed = trial(['user', 'Cancel it.'], ['call'], ['result', TIMEOUT], ['say', 'Done.']);
  const cut = trial(['user', 'Cancel it.'], ['call'], ['result', TIMEOUT]);
  const none = trial(['user', 'Cancel it.'], ['call'], ['result', '{}'], ['say', 'Done.']);
  expect([again, claimed, cut, none].map(({ timeouts }) => timeouts)).toEqual([
    { met: 1, again: 1 },
    { met: 1, again: 0 },
    { met: 1, again: 0 },
    undefined,
  ]);
  const results = [again, claimed, cut, none];
  expect(calledAgainShare(results)).toBeCloseTo(1 / 3, 12);
  expect(calledAgainShare(results.slice(3))).toBeNull();
});

test('counts a call that timed out but was carried out as a write', () => {
  const late = trial(['user', 'Cancel it.'], ['call'], ['write', TIMEOUT], ['say', 'Done.']);
  const lost = trial(['user', 'Cancel it.'], ['call'], ['result', TIMEOUT], ['say', 'Done.']);
  const answered = trial(['user', 'Cancel it.'], ['call'], ['write', '{}'], ['say', 'Done.']);
  expect([late, lost, answered].map(({ writes }) => writes)).toEqual([1, 0, 1]);
});

test('a reserved customer was offered more if the agent asked for more after a request', () => {
  const offered = trialWith('reserved', ['say', 'How can I help you?'], ['user', 'Cancel it.'], ['say', 'Done. Anything else?']);
  const done = trialWith('reserved', ['say', 'How can I help you?'], ['user', 'Cancel it.'], ['say', 'Done.']);
  const other = trial(['user', 'Cancel it.'], ['say', 'Done. Anything else?']);
  expect([offered, done, other].map((result) => result.offered)).toEqual([true, false, undefined]);
  expect(offeredShare([offered, done, done, other])).toBeCloseTo(1 / 3, 12);
  expect(offeredShare([other])).toBeNull();
});
