/** The numbers of messages: all parts of the page count the same messages, from the system prompt at 0. */
import { expect, test } from 'vitest';
import { messageNumbers } from '../../../src/base/message-path.ts';
import type { MessageNode } from '../../../src/records/trajectory.ts';

const nodes = (...roles: MessageNode['role'][]) => roles.map((role, i) => ({ id: 10 + i, role }) as unknown as MessageNode);

test('messages of the chat template have no number, and the system prompt is 0', () => {
  const numbers = messageNumbers(nodes('system', 'user', 'template', 'assistant', 'template', 'tool'));
  expect([...numbers]).toEqual([
    [10, 0],
    [11, 1],
    [13, 2],
    [15, 3],
  ]);
});

test('without a system prompt the first message is 1', () => {
  expect([...messageNumbers(nodes('user', 'template', 'assistant'))]).toEqual([
    [10, 1],
    [12, 2],
  ]);
});
