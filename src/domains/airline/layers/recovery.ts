/** @file Recovery in the airline: setbacks that must come to a good end. */
import { askingFor } from '../../../agent/layers/recovery-needless.ts';
import { isObject } from '../../../base/json.ts';
import { recordsIn, textOf } from '../../../agent/layers/readings.ts';
import { checkRecovery, RECOVERY } from '../../../agent/layers/recovery.ts';
import { RuleLog } from '../../../agent/layers/rule-log.ts';
import { type Made, Talk } from '../../../agent/layers/talk.ts';
import type { LayerCheck } from '../../../agent/layers.ts';
import { ACTS, reservationsIn, TRANSFERS } from './acts.ts';

const USER = /\b[a-z]+_[a-z]+_\d{4}\b/i;
const RESERVATION = /\b(?=[A-Z]*\d)(?=\d*[A-Z])(?!HAT\d{3}\b)([A-Z0-9]{6})\b/;

export const recovery: LayerCheck = (conversation) => {
  const log = new RuleLog(conversation.policy, { rules: RECOVERY, own: '' });
  checkRecovery(new Talk(conversation), log, {
    acts: ACTS,
    transfers: TRANSFERS,
    families: [/^search_/],
    otherWay: hasOtherFlight,
    identity: /^get_user_details$/,
    aside: /^(?:think|calculate)$/,
    facts: [
      { name: 'user id', asks: askingFor('user id'), gives: USER, identity: true },
      {
        name: 'reservation',
        asks: /\bwhich reservation\b|\b(?:what|provide|share|tell|give)\b[^.?!]{0,40}\breservation (?:id|number|code)\b/i,
        gives: RESERVATION,
      },
    ],
    values: { 'user id': USER, date: /\b202\d-\d{2}-\d{2}\b/, thing: RESERVATION },
    fits,
  });
  return log.layer();
};

/** Whether a search had shown another flight with seats in the cabin of a call that failed for want of seats. */
function hasOtherFlight({ place, args, value }: Made, talk: Talk): boolean {
  if (!/\bseats?\b|\bfull\b|\bnot available\b/i.test(String(value))) return false;
  const searched = talk.callsIn(-1, place).findLast(({ name, failed }) => /^search_direct/.test(name) && !failed);
  const seats = [...recordsIn(searched?.value ?? null)].flatMap(({ flight_number, available_seats }) =>
    isObject(available_seats) && !JSON.stringify(args.flights ?? []).includes(textOf(flight_number))
      ? Number(available_seats[textOf(args.cabin)] ?? 0)
      : [],
  );
  return seats.some((free) => free > 0);
}

const CABINS: readonly [RegExp, string][] = [
  [/\bbasic economy\b/i, 'basic_economy'],
  [/\bbusiness\b/i, 'business'],
  [/(?<!\bbasic )\beconomy\b/i, 'economy'],
];

/** Compares the reservation, the cabin and the flights. */
function fits({ args }: Made, text: string): boolean | undefined {
  const wanted = text.replace(/\b(?:not|instead of|rather than)\b[^,.;!?]{0,60}/gi, ' ');
  const judged: boolean[] = [];
  const ids = reservationsIn(wanted);
  if (ids.length > 0 && typeof args.reservation_id === 'string') judged.push(ids.includes(args.reservation_id));
  const cabins = CABINS.filter(([words]) => words.test(wanted)).map(([, cabin]) => cabin);
  if (cabins.length > 0 && typeof args.cabin === 'string') judged.push(cabins.includes(args.cabin));
  const flights = wanted.match(/\bHAT\d{3}\b/g) ?? [];
  if (flights.length > 0 && args.flights !== undefined)
    judged.push(flights.some((flight) => JSON.stringify(args.flights).includes(flight)));
  return judged.length === 0 ? undefined : judged.every(Boolean);
}
