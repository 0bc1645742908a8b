/** @file Whether an agent's message asks for a yes to a write. A question about something else does not: “Is this a good time?”. */
import type { WriteWords } from './audit-rules.ts';
import { sentences } from './sentences.ts';

/** Asks for facts, so that a yes is no consent. */
const ABOUT_FACTS =
  /\b(confirm|verify|provide|tell|give|share|send|have|know|need|is|what's|enter|state)( me| us)?( with)? (your|the)( \w+)? (e-?mail|full name|first name|last name|name|zip|postal|user id|phone|date of birth|identity|identification)\b|\b(how|which( \w+)?|what( \w+)?) (would you|do you want|should i|shall i)\b|\b(how|which( \w+)?) you('d| would) (like|prefer|want)\b|\bdo you have (a|an|any|your|the|other)\b|\b(hold|wait|waiting|holding)\b[^?]{0,40}\bwhile\b|\b(ok|okay|fine|mind|happy|like) (with |to )?(wait|waiting|hold|holding)\b|\b(good|right|convenient|better) (time|moment)\b/;
/** Asks for another wish, or for what the customer knows or did. */
const ABOUT_MORE =
  /^\W*(why|when|where|who|was|were|did (?!i\b|you (?:want|mean)\b|we\b)\w+|does (anyone|anybody|someone))\b|\bare you (at|still)\b|\bon hold\b|^\W*(is|are) .*\b(still|current|up to date)\b|\b(have|had|were) you\b|\bdid you (?!want|mean)|\bdo you (know|understand|remember|recall|reali[sz]e)\b|\bare you (aware|the|an?)\b|\b(anything|something|what) (else|more)\b|\b(any|other|further|more) (other |further |more )?(questions?|requests?|concerns?|help|assistance)\b/;
/** Facts about the customer, which no write needs. */
const WHO = /@|\b(e-?mail|zip|phone|identity|user id|full name|your name)\b/;
const GO_ON = /\b(proceed|go[ -]ahead|yes or no|shall i (do|go)|should i (do|go))\b|\byes\s*\/\s*no\b|\(y\/n\)/;
/** `Shall I …`, `Would you like me to …`: the agent offers an act, which is the next word. */
const OFFER =
  /\b(?:(?:shall|should|may|can|could) (?:i|we)|(?:want|like|need|prefer) (?:me|us) to|(?:ok|okay|alright|fine|good) (?:if|for) (?:i|we|me to)) (?:now |please |also |just |then |go on and )?([a-z]+)/g;
/** `Would you like to …`: what the customer does is the next word. */
const WISH = /\b(?:would you like|do you want|wish) to (?:now |please |also |just |then )?([a-z]+)/g;
/** A question that leaves out the act: `Shall I?`, `Would you like that?`, `Submit?` */
const SHORT =
  /\b(?:(?:shall|should|may|can|could) (?:i|we)|(?:want|like|need) (?:me|us) to|(?:do you want|would you (?:like|want)) (?:that|this|it|them|those|these)(?: done)?)\W*$|^\W*(?:good|final answer|accepted?)\W*$|^\W*(?:submit|confirm|proceed|continue|save)(?: it| this| that| now)?\W*$/;
const ANY_ACT =
  /^(proceed|go|do|move|make|process|submit|finali[sz]e|complete|apply|execute|perform|place|put|carry|confirm|continue|initiate|arrange|start|set|get|take|handle|lock|wrap|run|push|file|book|update|change|modify|switch|adjust|edit|amend)$/;
/** Offers that change no data, or say only how the customer pays. */
const NO_WRITE =
  /^(check|look|see|find|verify|explain|tell|send|transfer|connect|list|search|provide|show|know|hear|discuss|help|assist|wait|hold|email|ask|review|read|have|pull|share|recommend|suggest|offer|mention|remind|note|clarify|assume|expect|give|contact|forward|escalate|keep|leave|use|charge|refund|bill|pay|be|still|interest|count)$/;
const AGREE =
  /\b(confirm|confirmed|correct|right|accurate|ok|okay|alright|all right|fine|agree|agreed|approve|authori[sz]e|accept|acceptable|continue|sure|certain|really|correctly|ready|happy|yes)\b|\b(look|looks|sound|sounds|all|everything) (good|right|ok|okay|fine|correct)\b|\b(that|this|it|everything)( all)? (works?|suits?)\b|\bin your interest\b|\bfinal decision\b|\bin agreement\b|\bgood to go\b|\bin order\b|\bdeal\b|\b(how|what) (does|do|about) (that|this|it|you) (sound|look|say)\b|\b(a|your) go\b|\bis (that|this) what\b|\bdo (it|this|that|so)\b/;
