/** The trajectory inspector's logic: token texts, channels and their scales, marks, keys, search. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { generationPrompt, QWEN, renderToolResponses, renderUser } from '../../../src/agent/chat-template.ts';
import type { MessageNode } from '../../../src/records/trajectory.ts';
import {
  alternatives,
  channelValues,
  intensity,
  isSecond,
  secondAlternatives,
  type Second,
  k3,
  percentile,
  pressure,
  scaleOf,
  stateOf,
  strength,
} from '../../../src/app/conversation/tokens/channels.ts';
import { findText } from '../../../src/app/conversation/tokens/find.ts';
import { blocksOf, markOf } from '../../../src/app/conversation/tokens/marks.ts';
import { commandOf, cycle, nextWrite, stepToken, stepMessage } from '../../../src/app/conversation/tokens/navigation.ts';
import { sequenceOf, type Span, spanAt, textOf } from '../../../src/app/conversation/tokens/sequence.ts';
import { drawn, Vocabulary } from '../../../src/app/conversation/tokens/vocabulary.ts';
import { loadTokenizer, randomStrings } from '../../support/tokenizers.ts';

const folder = (name: string) => readFileSync(new URL(`../../../models/nano-retail/${name}`, import.meta.url), 'utf8');
const tokenizer = loadTokenizer({ 'tokenizer.json': folder('tokenizer.json'), 'tokenizer_config.json': folder('tokenizer_config.json') });
const vocabulary = new Vocabulary(JSON.parse(folder('tokenizer.json')));

const given = (id: number, role: MessageNode['role'], text: string, rendered: string): MessageNode => {
  const tokens = tokenizer.encode(rendered);
  return { id, parent: id === 0 ? null : id - 1, role, text, tokens, mask: tokens.map(() => 0), logprobs: tokens.map(() => null) };
};
const sampled = (id: number, text: string, more: Partial<MessageNode> = {}): MessageNode => {
  const tokens = tokenizer.encode(text);
  return {
    id,
    parent: id - 1,
    role: 'assistant',
    text,
    tokens,
    mask: tokens.map(() => 1),
    logprobs: tokens.map((_, t) => -(t + 1) / 10),
    ...more,
  };
};
const nodes = [
  given(0, 'user', 'user', renderUser(QWEN, 'user')),
  given(1, 'template', '', generationPrompt(QWEN)),
  sampled(2, 'Grüße, 学生 <b>yes</b>\nno<|im_end|>'),
  given(3, 'template', '', '\n'),
  given(4, 'tool', '{"a": 1}', renderToolResponses(QWEN, ['{"a": 1}'])),
];
const sequence = sequenceOf({ nodes, leaf: 4 });
const agent = sequence.spans[2]!;

describe('token texts', () => {
  test('joined bytes are the text that the tokenizer decodes', () => {
    for (const text of randomStrings(60, 11)) {
      const ids = tokenizer.encode(text);
      expect(vocabulary.pieces(ids).join('')).toBe(tokenizer.decode(ids));
    }
  });

  test('a token that is part of a character is shown as bytes, and the character belongs to its last token', () => {
    const ids = tokenizer.encode('学');
    expect(ids.length).toBeGreaterThan(1);
    expect(ids.map((id) => vocabulary.token(id).kind)).toEqual(ids.map(() => 'bytes'));
    expect(
      ids
        .map((id) => drawn(vocabulary.token(id)))
        .join('')
        .replaceAll('⟩⟨', ' '),
    ).toBe('⟨E5 AD A6⟩');
    expect(vocabulary.pieces(ids)).toEqual([...ids.slice(1).map(() => ''), '学']);
    expect(vocabulary.pieces(ids.slice(0, -1)).join('')).toBe('\ufffd');
  });

  test('control tokens, unknown ids, white space and invisible characters', () => {
    const text = (value: string) => ({ id: 0, kind: 'text', bytes: new Uint8Array(), text: value }) as const;
    expect(vocabulary.token(tokenizer.id('<|im_end|>'))).toMatchObject({ kind: 'control', text: '<|im_end|>' });
    expect(drawn(vocabulary.token(999_999))).toBe('⟨999999⟩');
    expect(drawn(text(' a  b\n'))).toBe('\u200b▁a\u200b▁▁b⏎\n');
    expect(drawn(text('\u202ealert\u0007'))).toBe('⟨U+202E⟩alert⟨U+0007⟩');
    expect(drawn(text('<img src=x>'))).toContain('<img');
  });

  test.each([
    [null, /model.vocab/],
    [{ model: { vocab: [] } }, /model.vocab/],
    [{ model: { vocab: {} }, added_tokens: [{ id: 'x' }] }, /added_tokens/],
  ])('%j is not a tokenizer', (file, message) => {
    expect(() => new Vocabulary(file)).toThrow(message);
  });
});

describe('sequence', () => {
  test('positions find their message', () => {
    expect(spanAt(sequence, 0)?.node.id).toBe(0);
    expect(spanAt(sequence, agent.start)?.node.id).toBe(2);
    expect(spanAt(sequence, agent.start - 1)?.node.id).toBe(1);
    expect(spanAt(sequence, sequence.length)).toBeUndefined();
    expect(spanAt(sequence, -1)).toBeUndefined();
  });

  test('the template around a text is distinguished from an equal text', () => {
    const text = textOf(sequence, vocabulary)!;
    const own = (span: (typeof sequence.spans)[number]) =>
      text.pieces
        .slice(span.start, span.end)
        .filter((_, t) => !text.scaffold[span.start + t])
        .join('');
    expect(own(sequence.spans[0]!)).toBe('user');
    expect(own(sequence.spans[1]!)).toBe('');
    expect(own(agent)).toBe(nodes[2]!.text);
    // A token that contains text and the template's line break counts as text.
    expect(own(sequence.spans[4]!).trim()).toBe('{"a": 1}');
  });

  test('another tokenizer than the run’s is detected by the stored text', () => {
    expect(
      textOf(sequenceOf({ nodes: [...nodes.slice(0, 2), { ...nodes[2]!, text: 'other' }, ...nodes.slice(3)], leaf: 4 }), vocabulary),
    ).toBeNull();
  });
});

describe('channels', () => {
  test('k3 and pressure', () => {
    expect(k3(-1, -1)).toBe(0);
    expect(k3(-1, -2)).toBeCloseTo(Math.exp(-1) + 1 - 1, 12);
    expect(k3(-2, -1)).toBeCloseTo(Math.E - 2, 12);
    expect(pressure(2, Math.log(0.25))).toBeCloseTo(1.5, 12);
    expect(pressure(-1, 0)).toBeCloseTo(0, 12);
  });

  const annotated = () => {
    const tokens = agent.end - agent.start;
    const fill = (value: (t: number) => number | null) => Array.from({ length: tokens }, (_, t) => value(t));
    const node = {
      ...nodes[2]!,
      annotations: {
        ref_logprobs: fill((t) => (t === 0 ? null : -(t + 1) / 10)),
        ratio: fill((t) => (t === 1 ? 1.5 : 1)),
        top_1_id: fill((t) => t),
        top_1_logprob: fill(() => -0.5),
        top_2_id: fill((t) => (t === 0 ? null : 7)),
        top_2_logprob: fill(() => -1),
      },
    };
    return sequenceOf({ nodes: nodes.map((one) => (one.id === 2 ? node : one)), leaf: 4 });
  };

  test('null, zero and masked are different', () => {
    const values = channelValues(annotated(), null);
    const [masked, unknown, zero] = [0, agent.start, agent.start + 1].map((at) => stateOf('kl', sequence.mask[at] === 1, values.kl[at]!));
    expect([masked, unknown, zero]).toEqual(['masked', 'null', 'zero']);
    expect(stateOf('logprob', true, values.logprob[agent.start]!)).toBe('value');
    expect(stateOf('ratio', true, 1)).toBe('zero');
    expect(stateOf('advantage', true, channelValues(annotated(), 0).advantage[agent.start]!)).toBe('zero');
    expect(stateOf('advantage', true, values.advantage[agent.start]!)).toBe('null');
    expect(stateOf('pressure', true, values.pressure[agent.start]!)).toBe('null');
  });

  test('without stored advantages, sampled tokens have the advantage of the rollout', () => {
    const { advantage, pressure: push } = channelValues(sequence, -2);
    expect([...new Set(advantage.slice(agent.start, agent.end))]).toEqual([-2]);
    expect(advantage[0]).toBeNaN();
    expect(push[agent.start]).toBeCloseTo(-2 * (1 - Math.exp(-0.1)), 12);
  });

  test('if the tokens have different advantages, each token shows its own, even where it is close to the mean of the rollout', () => {
    const stored = (at: (t: number) => number) => {
      const advantage = Array.from({ length: agent.end - agent.start }, (_, t) => at(t));
      const trained = nodes.map((node) => (node.id === 2 ? { ...node, annotations: { advantage } } : node));
      return [...channelValues(sequenceOf({ nodes: trained, leaf: 4 }), -2).advantage.slice(agent.start, agent.end)];
    };
    const [first, ...rest] = stored((t) => (t === 0 ? -2.0001 : 1.5));
    expect(first).toBe(-2.0001);
    expect(new Set(rest)).toEqual(new Set([1.5]));
    // A recorded run has only four digits of one number for all tokens.
    expect(new Set(stored(() => -2.0001))).toEqual(new Set([-2]));
  });

  test('strengths and intensities', () => {
    expect(strength('logprob', -3)).toBe(3);
    expect(strength('ratio', 0.5)).toBe(-0.5);
    expect(intensity('logprob', -1, 4)).toBe(0.25);
    expect(intensity('entropy', 9, 4)).toBe(1);
    expect(intensity('kl', -1, 4)).toBe(0);
    expect(intensity('pressure', -8, 4)).toBe(-1);
  });

  test('a scale is the 99th percentile of the known values of one or several rollouts, and at least the minimum', () => {
    expect(
      percentile(
        Array.from({ length: 100 }, (_, i) => 100 - i),
        0.99,
      ),
    ).toBe(99);
    expect(percentile([5], 0.99)).toBe(5);
    expect(percentile([], 0.99)).toBeNull();
    const one = { values: channelValues(sequence, 1), mask: sequence.mask };
    const twice = { values: { ...one.values, logprob: one.values.logprob.map((v) => 2 * v) }, mask: one.mask };
    const strongest = (agent.end - agent.start) / 10;
    expect(scaleOf('logprob', [one])).toEqual({ clip: expect.closeTo(strongest, 12), p99: expect.closeTo(strongest, 12), rollouts: 1 });
    expect(scaleOf('logprob', [one, twice])).toMatchObject({ clip: expect.closeTo(2 * strongest, 12), rollouts: 2 });
    expect(scaleOf('entropy', [one])).toEqual({ clip: 0.01, p99: null, rollouts: 0 });
    expect(scaleOf('logprob', [one], 100).clip).toBe(100);
  });

  test('alternatives are the stored alternatives', () => {
    expect(alternatives(annotated(), agent.start)).toEqual([{ id: 0, logprob: -0.5 }]);
    expect(alternatives(annotated(), agent.start + 1)).toEqual([
      { id: 1, logprob: -0.5 },
      { id: 7, logprob: -1 },
    ]);
    expect(alternatives(sequence, agent.start)).toEqual([]);
  });

  test('other weights score sampled tokens only', () => {
    const scores = {
      logprobs: new Float32Array(sequence.length).fill(-0.5),
      entropies: new Float32Array(sequence.length).fill(0.25),
      top: { k: 2, ids: new Uint32Array(2 * sequence.length), logprobs: new Float32Array(2 * sequence.length) },
    };
    scores.top.ids.set([5, 6], 2 * agent.start);
    scores.top.logprobs.set([-0.25, -2], 2 * agent.start);
    const second: Second = { name: 'm', scores };
    const values = channelValues(sequence, null, second);
    expect([values.by_logprob[agent.start], values.by_entropy[agent.start]]).toEqual([-0.5, 0.25]);
    expect(values.by_delta_p[agent.start]).toBeCloseTo(Math.exp(-0.5) - Math.exp(-0.1), 6);
    expect([values.by_logprob[0], values.by_delta_p[0], channelValues(sequence, null).by_logprob[agent.start]]).toEqual([NaN, NaN, NaN]);
    expect(secondAlternatives(second, agent.start)).toEqual([
      { id: 5, logprob: -0.25 },
      { id: 6, logprob: -2 },
    ]);
    const source = { sequence, values, second, band: { low: 0.8, high: 1.2 }, vocabulary, text: null };
    expect(markOf(source, agent.start).style).toContain('--by_logprob:-0.500');
    expect(markOf({ ...source, values: channelValues(sequence, null), second: null }, agent.start).className).not.toContain('by_');
    expect((['by_entropy', 'entropy'] as const).map(isSecond)).toEqual([true, false]);
  });

  test('marks give states as classes and numbers as properties', () => {
    const shown = annotated();
    const source = {
      sequence: shown,
      values: channelValues(shown, null),
      second: null,
      band: { low: 0.8, high: 1.2 },
      vocabulary,
      text: textOf(shown, vocabulary),
    };
    const first = markOf(source, agent.start);
    expect(first.className.split(' ')).toEqual(expect.arrayContaining(['t', 's', 'n-kl', 'n-entropy', 'z-ratio']));
    expect(first.style).toContain('--logprob:-0.100');
    expect(first.style).not.toContain('--kl');
    expect(markOf(source, agent.start + 1).className.split(' ')).toEqual(expect.arrayContaining(['z-kl', 'o']));
    expect(markOf(source, 0)).toEqual({ text: '<|im_start|>', className: 't k m f', style: '' });
    expect(markOf({ ...source, vocabulary: null, text: null }, 0).text).toBe(`⟨${shown.ids[0]}⟩`);
  });

  test('blocks contain every token once and end at line ends', () => {
    const span = { ...agent, start: 10, end: 1010 };
    const blocks = blocksOf(span, (at) => at % 150 === 149);
    expect(blocks.length).toBeGreaterThan(1);
    expect(blocks[0]![0]).toBe(10);
    expect(blocks.at(-1)![1]).toBe(1010);
    blocks.slice(1).forEach(([from], i) => {
      expect(from).toBe(blocks[i]![1]);
      expect(from % 150).toBe(0);
    });
    expect(blocksOf({ ...span, end: 10 }, () => true)).toEqual([]);
  });
});

describe('keys', () => {
  const press = (key: string, more: Partial<KeyboardEvent> = {}) => ({
    key,
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    defaultPrevented: false,
    ...more,
  });
  test('select commands, but not with a modifier key and not in text fields', () => {
    expect(commandOf(press('j'), false)).toBe('next-message');
    expect(commandOf(press('/'), false)).toBe('find');
    expect(commandOf(press('j', { ctrlKey: true }), false)).toBeNull();
    expect(commandOf(press('j'), true)).toBeNull();
    expect(commandOf(press('Escape'), true)).toBe('close');
    expect(commandOf(press('C'), false)).toBe('previous-channel');
    expect(commandOf(press('x'), false)).toBeNull();
  });

  test('steps through messages stop at the first and the last message', () => {
    const shown = sequence.spans.filter(({ node }) => node.role !== 'template');
    expect(stepMessage(shown, null, 1)?.node.id).toBe(0);
    expect(stepMessage(shown, null, -1)?.node.id).toBe(4);
    expect(stepMessage(shown, 0, 1)?.node.id).toBe(2);
    expect(stepMessage(shown, 4, 1)?.node.id).toBe(4);
    expect(stepMessage([], null, 1)).toBeUndefined();
  });

  test('the next write is found, and the search continues at the start', () => {
    const wrote = (id: number, changes: number) =>
      ({ node: { id, toolResult: { changes: Array(changes) } }, start: 0, end: 0 }) as unknown as Span;
    const spans = [wrote(1, 0), wrote(2, 1), wrote(3, 0), wrote(4, 2)];
    expect([null, 1, 2, 4].map((from) => nextWrite(spans, from)?.node.id)).toEqual([2, 2, 4, 2]);
    expect(nextWrite([wrote(1, 0)], null)).toBeUndefined();
    expect(['a', 'c'].map((at) => cycle(['a', 'b', 'c'], at, -1))).toEqual(['c', 'b']);
  });

  test('steps through tokens skip hidden messages', () => {
    const shown = sequence.spans.filter(({ node }) => node.role !== 'template');
    const [user, , , , tool] = sequence.spans;
    expect(stepToken(shown, null, null, 1)).toBe(agent.start);
    expect(stepToken(shown, null, 0, 1)).toBe(0);
    expect(stepToken(shown, agent.start, null, 1)).toBe(agent.start + 1);
    expect(stepToken(shown, agent.end - 1, null, 1)).toBe(tool!.start);
    expect(stepToken(shown, agent.start, null, -1)).toBe(user!.end - 1);
    expect(stepToken(sequence.spans, agent.start, null, -1)).toBe(agent.start - 1);
    expect(stepToken(shown, 0, null, -1)).toBe(0);
    expect(stepToken(shown, sequence.length - 1, null, 1)).toBe(sequence.length - 1);
    // A link into a hidden message.
    expect(stepToken(shown, agent.start - 1, null, 1)).toBe(agent.start);
    expect(stepToken(shown, agent.start - 1, null, -1)).toBe(user!.end - 1);
    expect(stepToken([], null, null, 1)).toBeNull();
  });

  test('steps through a list continue at the start', () => expect([cycle(['a', 'b'], 'a'), cycle(['a', 'b'], 'b')]).toEqual(['b', 'a']));
});

describe('finding', () => {
  const { pieces } = textOf(sequence, vocabulary)!;
  const textAt = ({ start, end }: { start: number; end: number }) => pieces.slice(start, end).join('');
  test('finds text across tokens, ignores case, and returns the tokens of the match', () => {
    const found = findText(sequence.spans, pieces, 'GRÜSSE'.replace('SS', 'ß'));
    expect(found).toHaveLength(1);
    expect(found[0]!.start).toBe(agent.start);
    expect(textAt(found[0]!).toLowerCase()).toContain('grüße');
    const all = findText(sequence.spans, pieces, 'user');
    // The role and the message.
    expect(all.length).toBe(3);
    for (const match of all) expect(textAt(match)).toContain('user');
  });
  test('an empty text matches nothing', () => expect(findText(sequence.spans, pieces, '')).toEqual([]));
  test('without texts of tokens the text of the message is searched', () => {
    expect(findText(sequence.spans, null, 'yes')).toEqual([{ start: agent.start, end: agent.start + 1 }]);
  });
});
