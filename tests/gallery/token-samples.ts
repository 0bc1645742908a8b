/** @file A sample conversation with exact tokens. It has every state of a token in every channel. */
import type { MessageNode } from '../../src/records/trajectory.ts';
import type { Second } from '../../src/app/conversation/tokens/channels.ts';
import type { Subject } from '../../src/app/conversation/tokens/subject.ts';
import { sequenceOf, type TokenSequence } from '../../src/app/conversation/tokens/sequence.ts';
import { Vocabulary } from '../../src/app/conversation/tokens/vocabulary.ts';
import { CONVERSATIONS } from './samples.ts';

/** Token texts in the vocabulary's alphabet. A token's id is its index. */
const names: string[] = [];
const CONTROL = /^<(\|.*\||\/?tool_\w+)>$/;

/** The ids of tokens given by their texts, separated by spaces. Ġ is a space, Ċ a line end; â and Ĥ¬ are the two halves of a €. */
function ids(text: string): number[] {
  return text.split(' ').map((name) => (names.includes(name) ? names.indexOf(name) : names.push(name) - 1));
}

const read = (text: string) => text.replaceAll(' ', '').replaceAll('Ġ', ' ').replaceAll('Ċ', '\n').replaceAll('âĤ¬', '€');

/** A message that the model did not sample: from the customer, a tool or the template. */
function given(id: number, role: MessageNode['role'], before: string, text: string, after: string): MessageNode {
  const tokens = ids([before, text, after].filter(Boolean).join(' '));
  return {
    id,
    parent: id === 0 ? null : id - 1,
    role,
    text: read(text),
    tokens,
    mask: tokens.map(() => 0),
    logprobs: tokens.map(() => null),
  };
}

/** A message that the model sampled. The first token has no values, the second has zeros, and the others have waves of values. */
function sampled(id: number, text: string): MessageNode {
  const tokens = ids(text);
  const column = <T>(zero: T, value: (t: number) => T) => tokens.map((_, t) => (t === 0 ? null : t === 1 ? zero : value(t)));
  const logprob = (t: number) => -0.02 - 2 * Math.abs(Math.sin(0.9 * t)) ** 3;
  const kept = Object.fromEntries(
    ['yes', 'Shall', 'ĠI', '<tool_call>', 'â'].flatMap((name, n) => [
      [`top_${n + 1}_id`, tokens.map((token, t) => (t === 4 ? (n === 1 ? token : ids(name)[0]!) : null))],
      [`top_${n + 1}_logprob`, tokens.map((_, t) => (t === 4 ? Math.log(0.5 / 2 ** n) : null))],
    ]),
  );
  return {
    id,
    parent: id - 1,
    role: 'assistant',
    text: read(text),
    content: read(text),
    tokens,
    mask: tokens.map(() => 1),
    logprobs: column(0, logprob),
    annotations: {
      ref_logprobs: column(0, (t) => 1.3 * logprob(t)),
      entropy: column(0, (t) => Math.abs(Math.sin(t))),
      ratio: column(1, (t) => 1 + 0.4 * Math.sin(0.8 * t)),
      advantage: column(0, (t) => (t % 4 < 2 ? 0.9 : -0.9)),
      delta_p: column(0, (t) => 0.2 * Math.sin(1.1 * t)),
      ...kept,
    },
  };
}

const NODES: MessageNode[] = [
  given(0, 'system', '<|im_start|> system Ċ', 'Ask Ġbefore Ġyou Ġchange Ġanything .', '<|im_end|> Ċ'),
  given(1, 'user', '<|im_start|> user Ċ', 'Cancel Ġit , Ġplease . Ġ<img Ġsrc =x Ġonerror =alert (1 )>', '<|im_end|> Ċ'),
  given(2, 'template', '<|im_start|> assistant Ċ', '', ''),
  sampled(3, 'Shall ĠI Ġcancel Ġyour Ġorder Ġof Ġ â Ĥ¬ 10 , Ġyes Ġor Ġno ? Ġ<script> alert (1 )</script> <|im_end|>'),
  given(4, 'template', 'Ċ', '', ''),
  given(5, 'user', '<|im_start|> user Ċ', 'yes', '<|im_end|> Ċ'),
  {
    ...given(6, 'tool', '<|im_start|> user Ċ <tool_response> Ċ', 'Done', 'Ċ </tool_response> <|im_end|> Ċ'),
    toolResult: { name: 'cancel_pending_order', error: false, index: 0, changes: [], ms: 2 },
  },
];
const TOKENS = { nodes: NODES, leaf: NODES.length - 1 };

/** Made-up scores of the same tokens by other weights: other waves, and the same alternatives at each token. */
function secondOf({ ids: tokens }: TokenSequence): Second {
  const wave = (value: (t: number) => number) => Float32Array.from(tokens, (_, t) => value(t));
  const others = ids('no Shall Ġyour');
  const top = Uint32Array.from([...tokens].flatMap(() => others));
  return {
    name: 'nano-retail',
    scores: {
      logprobs: wave((t) => -Math.abs(Math.cos(0.7 * t))),
      entropies: wave((t) => Math.abs(Math.cos(t))),
      top: { k: others.length, ids: top, logprobs: Float32Array.from(top, (_, i) => Math.log(0.6 / 2 ** (i % others.length))) },
    },
  };
}

const TOKENIZER = {
  model: { vocab: Object.fromEntries(names.flatMap((name, id) => (CONTROL.test(name) ? [] : [[name, id]]))) },
  added_tokens: names.flatMap((content, id) => (CONTROL.test(content) ? [{ id, content }] : [])),
};

const trajectory = {
  ...CONVERSATIONS[0]!,
  ...TOKENS,
  violations: [{ rule: 'unconfirmed_write' as const, call: 0, detail: 'cancel_pending_order' }],
};

export const INSPECTED: Subject = {
  route: { name: 'branch', id: trajectory.id },
  place: 'branches',
  facts: { reward: null, termination: 'user_stop', turns: 1, tokens: 60, intent: 'cancel' },
  trajectory,
  model: 'nano-retail',
  config: {},
  vocabulary: new Vocabulary(TOKENIZER),
  group: [{ id: 'first' }, { id: 'second' }],
  read: () => Promise.resolve(trajectory),
  sibling: () => undefined,
};

export const SECOND = secondOf(sequenceOf(trajectory));