/** What a customer gives: `your approval`, `a clear yes`. */
const CONSENT =
  /\b(?:your|an?|the)(?: [\w"']+){0,2}? ["']?(?:confirmation(?! (?:e-?mail|number|code|link|message|by))|approval|permission|consent|agreement|go-ahead|ok|okay|yes|authori[sz]ation|blessing|green light)\b/;
/** Requests for a yes in a sentence that is no question. */
const TELL_ME: readonly RegExp[] = [
  /\b(please|kindly|just|once|if|when|after|until|must|need to|should|to) (you )?([\w']+ ){0,4}?(confirm|authori[sz]e|approve)\b/,
  /\b(reply|respond|answer|say|type|write|enter|press|send)\b[^.]{0,30}\b(yes|y|confirm|confirmation|ok)\b|\bconfirm\b[^.]{0,40}\byes\b|\bsay the word\b/,
  /\b(let me know|tell me) (if|whether|when|that)\b[^.]{0,80}\b(proceed|go ahead|correct|right|ok|okay|agree|confirm|like|want|works?|good|fine|happy|alright|in order|(i|we) (may|can|should|shall))\b|\blet me know and (i|we)\b/,
  new RegExp(
    `\\b(?:need|await|awaiting|wait for|waiting for|upon|require|with|without|after|get|have|is|for|indicate|give (?:me|us))(?: only)? ${CONSENT.source}`,
  ),
  /\b(if|once|when|until|as soon as|unless) (you|you're|you are) (have (no|any) objections?|object|say|agree|confirm|approve|consent|accept|okay|fine|happy)\b/,
];
const tellsMe = (said: string): boolean => TELL_ME.some((pattern) => pattern.test(said));
const SAYS_ITSELF = /\b(thank|thanks)\b|\b(i|we)( can| will| could| have|'ll)? (confirm|confirmed)\b/;

/** Whether a message asks for a yes to this write. */
export const asksFor = (message: string, words: Pick<WriteWords, 'act' | 'verb'>): boolean => asking(message, words).length > 0;

/** The parts of a message that ask for a yes to this write. A part may point to it (“Shall I proceed?”) or name what it does. */
export function asking(message: string, { act, verb: own }: Pick<WriteWords, 'act' | 'verb'>): string[] {
  const found = clauses(message).filter(({ text: sentence, question }) => {
    const said = sentence.toLowerCase();
    if (ABOUT_FACTS.test(said)) return false;
    if (GO_ON.test(said) && (question || /yes\s*\/\s*no|yes or no|y\/n|let me know|\b(say|reply)\b/.test(said)))
      return act.heard(sentence) !== 'other';
    if (ABOUT_MORE.test(said)) return false;
    if (!question) return tellsMe(said) && !SAYS_ITSELF.test(said) && act.heard(sentence) !== 'other';
    if (CONSENT.test(said)) return act.heard(sentence) !== 'other';
    const offers = [...said.matchAll(OFFER)].map(([, verb]) => verb!);
    const wishes = [...said.matchAll(WISH)].map(([, verb]) => verb!);
    const acts = [...offers, ...wishes];
    if (acts.length > 0 && acts.every((verb) => verb !== own && NO_WRITE.test(verb))) return false;
    const heard = act.heard(sentence);
    if (heard === 'named') return true;
    if (heard === 'other' || WHO.test(said)) return false;
    if (acts.length > 0) return offers.some((verb) => !NO_WRITE.test(verb)) || wishes.some((verb) => ANY_ACT.test(verb));
    return AGREE.test(said) || SHORT.test(said);
  });
  return found.map(({ text }) => text);
}

/** Where a sentence goes on with another question: `Is this correct, and shall I save it?` */
const NEXT_QUESTION = /,? (?:and|or|so) (?=(?:shall|should|may|can|could) (?:i|we)\b|(?:do|would|are) you\b|is (?:it|that|this)\b)/i;

/** The questions and statements of a message. */
const clauses = (message: string): { text: string; question: boolean }[] =>
  sentences(message).flatMap((sentence) => sentence.split(NEXT_QUESTION).map((text) => ({ text, question: sentence.includes('?') })));

/** Whether a message asks anything. */
export const asks = (message: string): boolean =>
  message.includes('?') ||
  sentences(message).some(
    (sentence) => tellsMe(sentence.toLowerCase()) || (GO_ON.test(sentence.toLowerCase()) && /yes|y\/n/i.test(sentence)),
  );
