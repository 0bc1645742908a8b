/** @file What the writes of the shop do, in the words of customers and agents, and the reasons of a cancellation. */
import type { Detail } from '../../../agent/audit-rules.ts';
import { isChoice } from './patterns.ts';

const CANCEL = /\bcancel|\bcall(ed|ing)? off\b/i;
const RETURN = /\breturn|\bgo(es|ing)? back\b(?! to)|\bsen[dt](ing)? (it |them |[\w\s]{0,30})?back\b/i;
const EXCHANGE = /\bexchang|\bswap|\breplac|\btrade\b/i;
const MODIFY =
  /\bexchang|\bswap|\breplac|\bchang|\bmodif|\bswitch|\bupdat|\bupgrad|\bsubstitut|\bbecom|\bin place of\b|\b(?:old|current|new|original) (?:items?|options?|variants?)\b|→|->|=>/i;
const PAY =
  /\bpay\b|\bpaying\b|\bpaid\b|\bcharg|\bbill|\bdebit|\bdeduct|\btak(e|ing) \$\d|\bpayment|\b(switch|chang|mov|put|us(e|ing)|updat)\w*\b(?:[^.\n]|\.\d){0,90}(\bcard|\bpaypal|\bgift|\bvisa|\bmaster ?card)/i;
const ADDRESS =
  /\baddress|\bship|\bdeliver(?!ed)|\bsend(ing)? (it|them|(the )?order)?[^.\n]{0,15} to\b|\b(?:sen[dt]|sending|go(?:es|ing)?|redirect\w*|re-?rout\w*|forward\w*)\b[^.\n]{0,60} to:? \d|, [a-z]{2},? \d{5}\b/i;
const HOME = /\b(default|profile|account|primary|home|main|personal|on file|user|registered)\b/i;
/** Words about money or about rules, which name no act. */
const ASIDE =
  /\bhow to return\b[^.\n]{0,300}|\breturn (label|instructions?|process|policy|shipping)\b|\b(price )?differences?\b[^.;\n]{0,60}|\brefund[^.;,\n]{0,80}/gi;
const CANNOT = /\b(cannot|can't|can not|won't|will not|unable|not be able|no longer be|not possible)\b/i;
/** Sentences about what cannot be done. */
const RULE = new RegExp(`[^.\\n!?]{0,300}${CANNOT.source}[^.\\n!?]{0,300}(?=[.!\\n]|$)`, 'gi');

interface Act {
  says: string;
  own: RegExp;
  /** The acts that a text names instead. */
  others: RegExp;
  /** The words count in parts about money too. */
  money?: boolean;
}

const ACTS: Record<string, Act> = {
  cancel_pending_order: { says: 'cancelling', own: CANCEL, others: join(RETURN, EXCHANGE, ADDRESS) },
  return_delivered_order_items: { says: 'returning', own: RETURN, others: join(CANCEL, EXCHANGE, ADDRESS) },
  exchange_delivered_order_items: { says: 'exchanging', own: MODIFY, others: join(CANCEL, RETURN) },
  modify_pending_order_items: { says: 'changing items', own: MODIFY, others: join(CANCEL, RETURN) },
  modify_pending_order_payment: { says: 'changing the payment', own: PAY, others: join(CANCEL, RETURN, EXCHANGE, ADDRESS) },
  modify_pending_order_address: { says: 'changing the address', own: ADDRESS, others: join(CANCEL, RETURN) },
  modify_user_address: { says: 'changing the default address', own: HOME, others: join(CANCEL, RETURN, /(?<!\bin )\border\b|#W\d/) },
};

function join(...patterns: RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'), 'i');
}

export const WRITES: readonly string[] = Object.keys(ACTS);

export function actDetail(tool: string): Detail {
  const { says, own, others } = ACTS[tool]!;
  return {
    name: `the act (${says})`,
    heard(text) {
      const said = (CANNOT.test(text) ? text.replace(RULE, ' ') : text).replace(ASIDE, ' ');
      if (own.test(said)) return 'named';
      // “Your address” without an order is the default address.
      if (tool === 'modify_user_address' && ADDRESS.test(said) && !others.test(said)) return 'named';
      return others.test(said) ? 'other' : tool === 'return_delivered_order_items' && /\brefund/i.test(text) ? 'named' : 'absent';
    },
  };
}

const REASONS: Record<string, RegExp> = {
  'no longer needed':
    /\bno longer (need|want|requir|necessar|interest|use)|\b(not|isn't|aren't|don't|do not|doesn't|does not) (really |actually )?(need|want|require)(?! (any|to|you|your|help|more))|\bno need\b|\bun(needed|wanted)\b|\b(need|want|us)\w*[^.\n]{0,20}\bany ?more\b|\bchang(ed|e|ing) (of |your |my |their |his |her )?(mind|heart)\b|\bnot necessary\b/i,
  'ordered by mistake':
    /\bmistak|\baccident|\b(in|by) error\b|\berroneous|\bunintention|\binadvertent|\bdid(n't| not) mean\b|\bwrong (order|item|one|size)\b/i,
};

export function reasonDetail(reason: string): Detail {
  const own = REASONS[reason];
  const others = Object.values(REASONS).filter((known) => known !== own);
  return {
    name: `the reason “${reason}”`,
    heard(text) {
      if (!own) return text.toLowerCase().includes(reason.toLowerCase()) ? 'named' : 'absent';
      const mentions = [own, ...others].flatMap((value) =>
        [...text.matchAll(new RegExp(value, 'gi'))].map(({ 0: said, index }) => ({ value, from: index, to: index + said.length })),
      );
      if (!mentions.some(({ value }) => value === own)) return mentions.length > 0 ? 'other' : 'absent';
      return isChoice(
        text,
        mentions.sort((a, b) => a.from - b.from),
      )
        ? 'absent'
        : 'named';
    },
  };
}
