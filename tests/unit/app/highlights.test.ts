/** Highlights of a conversation: which tokens are found, in which order, in which words, and why a kind is absent. */
import { describe, expect, test } from 'vitest';
import { channelValues, type Second } from '../../../src/app/conversation/tokens/channels.ts';
import {
  byPosition,
  type HighlightKind,
  type HighlightSource,
  highlightsOf,
  stepPosition,
} from '../../../src/app/conversation/tokens/highlights.ts';
import { sequenceOf, textOf } from '../../../src/app/conversation/tokens/sequence.ts';
import { tipOf } from '../../../src/app/conversation/tokens/tip.ts';
import { Vocabulary } from '../../../src/app/conversation/tokens/vocabulary.ts';
import type { MessageNode, Trajectory } from '../../../src/records/trajectory.ts';

const WORDS = ['Hi', 'yes', 'no', 'ok', '{"name":"', 'cancel', '"}'];
const vocabulary = new Vocabulary({ model: { vocab: Object.fromEntries(WORDS.map((word, id) => [word, id])) } });
const ids = (words: string[]) => words.map((word) => WORDS.indexOf(word));
const node = (id: number, role: MessageNode['role'], words: string[], more: Partial<MessageNode> = {}): MessageNode => ({
  id,
  parent: id === 0 ? null : id - 1,
  role,
  text: words.join(''),
  tokens: ids(words),
  mask: words.map(() => Number(role === 'assistant')),
  logprobs: words.map(() => (role === 'assistant' ? Math.log(0.75) : null)),
  ...more,
});
const changed = (...keys: string[]) => keys.map((key) => ({ table: 'orders', key, before: null, after: null, call: 0 }));
const result = (index: number, keys: string[]) => ({
  toolResult: { name: 'cancel', error: false, index, changes: changed(...keys), ms: 1 } as NonNullable<MessageNode['toolResult']>,
});

/** Positions: 0 customer; 1–4 agent; 5 customer; 6–8 call; 9 its result, which wrote. */
const P = [0.9, 0.25, 0.5, 0.1];
const nodes = (annotations: MessageNode['annotations'] = {}) => [
  node(0, 'user', ['Hi']),
  node(1, 'assistant', ['Hi', 'yes', 'no', 'ok'], { logprobs: P.map(Math.log), annotations }),
  node(2, 'user', ['ok']),
  node(3, 'assistant', ['{"name":"', 'cancel', '"}']),
  node(4, 'tool', ['ok'], result(0, ['#W1', '#W2'])),
];

function source(
  all: MessageNode[],
  advantage: number | null,
  more: { second?: Second; violations?: Trajectory['violations'] } = {},
): HighlightSource {
  const sequence = sequenceOf({ nodes: all, leaf: all.length - 1 });
  const { second = null, violations = [] } = more;
  return {
    sequence,
    values: channelValues(sequence, advantage, second),
    second,
    vocabulary,
    text: textOf(sequence, vocabulary),
    trajectory: { violations, task: { domain: 'retail' } as Trajectory['task'] },
  };
}
const kind = (of: HighlightSource, name: HighlightKind) => highlightsOf(of).find((group) => group.kind === name)!;
const sentences = (of: HighlightSource, name: HighlightKind) =>
  kind(of, name).highlights.map(({ position, sentence }) => [position, sentence]);

