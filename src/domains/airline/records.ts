/** @file Finds reservations, users and flights for the airline's tools, and saves reservations. */
import { key, member, Refusal, sequence } from '../exact/arguments.ts';
import { pythonStr, type Printable } from '../exact/python.ts';
import { cloneJson } from '../../base/json.ts';
import type { Rows } from '../../environments/overlay.ts';
import type { Json } from '../../records/json.ts';
import type { Rules } from './rules.ts';
import type { Flight, FlightDate, Leg, Reservation, User } from './schema.ts';

/** Returns a copy of a record, which the caller may change. */
export function find(rows: Rows, what: 'user', id: Json, rules: Rules): User;
export function find(rows: Rows, what: 'reservation', id: Json, rules: Rules): Reservation;
export function find(rows: Rows, what: 'user' | 'reservation', id: Json, rules: Rules): unknown {
  const row = rows.get(`${what}s`, key(id, `${what}_id`));
  if (row === undefined) throw new Refusal(rules.notFound(what, id));
  return cloneJson(row);
}

export function save(rows: Rows, reservation: Reservation): Printable {
  rows.put('reservations', reservation.reservation_id, reservation as unknown as Json);
  return reservation as unknown as Printable;
}

export function flightOn(rows: Rows, number: Json, date: Json, { say }: Rules): { flight: Flight; day: FlightDate } {
  const flight = rows.get('flights', key(number, 'flight_number')) as unknown as Flight | undefined;
  if (!flight) throw new Refusal(say(`flight ${pythonStr(number)} not found`));
  const name = key(date, 'date');
  if (!Object.hasOwn(flight.dates, name)) throw new Refusal(say(`flight ${pythonStr(number)} not found on date ${pythonStr(date)}`));
  return { flight, day: flight.dates[name]! };
}

/** The leg of a reservation for a wanted flight, at the flight's current price. @throws {Refusal} if the flight has not enough seats */
export function availableLeg(rows: Rows, wanted: Json, cabin: Json, passengers: Json, rules: Rules): Leg {
  const number = member(wanted, 'flight_number', 'a flight');
  // As in upstream, an unknown flight is reported before a missing date.
  if (rows.get('flights', key(number, 'flight_number')) === undefined) flightOn(rows, number, '', rules);
  const date = member(wanted, 'date', 'a flight');
  const { flight, day } = flightOn(rows, number, date, rules);
  if (day.status !== 'available') throw new Refusal(rules.say(`flight ${flight.flight_number} not available on date ${pythonStr(date)}`));
  const cabinName = key(cabin, 'cabin');
  if (!Object.hasOwn(day.available_seats, cabinName)) throw new Refusal(`there is no cabin ${pythonStr(cabin, true)}`);
  if (day.available_seats[cabinName]! < count(passengers))
    throw new Refusal(rules.say(`not enough seats on flight ${flight.flight_number}`));
  return rules.leg(wanted, flight, date as string, day.prices[cabinName]!);
}

/** The number of passengers, computed like Python's `len`. */
export function count(passengers: Json): number {
  return sequence(passengers, 'passengers').length;
}

/** Makes one leg for each wanted flight. An empty value that is not a list is kept unchanged. */
export function legs(wanted: Json, leg: (flight: Json) => Leg): Leg[] {
  const flights = sequence(wanted, 'flights');
  return flights.length ? flights.map(leg) : (wanted as unknown as Leg[]);
}
