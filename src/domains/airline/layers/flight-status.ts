/** @file What the agent says about the status of a flight: it must be as the last look showed it. */
import type { RuleLog } from '../../../agent/layers/rule-log.ts';
import { textOf } from '../../../agent/layers/readings.ts';
import type { Said, Talk } from '../../../agent/layers/talk.ts';
import { sentences } from '../../../agent/sentences.ts';

const NOT = String.raw`\b(?:no|not|n't|without|never|zero|free of|hardly)(?: \w+){0,3} `;
const PLANNED = String.raw`(?:on time|on schedule|as (?:planned|scheduled|expected|usual)|punctual(?:ly)?|according to (?:plan|schedule))\b`;
const LATE = String.raw`(?:delay(?:s|ed)?|late|behind schedule|postponed)\b`;

/** What a sentence says of a flight, and the statuses with which it is true. The first that fits counts. */
const CLAIMS: readonly { words: RegExp; says: string; statuses: RegExp }[] = [
  { words: new RegExp(NOT + LATE, 'i'), says: 'on time', statuses: /on.?time|available|scheduled|flying|landed/i },
  { words: new RegExp(NOT.replace('|never', "|never|doesn't|won't|isn't") + PLANNED, 'i'), says: 'late', statuses: /delayed|cancell?ed/i },
  {
    words: /\b(?:flight|plane|HAT\d{3})\b[^.]{0,40}\b(?:cancell?ed|called off|grounded|(?:not|n't) (?:fly|operate|leave|depart))\b/i,
    says: 'cancelled',
    statuses: /cancell?ed/i,
  },
  { words: new RegExp(String.raw`\b${LATE}`, 'i'), says: 'delayed', statuses: /delayed|flying|landed/i },
  { words: /\b(?:landed|touched down|has arrived)\b/i, says: 'landed', statuses: /landed/i },
  { words: /\b(?:in the air|airborne|has (?:departed|left|taken off)|took off)\b/i, says: 'flying', statuses: /flying|landed/i },
  {
    words: new RegExp(String.raw`\b${PLANNED}|\b(?:flight|HAT\d{3})\b[^.]{0,30}\b(?:is|looks?) (?:all )?(?:fine|good|normal)\b`, 'i'),
    says: 'on time',
    statuses: /on.?time|available|scheduled|flying|landed/i,
  },
];
const NO_CLAIM =
  /\?|\b(?:if|whether|when|in case|would|could|might|unless|eligible|compensat\w*|certificates?|reservations?|bookings?|you (?:said|mentioned|told|wrote))\b/i;

/** Checks the sentences about a flight whose status was looked up: the flight that they name, else those of this turn. */
export function checkFlightStatus({ place, text }: Said, talk: Talk, log: RuleLog): void {
  const looks = talk.callsIn(-1, place).filter(({ name, failed }) => name === 'get_flight_status' && !failed);
  const recent = looks.filter((look) => look.place > talk.lastHeard(place));
  for (const sentence of sentences(text).filter((part) => !NO_CLAIM.test(part))) {
    const claim = CLAIMS.find(({ words }) => words.test(sentence));
    const flights = (sentence.match(/\bHAT\d{3}\b/g) ?? []).map(String);
    const about = flights.length > 0 ? looks.filter(({ args }) => flights.includes(textOf(args.flight_number))) : recent;
    if (!claim || about.length === 0 || flights.length > 1) continue;
    const statuses = about.map(({ value }) => (typeof value === 'string' ? value : JSON.stringify(value)));
    const isTrue = statuses.some((status) => claim.statuses.test(status));
    log.check('wrong_status', place, isTrue ? null : `said that the flight is ${claim.says}; the look showed “${statuses.at(-1)}”`);
  }
}