describe('pushes', () => {
  test('the three largest pushes are listed, the largest first, with the change of probability where it is stored', () => {
    expect(sentences(source(nodes({ delta_p: [0.01, 0.031, 0, -0.02] }), 1.6), 'push')).toEqual([
      [4, '“ok” was pushed up by 1.44: advantage 1.6 × (1 − 10 %). The update lowered its probability by 2 percentage points.'],
      [2, '“yes” was pushed up by 1.2: advantage 1.6 × (1 − 25 %). The update raised its probability by 3.1 percentage points.'],
      [3, '“no” was pushed up by 0.8: advantage 1.6 × (1 − 50 %).'],
    ]);
    expect(sentences(source(nodes(), -1), 'push')[0]).toEqual([4, '“ok” was pushed down by 0.9: advantage −1 × (1 − 10 %).']);
  });

  test('of equal pushes the earlier is first', () => {
    const same = nodes().map((one) => ({ ...one, logprobs: one.logprobs.map((value) => value && Math.log(0.5)) }));
    expect(kind(source(same, 1), 'push').highlights.map(({ position }) => position)).toEqual([1, 2, 3]);
  });

  test('without an advantage, or with advantage 0, the reason says so', () => {
    expect(kind(source(nodes(), null), 'push')).toMatchObject({
      highlights: [],
      reason: expect.stringContaining('No advantage is stored'),
    });
    expect(kind(source(nodes(), 0), 'push')).toMatchObject({
      highlights: [],
      reason: expect.stringContaining('advantage of this rollout is 0'),
    });
  });
});

describe('uncertain choices', () => {
  const stored = {
    entropy: [0.001, 0.8, 1.2, null],
    top_1_id: ids(['Hi', 'no', 'no', 'ok']),
    top_1_logprob: [0.9, 0.6, 0.5, 0.1].map(Math.log),
  };

  test('are ranked by entropy, and name the most likely token if another was sampled', () => {
    expect(sentences(source(nodes(stored), 1), 'uncertain')).toEqual([
      [3, '“no” was sampled with probability 50 %, entropy 1.2 nats.'],
      [2, '“yes” was sampled with probability 25 %, entropy 0.8 nats. The most likely token was “no”, 60 %.'],
    ]);
  });

  test('without stored entropies those of the chosen weights are used, else the reason says what to do', () => {
    expect(kind(source(nodes(), 1), 'uncertain').reason).toContain('“Scored by”');
    expect(sentences(source(nodes(), 1, { second: scored({ 4: 'ok' }) }), 'uncertain')[0]).toEqual([
      1,
      '“Hi” was sampled with probability 90 %, entropy 0.5 nats by later.',
    ]);
  });
});

/** Scores by weights named `later`, whose most likely token is the sampled one, except at the given positions. */
function scored(other: Record<number, string>): Second {
  const { length, ids: sampled } = sequenceOf({ nodes: nodes(), leaf: 4 });
  const top = Uint32Array.from(sampled, (id, t) => (other[t] ? WORDS.indexOf(other[t]) : id));
  const logprobs = new Float32Array(length).fill(Math.log(0.5));
  return { name: 'later', scores: { logprobs, entropies: new Float32Array(length).fill(0.5), top: { k: 1, ids: top, logprobs } } };
}

describe('flips', () => {
  const before = { top_1_id: ids(['Hi', 'no', 'no', 'yes']), top_1_logprob: [0.9, 0.6, 0.5, 0.3].map(Math.log) };

  test('are the tokens where the most likely token before and after the update differ, the surest first', () => {
    const after = { after_top_1_id: ids(['Hi', 'yes', 'no', 'ok']), after_top_1_logprob: [0.9, 0.5, 0.5, 0.7].map(Math.log) };
    expect(sentences(source(nodes({ ...before, ...after }), 1), 'flip')).toEqual([
      [4, 'The most likely token was “yes” (30 %); after the update it is “ok” (70 %).'],
      [2, 'The most likely token was “no” (60 %); after the update it is “yes” (50 %).'],
    ]);
    expect(kind(source(nodes({ ...before, after_top_1_id: before.top_1_id, after_top_1_logprob: [0, 0, 0, 0] }), 1), 'flip').reason).toBe(
      'The most likely token after the update is the same at all 4 tokens where both are known.',
    );
  });

  test('by chosen weights are compared with what is known: the stored token, else a sampled token above 50 %', () => {
    // Position 7 has probability 75 %, so it was the most likely token. At position 2 nothing is known.
    const found = sentences(source(nodes(), 1, { second: scored({ 2: 'no', 7: 'ok' }) }), 'flip');
    expect(found).toEqual([[7, 'The most likely token was “cancel” (75 %); by later it is “ok” (50 %).']]);
    expect(kind(source(nodes(), 1, { second: scored({}) }), 'flip').reason).toContain('at all 4 tokens where both are known');
  });

  test('are absent where nothing after the update is stored', () => {
    expect(kind(source(nodes(before), 1), 'flip')).toMatchObject({ highlights: [], reason: expect.stringContaining('are not stored') });
  });
});

