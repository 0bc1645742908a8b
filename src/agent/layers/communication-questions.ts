/** @file Questions of the customer for facts: the agent must answer them. */
import { asks } from '../questions.ts';
import { sentences } from '../sentences.ts';
import { amountsIn, sameAmount } from './communication-money.ts';
import { ASKS_MORE, FAREWELL, refusalsIn } from './communication-claims.ts';
import type { RuleLog } from './rule-log.ts';
import type { Said, Talk } from './talk.ts';

/** A fact that customers ask for. */
export interface AskedFact {
  name: string;
  asks: RegExp;
  /** Whether a message of the agent gives the fact. */
  gives: (text: string, talk: Talk) => boolean;
}

const ASKS_BALANCE = String.raw`\b(?:how much|what(?:'s| is| was)? [^.?!]{0,30}\b(?:balance|amount|value|left)|balance (?:of|on|left|for)|(?:tell|show|give|know|check|see)\b[^.?!]{0,30}\bbalance)\b`;
/** `How much is left on my gift card?` */
export const balanceAsked = (words: string, balances: (talk: Talk) => readonly number[]): AskedFact => ({
  name: 'balance',
  asks: new RegExp(
    String.raw`^(?!.*\b(?:refund\w*|returned|credited|get back|charged?|pay|us(?:e|ing)|appl(?:y|ied)|cover)\b).*(?:${ASKS_BALANCE}.*\b${words}\b|\b${words}\b.*\b(?:how much|balance|left|worth|still (?:has|have|holds?))\b)`,
    'i',
  ),
  gives: (text, talk) =>
    amountsIn(text).some((amount) => balances(talk).some((value) => sameAmount(amount, value))) ||
    /\b(?:empty|used up|no (?:balance|money)|nothing (?:left|on it))\b/i.test(text),
});

export const PRICE_ASKED: AskedFact = {
  name: 'price',
  asks: /\bhow much (?:was|is|did|does|will|do|would)\b(?!.*\b(?:left|gift ?card|data|gb)\b)|\bwhat(?:'s| is| was| were| does| did| will| would)\b[^.?!\n]*\b(?:total|price|costs?|fee|difference|amount due)\b/i,
  gives: (text) =>
    amountsIn(text).length > 0 || /\b(?:free|no (?:extra|additional|difference|charge|cost|fee)|same price|nothing)\b/i.test(text),
};

const QUESTION =
  /\?|^\W*(?:and |also |then |please |so )*(?:what|how|where|when|which|tell|let me know|i (?:also )?(?:want|would like|need|wonder)|i'd like|can you|could you|do you know)\b/i;
const SKIPS = /\b(?:one (?:moment|second)|let me|just a (?:moment|second)|looking|hold on)\b/i;
const TAKEN_BACK = /\b(?:never ?mind|forget (?:it|that)|not important|no matter|doesn't matter|does not matter)\b/i;

/** The sentences of a message that neither end the conversation nor ask for another wish. */
const substance = (text: string): string =>
  sentences(text)
    .filter((sentence) => !FAREWELL.test(sentence) && !ASKS_MORE.test(sentence))
    .join('\n');

/** Checks that each question has an answer, a refusal or a hand-over before the conversation ends. */
export function checkQuestions(talk: Talk, log: RuleLog, facts: readonly AskedFact[], transfers: readonly string[]): void {
  for (const { place, text } of talk.heard)
    for (const fact of facts) {
      const question = sentences(text).find((sentence) => QUESTION.test(sentence) && fact.asks.test(sentence));
      if (question === undefined) continue;
      const later = talk.saidIn(place);
      const last = later.findLast((said) => substance(said.text) !== '');
      // The conversation was cut, or the agent waits for something.
      if (!last || asks(substance(later.at(-1)!.text)) || SKIPS.test(later.at(-1)!.text)) continue;
      const answered =
        later.some((said) => fact.gives(said.text, talk) || refusesFact(said, fact)) ||
        talk.callsIn(place).some(({ name }) => transfers.includes(name)) ||
        talk.heardIn(place).some((heard) => TAKEN_BACK.test(heard.text));
      log.check('unanswered', last.place, answered ? null : `did not answer “${question}”`);
    }
}

/** Says that the fact is not known, or refuses. */
const refusesFact = ({ text }: Said, { asks: about }: AskedFact): boolean =>
  refusalsIn(text).length > 0 ||
  sentences(text).some(
    (sentence) =>
      /\b(?:cannot|can't|unable|not able|don't|do not|no)\b/i.test(sentence) &&
      (about.test(sentence) || /\b(?:see|know|find|access|information|tell)\b/i.test(sentence)),
  );
