/** @file How refusals and unsolved problems end: with a reason or another way, and not with a farewell. */
import { sentences } from '../sentences.ts';
import { type ActWords, ASKS_MORE, FAREWELL, givesAlternative, givesReason, refusalsIn, refusesBarely } from './communication-claims.ts';
import type { RuleLog } from './rule-log.ts';
import type { Said, Talk } from './talk.ts';

interface EndRules {
  acts: readonly ActWords[];
  transfers: readonly string[];
}

/** A refused customer gets a reason, an alternative or a human, and an answer to another wish. */
export function checkRefused(talk: Talk, log: RuleLog, { acts, transfers }: EndRules): void {
  let explained = false;
  for (const message of talk.said) {
    const { place, text } = message;
    const [refusal] = refusalsIn(text);
    const next = talk.said.find((other) => other.place > place && other.place < talk.nextHeard(place));
    // The last refusal of a turn counts.
    explained ||= refusesBarely(text) && givesReason(text);
    if (refusal === undefined || (next && refusalsIn(next.text).length > 0)) continue;
    const ignored = ignoredWish(message, refusal, talk, acts);
    const later = talk.saidIn(place - 1, talk.nextHeard(talk.nextHeard(place)));
    explained ||= later.some((other) => givesReason(other.text));
    const helped =
      explained || later.some((other) => givesAlternative(other.text)) || talk.callsIn(place).some(({ name }) => transfers.includes(name));
    log.check(
      'refusal',
      place,
      ignored ? `did not answer the wish “${ignored}”` : helped ? null : `refused and offered nothing: “${refusal}”`,
    );
  }
}

/** Another wish that the agent answers with the refusal of an earlier one. */
function ignoredWish({ place, text }: Said, refusal: string, talk: Talk, acts: readonly ActWords[]): string | null {
  const wish = talk.heard.findLast((heard) => heard.place < place);
  const before = wish && talk.saidIn(-1, wish.place).findLast((said) => refusalsIn(said.text).length > 0 || refusesBarely(said.text));
  if (!wish || !before || talk.callsIn(wish.place, place).length > 0) return null;
  const namedIn = (said: string) => acts.filter(({ named }) => named.test(said.replace(REASONS, ' ')));
  const wanted = namedIn(wish.text);
  const again = namedIn(refusal);
  const earlier = [before, ...talk.heardIn(-1, wish.place)].flatMap((said) => namedIn(said.text));
  const isIgnored = wanted.length > 0 && !namedIn(text).some((act) => wanted.includes(act)) && !sharesWords(wish.text, text);
  return isIgnored && again.some((act) => earlier.includes(act)) ? wish.text : null;
}
/** Whether an answer takes up a word of the wish, other than the thing that both are about. */
const sharesWords = (wish: string, answer: string): boolean => {
  const own = new Set(wish.toLowerCase().match(WORDS));
  return (answer.toLowerCase().match(WORDS) ?? []).some((word) => own.has(word) && !COMMON.test(word));
};
const WORDS = /\p{L}{4,}/gu;
const COMMON =
  /^(?:then|that|this|have|with|please|could|would|will|your|instead|want|like|order|orders|booking|reservation|trip|flights?|line|account|case|there|what|when|from|okay|sorry|thank|thanks|allowed|possible|cannot|still|just|also|about|because|unfortunately)$/;
/** Why a customer wishes something. */
const REASONS = /\bplans? (?:have |has )?changed\b|\bchanged? (?:of )?(?:my |our )?(?:plans?|mind)\b/gi;

const UNSOLVED =
  /\b(?:still|yet)\b[^.!?]{0,20}\b(?:no|not|nothing|none|the same|same|down|slow|dead|broken|off)\b|\bstill (?:\w+ )?(?:doesn't|does not|isn't|won't|can't|cannot|don't|haven't|hasn't)\b|\bno (?:change|difference|luck|improvement|effect|success)\b|\bno (?:\w+ ){0,2}(?:connection|signal|service|internet|network|bars|reception)\b|\bnothing (?:changed|happen\w*|works?|helped|loads?)\b|\b(?:doesn't|does not|doesnt|didn't|did not|didnt|isn't|is not|won't|not) (?:\w+ ){0,2}(?:work|help|working|fix|change|solve|connect|load|better)\w*|\bstill (?:there|here|happening|persists?|unsolved)\b|\bpersists?\b|\bremains\b|\bstays (?:dead|dark|off|slow|the same)\b|\b(?:not|n't) any better\b|\bno \w+ (?:yet|still)\b|\bsame (?:problem|issue|thing|as before)\b|\b(?:fails|failed|timed? ?out|unreachable|offline)\b|\b(?:test|speed|connection)\b[^.!?]{0,30}\b(?:poor|slow|bad|zero|0 ?mbps)\b/i;
const SOLVED =
  /\b(?:works? (?:now|again|fine|great|perfectly)|(?<!\bnot )(?<!n't )working (?:now|again)|(?:now|finally) (?:it |everything )?works?|that (?:did it|was it|worked|helped)|is back|solved|fixed|excellent|(?:i have (?:a )?)?(?:signal|data|internet|service) (?:now|again|is back))\b/i;
const SAYS_SOLVED =
  /\b(?:glad|happy|great|good|wonderful|perfect|nice|excellent|fantastic|super)\b.{0,40}\b(?:works?|working|solved|fixed|resolved|sorted|hear|back|running|online)\b|\b(?:problem|issue|it|everything|service|that|internet|data|connection|phone|line)(?:'s| is| was| has been)(?: now| all| then)? (?:solved|fixed|resolved|sorted|working|back|restored|running|fine|ok|okay|good)\b|\b(?:it|everything|that|internet|data) (?:now )?works\b|\bwe(?:'re| are) (?:all )?done\b|\ball (?:is )?(?:fixed|done|set|sorted|good|well)\b/i;
const NEXT_STEP =
  /\?|\b(?:please|try|let us|let's|let me|next|then|could you|can you|i(?:'ll| will| can(?!not)| could)|restart|reboot|turn|check|transfer\w*)\b/i;

const isEnd = (sentence: string): boolean => FAREWELL.test(sentence) || ASKS_MORE.test(sentence);

/** A customer whose problem remains gets a next step, and no farewell. */
export function checkUnsolved(talk: Talk, log: RuleLog, { transfers }: EndRules): void {
  for (const [i, { place, text }] of talk.heard.entries()) {
    if (i === 0 || !UNSOLVED.test(text) || SOLVED.test(text)) continue;
    const answer = talk.saidIn(place, talk.nextHeard(place)).at(-1);
    if (!answer || talk.callsIn(place).some(({ name }) => transfers.includes(name))) continue;
    const parts = sentences(answer.text);
    const ends =
      parts.some((part) => (SAYS_SOLVED.test(part) && !part.includes('?')) || isEnd(part)) &&
      !parts.some((part) => !isEnd(part) && !SAYS_SOLVED.test(part) && NEXT_STEP.test(part)) &&
      talk.callsIn(place, answer.place).length === 0;
    log.check('unsolved', answer.place, ends ? `ended, although the customer had said “${text.slice(0, 100)}”` : null);
  }
}
