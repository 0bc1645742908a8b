/** @file Promises of an agent: what it says that it does next must follow. */
import { asks } from '../questions.ts';
import { sentences } from '../sentences.ts';
import { type ActWords, ASKS_MORE, refusalsIn, tellsTrouble } from './communication-claims.ts';
import type { RuleLog } from './rule-log.ts';
import type { Said, Talk } from './talk.ts';

const WILL = String.raw`\b(?:i|we)(?:'ll| will| shall| am going to|'m going to| are going to)(?: (?:also|then|now|next|just|gladly|quickly|certainly))*`;
const VERB =
  '(?:updat|chang|add|cancel|modif|return|exchang|swap|replac|book|rebook|upgrad|downgrad|mov|switch|send|enabl|activat|disabl|resum|restor|lift|suspend|refuel|top up|process|submit|register|mak|set|correct|fix|remov|issu|arrang|request|apply|reactivat|sav|stor|put)';
const PROMISES = new RegExp(`${WILL} ${VERB}`, 'i');
/** Promises an act without its name. */
const OF_IT = new RegExp(
  String.raw`${WILL} (?:take care of|do|handle|see to|get to|deal with|finish|complete|sort out|${VERB}\w*) (?:it|that|this|the rest|the other(?: one)?|those|them|both)\b`,
  'i',
);
/** `Your profile comes right after this`, `the address is next`. */
const FOLLOWS =
  /\b(?:comes?|follows?|is|are) (?:(?:right|just|up|now|up) )*(?:next|after (?:this|that)|afterwards|shortly|soon|in a (?:moment|minute|second))\b/i;
/** The act is still to come, although one of the same kind was just done. */
const NEXT = /\b(?:next|right after|after (?:this|that)|afterwards|then|shortly|soon|in a (?:moment|minute|second)|as well|too|also)\b/i;
const CONDITION =
  /\?|\b(?:if|once|when|whenever|after you|after the|as soon as|unless|until|before|would|could|please|may|let me know|in case|need(?:ed|s)?)\b/i;

interface PromiseRules {
  acts: readonly ActWords[];
  transfers: readonly string[];
}

/** Checks promises after which the agent spoke again. A conversation that ends before was cut. */
export function checkPromises(talk: Talk, log: RuleLog, rules: PromiseRules): void {
  for (const message of talk.said) {
    if (asks(message.text) || talk.saidIn(talk.nextHeard(message.place)).length === 0) continue;
    for (const sentence of sentences(message.text)) {
      const tools = promised(sentence, message, talk, rules);
      if (tools !== null)
        log.check('promise', message.place, isKept(message, tools, talk, rules) ? null : `said “${sentence}”, and it did not follow`);
    }
  }
}

/** The tools of the promised act. Null: the sentence promises none. */
function promised(sentence: string, { place }: Said, talk: Talk, { acts }: PromiseRules): readonly string[] | null {
  if (CONDITION.test(sentence)) return null;
  const ofIt = OF_IT.test(sentence) || FOLLOWS.test(sentence);
  const named = ofIt || PROMISES.test(sentence) ? acts.filter((act) => act.named.test(sentence)) : [];
  const tools = (named.length > 0 ? named : ofIt ? acts : []).flatMap((act) => act.tools);
  const done = talk.callsIn(talk.lastHeard(place), place).some(({ name }) => tools.includes(name));
  return tools.length === 0 || (done && !NEXT.test(sentence)) ? null : tools;
}

function isKept({ place }: Said, tools: readonly string[], talk: Talk, { transfers }: PromiseRules): boolean {
  if (talk.callsIn(place).some(({ name }) => tools.includes(name) || transfers.includes(name))) return true;
  // The agent asked for more, or said that it is not possible.
  return talk.saidIn(place).some(
    ({ text }) =>
      tellsTrouble(text) ||
      refusalsIn(text).length > 0 ||
      asks(
        sentences(text)
          .filter((sentence) => !ASKS_MORE.test(sentence))
          .join('\n'),
      ),
  );
}
