/** The database at a tool call, from a stored trajectory. */
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/records/json.ts';
import type { RowChange } from '../../../src/records/task.ts';
import type { MessageNode } from '../../../src/records/trajectory.ts';
import { type Episode, loggedCalls, momentRows, tableAt } from '../../../src/app/conversation/database/moment.ts';

const change = (key: string, before: Json, after: Json, call: number): RowChange => ({ table: 'orders', key, before, after, call });
const order = (status: string, ...paid: number[]) => ({ status, paid });

function episode(steps: RowChange[][], goal: RowChange[] | null): Episode {
  const nodes: MessageNode[] = [];
  const add = (node: Partial<MessageNode> & Pick<MessageNode, 'role'>) =>
    nodes.push({ id: nodes.length, parent: nodes.length ? nodes.length - 1 : null, text: '', tokens: [], mask: [], logprobs: [], ...node });
  add({ role: 'system' });
  add({ role: 'user' });
  steps.forEach((changes, index) => {
    add({ role: 'assistant', toolCall: { name: `tool_${index}`, arguments: {} } });
    add({ role: 'template' });
    add({ role: 'tool', toolResult: { name: `tool_${index}`, error: false, index, changes, ms: 0 } });
  });
  return { nodes, leaf: nodes.length - 1, verdict: goal && { reward: 0, changes: [], goal, progress: 0 } };
}

const steps = [
  [],
  [change('#1', order('pending', 5), order('cancelled', 5), 1)],
  [change('#2', order('pending'), order('returned'), 2)],
  [change('#1', order('cancelled', 5), order('cancelled', 5, -5), 3), change('#2', order('returned'), order('pending'), 3)],
];
const goal = [change('#1', order('pending', 5), order('cancelled', 5, -5), 0), change('#3', order('pending'), order('cancelled'), 1)];

describe('calls of an episode', () => {
  test('belong to the message that made them', () => {
    expect(loggedCalls(episode(steps, goal)).map(({ index, node, call }) => [index, node, call.name])).toEqual([
      [0, 2, 'tool_0'],
      [1, 5, 'tool_1'],
      [2, 8, 'tool_2'],
      [3, 11, 'tool_3'],
    ]);
  });

  test('of the customer are in between, as in the log', () => {
    const played = episode([[]], null);
    played.nodes.at(-1)!.toolResult!.index = 1;
    played.userCalls = [
      { after: 1, index: 0, call: { name: 'toggle', arguments: {}, requestor: 'user' }, text: '', error: false, changes: [] },
    ];
    expect(loggedCalls(played).map(({ index, by, node }) => [index, by, node])).toEqual([
      [0, 'customer', 1],
      [1, 'agent', 2],
    ]);
  });

  test('of other branches do not count', () => {
    const played = episode(steps, goal);
    expect(loggedCalls({ ...played, leaf: 7 })).toHaveLength(2);
  });
});

describe('rows at a call', () => {
  const at = (call: number) => momentRows(episode(steps, goal), call).map(({ key, now, since, state }) => [key, now, since, state]);

  test('before the first write only the goal is shown', () => {
    expect(at(0)).toEqual([
      ['#1', false, null, 'pending'],
      ['#3', false, null, 'pending'],
    ]);
  });

  test('a partly changed row is wrong, a row without a goal is unexpected; rows of this call come first', () => {
    expect(at(1)).toEqual([
      ['#1', true, 1, 'wrong'],
      ['#3', false, null, 'pending'],
    ]);
    expect(at(2)).toEqual([
      ['#2', true, 2, 'unexpected'],
      ['#1', false, 1, 'wrong'],
      ['#3', false, null, 'pending'],
    ]);
  });

  test('a row changed back is right again', () => {
    expect(at(3)).toEqual([
      ['#1', true, 3, 'right'],
      ['#2', true, 3, 'right'],
      ['#3', false, null, 'pending'],
    ]);
  });

  test('fields have the values before and after this call, and the goal', () => {
    const [first] = momentRows(episode(steps, goal), 3);
    expect(first!.fields).toEqual([
      { path: 'status', before: 'cancelled', after: 'cancelled', goal: 'cancelled' },
      { path: 'paid.1', before: undefined, after: -5, goal: -5 },
    ]);
    const earlier = momentRows(episode(steps, goal), 2).find(({ key }) => key === '#1')!;
    expect(earlier.fields[0]).toEqual({ path: 'status', before: 'cancelled', after: 'cancelled', goal: 'cancelled' });
  });

  test('without a verdict no row is wrong or missing', () => {
    expect(momentRows(episode(steps, null), 1)).toMatchObject([{ key: '#1', state: 'unexpected' }]);
  });

  test('whole tables follow the calls: changed, inserted and deleted rows', () => {
    const played = episode([[change('b', 1, 2, 0), change('c', null, 3, 0)], [change('a', 0, null, 1)]], null);
    const rows = [
      ['a', 0],
      ['b', 1],
    ] as [string, Json][];
    expect(tableAt('orders', rows, played, -1).map(({ key, row }) => [key, row])).toEqual([
      ['a', 0],
      ['b', 1],
    ]);
    expect(tableAt('orders', rows, played, 0).map(({ key, row, since }) => [key, row, since])).toEqual([
      ['a', 0, null],
      ['b', 2, 0],
      ['c', 3, 0],
    ]);
    expect(tableAt('orders', rows, played, 1).map(({ key }) => key)).toEqual(['b', 'c']);
    expect(tableAt('users', rows, played, 1)).toHaveLength(2);
  });
});
