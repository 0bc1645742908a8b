/** @file Needless turns: the same record read again, the same question asked again, facts asked for that are known. */
import { canonicalJson } from '../../base/json.ts';
import { meaningOf } from '../answers.ts';
import { sentences } from '../sentences.ts';
import { asks } from '../questions.ts';
import { ASKS_MORE, refusalsIn, tellsTrouble } from './communication-claims.ts';
import type { RuleLog } from './rule-log.ts';
import type { Said, Talk } from './talk.ts';

/** A fact that a customer gives. */
export interface Fact {
  name: string;
  /** Asks for the fact. */
  asks: RegExp;
  /** Gives the fact. */
  gives: RegExp;
  /** Whether the fact is known for good once the customer was found. */
  identity?: boolean;
}

/**
 * Asks the customer for something: `What is your email?`, `Which user id is it?`, `Please provide your email.`, `Your email, please.`
 * @param bare whether a question can begin with the thing: `Your email?`
 */
export const askingFor = (what: string, bare = true): RegExp =>
  new RegExp(
    [
      String.raw`\b(?:what|which)\b[^.?!]{0,40}\b${what}\b(?=[^.!]*\?)`,
      String.raw`(?:^|\b(?:please|kindly|you|and|then)\s)\W*(?:(?:also|again|first|just) )?(?:(?:provide|share|state|enter|type|repeat)\b|(?:tell|give|send|remind) (?:me|us)\b)[^.?!]{0,40}\b${what}\b`,
      String.raw`\b(?:let me (?:know|have)|(?:i|we)(?:'ll|'d| will| would)?(?: also| still| first)? need|(?:may|can|could) (?:i|we) (?:please )?(?:have|get|ask for)|(?:can|could|would|will) you (?:please )?(?:provide|share|tell|give|send|repeat)|mind (?:telling|giving|sharing|repeating))\b[^.?!]{0,60}\b${what}\b`,
      ...(bare
        ? [String.raw`^\W*(?:and )?(?:your |the )?\b${what}\b(?: address| number| code)?(?=[^.?!]*(?:\?|\bplease\b|\bso\b|\bto\b))`]
        : []),
    ].join('|'),
    'i',
  );

export interface NeedlessRules {
  /** Tools that find the customer. */
  identity: RegExp;
  /** Tools that only think or calculate. */
  aside: RegExp;
  facts: readonly Fact[];
  /** Whether customers change the data themselves, so that a second look after their message is useful. */
  volatile?: boolean;
}

export function checkNeedless(talk: Talk, log: RuleLog, rules: NeedlessRules): void {
  checkReads(talk, log, rules);
  checkFacts(talk, log, rules);
  checkQuestions(talk, log);
}

const AGAIN = /\b(?:again|double[- ]?check|re-?check|verify|sure|look|refresh|still|update|check)\b/i;

function checkReads(talk: Talk, log: RuleLog, { aside, volatile }: NeedlessRules): void {
  const seen = new Map<string, { place: number; value: string }>();
  for (const call of talk.calls) {
    // After a write or a failure, a second look is useful.
    if (call.write || call.failed) {
      seen.clear();
      continue;
    }
    if (aside.test(call.name) || /^transfer/.test(call.name)) continue;
    const key = canonicalJson([call.name, call.args]);
    const before = seen.get(key);
    const value = canonicalJson(call.value);
    const asked = talk.heardIn(before?.place ?? call.place, call.place);
    const useful = !before || before.value !== value || asked.some(({ text }) => AGAIN.test(text)) || (volatile && asked.length > 0);
    log.check('read_again', call.place, useful ? null : `${call.name} showed the same before, and nothing had changed`);
    seen.set(key, { place: call.place, value });
  }
}

/** Asks for the fact, and offers no other way. */
const asksFor = (text: string, { asks }: Fact): boolean =>
  sentences(text).some(
    (sentence) =>
      asks.test(sentence) &&
      !/\b(?:new|another|other|different|correct|updated|alternative|instead|confirm|verify|double[- ]check|passengers?|shipping|if you)\b/i.test(
        sentence,
      ),
  );

function checkFacts(talk: Talk, log: RuleLog, { facts, identity }: NeedlessRules): void {
  for (const message of talk.said) {
    for (const fact of facts) {
      if (!asksFor(message.text, fact)) continue;
      const known = fact.identity
        ? knownBefore(message, talk, fact, identity)
        : !tellsTrouble(message.text) && (saidJustNow(message, talk, fact) || saidBefore(message, talk, fact));
      log.check('asked_again', message.place, known ? `asked for the ${fact.name}, which the customer had given` : null);
    }
  }
}

