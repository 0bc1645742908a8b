/**
 * @file The values that a text states, so that a customer hears whether an agent says another value than theirs. Ids, days, dates, times,
 * numbers, amounts and yes/no facts are understood in the usual ways to write them. Other texts are compared letter by letter.
 */
import { escapeRegExp } from '../../base/escape-reg-exp.ts';
import type { Json } from '../../records/json.ts';
import type { PersonFact } from '../../records/scenario.ts';
import type { Heard } from '../../agent/audit-rules.ts';

export type Valued = Pick<PersonFact, 'name' | 'value' | 'says' | 'ask' | 'others'>;

interface Mention {
  /** `day`, `date`, `time`, or `id room` for an id such as room_12. */
  kind: string;
  value: string;
}

/** The text in lower case, with plain apostrophes and without Markdown. */
export const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[’‘]/g, "'")
    .replace(/\*\*|`|(?<!\w)_|_(?!\w)/g, '');

export const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const DAY = /\b(mon|tues?|wednes|wed|thu(?:rs?)?|fri|satur|sun)day?s?\b|\b(mon|tue|wed|thu|fri)\b/g;
const MONTHS = ['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october', 'november', 'december'];
const MONTH = MONTHS.map((month) => (month.length > 4 ? `${month.slice(0, 3)}(?:${month.slice(3)})?` : month)).join('|');
const DATE = new RegExp(
  `\\b\\d{4}-(\\d{2})-(\\d{2})\\b|\\b(${MONTH})\\.? (\\d{1,2})(?:st|nd|rd|th)?\\b|\\b(\\d{1,2})(?:st|nd|rd|th)? (?:of )?(${MONTH})\\b`,
  'g',
);
const TIME = /\b(\d{1,2})(?::(\d{2}))? ?(a\.?m\b|p\.?m\b)|\b(\d{1,2}):(\d{2})\b|\b(noon|midday)\b/g;
/** The ids of a text in lower case, as tools show them: `room_12`. */
export const idsIn = (text: string): string[] => text.match(/\b[a-z]+(?:_[a-z]+)*_\d+\b/g) ?? [];
const ID = /\b([a-z]+(?:_[a-z]+)*)[_-]?(\d+)\b/g;
/** The text before the number of an id: `room_` of room_12. Undefined if the value is no id. */
export const prefixOf = (value: Json): string | undefined =>
  typeof value === 'string' ? /^([a-z]+(?:_[a-z]+)*_)\d+$/.exec(value)?.[1] : undefined;
/** Names of months and of units that stand before a number. */
const NO_ID = new RegExp(`^(?:${MONTH}|at|for|to|from|until|by|on|of|in|and|is|the|least|most)$`);

const two = (digits: string | number): string => String(digits).padStart(2, '0');

/** Takes all matches out of a text. */
function taken(text: string, pattern: RegExp, read: (match: RegExpMatchArray) => Mention | null, found: Mention[]): string {
  return text.replace(pattern, (...match) => {
    const mention = read(match as unknown as RegExpMatchArray);
    if (mention) found.push(mention);
    return mention ? ' ; ' : match[0]!;
  });
}

/** The ids, dates, days and times of a text, and the text without them. */
function mentionsIn(text: string): { mentions: Mention[]; rest: string } {
  const mentions: Mention[] = [];
  let rest = plain(text);
  rest = taken(rest, DATE, ([, month, day, name, after, before, last]) => {
    const number = month ?? two(MONTHS.findIndex((full) => full.startsWith((name ?? last)!.slice(0, 3))) + 1);
    return { kind: 'date', value: `${number}-${two((day ?? after ?? before)!)}` };
  }, mentions); // prettier-ignore
  rest = taken(rest, TIME, ([, hour, minute = '00', half, hours, minutes, noon]) => {
    if (noon) return { kind: 'time', value: '12:00' };
    const value = half ? `${two((Number(hour) % 12) + (half.startsWith('p') ? 12 : 0))}:${minute}` : `${two(hours!)}:${minutes}`;
    return { kind: 'time', value };
  }, mentions); // prettier-ignore
  rest = taken(rest, ID, ([whole, prefix, number]) =>
    NO_ID.test(prefix!) ? null : { kind: `id ${prefix}`, value: `${whole!.includes('_') || whole!.includes('-') ? `${prefix}_` : prefix}${number}` },
  mentions); // prettier-ignore
  rest = taken(rest, DAY, ([, long, short]) => {
    const start = (long ?? short)!.slice(0, 3);
    return { kind: 'day', value: DAYS.find((day) => day.startsWith(start))! };
  }, mentions); // prettier-ignore
  return { mentions, rest };
}

/** What an agent says about the present state: the value is not proposed. */
const FORMER =
  /\b(?:instead of|rather than|not|no longer|currently|current|previous|old|now|existing|was|were)(?: (?:is|in|at|on|for|the|your|booked|from)){0,3} [^\s,.;!?]+/g;
const FROM = /\bfrom (?:the |your )?[a-z_-]+[_-]?\d+\b|\bfrom (?:next |this )?(?:mon|tues|wednes|thurs|fri|satur|sun)day\b/g;
const withoutFormer = (text: string): string => plain(text).replace(FORMER, ' ; ').replace(FROM, ' ; ');

const NUMBERS = 'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'.split(' '); // prettier-ignore
const numberOf = (word: string): number | null => {
  if (/^\d+(?:\.\d+)?$/.test(word)) return Number(word);
  const at = NUMBERS.indexOf(word);
  return at < 0 ? null : at;
};
const EMPTY_WORDS = new Set(
  'a an and are at by can could do does for from how i in is it many me much my need of on or please should that the this time to want we what when where which who with without would you your no not'.split(
    ' ',
  ),
);
const stem = (word: string): string => (word.length > 3 ? word.replace(/(?:es|s)$/, '') : word);
const wordsOf = (text: string): string[] => plain(text).match(/[$€£]|\d+(?:\.\d+)?|[a-z']+/g) ?? [];

/** The words that tell which fact a number belongs to: of “for 6 people” it is `people`. */
const keywordsOf = ({ says, ask, name, value }: Valued): Set<string> =>
  new Set(
    wordsOf([says, ...ask, name.replaceAll('_', ' ')].join(' ').replaceAll(String(value), ' '))
      .filter((word) => numberOf(word) === null && !EMPTY_WORDS.has(word))
      .map(stem),
  );

function numbersFor(text: string, fact: Valued): number[] {
  const keywords = keywordsOf(fact);
  const words = wordsOf(text);
  const isKey = (at: number) => words[at] !== undefined && keywords.has(stem(words[at]));
  return words.flatMap((word, i) => {
    const number = numberOf(word);
    const named = number !== null && (isKey(i + 1) || isKey(i - 1) || (isKey(i + 2) && numberOf(words[i + 1]!) === null) || isKey(i - 2));
    return named ? [number] : [];
  });
}

/** Whether a text says yes or no to a thing: “with a projector” is true, “no projector” is false. Null: it does not name the thing. */
function polarity(text: string, keywords: ReadonlySet<string>): boolean | null {
  const words = wordsOf(text);
  const at = words.findIndex((word) => keywords.has(stem(word)));
  if (at < 0) return null;
  return !words.slice(Math.max(0, at - 3), at).some((word) => /^(?:no|not|without|don't|doesn't|isn't)$/.test(word));
}

const asText = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));
/** Whether a text has a value as a word of its own. */
export const contains = (text: string, value: string): boolean =>
  value !== '' && new RegExp(`(?<![\\p{L}\\d_])${escapeRegExp(plain(value))}(?![\\p{L}\\d_])`, 'u').test(plain(text));

/** The mention that a whole value is: `room_12`, `Monday`, `10:00`. Null for other values. */
function formOf(value: Json): Mention | null {
  if (typeof value !== 'string') return null;
  const { mentions, rest } = mentionsIn(value);
  return mentions.length === 1 && rest.replace(/[;\s]/g, '') === '' ? mentions[0]! : null;
}

/** Whether a text names a value: an id, a day, a date or a time in the usual ways to write it, another value as words of its own. */
export function namesValue(text: string, value: Json): boolean {
  const form = formOf(value);
  if (!form) return partsOf(value).every((part) => contains(text, part));
  return isMentioned(text, form);
}

/** Whether a text has a mention in any of its forms. */
const isMentioned = (text: string, { kind, value }: Mention): boolean =>
  mentionsIn(withJoinedIds(text, [{ kind, value }])).mentions.some((one) => one.kind === kind && one.value === value);

/** The text with `room 12` as `room_12`, if a fact is such an id. */
const withJoinedIds = (text: string, forms: readonly (Mention | null)[]): string =>
  forms.reduce((said, form) => {
    const prefix = form?.kind.startsWith('id ') && form.value.includes('_') ? form.kind.slice('id '.length) : '';
    return prefix ? said.replace(new RegExp(`\\b${prefix.replaceAll('_', '[_ ]')}[ #]{1,3}(?=\\d)`, 'gi'), `${prefix}_`) : said;
  }, text);

