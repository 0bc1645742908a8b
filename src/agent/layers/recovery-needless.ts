/** @file Needless turns: the same record read again, the same question asked again, facts asked for that are known. */
import { canonicalJson } from '../../base/json.ts';
import { meaningOf } from '../answers.ts';
import { sentences } from '../sentences.ts';
import { refusalsIn, tellsTrouble } from './communication-claims.ts';
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

/** Asks the customer for something: `What is your email?`, `Which user id is it?`, `Please provide your email.`, `Your email, please.` */
export const askingFor = (what: string): RegExp =>
  new RegExp(
    [
      String.raw`\b(?:what|which)\b[^.?!]{0,40}\b${what}\b(?=[^.!]*\?)`,
      String.raw`(?:^|\b(?:please|kindly|you|and|then)\s)\W*(?:(?:also|again|first|just) )?(?:(?:provide|share|state|enter|type|repeat)\b|(?:tell|give|send|remind) (?:me|us)\b)[^.?!]{0,40}\b${what}\b`,
      String.raw`\b(?:let me (?:know|have)|(?:i|we)(?:'ll|'d| will| would)?(?: also| still| first)? need|(?:may|can|could) (?:i|we) (?:please )?(?:have|get|ask for)|(?:can|could|would|will) you (?:please )?(?:provide|share|tell|give|send|repeat)|mind (?:telling|giving|sharing|repeating))\b[^.?!]{0,60}\b${what}\b`,
      String.raw`^\W*(?:and )?(?:your |the )?\b${what}\b(?: address| number| code)?(?=[^.?!]*(?:\?|\bplease\b|\bso\b|\bto\b))`,
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
        : !tellsTrouble(message.text) && saidJustNow(message, talk, fact);
      log.check('asked_again', message.place, known ? `asked for the ${fact.name}, which the customer had given` : null);
    }
  }
}

function knownBefore({ place }: Said, talk: Talk, { gives }: Fact, identity: RegExp): boolean {
  const looked = talk.callsIn(-1, place).filter(({ name }) => identity.test(name));
  if (looked.some(({ failed }) => !failed)) return true;
  return looked.length === 0 && talk.heardIn(-1, place).some(({ text }) => gives.test(text));
}

function saidJustNow({ place }: Said, talk: Talk, { gives }: Fact): boolean {
  const last = talk.heard.findLast((heard) => heard.place < place);
  if (!last || talk.callsIn(last.place, place).some(({ failed }) => failed)) return false;
  const found = new Set(
    [...last.text.matchAll(new RegExp(gives.source, `${gives.flags.replace('g', '')}g`))].map(([said]) => said.toLowerCase()),
  );
  return found.size === 1;
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? [];

/** At least this share of a question's words must be in the question before. */
const SAME = 0.75;

/** A yes with this many words can say more than yes. */
const SHORT_YES = 12;

/** Asks for more than a yes. */
const ASKS_FACTS = /\b(?:provide|what|which|share|tell me|give me|could i have)\b/i;

/** The same question after a yes, and nothing happened between them. */
function checkQuestions(talk: Talk, log: RuleLog): void {
  for (const [i, question] of talk.said.entries()) {
    const before = talk.said[i - 1];
    if (!before || !question.text.includes('?') || !before.text.includes('?') || ASKS_FACTS.test(before.text)) continue;
    const answers = talk.heardIn(before.place, question.place);
    if (answers.length === 0 || talk.callsIn(before.place, question.place).length > 0) continue;
    const [words, known] = [wordsOf(question.text), new Set(wordsOf(before.text))];
    const shared = words.filter((word) => known.has(word)).length;
    if (words.length < 3 || shared < SAME * words.length || refusalsIn(before.text).length > 0) continue;
    const isNew = words.some((word) => /\d/.test(word) && !known.has(word));
    const agreed =
      !isNew &&
      answers.every(({ text }) => meaningOf(text, before.text) === 'yes' && text.split(' ').length < SHORT_YES && !/\d/.test(text));
    log.check('same_question', question.place, agreed ? `asked again, after “${answers[0]!.text.slice(0, 80)}”` : null);
  }
}
