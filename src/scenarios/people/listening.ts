/** @file What a customer of a scenario hears in a message: questions, proposals, claims, refusals. The agent can be any program or person. */
import { escapeRegExp } from '../../base/escape-reg-exp.ts';
import type { PersonFact } from '../../records/scenario.ts';
import { heardFacts, plain } from './values.ts';

export interface Heard {
  /** The sentences that ask for a yes. Null: none does. */
  proposal: string | null;
  /** The names of the facts that the message asks for. */
  asked: string[];
  /** Whether the message asks anything. */
  asks: boolean;
  /** The sentences in which the agent claims that it has done something. Null: none does. */
  claims: string | null;
  refused: boolean;
  transferred: boolean;
  /** Whether the message asks what the customer wants, or whether they want more. */
  open: boolean;
  /** Whether the agent says that it works on something. */
  busy: boolean;
}

const CONFIRM =
  /\b(yes or no|yes\/no|y\/n|proceed|go ahead|(?:shall|should|may|can|could) (?:i|we)\b(?! (?:help|assist|get|have|ask|know|see))|(?:want|like|need) (?:me|us) to|(?:is|are|does|do) (?:that|this|these|it|everything|all)(?: all)? (?:right|correct|ok|okay|fine|alright|good|work|sound|look)|say yes|reply yes|do you (?:agree|confirm|accept|approve)|your (?:confirmation|approval|consent|permission)|(?:please|can you|could you|kindly) confirm|to confirm|let me know (?:if|whether) (?:that|this|i|it|you)|confirm (?:that|this|these|if|whether|with))\b|\b(?:correct|right|okay|ok|agreed|confirm)\?/;
const WILL = /\b(?:i will|i'll|i would|i'd|i am going to|i'm going to|we will|we'll)\b/;
const ASKING =
  /\?|\b(?:please|provide|tell|give|share|need|specify|enter|state|send|let me know|what|which|why|how|who|when|where|missing|require|confirm|know)\b/;
const CHOICE = /\bor\b|\bwhich\b|\bprefer\b|\brather\b/;
const OPEN =
  /\b(?:anything|something|what) else\b|\bhow (?:can|may|could|should) (?:i|we) (?:help|assist)|\bwhat (?:can|may|could) (?:i|we) (?:do|help)|\b(?:help|assist) you\b[^.]{0,100}\?|\bmore (?:i|we) can\b|\bany(?:thing)? (?:other|more|further)\b[^.]{0,60}\?|\bwhat (?:would|do) you (?:like|want|need)(?: to do)?\s*\?|\bwhat brings you\b/;
const REFUSED =
  /\b(?:cannot|can't|can not|couldn't|could not|unable|not able|won't|will not|not (?:possible|allowed|permitted|eligible|available|free)|impossible|refuse|against (?:our|the) (?:policy|rules)|not supported|unfortunately|no longer available|do(?:es)? not (?:allow|permit)|doesn't allow|i'm afraid|i am afraid|not found|failed|did not work|didn't work|no such|must not|may not)\b/;
const TRANSFERRED =
  /\b(?:transferr?(?:ed|ing)|human (?:agent|colleague|staff)|hand(?:ed|ing) (?:you )?over|forwarded you|connect(?:ed|ing) you)\b/;
const LOOKED =
  '(?:check|look|found|find|verif|locat|search|not|receiv|ask|retriev|pull|review|identif|need|see|seen|confirmed|understood|understand|read|listed|tried|just|already|now|also|successfully)';
const DONE = new RegExp(
  [
    '\\b(?:done|completed|all set|success|successful|successfully|taken care of|is set up)\\b',
    `\\b(?:i|we)(?:'ve| have)? (?:(?:now|just|already|also|successfully) ){0,2}(?!${LOOKED})(?:\\w+ed|made|sent|put|set|lent|paid|withdrawn|given|taken|sold|bought|brought)\\b`,
    `\\b(?:has|have) (?:now |just |already |also )?been (?:now |successfully )?(?!${LOOKED})\\w+(?:ed|t|d|n)\\b`,
    `\\b(?:is|are) now (?!${LOOKED})(?:\\w+ed|yours|in place|set|lent|paid)\\b`,
    '\\b(?:cancelled|canceled|booked|moved|renewed|enrolled|dropped|lent|reserved|swapped|withdrawn|registered|returned|paid)\\s*[.!:]',
  ].join('|'),
);
const NOT_YET =
  /\b(?:will|would|can|could|to|if|once|before|shall|should|want me|when|after|until|must|may|might) (?:\w+ ){0,2}(?:be|have) /;
const BUSY =
  /\b(?:one moment|a moment|please wait|hold on|bear with me|let me|next,? i|now i will|i'll now|i will now|then i(?:'ll| will)|working on|checking|looking (?:into|up)|give me a (?:second|moment|minute))\b/;

