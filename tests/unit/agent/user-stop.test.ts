/** A stop word that the customer only quotes does not end a conversation, except in the benchmarks, whose code does not look at quotes. */
import { describe, expect, test } from 'vitest';
import { endsByUser, MUA_RULES } from '../../../src/agent/rules.ts';
import { TAU1_RULES } from '../../../src/benchmarks/tau1/rules.ts';
import { TAU2_RULES } from '../../../src/benchmarks/tau2/rules.ts';
import { saysStop } from '../../../src/users/stop.ts';
import { STOP } from '../../../src/users/types.ts';

const QUOTED = [
  `You wrote "${STOP}" to me. Why?`,
  `What does “${STOP}” mean?`,
  `I see \`${STOP}\` on my screen.`,
  `Why '${STOP}'?`,
  `«Write ${STOP} when you are done» is what it says here.`,
  `"Say ${STOP} if you agree", you told me. What is it?`,
];
const SAID = [
  STOP,
  `Thanks, bye. ${STOP}`,
  `"Thanks, bye. ${STOP}"`,
  `"${STOP}"`,
  `It's 5" wide, that's fine. ${STOP}`,
  `You said "done". ${STOP}`,
  `"Great"\n${STOP}\n"bye"`,
  `You wrote "${STOP}"? Then ${STOP}`,
];

describe('a quoted stop word', () => {
  test.each(QUOTED)('%s', (text) => {
    expect(saysStop(text, [STOP])).toBe(false);
    expect(endsByUser(text, MUA_RULES)).toBe(false);
    // The code of tau-bench and tau2-bench does the same.
    expect(endsByUser(text, TAU1_RULES)).toBe(true);
    expect(endsByUser(text, TAU2_RULES)).toBe(true);
  });
});

test.each(SAID)('a stop word that is said: %s', (text) => {
  for (const rules of [MUA_RULES, TAU1_RULES, TAU2_RULES]) expect(endsByUser(text, rules)).toBe(true);
});

test('no stop word', () => expect(saysStop('Thanks, "bye".', [STOP])).toBe(false));

test('many marks take linear time', () => {
  const started = performance.now();
  for (const mark of ['"', '`', '“', '„', '«', '"“', "'"]) saysStop(`${mark.repeat(50_000)} ${STOP} ${mark.repeat(50_001)}`, [STOP]);
  expect(performance.now() - started).toBeLessThan(3000);
});
