/** @file Recovery of the phone provider: setbacks that must come to a good end. */
import { askingFor } from '../../../agent/layers/recovery-needless.ts';
import { checkRecovery, RECOVERY } from '../../../agent/layers/recovery.ts';
import { RuleLog } from '../../../agent/layers/rule-log.ts';
import { type Made, Talk } from '../../../agent/layers/talk.ts';
import type { LayerCheck } from '../../../agent/layers.ts';
import { ACTS, thingsIn, TRANSFERS } from './acts.ts';
import { checkEarlyHandover, checkSteps } from './steps.ts';

const PHONE = /\b\d{3}-\d{3}-\d{4}\b/;

const RULES = {
  ...RECOVERY,
  early_handover: {
    must: [/\btransfer|\bhand(?:s|ing|ed)?[- ]?(?:over|off)\b|\bescalat/, /\b(?:before|try|step|resolve|solve|troubleshoot|best|exhaust)/],
  },
};

export const recovery: LayerCheck = (conversation) => {
  const log = new RuleLog(conversation.policy, { rules: RULES, own: '' });
  const talk = new Talk(conversation);
  checkSteps(talk, log);
  checkEarlyHandover(talk, log);
  checkRecovery(talk, log, {
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
    things: thingsIn,
    matches,
    volatile: true,
  });
  return log.layer();
};

const NUMBERS: Readonly<Record<string, number>> = { a: 1, one: 1, two: 2, three: 3, four: 4, five: 5 };

/** Compares the amount of data. */
function matches({ args }: Made, text: string): boolean | undefined {
  const amounts = [...text.matchAll(/\b(\d+(?:\.\d+)?|a|one|two|three|four|five) ?(?:gb|gigs?|gigabytes?)\b/gi)].map(
    ([, value]) => NUMBERS[value!.toLowerCase()] ?? Number(value),
  );
  return amounts.length > 0 && args.gb_amount !== undefined ? amounts.includes(Number(args.gb_amount)) : undefined;
}
