/** @file Recovery of the phone provider: setbacks that must come to a good end. */
import { askingFor } from '../../../agent/layers/recovery-needless.ts';
import { checkRecovery, RECOVERY } from '../../../agent/layers/recovery.ts';
import { RuleLog } from '../../../agent/layers/rule-log.ts';
import { type Made, Talk } from '../../../agent/layers/talk.ts';
import type { LayerCheck } from '../../../agent/layers.ts';
import { ACTS, thingsIn, TRANSFERS } from './acts.ts';

const PHONE = /\b\d{3}-\d{3}-\d{4}\b/;

export const recovery: LayerCheck = (conversation) => {
  const log = new RuleLog(conversation.policy, { rules: RECOVERY, own: '' });
  checkRecovery(new Talk(conversation), log, {
    acts: ACTS,
    transfers: TRANSFERS,
    families: [/^get_customer_by/],
    identity: /^get_customer_by/,
    aside: /^(?:think|calculate)$/,
    facts: [{ name: 'phone number', asks: askingFor('phone number'), gives: PHONE, identity: true }],
    values: {
      'phone number': PHONE,
      'customer id': /\bC\d{4,6}\b/,
      'date of birth': /\b(?:19|20)\d{2}-\d{2}-\d{2}\b/,
      thing: /\b[LB]\d{3,9}\b/,
    },
    fits,
    volatile: true,
  });
  return log.layer();
};

/** Compares the amount of data, the line and the bill. */
function fits({ args }: Made, text: string): boolean | undefined {
  const wanted = text.replace(/\b(?:not|instead of|rather than)\b[^,.;!?]{0,60}/gi, ' ');
  const judged: boolean[] = [];
  const amounts = [...wanted.matchAll(/(\d+(?:\.\d+)?) ?(?:gb|gigabytes?)\b/gi)].map(([, value]) => Number(value));
  if (amounts.length > 0 && args.gb_amount !== undefined) judged.push(amounts.includes(Number(args.gb_amount)));
  const things = thingsIn(wanted);
  const own = [args.line_id, args.bill_id].filter((id): id is string => typeof id === 'string');
  if (things.length > 0 && own.length > 0) judged.push(own.some((id) => things.includes(id)));
  return judged.length === 0 ? undefined : judged.every(Boolean);
}
