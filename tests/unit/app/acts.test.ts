/** Acts of a conversation, the divergence of a group's rollouts, and the alignment of two conversations. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { RolloutSummary } from '../../../src/records/rollout.ts';
import type { RowChange } from '../../../src/records/task.ts';
import type { MessageNode, TerminationReason, Trajectory } from '../../../src/records/trajectory.ts';
import { columnsOf, pin } from '../../../src/app/group/columns.ts';
import { speechAct, turnsOf } from '../../../src/app/conversation/aligned/acts.ts';
import { align, divergence, forkOf } from '../../../src/app/conversation/aligned/divergence.ts';
import { finalLines, goalLines } from '../../../src/app/conversation/aligned/final-state.ts';
import { readRunBundle } from '../../../src/exchange/run-bundle.ts';

type Given = Partial<MessageNode> & Pick<MessageNode, 'role'>;

/** A chain of nodes with one token each and template nodes in between, as in a real trajectory. */
function conversation(
  given: Given[],
  termination: TerminationReason = 'user_stop',
  violations: Trajectory['violations'] = [],
): Pick<Trajectory, 'nodes' | 'leaf' | 'termination' | 'violations'> {
  const nodes = given
    .flatMap((node): Given[] => [node, { role: 'template' }])
    .map(
      (node, id) => ({ id, parent: id === 0 ? null : id - 1, text: '', tokens: [id], mask: [0], logprobs: [null], ...node }) as MessageNode,
    );
  return { nodes, leaf: nodes.length - 1, termination, violations };
}

const say = (content: string): Given => ({ role: 'assistant', text: `${content}<|im_end|>`, content });
const user = (text: string): Given => ({ role: 'user', text });
const call = (name: string, args: Record<string, string> = {}): Given => ({
  role: 'assistant',
  text: '<tool_call>…</tool_call>',
  content: '',
  toolCall: { name, arguments: args },
});
const row: RowChange = { table: 'orders', key: '#W1', before: { status: 'pending' }, after: { status: 'cancelled' }, call: 0 };
const result = (name: string, { error = false, changes = [] as RowChange[] } = {}): Given => ({
  role: 'tool',
  text: error ? 'Error: no' : 'ok',
  toolResult: { name, error, index: 0, changes, ms: 1 },
});
const acts = (...of: Parameters<typeof conversation>) => turnsOf(conversation(...of)).turns.map(({ act, label }) => [act, label]);

