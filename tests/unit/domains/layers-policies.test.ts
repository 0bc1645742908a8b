/** The sentences of the benchmarks' own policies, which a visitor brings. Each expected part was found by reading them. */
import { existsSync, readFileSync } from 'node:fs';
import { test, expect } from 'vitest';
import { policySentences, sentenceOf } from '../../../src/agent/layers/policy-sentence.ts';
import { RULES as AIRLINE } from '../../../src/domains/airline/layers/rules.ts';
import { RULES as RETAIL } from '../../../src/domains/retail/layers/rules.ts';
import { RULES as TELECOM } from '../../../src/domains/telecom/layers/rules.ts';

const DATA = '../shared/data';
if (!existsSync(DATA)) console.warn(`SKIPPED: the sentences of the original policies: ${DATA} is missing`);

/** For each rule, a part of its sentence; null: the policy has none. */
const EXPECTED: [string, typeof RETAIL, Record<string, RegExp | null>][] = [
  [
    'tau-bench/retail/wiki.md',
    RETAIL,
    { not_authenticated: /authenticate/, unconfirmed_write: /explicit user confirmation/, several_calls: /one tool call/, wrong_reason: /ordered by mistake/, changed_before: /only be called once/, several_requests: null, transfer_message: null },
  ],
  ['tau2-bench/retail/policy.md', RETAIL, { other_customer: /any other user/, transfer_message: /PLEASE HOLD ON/, wrong_refund: /existing gift card/, same_payment: /different from/ }],
  ['tau-bench/airline/wiki.md', AIRLINE, { basic_economy: /Basic economy flights/, removed_bags: /not remove/, too_many_passengers: /at most five/, compensation_not_asked: /proactively/ }],
  ['tau2-bench/airline/policy.md', AIRLINE, { passenger_count: /number of passengers/, flown_segment: /already been flown/, cancel_not_allowed: /any of the following/ }],
  ['tau2-bench/telecom/main_policy.md', TELECOM, { too_much_data: /2GB/, ended_contract: /contract end date/, unpaid_bill: /overdue bills/, second_request: /AWAITING PAYMENT/, other_customer: null }],
]; // prettier-ignore

test.skipIf(!existsSync(DATA)).each(EXPECTED)('%s', (file, { rules }, expected) => {
  const sentences = policySentences(readFileSync(`${DATA}/${file}`, 'utf8'));
  for (const [rule, part] of Object.entries(expected)) {
    const sentence = sentenceOf(sentences, rules[rule]!);
    if (part === null) expect([rule, sentence]).toEqual([rule, null]);
    else expect(sentence, rule).toMatch(part);
  }
});
