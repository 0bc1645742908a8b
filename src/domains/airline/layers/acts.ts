/** @file The writes of the airline, in the words of agents and customers, for the checks of communication and recovery. */
import type { ActWords } from '../../../agent/layers/communication-claims.ts';

const CHANGED = /\b(?:modified|changed|updated|moved|switched)\b/.source;
const CABIN = /\b(?:flights?|cabin|business|economy|class)\b/.source;

export const ACTS: readonly ActWords[] = [
  {
    says: 'cancelling a reservation',
    tools: ['cancel_reservation'],
    named: /\bcancel/i,
    claimed:
      /\b(?:reservations?|bookings?|trips?|flights?|it|[A-Z0-9]{6})\b.{0,60}\bcancell?ed\b|\b(?:i|we)(?:'ve| have)? (?:now |successfully |just )?cancell?ed\b|\bcancellation\b/i,
    thing: 'reservation_id',
  },
  {
    says: 'booking a reservation',
    tools: ['book_reservation'],
    named: /\bbook/i,
    claimed: /^(?!.*\b(?:cancel|is booked|was booked|were booked)).*\b(?:re)?book(?:ed|ing)\b/i,
    thing: 'reservation_id',
  },
  {
    says: 'changing flights or the cabin',
    tools: ['update_reservation_flights'],
    named: /\b(?:chang|modif|updat|upgrad|downgrad|rebook|switch|mov)\w*/i,
    claimed: new RegExp(
      String.raw`^(?!.*\b(?:bags?|baggage|passengers?|names?)\b).*(?:\b(?:upgraded|downgraded)\b|${CABIN}.{0,80}${CHANGED}|${CHANGED}.{0,60}${CABIN})`,
      'i',
    ),
    thing: 'reservation_id',
  },
  {
    says: 'changing baggage',
    tools: ['update_reservation_baggages'],
    named: /\b(?:bags?|baggages?|luggage|suitcases?)\b/i,
    claimed:
      /\b(?:bags?|baggage|luggage|suitcases?)\b.{0,60}\b(?:added|updated|included)\b|\b(?:added|updated)\b.{0,60}\b(?:bags?|baggage|luggage|suitcases?)\b/i,
    thing: 'reservation_id',
  },
  {
    says: 'changing passengers',
    tools: ['update_reservation_passengers'],
    named: /\bpassengers?\b|\bname/i,
    claimed:
      /\b(?:passengers?|names?)\b.{0,60}\b(?:changed|updated|modified|corrected)\b|\b(?:changed|updated|modified|corrected)\b.{0,60}\b(?:passengers?|names?)\b/i,
    thing: 'reservation_id',
  },
  {
    says: 'sending a certificate',
    tools: ['send_certificate'],
    named: /\bcertificate|\bvoucher|\bcompensat/i,
    claimed:
      /\b(?:certificate|voucher|compensation)\b.{0,80}\b(?:sent|issued|added|applied|credited)\b|\b(?:sent|issued|added|credited)\b.{0,60}\b(?:certificate|voucher)\b/i,
  },
];

/** The acts as customers wish them: another day is another flight. */
export const WISHES: readonly ActWords[] = ACTS.map((act) =>
  act.tools.includes('update_reservation_flights')
    ? {
        ...act,
        named:
          /\b(?:chang|modif|updat|upgrad|downgrad|rebook|switch|mov|reschedul|postpon)\w*|\b(?:fly|travel|leave|go|be) on\b|\b(?:another|other|different|new|earlier|later) (?:day|date|flight)\b|\bdate\b/i,
      }
    : act,
);

export const TRANSFERS: readonly string[] = ['transfer_to_human_agents'];

/** Reservation ids in a text: six capitals and digits, with at least one digit unless the word says what it is. */
export const reservationsIn = (text: string): string[] => [
  ...new Set(
    [
      ...text.matchAll(
        /\b(?:[Rr]eservation|[Bb]ooking|[Cc]onfirmation)(?: (?:ID|id|[Nn]umber|[Cc]ode))?(?: is)?:?\W{0,4}([A-Z0-9]{6})\b|\b(?=[A-Z]*\d)(?=\d*[A-Z])(?!HAT\d{3}\b)([A-Z0-9]{6})\b/g,
      ),
    ].map(([, named, bare]) => (named ?? bare)!),
  ),
];

export const showsDone = ({ status }: Record<string, unknown>, { tools }: ActWords): boolean =>
  tools[0] === 'cancel_reservation' && status === 'cancelled';
