/** The file of a reliability card, as anyone may send it. */
import { expect, test } from 'vitest';
import { reliabilityCard } from '../../../src/evaluation/reliability/card.ts';
import { readReliability } from '../../../src/exchange/reliability-schema.ts';
import { reportKind } from '../../../src/exchange/report-file.ts';

const ABOUT = { agent: 'm', domain: 'retail', level: 'nano', split: 'heldout', seed: 1, temperature: 1, tasks: 2, trials: 2 };
const trial = (task: string, success: boolean, confidence: number) => ({
  task,
  customer: task,
  success,
  calls: ['a'],
  resources: { tokens: 9, turns: 1, calls: 1, errors: 0 },
  confidence,
  severity: success ? 0 : 0.5,
});
const TRIALS = [trial('1', true, 0.9), trial('1', false, 0.2), trial('2', true, 0.8), trial('2', true, 0.7)];
const CARD = reliabilityCard(ABOUT, [
  { kind: undefined, trials: TRIALS },
  { kind: 'faults', trials: TRIALS },
]);
const textOf = (card: unknown) => `${JSON.stringify(card, null, 1)}\n`;

test('a card is read as it was written, with N/A and with values', () => {
  expect(readReliability('c.json', textOf(CARD))).toEqual(CARD);
  expect(readReliability('c.json', `\uFEFF${JSON.stringify(CARD)}`)).toEqual(CARD);
});

const { fault, ...others } = CARD.metrics.robustness;
const withFault = (change: object) => ({
  ...CARD,
  metrics: { ...CARD.metrics, robustness: { ...others, fault: { ...fault, ...change } } },
});

test.each([
  [{ ...CARD, version: 2 }, 'c.json: version: is 2: expected 1'],
  [{ ...CARD, format: 'card' }, 'c.json: format: is "card": expected "mua-reliability-card"'],
  [{ ...CARD, agent: 7 }, 'c.json: agent: is 7: expected a string'],
  [{ ...CARD, metrics: {} }, 'c.json: metrics.consistency: is missing: expected an object'],
  [{ ...CARD, metrics: { ...CARD.metrics, robustness: others } }, 'c.json: metrics.robustness.fault: is missing'],
  [withFault({ value: 1.5 }), 'c.json: metrics.robustness.fault.value: is 1.5: expected at most 1'],
  [withFault({ low: 'a' }), 'c.json: metrics.robustness.fault.low: is "a": expected a number'],
  [{ ...CARD, conditions: { ...CARD.conditions, plain: { na: 1 } } }, 'c.json: conditions.plain'],
])('%# is refused', (card, message) => {
  expect(() => readReliability('c.json', textOf(card))).toThrow(message);
});

test('a file that is not JSON is refused', () => {
  expect(() => readReliability('c.json', '{"format": ')).toThrow('c.json: is not JSON');
});

test('a report is recognised by its content', async () => {
  const kind = (text: string) => reportKind(new Blob([text]));
  expect(await kind(textOf(CARD))).toBe('reliability');
  expect(await kind(`\uFEFF ${JSON.stringify({ version: 1, format: CARD.format })}`)).toBe('reliability');
  expect(await kind('{"shadow": {"version": 1}}\n{"conversation": {}}')).toBe('shadow');
  expect(await kind('{"conversation": {"id": 1}}\n{"shadow": {}}')).toBeNull();
  expect(await kind('{"messages": [{"role": "user", "content": "{\\"shadow\\": {}}"}]}\n')).toBeNull();
  expect(await kind('')).toBeNull();
});
