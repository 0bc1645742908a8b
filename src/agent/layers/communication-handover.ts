/** @file Hand-overs to a human: whether the summary says who the customer is, what they want and what was done. */
import { isObject } from '../../base/json.ts';
import type { Json } from '../../records/json.ts';
import type { ActWords } from './communication-claims.ts';
import { recordsIn, textOf } from './readings.ts';
import type { RuleWords } from './policy-sentence.ts';
import type { Made, Talk } from './talk.ts';

export interface HandoverRules {
  transfers: readonly string[];
  acts: readonly ActWords[];
}

/** A sentence about the transfer to a human. */
export const HANDOVER: RuleWords = {
  must: [/\btransfer|\bhand(?:s|ing|ed)?[- ]?(?:over|off|them|it|the)\b/, /\b(?:user|customer|human|agents?|summary)\b/],
  may: [/\bhuman agents?\b/, /\bsummary\b/],
};

/** Words that tell a human nothing about the case. */
const EMPTY_WORDS = new Set(
  'a an and as at be been by can cannot could customer client user caller agent human representative for from further had has have he help helped her him his i if in is issue issues it matter me my needs need needed not of on or our person please problem problems request requests requested requesting requires required she so some someone speak support talk team that the their them they this to transfer transferred transferring unable up us want wanted wants was we were will wish wishes with would you your assist assistance assisted assisting additional more beyond solve resolve resolved fix special something wanting asked asking asks live general service n/a none summary unknown here now conversation details continue handle handled tool tools function call calls did does do work worked working failed fails fail failing failure error errors system technical went wrong happened happen trouble difficulty unsuccessful unsuccessfully try tries tried trying again attempt attempted attempts twice question questions about escalate escalated escalation complex case possible see above below please occurred chat log history previous earlier message messages scope capability capabilities outside over take taking took handed colleague colleagues specialist department supervisor manager staff team bot assistant ai automated inquiry inquiries query concern concerns concerning regarding related per kindly necessary appropriate soon asap urgent urgently today contact contacted contacting called calling wrote reached out came situation anything everything nothing info information provided given hello hi thanks thank dear mentioned discussed discussion said told explained described continued proceed follow followup attention care look looking into'.split(
    ' ',
  ),
);

export const summaryOf = (call: Made): string => {
  const given =
    call.args.summary ?? call.args.reason ?? call.args.message ?? Object.values(call.args).find((value) => typeof value === 'string');
  return textOf(given).trim();
};

/** Whether a summary names no wish and no problem. `identity`: the words that name the customer. */
export function isUseless(summary: string, identity: readonly string[]): boolean {
  const known = new Set(identity.flatMap((text) => text.toLowerCase().split(/[^\p{L}\p{N}]+/u)));
  const words = summary.toLowerCase().match(/[\p{L}\p{N}#][\p{L}\p{N}'#/-]*/gu) ?? [];
  return words.filter((word) => !EMPTY_WORDS.has(word) && !known.has(word) && /\p{L}{2}/u.test(word)).length < 2;
}

/** What names the customer: ids, names, email addresses and phone numbers that were found before a place. */
export function identityBefore(talk: Talk, place: number): string[] {
  const found = new Set<string>();
  for (const call of talk.callsIn(-1, place)) {
    if (call.failed) continue;
    for (const record of [...recordsIn(call.value), call.args]) for (const text of namesOf(record)) found.add(text);
    if (/^(?:find|get)_\w*(?:user|customer)_id/.test(call.name)) found.add(textOf(call.value));
  }
  return [...found].filter((text) => text.length > 2);
}

function namesOf(record: Record<string, Json>): string[] {
  const { user_id, customer_id, email, full_name, name, first_name, last_name, phone_number } = record;
  const isPerson = email !== undefined || record.zip !== undefined;
  const parts = isObject(name) ? name : isPerson ? { first_name, last_name } : {};
  return [user_id, customer_id, email, full_name, phone_number, isPerson ? name : null, ...Object.values(parts)]
    .map(textOf)
    .flatMap((text) => (text.includes(' ') ? [text, ...text.split(' ')] : [text]));
}

const WISH = 'what the customer wants';

/** What every summary needs, also where the policy does not ask for one. */
export const isNeeded = (part: string): boolean => part === WISH || part === NO_WORD;
const NO_WORD = 'every word';

/** What a summary lacks for the human who reads it. */
export function missingIn(talk: Talk, call: Made, { acts }: HandoverRules): string[] {
  const summary = summaryOf(call);
  if (summary === '') return [NO_WORD];
  const said = summary.toLowerCase();
  const identity = identityBefore(talk, call.place);
  const missing: string[] = [];
  if (identity.length > 0 && !identity.some((text) => said.includes(text.toLowerCase()))) missing.push('who the customer is');
  if (isUseless(summary, identity)) missing.push(WISH);
  const done = talk.writes
    .filter(({ place }) => place < call.place)
    .flatMap(({ name }) => acts.find(({ tools }) => tools.includes(name)) ?? []);
  if (done.length > 0 && !done.some(({ named }) => named.test(summary)))
    missing.push(`what was done (${done.map(({ says }) => says).join(', ')})`);
  return missing;
}
