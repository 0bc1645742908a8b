/** @file The differences between the airline of tau1 and that of tau2. */
import { Refusal } from '../exact/arguments.ts';
import type { Json } from '../../records/json.ts';
import { toolNotFound, unknownAction, type UnknownTool } from '../exact/make-domain.ts';
import { listOf, object, type Reader } from '../exact/model.ts';
import { pythonStr, type Printable } from '../exact/python.ts';
import {
  certificateModel,
  passengerModel,
  paymentModel,
  reservationModel,
  wantedFlightModel,
  type Flight,
  type FlightDate,
  type Leg,
  type PaymentMethod,
  type Reservation,
} from './schema.ts';

export interface Rules {
  /** The version of the benchmark: tau-bench (1) or tau2-bench (2). */
  version: 1 | 2;
  unknownTool: UnknownTool;
  /** The names of the tools in upstream's order. */
  tools: readonly string[];
  /** Converts a text of tau1 to the wording of this benchmark. */
  say(text: string): string;
  notFound(what: 'user' | 'reservation', id: Json): string;
  /** The text for an unknown reservation in `get_reservation_details`, which is wrong in tau1. */
  reservationDetailsNotFound(id: Json): string;
  /** `flights`, `passengers` and `payments` check a list of records in a call's arguments. tau1 checks nothing. */
  flights(value: Json): Json;
  passengers(value: Json): Json;
  payments(value: Json): Json;
  newReservation(fields: Reservation): Reservation;
  /** The id of a new reservation if HATHAT, HATHAU and HATHAV already exist. */
  fourthReservation(): string;
  leg(wanted: Json, flight: Pick<Flight, 'origin' | 'destination'>, date: string, price: number): Leg;
  payment(id: string, amount: number): { payment_id: string; amount: number };
  certificate(id: string, amount: Json): PaymentMethod;
  fourthCertificate: string;
  bookingTakesSeats: boolean;
  updateWritesCabin: boolean;
  airports(all: readonly (readonly [code: string, city: string])[]): Printable;
  /** Whether null in a search means any airport. */
  nullIsAnyAirport: boolean;
  /**
   * Whether a search looks up the date of the first flight before it looks for a second flight. If true, an invalid date is no
   * error, because no first flight is found for it.
   */
  firstDayIsReadFirst: boolean;
  /** A flight as a search result prints it. `shown` is the printed date, or null in a direct search. */
  found(flight: Flight, day: FlightDate, shown: string | null): Printable;
  /** The day whose seats and prices a search shows for the second flight of a connection. */
  secondDay(flight: Flight, date: string, date2: string): FlightDate;
}

export const TAU1: Rules = {
  version: 1,
  unknownTool: unknownAction,
  tools: [
    'book_reservation',
    'calculate',
    'cancel_reservation',
    'get_reservation_details',
    'get_user_details',
    'list_all_airports',
    'search_direct_flight',
    'search_onestop_flight',
    'send_certificate',
    'think',
    'transfer_to_human_agents',
    'update_reservation_baggages',
    'update_reservation_flights',
    'update_reservation_passengers',
  ],
  say: (text) => text,
  notFound: (what) => `${what} not found`,
  // Quirk: the text says `user` for a reservation.
  reservationDetailsNotFound: () => 'user not found',
  // Quirk: nothing is validated. The tool stores the caller's values, with unknown keys.
  flights: (value) => value,
  passengers: (value) => value,
  payments: (value) => value,
  newReservation: (fields) => fields,
  // Quirk: the fourth reservation and all later ones overwrite HATHAV without an error.
  fourthReservation: () => 'HATHAV',
  // Quirk: the keys from the call come first, in their order in the call.
  leg: (wanted, { origin, destination }, _, price) => ({ ...object(wanted, 'flights'), price, origin, destination }) as unknown as Leg,
  payment: (payment_id, amount) => ({ payment_id, amount }),
  certificate: (id, amount) => ({ source: 'certificate', amount: amount as number, id }),
  // Upstream returns None here, which makes its environment fail.
  fourthCertificate: 'no more than three certificates can be sent',
  // Quirks: a booking does not reduce the seats. A change of flights does not change the stored cabin.
  bookingTakesSeats: false,
  updateWritesCabin: false,
  airports: (all) => Object.fromEntries(all),
  nullIsAnyAirport: false,
  firstDayIsReadFirst: false,
  found: ({ dates: _, ...flight }, day, shown) => ({ ...flight, ...day, ...(shown !== null && { date: shown }) }),
  // Quirk: the second flight shows the seats of the first day, even if it departs on the next day.
  secondDay: ({ dates }, date) => {
    if (!Object.hasOwn(dates, date)) throw new Refusal(`a connecting flight has no entry for ${date}`);
    return dates[date]!;
  },
};

export const TAU2: Rules = {
  version: 2,
  unknownTool: toolNotFound,
  tools: [...TAU1.tools.filter((name) => name !== 'think'), 'get_flight_status'],
  say: (text) => text.charAt(0).toUpperCase() + text.slice(1),
  notFound: (what, id) => `${TAU2.say(what)} ${pythonStr(id)} not found`,
  reservationDetailsNotFound: (id) => TAU2.notFound('reservation', id),
  flights: (value) => validated(value, wantedFlightModel, 'flights'),
  passengers: (value) => validated(value, passengerModel, 'passengers'),
  payments: (value) => validated(value, paymentModel, 'payment_methods'),
  newReservation: (fields) => reservationModel(fields as unknown as Json, '') as unknown as Reservation,
  fourthReservation: () => {
    throw new Refusal('Too many reservations');
  },
  leg: (wanted, { origin, destination }, date, price) => ({
    flight_number: object(wanted, 'flights').flight_number as string,
    origin,
    destination,
    date,
    price,
  }),
  payment: (payment_id, amount) => paymentModel({ payment_id, amount }, 'the payment') as { payment_id: string; amount: number },
  certificate: (id, amount) => certificateModel({ source: 'certificate', id, amount }, 'the certificate') as unknown as PaymentMethod,
  fourthCertificate: 'Too many certificates',
  bookingTakesSeats: true,
  updateWritesCabin: true,
  airports: (all) => all.map(([iata, city]) => ({ iata, city })),
  // Quirk: a missing airport means any airport.
  nullIsAnyAirport: true,
  firstDayIsReadFirst: true,
  found: ({ flight_number, origin, destination, scheduled_departure_time_est, scheduled_arrival_time_est }, day, shown) => ({
    flight_number,
    origin,
    destination,
    status: day.status,
    scheduled_departure_time_est,
    scheduled_arrival_time_est,
    date: shown,
    ...(day.status === 'available' && { available_seats: day.available_seats, prices: day.prices }),
  }),
  secondDay: ({ dates }, _, date2) => dates[date2]!,
};

/** Quirk of tau2: a list is validated only if all its entries are objects. An empty string or an empty object counts as an empty list. */
function validated(value: Json, model: Reader, field: string): Json {
  const entries = Array.isArray(value)
    ? value
    : typeof value === 'string'
      ? [...value]
      : value !== null && typeof value === 'object'
        ? Object.keys(value)
        : null;
  if (!entries) throw new Refusal(`${field} must be a list`);
  const objects = entries.every((entry) => entry !== null && typeof entry === 'object' && !Array.isArray(entry));
  return objects ? listOf(model)(entries, field) : value;
}