function knownBefore({ place }: Said, talk: Talk, { gives }: Fact, identity: RegExp): boolean {
  const looked = talk.callsIn(-1, place).filter(({ name }) => identity.test(name));
  if (looked.some(({ failed }) => !failed)) return true;
  return looked.length === 0 && talk.heardIn(-1, place).some(({ text }) => gives.test(text));
}

/** The facts of a kind in a text. */
const givenIn = (text: string, { gives }: Fact): string[] => [
  ...new Set([...text.matchAll(new RegExp(gives.source, `${gives.flags.replace('g', '')}g`))].map(([said]) => said.toLowerCase())),
];

function saidJustNow({ place }: Said, talk: Talk, fact: Fact): boolean {
  const last = talk.heard.findLast((heard) => heard.place < place);
  if (!last || talk.callsIn(last.place, place).some(({ failed }) => failed)) return false;
  return givenIn(last.text, fact).length === 1;
}

/** The customer can mean another thing. */
const OTHER = /\b(?:another|other|different|second|two|both|not sure|don't (?:know|remember))\b/i;

/** Whether the customer gave the only fact of its kind earlier, and no call has used it. */
function saidBefore({ place }: Said, talk: Talk, fact: Fact): boolean {
  const heard = talk.heardIn(-1, place);
  const [given, ...more] = givenIn(heard.map(({ text }) => text).join('\n'), fact);
  if (given === undefined || more.length > 0 || heard.some(({ text }) => OTHER.test(text))) return false;
  const value = given.replace(/^#/, '');
  return !talk.callsIn(-1, place).some((call) => call.write || JSON.stringify(call.args).toLowerCase().includes(value));
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? [];

/** At least this share of a question's words must be in the question before. */
const SAME = 0.75;

/** A yes with this many words can say more than yes. */
const SHORT_YES = 12;

/** Asks for more than a yes. */
const ASKS_FACTS = /\b(?:provide|what|which|share|tell me|give me|could i have)\b/i;

/** Asks once more for the same yes. */
const AGAIN_YES =
  /\b(?:again|really|once more|one more time|(?:to be|make|are you) (?:\w+ )?(?:safe|sure|certain|clear)|double[- ]?check|re-?confirm\w*)\b/i;
/** Words of a request for a yes, which say nothing about the act. */
const GENERIC = new Set(
  'confirm confirmation really sure safe certain please again once more time just double check thank thanks noted okay alright great want would like shall should could proceed continue correct right agree that this with then still have your will going ahead need before understood perfect good absolutely clear final last answer everything fine'.split(
    ' ',
  ),
);
const numbersOf = (text: string): number[] => (text.match(/\d+(?:\.\d+)?/g) ?? []).map(Number);

/** The same question after a yes, and nothing happened between them. */
function checkQuestions(talk: Talk, log: RuleLog): void {
  for (const [i, { place, text }] of talk.said.entries()) {
    const before = talk.said[i - 1];
    const question = sentences(text)
      .filter((sentence) => !ASKS_MORE.test(sentence))
      .join('\n');
    if (!before || !asks(question) || !asks(before.text) || ASKS_FACTS.test(before.text) || ASKS_FACTS.test(question)) continue;
    const answers = talk.heardIn(before.place, place);
    if (answers.length === 0 || talk.callsIn(before.place, place).length > 0 || refusalsIn(before.text).length > 0) continue;
    if (!repeats(question, before.text)) continue;
    const agreed = answers.every(
      (answer) => meaningOf(answer.text, before.text) === 'yes' && answer.text.split(' ').length < SHORT_YES && !/\d/.test(answer.text),
    );
    log.check('same_question', place, agreed ? `asked again, after “${answers[0]!.text.slice(0, 80)}”` : null);
  }
}

/** Whether a question has no new number, and asks in the words of the one before, or once more in words of its own. */
function repeats(question: string, before: string): boolean {
  const numbers = numbersOf(before);
  if (numbersOf(question).some((number) => !numbers.includes(number))) return false;
  const known = new Set(wordsOf(before));
  const words = wordsOf(question).filter((word) => !GENERIC.has(word));
  const shared = words.filter((word) => known.has(word)).length;
  return AGAIN_YES.test(question) ? shared * 2 >= words.length : words.length > 1 && shared >= SAME * words.length;
}