describe('acts', () => {
  test('a call that broke a rule is marked, with every rule once', () => {
    const { turns } = turnsOf(
      conversation([user('Cancel #W1.'), call('cancel'), result('cancel', { changes: [row] }), say('Done.')], 'user_stop', [
        { rule: 'unconfirmed_write', call: 0, detail: 'a' },
        { rule: 'unconfirmed_write', call: 0, detail: 'b' },
        { rule: 'other_customer', call: 3, detail: 'c' },
      ]),
    );
    expect(turns.map(({ broken }) => broken)).toEqual([['changed data without asking'], [], []]);
  });

  test('a whole conversation gives one act per turn', () => {
    const { opening, turns } = turnsOf(
      conversation([
        { role: 'system', text: 'policy' },
        user('Cancel #W1.'),
        say('What is your email?'),
        user('a@b.c'),
        call('find_user'),
        result('find_user'),
        call('get_order'),
        result('get_order', { error: true }),
        say('Cancel #W1. Yes or no?'),
        user('Yes.'),
        call('cancel', { id: '#W1' }),
        result('cancel', { changes: [row] }),
        say('Done. Anything else?'),
        user('No. ###STOP###'),
      ]),
    );
    expect(opening.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(turns.map(({ act, label }) => [act, label])).toEqual([
      ['ask', ''],
      ['look-up', 'find_user'],
      ['error', 'get_order'],
      ['confirm', ''],
      ['write', 'cancel'],
      ['answer', ''],
      ['stop', 'the customer ended it'],
    ]);
    expect(turns[0]!.nodes.map(({ role }) => role)).toEqual(['assistant', 'user']);
    expect(turns.at(-1)!.nodes).toEqual([]);
  });

  test('a handover is a kind of stop; an ending by a limit is an error after the last turn', () => {
    expect(acts([user('x'), call('transfer'), result('transfer')], 'terminal_tool')).toEqual([['stop', 'transfer']]);
    expect(acts([user('x'), call('get'), result('get')], 'max_turns')).toEqual([
      ['look-up', 'get'],
      ['error', 'too many turns'],
    ]);
    expect(acts([user('x'), say('Hi.')], 'user_error')).toEqual([
      ['answer', ''],
      ['error', 'the customer failed'],
    ]);
    expect(acts([{ role: 'system' }], 'aborted')).toEqual([['error', 'aborted']]);
  });

  test('a turn that is cut off, malformed or empty gives one error', () => {
    expect(acts([user('x'), say('And then and then')], 'turn_length')).toEqual([['error', 'a turn was too long']]);
    expect(acts([user('x'), { ...say(''), parseError: 'no JSON' }], 'malformed_call')).toEqual([['error', 'malformed tool call']]);
    expect(
      acts([user('x'), { ...say(''), parseError: 'no JSON' }, { role: 'tool', text: 'Error' }, say('Bye.'), user('###STOP###')]),
    ).toEqual([
      ['error', 'malformed tool call'],
      ['answer', ''],
      ['stop', 'the customer ended it'],
    ]);
    expect(acts([user('x'), say(' '), user('###STOP###')])[0]).toEqual(['error', 'said nothing']);
  });

  test.each([
    ['Your email please, or your name and zip?', 'ask'],
    ['Which payment method?', 'ask'],
    ['Please provide your order number.', 'ask'],
    ['Could you confirm your email address?', 'ask'],
    ['Cancel order #W1, no longer needed. Yes or no?', 'confirm'],
    ['Shall I cancel it?', 'confirm'],
    ['Do you want me to go ahead?', 'confirm'],
    ['Please confirm the change.', 'confirm'],
    ['May I add 2 GB of data to your line?', 'confirm'],
    ['Done. Anything else?', 'answer'],
    ['I am sorry, it is not allowed. Is there anything else I can help you with?', 'answer'],
    ['How can I help you?', 'answer'],
    ['Your order is pending.', 'answer'],
  ])('%s', (text, act) => expect(speechAct(text)).toBe(act));

  test('acts are equal if tool and arguments are equal, in any order of keys and with any wording', () => {
    const moves = (given: Given[]) => turnsOf(conversation(given)).turns.map(({ move }) => move);
    expect(moves([call('f', { a: '1', b: '2' }), result('f')])[0]).toBe(moves([call('f', { b: '2', a: '1' }), result('f')])[0]);
    expect(moves([call('f', { a: '1' }), result('f')])[0]).not.toBe(moves([call('f', { a: '2' }), result('f')])[0]);
    expect(moves([say('Your name?')])[0]).toBe(moves([say('What is your email?')])[0]);
  });

  test('every conversation of the recorded run has acts and one ending', async () => {
    const { trajectories } = await readRunBundle(new Blob([readFileSync('public/recorded/run.mua.zip')]));
    expect(trajectories.length).toBeGreaterThan(0);
    for (const trajectory of trajectories) {
      const { turns } = turnsOf(trajectory);
      expect(turns.length).toBeGreaterThan(0);
      expect(turns.slice(0, -1).some(({ act }) => act === 'stop')).toBe(false);
      expect(turns.flatMap(({ nodes }) => nodes).every(({ role }) => role !== 'template')).toBe(true);
    }
  });
});

describe('divergence', () => {
  test('finds the acts of the majority and the rollouts that differ; compares prefixes, not columns', () => {
    const { shared, leaves, places } = divergence([
      ['a', 'b', 'c', 'd'],
      ['a', 'b', 'c', 'x', 'd'],
      ['a', 'b', 'c', 'd'],
      ['a', 'y', 'c', 'd'],
    ]);
    expect(shared).toBe(1);
    expect(leaves).toEqual([null, 3, null, 1]);
    expect(places[3]).toEqual(['together', 'leaves', 'apart', 'apart']);
    expect(places[1]).toEqual(['together', 'together', 'together', 'leaves', 'apart']);
  });

  test('of two groups of equal size, the higher reward is the majority, then the first', () => {
    expect(
      divergence(
        [
          ['a', 'x'],
          ['a', 'y'],
        ],
        [0, 1],
      ).leaves,
    ).toEqual([1, null]);
    expect(
      divergence(
        [
          ['a', 'x'],
          ['a', 'y'],
        ],
        [null, null],
      ).leaves,
    ).toEqual([null, 1]);
  });

  test('a rollout that ends early does not diverge, and ends the shared part', () => {
    expect(divergence([['a'], ['a', 'b']])).toMatchObject({ shared: 1, leaves: [null, null] });
    expect(
      divergence([
        ['a', 'b'],
        ['a', 'b'],
      ]).shared,
    ).toBe(2);
    expect(divergence([])).toEqual({ shared: 0, places: [], leaves: [] });
  });
});

describe('alignment', () => {
  test('equal acts share a row; different acts between them stand side by side', () => {
    expect(align(['a', 'x', 'c', 'd'], ['a', 'y', 'z', 'c'])).toEqual([
      { a: 0, b: 0, same: true },
      { a: 1, b: 1, same: false },
      { a: null, b: 2, same: false },
      { a: 2, b: 3, same: true },
      { a: 3, b: null, same: false },
    ]);
    expect(align([], ['a'])).toEqual([{ a: null, b: 0, same: false }]);
    expect(align(['a', 'b'], ['a', 'b']).every(({ same }) => same)).toBe(true);
  });

  test('every act occurs once and in order, for any columns', () => {
    for (let seed = 0; seed < 200; seed++) {
      const column = (k: number) => Array.from({ length: (seed * 7 + k) % 9 }, (_, i) => 'abc'[(seed * 31 + k * 17 + i * i * 5) % 3]!);
      const [a, b] = [column(1), column(2)];
      const rows = align(a, b);
      expect(rows.flatMap((r) => r.a ?? [])).toEqual(a.map((_, i) => i));
      expect(rows.flatMap((r) => r.b ?? [])).toEqual(b.map((_, i) => i));
      expect(rows.every((r) => r.same === (r.a !== null && r.b !== null && a[r.a] === b[r.b]) || !r.same)).toBe(true);
    }
  });

  /** Both conversations, as `forkOf` reads them. The prompt has no tokens. */
  const fork = (a: Given[], b: Given[], end: TerminationReason = 'user_stop') => {
    const of = (given: Given[]) => {
      const c = conversation(given, end);
      const nodes = c.nodes.map((node) => (node.role === 'template' ? { ...node, tokens: [] } : node));
      return { ...c, nodes, turns: turnsOf({ ...c, nodes }).turns };
    };
    return forkOf(of(a), of(b));
  };

  test('they differ first where an act is another one, whatever the words before', () => {
    const hello = (token: number): Given => ({ ...user('x'), tokens: [token] });
    const ask = (token: number): Given => ({ ...say('Your name?'), tokens: [7, token] });
    const look: Given = { ...call('find'), tokens: [8, 1, 2] };
    const write: Given = { ...call('cancel'), tokens: [8, 1, 3] };
    expect(fork([hello(1), ask(5), hello(2), look], [hello(1), ask(6), hello(2), write])).toEqual({ turn: 1, act: true, tokens: [6, 6] });
    // The other customer says more, so the same token has another position.
    expect(fork([hello(1), look], [{ ...user('x'), tokens: [1, 1] }, write])).toEqual({ turn: 0, act: true, tokens: [3, 4] });
  });

  test('with equal acts, they differ first at a token, also where one goes on after the other', () => {
    const ask = (...tokens: number[]): Given => ({ ...say('Your name?'), tokens });
    expect(fork([ask(1, 2), ask(3)], [ask(1, 2), ask(4)])).toEqual({ turn: 1, act: false, tokens: [2, 2] });
    expect(fork([ask(1, 2)], [ask(1, 2, 3)])).toEqual({ turn: 0, act: false, tokens: [1, 2] });
    expect(fork([ask(1, 2)], [ask(1, 2)])).toBeNull();
  });

  test('without tokens in one of them, they differ at an act or at words', () => {
    const ask = (text: string, ...tokens: number[]): Given => ({ ...say(text), tokens });
    expect(fork([ask('Your name?')], [ask('Your name?')])).toBeNull();
    expect(fork([ask('Your name?', 1)], [ask('Your name?')])).toBeNull();
    expect(fork([ask('Your name?'), ask('And zip?')], [ask('Your name?', 1), ask('And the zip?', 2)])).toEqual({
      turn: 1,
      act: false,
      tokens: null,
    });
    expect(fork([ask('Your name?'), { ...call('find'), tokens: [] }], [ask('Name?'), ask('Zip?')])).toEqual({
      turn: 1,
      act: true,
      tokens: null,
    });
  });
});

test('the goal and the final database, one line per row', () => {
  expect(goalLines([row])).toEqual(['orders/#W1: status pending → cancelled']);
  const wide: RowChange = { ...row, before: {}, after: { a: 1, b: 2, c: 3, d: 'x'.repeat(99) } };
  expect(goalLines([wide])).toEqual(['orders/#W1: a 1, b 2, c 3, and 1 more']);
  expect(finalLines({ changes: [row], goal: [row] })).toEqual([]);
  expect(finalLines({ changes: [], goal: [row] })).toEqual([{ row: 'orders/#W1', state: 'missing', fields: ['status'] }]);
  expect(finalLines({ changes: [{ ...row, key: '#W2' }], goal: [] })).toMatchObject([{ row: 'orders/#W2', state: 'unexpected' }]);
  expect(finalLines({ changes: [{ ...row, after: { status: 'returned' } }], goal: [row] })).toEqual([
    { row: 'orders/#W1', state: 'wrong', fields: ['status'] },
  ]);
});

test('columns follow the sort order, and the divergence uses only rollouts with stored text', () => {
  const summary = (index: number, reward: number, turns: number) => ({ id: `1-0-${index}`, index, reward, turns }) as RolloutSummary;
  const rollouts = [summary(0, 0, 5), summary(1, 1, 9), summary(2, 1, 3)];
  const told = (id: string, words: Given[]) => [id, { ...conversation(words), id } as Trajectory] as const;
  const trajectories = new Map([told('1-0-0', [user('x'), say('Your name?')]), told('1-0-2', [user('x'), call('f'), result('f')])]);
  const { columns, parting } = columnsOf(rollouts, trajectories, '');
  expect(columns.map(({ at }) => at)).toEqual([0, -1, 1]);
  // The successful one of two rollouts is the majority.
  expect(parting.leaves).toEqual([0, null]);
  expect(columnsOf(rollouts, trajectories, 'reward').columns.map(({ rollout, at }) => [rollout.index, at])).toEqual([
    [1, -1],
    [2, 1],
    [0, 0],
  ]);
  expect(columnsOf(rollouts, trajectories, 'turns').columns.map(({ rollout }) => rollout.index)).toEqual([2, 0, 1]);
});

test('at most two rollouts are pinned', () => {
  expect(pin(['a'], 'b')).toEqual(['a', 'b']);
  expect(pin(['a', 'b'], 'c')).toEqual(['b', 'c']);
  expect(pin(['a', 'b'], 'a')).toEqual(['b']);
});
