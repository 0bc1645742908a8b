/** @file Recovery in the airline: setbacks that must come to a good end. */
import { askingFor } from '../../../agent/layers/recovery-needless.ts';
import { isObject } from '../../../base/json.ts';
import { recordsIn, textOf } from '../../../agent/layers/readings.ts';
import { checkRecovery, RECOVERY } from '../../../agent/layers/recovery.ts';
import { RuleLog } from '../../../agent/layers/rule-log.ts';
import { type Made, Talk } from '../../../agent/layers/talk.ts';
import type { LayerCheck } from '../../../agent/layers.ts';
import { reservationsIn, TRANSFERS, WISHES } from './acts.ts';
import { daysIn, namesMatch } from './wished.ts';

const USER = /\b[a-z]+_[a-z]+_\d{4}\b/i;
const RESERVATION = /\b(?=[A-Z]*\d)(?=\d*[A-Z])(?!HAT\d{3}\b)([A-Z0-9]{6})\b/;

export const recovery: LayerCheck = (conversation) => {
  const log = new RuleLog(conversation.policy, { rules: RECOVERY, own: '' });
  checkRecovery(new Talk(conversation), log, {
    acts: WISHES,
    transfers: TRANSFERS,
    families: [/^search_/],
    otherWay: hasOtherFlight,
    identity: /^get_user_details$/,
    aside: /^(?:think|calculate)$/,
    facts: [
      { name: 'user id', asks: askingFor('user id'), gives: USER, identity: true },
      {
        name: 'reservation',
        asks: new RegExp(
          String.raw`\bwhich (?:reservation|booking)\b(?=[^.!]*\?)|${askingFor('(?:(?:reservation|booking|confirmation) (?:id|number|code)|(?:id|number|code) of (?:the|your) (?:reservation|booking))', false).source}`,
          'i',
        ),
        gives: RESERVATION,
      },
    ],
    values: { 'user id': USER, date: /\b202\d-\d{2}-\d{2}\b/, thing: RESERVATION },
    things: reservationsIn,
    matches,
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

/** Compares the cabin, the flights, their dates, and the names of passengers. */
function matches(write: Made, text: string, talk: Talk, replaced: boolean): boolean | undefined {
  const { args } = write;
  const judged: (boolean | undefined)[] = [];
  const before = replaced ? [] : shownBefore(write, talk);
  const cabins = CABINS.filter(([words]) => words.test(text)).map(([, cabin]) => cabin);
  if (typeof args.cabin === 'string')
    judged.push(isAmong(cabins, (cabin) => cabin === args.cabin, JSON.stringify(before.map(({ cabin }) => cabin))));
  if (args.flights !== undefined) {
    const flown = JSON.stringify(args.flights);
    const old = JSON.stringify(before.map(({ flights }) => flights));
    judged.push(isAmong((text.match(/\bHAT\d{3}\b/g) ?? []).map(String), (flight) => flown.includes(flight), old));
    judged.push(
      isAmong(
        daysIn(text).map((day) => `-${day}"`),
        (day) => flown.includes(day),
        old,
      ),
    );
  }
  if (write.name === 'update_reservation_passengers') judged.push(namesMatch(write, text, talk));
  const known = judged.filter((one) => one !== undefined);
  return known.length === 0 ? undefined : known.every(Boolean);
}

/** Whether a named value is one of the write. Undefined: none was named but those that the reservation had before. */
function isAmong(named: readonly string[], isOwn: (value: string) => boolean, before: string): boolean | undefined {
  const counted = named.filter((value) => isOwn(value) || !before.includes(value));
  return counted.length > 0 ? counted.some(isOwn) : undefined;
}

/** The reservation of a write as the tools had shown it. For a new one, all reservations. */
const shownBefore = ({ place, args }: Made, talk: Talk) =>
  talk
    .callsIn(-1, place)
    .flatMap(({ value }) => [...recordsIn(value)])
    .filter(({ reservation_id: id }) => id !== undefined && (args.reservation_id === undefined || id === args.reservation_id));
