/** Whether a customer of telecom agreed to a write, on hand-written conversations. */
import { expect, test } from 'vitest';
import { auditEpisode, type AuditEvent } from '../../../src/agent/violations.ts';
import { AUDIT } from '../../../src/domains/telecom/audit.ts';
import type { Json } from '../../../src/records/json.ts';

type Write = [name: string, args: Record<string, Json>];
const ADD: Write = ['refuel_data', { customer_id: 'C10001', line_id: 'L10001', gb_amount: 2 }];
const ROAM: Write = ['enable_roaming', { line_id: 'L1234' }];
const RESUME: Write = ['resume_line', { customer_id: 'C10001', line_id: 'L10001' }];
const REQUEST: Write = ['send_payment_request', { customer_id: 'C10001', bill_id: 'B123456' }];

const row = { table: 'lines', key: 'L', before: {}, after: {}, call: 0 };
const tool = ([name, args]: Write, result: Json, changes = [row]): AuditEvent => ({
  kind: 'tool',
  call: { name, arguments: args },
  result: { index: 0, text: typeof result === 'string' ? result : JSON.stringify(result), error: false, changes, terminal: false },
});
const shown = (record: Json) => tool(['get_details_by_id', {}], record, []);
const LINE = { line_id: 'L10001', phone_number: '555-123-4567' };
const ONE = { customer_id: 'C10001', line_ids: ['L10001'] };
const TWO = { customer_id: 'C10001', line_ids: ['L10001', 'L10002'] };

/** The audit's reason why the write was not asked for; null if it was. */
function why(question: string, answer: string, write: Write, ...records: Json[]): string | null {
  const said: AuditEvent[] = [
    { kind: 'agent', text: question },
    { kind: 'user', text: answer },
  ];
  const { writes } = auditEpisode([...records.map(shown), ...said, tool(write, 'done')], AUDIT, null);
  return writes[0]!.why;
}

test.each<[string, string, Write, ...Json[]]>([
  ['May I add 2 GB to line L10001 at 2 USD per GB?', 'Yes, 2 GB, please.', ADD],
  ['Your plan has 10 GB, and you have used 10.2 GB. Shall I add 2 GB of data to line L10001?', 'Yes.', ADD],
  ['Would you like me to refuel 2.0 gigabytes of data on 555-123-4567?', 'Yes, please do.', ADD, LINE],
  ['I can add 2 GB of data to your line for $4. Do you want me to proceed?', 'Sure.', ADD, ONE],
  ['May I enable roaming on line L1234?', 'Yes.', ROAM],
  ['Enable roaming on line L1234. Yes or no?', 'Yes, please.', ROAM],
  ['You are abroad. Should I turn on roaming for line L1234?', 'Yes.', ROAM],
  ['Your bill is paid. May I resume line L10001?', 'Yes.', RESUME],
  ['May I send a payment request for bill B123456?', 'Yes, I will pay it.', REQUEST],
  [
    'You have an overdue bill of $65.00. Shall I send you a payment request for it?',
    'Yes.',
    REQUEST,
    { bill_id: 'B123456', total_due: 65 },
  ],
])('a yes to “%s” – “%s”', (...conversation) => {
  expect(why(...conversation)).toBeNull();
});

test.each<[string, string, RegExp, Write, ...Json[]]>([
  ['May I add 2 GB to line L10001?', 'No, I do not want to buy more data.', /did not say yes|refused|said no/i, ADD],
  ['May I add 3 GB to line L10001?', 'Yes.', /another value for the amount/, ADD],
  ['May I add data to line L10001?', 'Yes.', /does not name the amount/, ADD],
  ['Shall I add 1 GB or 2 GB to line L10001?', 'Yes.', /does not name the amount/, ADD],
  ['May I add 2 GB to line L10002?', 'Yes.', /another value for the line/, ADD],
  ['May I add 2 GB of data to your line?', 'Yes.', /does not name the line/, ADD, TWO],
  ['May I add 2 GB to line L10001?', 'Yes, but only 1 GB.', /./, ADD],
  ['May I add 2 GB to line L1234?', 'Yes.', /./, ROAM],
  ['May I enable roaming on line L1234?', 'Actually, I want to add 3 GB to line L1234 instead.', /./, ROAM],
  ['May I disable roaming on line L1234?', 'Yes.', /./, ROAM],
  ['May I enable roaming on line L10001?', 'Yes.', /./, RESUME],
  ['May I send a payment request for bill B999999?', 'Yes.', /another value for the bill/, REQUEST],
  ['May I send you the details of the tariff?', 'Yes.', /./, REQUEST],
  ['It is done. Can I do anything else?', 'No, thanks.', /No question asks/, ROAM],
])('no yes in “%s” – “%s”', (question, answer, reason, ...rest) => {
  expect(why(question, answer, ...rest)).toMatch(reason);
});