/**
 * How a text speaks of each fact: it names the value, names another value, or names none.
 * @param accepted further values that are no contradiction
 */
export function heardFacts(text: string, facts: readonly Valued[], accepted = ''): Map<string, Heard> {
  const forms = facts.map(({ value }) => formOf(value));
  text = withJoinedIds(text, forms);
  const { mentions: all } = mentionsIn(text);
  const { mentions } = mentionsIn(withoutFormer(text));
  const own = [...forms.filter((form) => form !== null), ...mentionsIn(accepted).mentions];
  const foreignOf = (kind: string) =>
    mentions.filter((mention) => mention.kind === kind && !own.some((form) => form.kind === kind && form.value === mention.value));
  const result = new Map<string, Heard>();
  for (const [i, fact] of facts.entries()) {
    const form = forms[i];
    if (!form) {
      result.set(fact.name, heardOther(text, fact, [accepted, ...facts.flatMap((other) => partsOf(other.value))]));
      continue;
    }
    const named = all.some(({ kind, value }) => kind === form.kind && value === form.value);
    const foreign = foreignOf(form.kind).length > 0;
    // Two ids are two things, and an act on another thing is always wrong. Another day next to the right one can be the former day.
    result.set(fact.name, foreign && (!named || form.kind.startsWith('id ')) ? 'other' : named ? 'named' : 'absent');
  }
  return result;
}

