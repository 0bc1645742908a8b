/** @file When a refund comes: at once to a gift card, otherwise in 5 to 7 business days. */
import { sentences } from '../sentences.ts';
import type { RuleLog } from './rule-log.ts';
import type { Said } from './talk.ts';

const SPAN =
  /\b(\w+)(?:\s?(?:-|–|—|to|and|or)\s?(\w+))?\s+(?:full )?((?:business|working|calendar) )?(days?|hours?|weeks?|minutes?|months?)\b/gi;
const AT_ONCE =
  /\b(?:immediate(?:ly)?|instant(?:ly)?|at once|right away|straight ?away|on the spot|as of now|already (?:has|have|holds|shows|back|there|available|(?:on|in) your (?:\w+ )?(?:card|account))|(?:back|available|there|usable) (?:now|again|already))\b/i;
/** Times without a number. */
const VAGUE =
  /\b(?:tomorrow|overnight|(?:the )?same day|(?:the )?next (?:business )?day|next (?:week|month)|within the hour|(?:a few|a couple of|some) (?:minutes|hours|days|weeks))\b/i;
const NUMBERS: Record<string, number> = {
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  fourteen: 14,
  a: 1,
  an: 1,
};
const MONEY_BACK = /\b(?:refund\w*|credit(?:ed)?|money|reimburs\w*|amount|funds?|payment|(?:go|goes|going|comes?) back)\b|\$\s?\d/i;

const numberOf = (word: string | undefined): number | undefined => {
  if (word === undefined) return undefined;
  const value = NUMBERS[word.toLowerCase()] ?? Number(word);
  return Number.isFinite(value) ? value : undefined;
};

/** The spans of time that a sentence names, as the agent wrote them. */
const spansIn = (sentence: string) =>
  [...sentence.matchAll(SPAN)].flatMap(([said, first, second, , unit]) => {
    const [from, to] = [numberOf(first), numberOf(second)];
    if (to === undefined && from === undefined) return [];
    // `takes 5 to 7 days`, `by 7 days`: one number is both ends.
    return [{ said, from: from ?? to!, to: to ?? from!, unit: unit!.toLowerCase().replace(/s$/, '') }];
  });

/** Sentences about the time of the booking. */
const BOOKING_TIME = /\b(?:last|past) \w+ hours|\bof booking\b|\b(?:booked|created|ago)\b/i;
/** Sentences about several kinds of refunds, or about what is allowed. */
const SEVERAL = /\b(?:eligible to|otherwise|depend\w*)\b|\bif (?:you|it|the (?:payment|order)) (?:paid|was|were|had)\b/i;

/** The words of a policy that says when money comes back. */
export const REFUND_RULE: readonly RegExp[] = [
  /\b(?:refund|reimburs)\w*|\b(?:goes|go|comes?|given|paid|sent|credited|transferred) back\b|\b(?:money|amount|payment|sum)\b.*\b(?:back|returned|credited)\b/,
  /\b(?:business|working) days?\b|\bdays\b|\bweeks?\b/,
];

/** Whether a text says when money comes back. */
export const saysTime = (text: string): boolean =>
  sentences(text).some(
    (sentence) => !BOOKING_TIME.test(sentence) && (AT_ONCE.test(sentence) || VAGUE.test(sentence) || spansIn(sentence).length > 0),
  );

/** Checks what the agent says about the time of a refund. `gift`: the refund goes to gift cards only. */
export function checkRefundTime(said: readonly Said[], gift: boolean, log: RuleLog): void {
  for (const { place, text } of said)
    for (const sentence of sentences(text)) {
      const wrong =
        [BOOKING_TIME, SEVERAL].some((other) => other.test(sentence)) || !MONEY_BACK.test(sentence) ? undefined : wrongTime(sentence, gift);
      if (wrong !== undefined) log.check('refund_time', place, wrong);
    }
}

/** What is wrong with the time of a refund. Null: nothing. Undefined: the sentence names no time. */
function wrongTime(sentence: string, gift: boolean): string | null | undefined {
  const [span] = spansIn(sentence);
  const [vague] = VAGUE.exec(sentence) ?? [];
  const [atOnce] = AT_ONCE.exec(sentence) ?? [];
  const named = span?.said ?? vague;
  if (gift) return atOnce ? null : named && `said “${named}” for a refund that a gift card gets at once`;
  const said = span ? (isUsual(span) ? null : span.said) : /\bgift|\bcancel\w* immediately/i.test(sentence) ? vague : (vague ?? atOnce);
  return said && `said “${said}” for a refund that takes 5 to 7 business days`;
}

const isUsual = ({ from, to, unit }: { from: number; to: number; unit: string }): boolean =>
  unit === 'day' ? (from === 5 || from === 7) && to === 7 : unit === 'week' && from === 1 && to === 1;
