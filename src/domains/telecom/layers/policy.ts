/** @file The layer `policy` of the provider: its rules as conditions on each call and on what the tools had shown before. */
import { CONFIRMED } from '../../../agent/layers/consent-check.ts';
import { short, type TransferRules } from '../../../agent/layers/manners.ts';
import { heardBefore, isWrite, textOf, type ToolEvent } from '../../../agent/layers/readings.ts';
import { policySentences, sentenceOf } from '../../../agent/layers/policy-sentence.ts';
import type { RuleLog } from '../../../agent/layers/rule-log.ts';
import type { LayeredConversation } from '../../../agent/layers.ts';
import { readable, sentences } from '../../../agent/sentences.ts';
import { TODAY } from '../agent-tools.ts';
import { ACTS } from '../audit.ts';
import { ProviderFacts } from './facts.ts';

const MOST_DATA = 2;
const SCOPE = /\b(service|signal|data|internet|slow|mms|picture|roaming|abroad|bill|pay|suspend|resum|line|plan)\w*/i;

export const TRANSFERS: TransferRules = {
  transfers: ['transfer_to_human_agents'],
  scope: SCOPE,
  outside: /\b(locked|pin|puk|new (phone|sim)|contract)\b/i,
};

const EACH_CHANGE = /\b(each|every|any|all|before|nothing|no)\b[^.]*\b(chang|updat|writ|action|modif)/i;
const NOT_FREE = ['refuel_data', 'suspend_line'];

/** Whether the policy wants a yes before each change. */
const isStrict = (policy: string): boolean =>
  policySentences(policy).some((sentence) => EACH_CHANGE.test(sentence) && sentenceOf([sentence], CONFIRMED.unconfirmed_write!) !== null);

/**
 * Data and a suspended line cost money, so they always need a yes. For the other writes, the customer's own request is enough, unless the
 * policy wants a yes before each change.
 */
export function askedFor({ events, policy }: LayeredConversation, { call: { name } }: ToolEvent, until: number): boolean {
  const act = ACTS[name];
  if (NOT_FREE.includes(name) || !act || (policy !== null && isStrict(policy))) return false;
  return events.slice(0, until).some((event) => event.kind === 'user' && act.own.test(readable(event.text)));
}

export function checkCalls(conversation: LayeredConversation, log: RuleLog): void {
  const { events } = conversation;
  const facts = new ProviderFacts();
  const added = new Map<string, number>();
  let requested: string | null = null;
  let priced = false;
  for (const [place, event] of events.entries()) {
    if (event.kind === 'agent') {
      const said = readable(event.text);
      priced ||= /\$ ?\d|\b\d+(\.\d+)? ?(usd|dollars?)\b|\bper (gb|gigabyte)\b/i.test(said);
      checkClaims(log, said, place, facts, requested);
    }
    if (event.kind !== 'tool') continue;
    const { name, arguments: args } = event.call;
    if (isWrite(event)) {
      const line = textOf(args.line_id);
      if (name === 'resume_line') checkResume(log, line, place, facts);
      if (name === 'refuel_data') {
        const total = (added.get(line) ?? 0) + Number(args.gb_amount);
        added.set(line, total);
        log.check('other_line', place, otherLine(conversation, line, place, facts));
        log.checkUnlessLeftOut('too_much_data', place, total > MOST_DATA ? `${total} GB added to ${line}` : null);
        log.checkUnlessLeftOut('no_price', place, priced ? null : `${name} before the price was said`);
      }
      if (name === 'send_payment_request') {
        const bill = textOf(args.bill_id);
        const status = facts.bills.get(bill)?.status;
        log.check(
          'not_overdue',
          place,
          status === 'Overdue' ? null : status ? `bill ${bill} is ${status}` : `bill ${bill} was not looked at`,
        );
        const other =
          facts.customer === null
            ? undefined
            : facts.billsOf(facts.customer).find((one) => one.id !== bill && one.status === 'Awaiting Payment');
        log.check('second_request', place, other ? `bill ${other.id} still awaits payment` : null);
        requested = bill;
      }
    }
    facts.learn(event);
  }
}

const PHONE = /\b\d{3}-\d{3}-\d{4}\b/g;

/** Why data goes to another line than the one that the customer called about. Null: nothing says so. */
function otherLine(conversation: LayeredConversation, line: string, place: number, facts: ProviderFacts): string | null {
  const heard = heardBefore(conversation, place).join('\n');
  const number = facts.lines.get(line)?.number;
  const named: readonly string[] = heard.match(PHONE) ?? [];
  const wrong = number !== undefined && named.length > 0 && !named.includes(number) && !heard.includes(line);
  return wrong ? `data for ${number}; the customer called about ${named[0]!}` : null;
}

function checkResume(log: RuleLog, line: string, place: number, facts: ProviderFacts): void {
  const customer = facts.customer ?? facts.owners.get(line);
  const open =
    customer === undefined ? undefined : facts.billsOf(customer).find(({ status }) => ['Overdue', 'Awaiting Payment'].includes(status));
  const looked = customer !== undefined && facts.billsOf(customer).length > 0;
  if (!looked) log.checkUnlessLeftOut('unpaid_bill', place, `${line} resumed without a look at the bills`);
  else log.check('unpaid_bill', place, open ? `${line} resumed, although bill ${open.id} is ${open.status}` : null);
  const shown = facts.lines.get(line);
  const ends = shown?.ends;
  if (!shown) log.checkUnlessLeftOut('ended_contract', place, `${line} resumed without a look at its contract`);
  else if (ends !== undefined)
    log.check('ended_contract', place, ends !== null && ends < TODAY ? `the contract of ${line} ended on ${ends}` : null);
}

const PAID =
  /\b(bill|payment|it)\b[^.?!\n]{0,50}\b(has been|have been|is now|was|is) (now |successfully |fully )*(paid|received|processed|completed)\b/i;
const CONDITION = /\b(once|after|when|if|until|whether|as soon as|please|let me|can you|could you|not)\b|\?/i;

/** Checks what the agent says about payments and prices. */
function checkClaims(log: RuleLog, said: string, place: number, facts: ProviderFacts, requested: string | null): void {
  for (const sentence of sentences(said)) {
    if (requested !== null && PAID.test(sentence) && !CONDITION.test(sentence)) {
      const paid = facts.bills.get(requested)?.status === 'Paid';
      log.check('paid_unchecked', place, paid ? null : `said ${short(sentence)}, but no tool showed bill ${requested} as paid`);
    }
    if (
      /\broaming\b/i.test(sentence) &&
      /\b(enabl|activat|turn\w* on)/i.test(sentence) &&
      !/\b(no|free|without|not|already)\b/i.test(sentence) &&
      /\$ ?0*[1-9]|\b(fee|charge of|costs)\b/i.test(sentence)
    )
      log.check('roaming_charged', place, `said ${short(sentence)}`);
  }
}