describe('writes and broken rules', () => {
  test('are at the token where the tool’s name begins', () => {
    const of = source(nodes(), 1, { violations: Array(2).fill({ rule: 'unconfirmed_write', call: 0, detail: '' }) });
    expect(sentences(of, 'write')).toEqual([[7, 'cancel changed 2 rows: orders.']]);
    expect(sentences(of, 'violation')).toEqual([[7, 'cancel: the agent changed data without asking.']]);
    expect([...byPosition(highlightsOf(of))].find(([at]) => at === 7)![1].map((highlight) => highlight.kind)).toEqual([
      'write',
      'violation',
    ]);
  });

  test('of more than three writes, those with most rows are listed and the others counted', () => {
    const many = [node(0, 'user', ['Hi'])];
    for (const keys of [['a'], ['a', 'b'], ['a'], ['c'], []]) {
      many.push(node(many.length, 'assistant', ['{"name":"', 'cancel', '"}']));
      many.push(node(many.length, 'tool', ['ok'], result(many.length, keys)));
    }
    const { highlights, more } = kind(source(many, 1), 'write');
    expect(highlights.map(({ sentence }) => sentence)).toEqual([
      'cancel changed 2 rows: orders.',
      ...Array(2).fill('cancel changed 1 row: orders a.'),
    ]);
    expect(more).toBe(1);
  });

  test('without them the reason says so', () => {
    const none = source([node(0, 'user', ['Hi']), node(1, 'assistant', ['ok'])], 1);
    expect([kind(none, 'write').reason, kind(none, 'violation').reason]).toEqual([
      'No call of the agent changed the database.',
      'No rule was broken.',
    ]);
  });
});

test('a conversation that the agent did not sample has no highlights of tokens', () => {
  const of = source([node(0, 'user', ['Hi'])], null);
  expect(highlightsOf(of).map(({ highlights }) => highlights.length)).toEqual([0, 0, 0, 0, 0]);
  expect(kind(of, 'flip').reason).toBe('The agent sampled no token in this conversation.');
});

test('steps from highlight to highlight start again at the other end', () => {
  expect([stepPosition([2, 5, 9], null, 1), stepPosition([2, 5, 9], null, -1)]).toEqual([2, 9]);
  expect([stepPosition([2, 5, 9], 5, 1), stepPosition([2, 5, 9], 5, -1), stepPosition([2, 5, 9], 6, -1)]).toEqual([9, 2, 5]);
  expect([stepPosition([2, 5, 9], 9, 1), stepPosition([2, 5, 9], 2, -1), stepPosition([], 2, 1)]).toEqual([2, 9, null]);
});

describe('the box beside a token', () => {
  const of = { ...source(nodes({ entropy: [0.5, 0.5, 0.5, 0.5], ratio: [1.25, 1, 1, 1] }), 1), band: { low: 0.8, high: 1.2 } };
  test('has the coloured value first, and only values that are stored', () => {
    expect(tipOf(of, 'ratio', [], 1)).toEqual({
      text: '“Hi”',
      note: '',
      values: [
        { label: 'importance ratio', value: '1.25' },
        { label: 'probability', value: '90 %' },
        { label: 'entropy', value: '0.5 nats' },
        { label: 'push', value: '+0.1' },
      ],
      highlights: '',
    });
  });
  test('says that a token was not sampled, and names its highlights', () => {
    expect(tipOf(of, 'none', [{ kind: 'write', position: 0, sentence: 'It wrote.' }], 0)).toEqual({
      text: '“Hi”',
      note: 'not sampled by the agent',
      values: [],
      highlights: 'write',
    });
  });
});
