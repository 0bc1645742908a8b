/** Where a played conversation begins, and how far it is the same as another. */
import { describe, expect, test } from 'vitest';
import type { MessageNode } from '../../src/agent/types.ts';
import { hasEnded, ownMessages, parseFrom, sharedMessages, worldName, writeFrom } from '../../src/app/logic/play-origin.ts';
import { href, parseHash, readQuery } from '../../src/app/logic/routes.ts';

describe('from', () => {
  test.each([{ run: 'recorded', rollout: '1-0-0', node: 12 }, { run: 'b1c2', rollout: 'play-0-@3', node: 0 }, { run: 'r', rollout: 'a/b@1', node: 7 }])('%o is read back', (from) => {
    expect(parseFrom(writeFrom(from))).toEqual(from);
  });

  test.each(['', 'recorded', 'recorded/1-0-0', 'recorded/1-0-0@', 'recorded/1-0-0@x', '/1@2', 'r/@3', 'r/x@-1'])('%s is none', (text) => {
    expect(parseFrom(text)).toBeNull();
  });

  test('goes through an address', () => {
    const from = writeFrom({ run: 'a b', rollout: 'c#d&e', node: 4 });
    const { route, query } = parseHash(href({ name: 'play', domain: 'retail', task: 'retail/nano/train/1/0' }, { from, as: 'agent' }));
    expect(route).toMatchObject({ name: 'play', task: 'retail/nano/train/1/0' });
    expect(readQuery('play', query)).toMatchObject({ from, as: 'agent', run: '', step: null });
  });
});

test('a task’s id says its world', () => {
  expect(['retail/nano/train/1/0', 'telecom/full/heldout/3/9', 'tau1-retail/full/train/7', 'tau2-airline/full/base/a/b'].map(worldName)).toEqual(['retail-nano', 'telecom-full', 'tau1-retail', 'tau2-airline']);
});

test('conversations share messages as long as every token is the same', () => {
  const nodes = (...tokens: number[][]) => tokens.map((ids, id): MessageNode => ({ id, parent: id ? id - 1 : null, role: id % 2 ? 'template' : 'user', text: '', tokens: ids, mask: [], logprobs: [] }));
  const a = nodes([1, 2], [3], [4]);
  expect(sharedMessages(a, nodes([1, 2], [3], [5]))).toBe(2);
  expect(sharedMessages(a, nodes([1, 2]))).toBe(1);
  expect(sharedMessages(a, nodes([1], [3]))).toBe(0);
  expect(sharedMessages(a, a)).toBe(3);
  expect(ownMessages({ nodes: a, leaf: 2 }, 1).map(({ id }) => id)).toEqual([2]);
});

test('what rests or lost its customer has not ended', () => {
  expect((['user_stop', 'max_turns', 'aborted', 'user_error'] as const).map((termination) => hasEnded({ termination }))).toEqual([true, true, false, false]);
});