/** A line that asks for what the list below it has. */
const ASKS_LIST = /\b(?:need|provide|tell|give|share|please|require|missing|send)\b.*:$/;
const ITEM = /^(?:[-*•]|\d{1,2}[.)])\s+/;

/** The sentences of a text. The entries of a list that the agent asks for are questions. */
function sentencesOf(said: string): string[] {
  let intro = '';
  return said.split('\n').flatMap((line) => {
    const text = line.trim();
    const item = text.replace(ITEM, '');
    if (text !== '' && item === text) intro = ASKS_LIST.test(text) ? text : '';
    return item
      .split(/(?<=[.!?])\s+/)
      .flatMap((sentence) => (sentence === '' ? [] : item !== text && intro !== '' ? `${intro} ${sentence}` : sentence));
  });
}

/** Whether a text asks for a fact with one of its words. */
const asksFor = (said: string, { ask, name }: PersonFact): boolean =>
  [...ask, name.replaceAll('_', ' ')].some((word) => {
    const bare = plain(word).replace(/^(?:the|your|an?) /, '');
    return bare !== '' && new RegExp(`\\b${escapeRegExp(bare).replaceAll(' ', '\\s+')}(?:e?s)?\\b`).test(said);
  });

/** A question for facts in the words of a confirmation: “Please confirm your name.” */
const confirmsFact = (sentence: string, facts: readonly PersonFact[]): boolean =>
  /\b(?:confirm|verify|know|have|ask)\b(?! that)/.test(sentence) &&
  !WILL.test(sentence) &&
  facts.some((fact) => asksFor(sentence, fact)) &&
  [...heardFacts(sentence, facts).values()].every((heard) => heard === 'absent');

/** @param facts those that the customer now holds for true */
export function listen(message: string, facts: readonly PersonFact[]): Heard {
  const said = plain(message);
  const sentences = sentencesOf(said);
  const isOpen = (sentence: string) => OPEN.test(sentence);
  const statesValue = (sentence: string) => [...heardFacts(sentence, facts).values()].some((heard) => heard !== 'absent');
  /** “Is it for 6 people?” asks for a yes; “6 or 8 people?” asks for the fact. */
  const chooses = (sentence: string) =>
    sentence.includes('?') && CHOICE.test(sentence.replace(/\byes or no\b/g, '')) && !/\b(?:shall|should|may) (?:i|we)\b/.test(sentence);
  const isProposal = (sentence: string) =>
    !isOpen(sentence) &&
    !chooses(sentence) &&
    !confirmsFact(sentence, facts) &&
    (CONFIRM.test(sentence) || (sentence.includes('?') && statesValue(sentence)));
  const proposals = sentences.filter(isProposal);
  const questions = sentences.filter((sentence) => ASKING.test(sentence) && !isProposal(sentence) && !isOpen(sentence));
  const offers = questions.filter(chooses).flatMap((sentence) => sentence.split(/\bor\b|,/).map((offer) => heardFacts(offer, facts)));
  const isOffered = (name: string, as: 'named' | 'other') => offers.some((offer) => offer.get(name) === as);
  const offered = facts.some(({ name }) => isOffered(name, 'named')) ? 'named' : 'other';
  const inQuestion = facts.filter((fact) => isOffered(fact.name, offered) || questions.some((sentence) => asksFor(sentence, fact)));
  const refusing = sentences.filter((sentence) => REFUSED.test(sentence));
  const claims = sentences.filter(
    (sentence) => DONE.test(sentence) && ![NOT_YET, REFUSED, /\bnot\b|n't\b|\bno\b|\?/].some((pattern) => pattern.test(sentence)),
  );
  const isOther =
    proposals.length > 0 || claims.length > 0 || refusing.length > 0 || sentences.some((sentence) => isOpen(sentence)) || BUSY.test(said);
  // A message that is nothing else asks for what it names: “Name and team, then we can go on.”
  const asked = inQuestion.length > 0 || isOther ? inQuestion : facts.filter((fact) => asksFor(said, fact));
  return {
    proposal: proposals.length > 0 ? proposals.join(' ') : null,
    asked: asked.map(({ name }) => name),
    asks: proposals.length > 0 || sentences.some((sentence) => sentence.includes('?') && !isOpen(sentence)) || asked.length > 0,
    claims: claims.length > 0 ? claims.join(' ') : null,
    refused: refusing.length > 0,
    transferred: TRANSFERRED.test(said) && proposals.length === 0 && !/\b(?:cannot|can't|not)\b[^.]{0,30}\btransfer/.test(said),
    open: sentences.some(isOpen),
    busy: BUSY.test(said),
  };
}
