/** What a model did until the customer’s next turn, and how often. */
import { expect, test } from 'vitest';
import { replyOf, tallyOf } from '../../../src/app/play/answers.ts';
import type { MessageNode } from '../../../src/records/trajectory.ts';

const node = (fields: object) => ({ mask: [], ...fields }) as unknown as MessageNode;
const says = (text: string) => node({ role: 'assistant', text });
const call = node({ role: 'assistant', text: '<tool_call>…', toolCall: { name: 'cancel_pending_order', arguments: {} } });
const result = (changed: number) => node({ role: 'tool', text: '{}', toolResult: { changes: Array.from({ length: changed }) } });

test.each([
  ['asked', [call, result(0), says('Cancel order #W1, ordered by mistake. Yes or no?')]],
  ['wrote', [call, result(1), says('That is done. Anything else?')]],
  // A question after the change is too late.
  ['wrote', [call, result(1), says('I cancelled it. Is that right?')]],
  ['neither', [says('Sorry, I cannot do that: the order is delivered. Anything else?')]],
  ['neither', [says('One moment.')]],
  ['neither', [call, result(0)]],
] as const)('%s', (kind, nodes) => expect(replyOf(nodes)).toBe(kind));

test('a tally counts every sample once', () => {
  const samples = [[says('Yes or no?')], [call, result(2)], [says('Yes or no?')], [says('No.')]];
  expect(tallyOf({ samples })).toEqual({ asked: 2, wrote: 1, neither: 1 });
});
