/** The origin of a played conversation, and its common messages with another conversation. */
import { describe, expect, test } from 'vitest';
import { prefixAt } from '../../../src/agent/prefix.ts';
import type { MessageNode } from '../../../src/records/trajectory.ts';
import {
  forkAt,
  hasEnded,
  lastFork,
  lastNumber,
  ownMessages,
  parseFrom,
  parseToken,
  sharedMessages,
  worldName,
  writeFrom,
  writeToken,
} from '../../../src/app/branches/play-origin.ts';
import { href, parseHash, readQuery } from '../../../src/app/routes/routes.ts';

describe('from', () => {
  test.each([
    { place: 'recorded', id: '1-0-0', node: 12 },
    { place: 'b1c2@20', id: 'play-0-@3', node: 0 },
    { place: 'r', id: 'a/b@1', node: 7 },
    { place: 'a/b', id: 'c', node: 7 },
    { place: 'x,y', id: '50%', node: 1 },
    { place: '%2F', id: 'a:b?c#d&e=f', node: 1 },
    { place: 'ünï 訓練', id: '😀'.repeat(200), node: 1 },
  ])('%o is read back, also from an address', (from) => {
    expect(parseFrom(writeFrom(from))).toEqual(from);
    const { query } = parseHash(href({ name: 'play', domain: 'retail', task: 't' }, { from: writeFrom(from) }));
    expect(parseFrom(readQuery('play', query).from)).toEqual(from);
  });

  test('another token is read back, also from an address, and anything else is refused', () => {
    const token = { index: 12, id: 4095 };
    expect(writeToken(token)).toBe('12:4095');
    const { query } = parseHash(href({ name: 'play', domain: 'retail', task: 't' }, { from: 'r/a@1', token: writeToken(token) }));
    expect(parseToken(readQuery('play', query).token)).toEqual(token);
    expect(['', '12', '12:', ':3', '-1:3', '1:2:3', '1.5:2', 'a:b'].map(parseToken)).toEqual(Array(8).fill(null));
  });

  test('usual ids stay readable', () => {
    expect(writeFrom({ place: 'b1c2@20', id: 'eval-0-0', node: 3 })).toBe('b1c2@20/eval-0-0@3');
  });

  test.each([
    '',
    'recorded',
    'recorded/1-0-0',
    'recorded/1-0-0@',
    'recorded/1-0-0@x',
    '/1@2',
    'r/@3',
    'r/x@-1',
    'a/b/c@1',
    'a/%@1',
    'task:retail/nano@1',
  ])('%s is not an origin', (text) => {
    expect(parseFrom(text)).toBeNull();
  });

  test('goes through an address', () => {
    const from = writeFrom({ place: 'a b', id: 'c#d&e', node: 4 });
    const { route, query } = parseHash(href({ name: 'play', domain: 'retail', task: 'retail/nano/train/1/0' }, { from, as: 'agent' }));
    expect(route).toMatchObject({ name: 'play', task: 'retail/nano/train/1/0' });
    expect(readQuery('play', query)).toMatchObject({ from, as: 'agent', run: '', step: null });
  });
});

test('a task’s id names its world', () => {
  expect(
    ['retail/nano/train/1/0', 'telecom/full/heldout/3/9', 'tau1-retail/full/train/7', 'tau2-airline/full/base/a/b'].map(worldName),
  ).toEqual(['retail-nano', 'telecom-full', 'tau1-retail', 'tau2-airline']);
});

test('conversations share messages up to the first different token', () => {
  const nodes = (...tokens: number[][]) =>
    tokens.map((ids, id): MessageNode => ({
      id,
      parent: id ? id - 1 : null,
      role: id % 2 ? 'template' : 'user',
      text: '',
      tokens: ids,
      mask: [],
      logprobs: [],
    }));
  const a = nodes([1, 2], [3], [4]);
  expect(sharedMessages(a, nodes([1, 2], [3], [5]))).toBe(2);
  expect(sharedMessages(a, nodes([1, 2]))).toBe(1);
  expect(sharedMessages(a, nodes([1], [3]))).toBe(0);
  expect(sharedMessages(a, a)).toBe(3);
  expect(ownMessages({ nodes: a, leaf: 2 }, 1).map(({ id }) => id)).toEqual([2]);
});

test('a conversation that waits or lost its customer has not ended', () => {
  expect((['user_stop', 'max_turns', 'aborted', 'user_error'] as const).map((termination) => hasEnded({ termination }))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

describe('a fork', () => {
  const roles = [
    'system',
    'user',
    'template',
    'assistant',
    'template',
    'user',
    'template',
    'assistant',
    'tool',
    'template',
    'assistant',
    'template',
    'user',
  ] as const;
  const nodes = roles.map((role, id): MessageNode => ({
    id,
    parent: id ? id - 1 : null,
    role,
    text: id === 12 ? 'Bye ###STOP###' : '',
    tokens: [id],
    mask: [],
    logprobs: [],
    ...(id === 7 && { toolCall: { name: 'look', arguments: {} } }),
  }));
  const ended = (count: number) => ({ nodes: nodes.slice(0, count), leaf: count - 1, termination: 'user_stop' as const });

  test('keeps the same messages as a fork at the message itself, and never opens an ended conversation', () => {
    for (const count of [13, 11, 9]) {
      const trajectory = ended(count);
      for (const as of ['user', 'agent'] as const) {
        for (const { id } of trajectory.nodes.filter(({ role }) => role !== 'template')) {
          const at = forkAt(trajectory, id, as);
          const wanted = prefixAt(trajectory, id, as).nodes;
          if (at === null) expect(wanted.length).toBe(count);
          else {
            expect(at).not.toBe(trajectory.leaf);
            expect(prefixAt(trajectory, at, as).nodes).toEqual(wanted);
          }
        }
      }
    }
  });

  test('does not exist where no turn is left', () => {
    expect(forkAt(ended(13), 12, 'agent')).toBeNull();
    expect(forkAt(ended(13), 12, 'user')).not.toBeNull();
    expect(forkAt(ended(9), 7, 'user')).toBeNull();
    expect(forkAt({ ...ended(11), termination: 'aborted' }, 10, 'user')).toBe(10);
  });

  test('is offered at the last turn of the party', () => {
    expect(prefixAt(ended(13), lastFork(ended(13), 'user')!, 'user').nodes.length).toBe(12);
    expect(prefixAt(ended(13), lastFork(ended(13), 'agent')!, 'agent').nodes.length).toBe(9);
    expect(lastFork(ended(1), 'user')).toBeNull();
  });

  test('is named by the last message before it', () => {
    expect([0, 1, 2, 3, 5].map((count) => lastNumber(ended(13), count))).toEqual([null, null, 1, 1, 2]);
  });
});
