/**
 * @file The rules of the agent's audit in telecom: which tools change data, and how people name a change. The audit looks only at the
 * customer's yes. It does not check whether the agent found the customer first, because no tool returns only a customer's id.
 */
import type { AuditRules, Detail, Heard, WriteWords } from '../../agent/audit-rules.ts';
import type { ToolCall } from '../../records/task.ts';
import { isChoice, type Mention } from '../retail/writes/patterns.ts';
import type { Bill, Customer, Line } from './schema.ts';

/** For each write: its name in messages, and the words that name it. */
export const ACTS: Record<string, { says: string; own: RegExp }> = {
  refuel_data: {
    says: 'adding data',
    own: /\b(refuel|add|buy|purchas|top)\w*\b(?:[^.\n]|\.\d){0,80}\b(data|\d*gb|gigabytes?)\b|\bdata (refuel|top)\w*|\b\d*(gb|gigabytes?)\b[^.?\n]{0,20}\b(added|more|extra|additional|cost|for \$)|\b(like|want|need|get|put|give|take|have) (?:[^.\n]|\.\d){0,20}(\d|\b(one|two|three|more|extra|another)) ?(gb|gigabytes?|data)\b/i,
  },
  enable_roaming: {
    says: 'enabling roaming',
    own: /\b(enabl|activat|allow|turn\w* on|switch\w* on|start)\w*[^.\n]{0,60}\broaming\b|\broaming\b[^.\n]{0,60}\b(enabled|activated|(turned|switched) on)\b|\b(turn|switch)\w* (the |my |your )?(data )?roaming on\b|\broaming\b[^\n]{0,80}\b(enabl|activat)\w* (it|that|this)\b|\b(turn|switch)\w* (it|that|this) on\b[^.\n]{0,60}\broaming\b|\babroad\b/i,
  },
  disable_roaming: {
    says: 'disabling roaming',
    own: /\b(disabl|deactivat|turn\w* off|switch\w* off|stop)\w*[^.\n]{0,60}\broaming\b|\broaming\b[^.\n]{0,60}\b(disabled|deactivated|(turned|switched) off)\b/i,
  },
  resume_line: { says: 'resuming the line', own: /\b(resum|reactivat|unsuspend|reinstat|restor)\w*|\blift\w* the suspension\b/i },
  suspend_line: {
    says: 'suspending the line',
    own: /\b(suspend(?!ed)|paus)\w*|\bsuspension of\b|\bon hold\b|\b(have|get|want)\b[^.\n]{0,30}\bsuspended\b/i,
  },
  send_payment_request: { says: 'requesting a payment', own: /\bpayment request|\b(pay|paying|bill|payment)\b/i },
};

export const AUDIT: AuditRules = {
  authenticate: [],
  details: [],
  owner: 'customer_id',
  thing: 'line_id',
  writes: Object.keys(ACTS),
  describe(results) {
    const records = results.flatMap((result) => (Array.isArray(result) ? result : [result])) as unknown as Shown[];
    return (call) => describe(call, records);
  },
};

/** A record that a tool showed, or something else. */
type Shown = Partial<Pick<Customer, 'line_ids'> & Pick<Line, 'line_id' | 'phone_number'> & Pick<Bill, 'bill_id' | 'total_due'>> | null;

function describe({ name, arguments: { line_id, gb_amount, bill_id } }: ToolCall, records: readonly Shown[]): WriteWords {
  const details: Detail[] = [];
  if (typeof line_id === 'string') details.push(lineDetail(line_id, records));
  if (typeof gb_amount === 'number') details.push(amountDetail(gb_amount));
  if (typeof bill_id === 'string') details.push(billDetail(bill_id, records));
  return { about: (text) => text, act: actDetail(name), details, ...(name === 'send_payment_request' && { verb: 'send' }) };
}

/** Where the price of a write is charged. It names no payment. */
const ON_BILL = /\b(on|to|with|in) (your|the|my) (next |monthly |following |upcoming |coming )?bill\b/gi;

/** A text that names another act, and not this one, is about the other one. */
function actDetail(name: string): Detail {
  const { says, own } = ACTS[name]!;
  const others = Object.entries(ACTS).filter(([other]) => other !== name);
  return {
    name: `the act (${says})`,
    heard(text) {
      const said = text.replace(ON_BILL, ' ');
      return own.test(said) ? 'named' : others.some(([, act]) => act.own.test(said)) ? 'other' : 'absent';
    },
  };
}

/** What mentions of values say about the value of a write. */
function heardIn<T>(text: string, mentions: readonly Mention<T>[], own: (value: T) => boolean): Heard {
  if (mentions.length === 0) return 'absent';
  if (!mentions.some(({ value }) => own(value))) return 'other';
  return isChoice(text, mentions) ? 'absent' : 'named';
}

const mentionsOf = (text: string, pattern: RegExp): Mention<string>[] =>
  [...text.matchAll(pattern)].map(({ 0: said, 1: value = said, index }) => ({ value, from: index, to: index + said.length }));

/** A line by its id or its phone number. “Your line” names the line of a customer who has no other one. */
function lineDetail(id: string, records: readonly Shown[]): Detail {
  const number = records.find((record) => record?.line_id === id)?.phone_number;
  const several = records.some((record) => (record?.line_ids?.length ?? 0) > 1);
  return {
    name: `the line ${id}`,
    heard(text) {
      const heard = heardIn(
        text,
        mentionsOf(text, /\bL\d{3,6}\b|\b\d{3}-\d{3}-\d{4}\b/gi),
        (said) => said.toUpperCase() === id || said === number,
      );
      return heard === 'absent' && !several && /\b(your|this|the) (phone )?line\b/i.test(text) && records.some((record) => record?.line_ids)
        ? 'named'
        : heard;
    },
  };
}

const amountDetail = (amount: number): Detail => ({
  name: `the amount (${amount} GB)`,
  heard: (text) => heardIn(text, mentionsOf(text, /(\d{1,6}(?:\.\d{1,3})?) ?(?:gb|gigabytes?)\b/gi), (said) => Number(said) === amount),
});

/** A bill by its id or by its amount. */
function billDetail(id: string, records: readonly Shown[]): Detail {
  const due = records.find((record) => record?.bill_id === id)?.total_due;
  return {
    name: `the bill ${id}`,
    heard(text) {
      const named = heardIn(text, mentionsOf(text, /\bB\d{5,9}\b/gi), (said) => said.toUpperCase() === id);
      if (named !== 'absent' || due === undefined) return named;
      return heardIn(
        text,
        mentionsOf(text, /\$ ?(\d{1,6}(?:\.\d{1,2})?)|(?<![\d.])\d{1,6}(?:\.\d{1,2})?(?= (?:USD|dollars))/g),
        (said) => Number(said) === due,
      );
    },
  };
}
