/**
 * @file How people name a change of the airline's data, for the layers and for `mua audit`. The domain has no audit in reports,
 * because its policy asks for a user id but has no tool that finds one.
 */
import type { AuditRules, Detail, Heard } from '../../agent/audit-rules.ts';
import { isObject } from '../../base/json.ts';
import type { ToolCall } from '../../records/task.ts';

/** For each write: its name in messages, and the words that name it. */
export const ACTS: Record<string, { says: string; own: RegExp }> = {
  book_reservation: { says: 'booking', own: /\b(book|reserv(e|ing)|purchas)\w*/i },
  cancel_reservation: { says: 'cancelling', own: /\bcancel/i },
  send_certificate: { says: 'sending a certificate', own: /\b(certificate|voucher|compensat\w*|\$ ?\d+|gesture)/i },
  update_reservation_baggages: { says: 'changing the bags', own: /\b(bag|bags|baggages?|luggage|suitcases?)\b/i },
  update_reservation_flights: {
    says: 'changing the flights',
    own: /\b(flights?|cabin|upgrad\w*|downgrad\w*|business|economy|chang\w*|modif\w*|switch\w*|updat\w*|rebook\w*|HAT\d{3})\b/i,
  },
  update_reservation_passengers: { says: 'changing the passengers', own: /\b(passengers?|traveler|traveller|name|companion)s?\b/i },
};

export const AUDIT: AuditRules = {
  authenticate: [],
  details: ['get_user_details', 'get_reservation_details'],
  owner: 'user_id',
  thing: 'reservation_id',
  writes: Object.keys(ACTS),
  describe: (results) => {
    const reservations = new Set(
      results.flatMap((result) => (isObject(result) && typeof result.reservation_id === 'string' ? [result.reservation_id] : [])),
    );
    return (call) => ({
      about: (said) => said,
      act: actDetail(call),
      details: detailsOf(call, reservations),
      verb: call.name === 'send_certificate' ? 'send' : undefined,
    });
  },
};

/** A text about a cancellation is about no other write. All other writes can be named together: bags and flights, a certificate that pays. */
const actDetail = ({ name, arguments: args }: ToolCall): Detail => {
  const { says, own } = ACTS[name]!;
  const people = name === 'update_reservation_passengers' ? namesIn(args.passengers) : [];
  return {
    name: `the act (${says})`,
    heard: (text) =>
      own.test(text) || people.some((person) => text.includes(person))
        ? 'named'
        : name !== 'cancel_reservation' && CANCELS.test(text)
          ? 'other'
          : 'absent',
  };
};

/** The names of passengers: `Ada Brown`. */
const namesIn = (passengers: unknown): string[] =>
  Array.isArray(passengers)
    ? passengers.flatMap((one) =>
        isObject(one) && one.first_name && one.last_name ? [`${String(one.first_name)} ${String(one.last_name)}`] : [],
      )
    : [];

const CANCELS = /\b(proceed with|want to|go ahead with|shall i|like to|like me to) (the )?cancel/i;

function detailsOf({ name, arguments: args }: ToolCall, reservations: ReadonlySet<string>): Detail[] {
  const details: Detail[] = [];
  const { reservation_id: id, flights, cabin, amount } = args;
  if (typeof id === 'string')
    details.push(contradicted(`the reservation ${id}`, (text) => [...reservations].filter((known) => text.includes(known)), id));
  if (Array.isArray(flights)) {
    const numbers = flights.flatMap((flight) =>
      isObject(flight) && typeof flight.flight_number === 'string' ? [flight.flight_number] : [],
    );
    details.push({ name: 'the flights', heard: (text) => flightsHeard(text, numbers) });
  }
  if (typeof cabin === 'string') details.push(contradicted(`the cabin ${cabin}`, cabinsIn, cabin));
  if (typeof amount === 'number' && name === 'send_certificate')
    details.push(
      contradicted(`the amount ${amount}`, (text) => [...text.matchAll(/\$ ?(\d+)/g)].map(([, value]) => value!), String(amount)),
    );
  return details;
}

/** A detail that a text may leave out, but not contradict. */
const contradicted = (name: string, named: (text: string) => readonly string[], value: string): Detail => ({
  name,
  heard: (text) => {
    const found = named(text);
    return found.length > 0 && !found.includes(value) ? 'other' : 'named';
  },
  // A customer's answer can mention another value without a change of the detail: what they paid before, another trip.
  changed: () => false,
});

const flightsHeard = (text: string, numbers: readonly string[]): Heard => {
  const said: readonly string[] = text.match(/\bHAT\d{3}\b/g) ?? [];
  return said.length > 0 && !numbers.some((number) => said.includes(number)) ? 'other' : 'named';
};

const cabinsIn = (text: string): string[] => {
  const said = text.toLowerCase();
  const plain = said.replace(/basic[ _]economy/g, '');
  return [
    ...(plain.length < said.length ? ['basic_economy'] : []),
    ...(/\beconomy\b/.test(plain) ? ['economy'] : []),
    ...(/\bbusiness\b(?! days)/.test(plain) ? ['business'] : []),
  ];
};