/** A fact whose value is a number, a boolean, a list or a free text. */
function heardOther(text: string, fact: Valued, own: readonly string[]): Heard {
  const { value, says } = fact;
  const { rest } = mentionsIn(text);
  const [, amount] = /^(\d+(?:\.\d+)?) [a-z]+$/i.exec(asText(value)) ?? [];
  if (typeof value === 'number' || amount !== undefined) {
    const numbers = numbersFor(rest, fact);
    return numbers.includes(Number(amount ?? value)) ? 'named' : numbers.length > 0 ? 'other' : 'absent';
  }
  if (typeof value === 'boolean') {
    const heard = polarity(rest, keywordsOf(fact));
    return heard === null ? 'absent' : heard === (polarity(says, keywordsOf(fact)) ?? value) ? 'named' : 'other';
  }
  const parts = partsOf(value);
  const known = [...parts, ...own];
  const said = withoutFormer(text);
  const foreign = (fact.others ?? []).some((other) => !known.some((part) => contains(part, other)) && contains(said, other));
  const named = parts.filter((part) => contains(text, part)).length;
  if (foreign || (named > 0 && named < parts.length)) return 'other';
  return named > 0 ? 'named' : 'absent';
}

const partsOf = (value: Json): string[] => (Array.isArray(value) ? value.map(asText) : [asText(value)]);

/** Whether a message of the customer tells a fact, in the words of the scenario or with the value. */
export const tells = (text: string, fact: Valued): boolean =>
  plain(text).includes(plain(fact.says).replace(/[.!?]$/, '')) || heardFacts(text, [fact]).get(fact.name) === 'named';

/** Whether a text states a value, in any usual way to write it: `Tue` for Tuesday, `10 am` for 10:00, `six` for 6. */
export function states(text: string, value: string | number): boolean {
  const form = formOf(value);
  if (form) return isMentioned(text, form);
  const number = typeof value === 'number' || /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : null;
  if (number === null) return contains(text, String(value));
  const { rest } = mentionsIn(text.replace(/(?<=\d),(?=\d{3}(?!\d))/g, ''));
  return contains(text, String(value)) || wordsOf(rest).some((word) => numberOf(word) === number);
}
