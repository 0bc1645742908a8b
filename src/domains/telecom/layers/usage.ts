/** @file What the agent says about used data: it must be as the tools showed it. */
import type { RuleLog } from '../../../agent/layers/rule-log.ts';
import { recordsIn } from '../../../agent/layers/readings.ts';
import type { Said, Talk } from '../../../agent/layers/talk.ts';
import { sentences } from '../../../agent/sentences.ts';

const NUMBER = String.raw`(?<![\d.$])(\d{1,4}(?:\.\d{1,3})?)`;
const UNIT = String.raw`(?:gb|gigs?|gigabytes?)\b`;
/** `24.3 GB`, and the first number of `24.3 of 25 GB`. */
const AMOUNT = new RegExp(`${NUMBER}(?= ?${UNIT}| (?:out )?of (?:(?:your|the) )?\\d{1,4}(?:\\.\\d{1,3})? ?${UNIT})`, 'gi');
/** What was used, named right after the word. */
const USED = new RegExp(
  String.raw`\b(?:used|consumed|spent|gone through|usage(?: (?:is|so far|of|at|stands at|this \w+)){0,3}:?)(?: (?:up|about|around|roughly|exactly|already|now))* ${NUMBER}`,
  'i',
);
const ABOUT_USE =
  /\b(?:used?|usage|consum\w+|spent|so far|gone through|left|remain\w*|over (?:your|the)|out of|this (?:cycle|month|period)|stand(?:s|ing)? at)\b/i;
const NO_STATEMENT =
  /\?|\b(?:if|would|could|can|shall|will|you (?:said|wrote|told)|add(?:ed|ing|s)?|refuel\w*|top(?:ped|ping)?[ -]?up|more|extra|costs?|price)\b/i;

/** Numbers of a field before a place. Tools show some of them as texts. */
const shown = (talk: Talk, place: number, fields: readonly string[]): number[] =>
  talk
    .callsIn(-1, place)
    .filter(({ failed }) => !failed)
    .flatMap(({ value }) => [...recordsIn(value)])
    .flatMap((record) => fields.flatMap((field) => (record[field] === undefined ? [] : [Number(record[field])])))
    .filter(Number.isFinite);

/** Whether a number is a known one, as far as its digits go. */
const isOneOf = (said: string, known: readonly number[]): boolean => {
  const step = 10 ** -(said.split('.')[1]?.length ?? 0);
  return known.some((value) => Math.abs(Number(said) - value) <= step / 2 + 1e-9);
};

/** Checks the gigabytes of sentences about use: what was used, the limit, what is left, and what the customer named. */
export function checkUsage({ place, text }: Said, talk: Talk, log: RuleLog): void {
  const used = shown(talk, place, ['data_used_gb']);
  if (used.length === 0) return;
  const limits = shown(talk, place, ['data_limit_gb']);
  const extra = [0, ...shown(talk, place, ['data_refueling_gb', 'new_data_refueling_gb'])];
  const totals = limits.flatMap((limit) => extra.map((more) => limit + more));
  const left = totals.flatMap((total) => used.map((value) => Math.abs(total - value)));
  const heard = talk.heardIn(-1, place).flatMap((message) => [...message.text.matchAll(AMOUNT)].map(([, value]) => Number(value)));
  for (const sentence of sentences(text).filter((part) => ABOUT_USE.test(part) && !NO_STATEMENT.test(part))) {
    const amounts = [...sentence.matchAll(AMOUNT)].map(([, value]) => value!);
    if (amounts.length === 0) continue;
    const [, direct] = USED.exec(sentence) ?? [];
    const wrong =
      direct !== undefined && amounts.includes(direct) && !isOneOf(direct, used)
        ? direct
        : amounts.find((value) => !isOneOf(value, [...used, ...extra, ...totals, ...left, ...heard]));
    log.check('wrong_amount', place, wrong === undefined ? null : `said ${wrong} GB; ${used.at(-1)} GB were used`);
  }
}
