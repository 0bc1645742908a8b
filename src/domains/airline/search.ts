/** @file The airline's airports, and the tools that search flights. */
import { type Arguments, key, Refusal } from '../exact/arguments.ts';
import type { Printable } from '../exact/python.ts';
import type { Rows } from '../../environments/overlay.ts';
import type { Json } from '../../records/json.ts';
import type { Rules } from './rules.ts';
import type { Flight, FlightDate } from './schema.ts';

export const AIRPORTS = [
  ['SFO', 'San Francisco'],
  ['JFK', 'New York'],
  ['LAX', 'Los Angeles'],
  ['ORD', 'Chicago'],
  ['DFW', 'Dallas'],
  ['DEN', 'Denver'],
  ['SEA', 'Seattle'],
  ['ATL', 'Atlanta'],
  ['MIA', 'Miami'],
  ['BOS', 'Boston'],
  ['PHX', 'Phoenix'],
  ['IAH', 'Houston'],
  ['LAS', 'Las Vegas'],
  ['MCO', 'Orlando'],
  ['EWR', 'Newark'],
  ['CLT', 'Charlotte'],
  ['MSP', 'Minneapolis'],
  ['DTW', 'Detroit'],
  ['PHL', 'Philadelphia'],
  ['LGA', 'LaGuardia'],
] as const;

/** The flights between two airports. If an airport is undefined, any airport fits. */
function* flightsBetween(
  rows: Rows,
  origin: Json | undefined,
  destination: Json | undefined,
  { nullIsAnyAirport }: Rules,
): Generator<Flight> {
  const matches = (airport: string, wanted: Json | undefined) =>
    wanted === undefined || airport === wanted || (nullIsAnyAirport && wanted === null);
  for (const number of rows.keys('flights')) {
    const flight = rows.get('flights', number) as unknown as Flight;
    if (matches(flight.origin, origin) && matches(flight.destination, destination)) yield flight;
  }
}

/** The flight's entry for a date. Null if no seats are on sale on that date. */
function openDay({ dates }: Flight, date: Json): FlightDate | null {
  const name = key(date, 'date');
  const day = Object.hasOwn(dates, name) ? dates[name]! : null;
  return day?.status === 'available' ? day : null;
}

export function searchDirectFlight(rows: Rows, { origin, destination, date }: Arguments, rules: Rules): Printable {
  return [...flightsBetween(rows, origin!, destination!, rules)].flatMap((flight) => {
    const day = openDay(flight, date!);
    return day ? [rules.found(flight, day, null)] : [];
  });
}

export function searchOnestopFlight(rows: Rows, { origin, destination, date }: Arguments, rules: Rules): Printable {
  const results: Printable[] = [];
  for (const first of flightsBetween(rows, origin!, undefined, rules)) {
    if (rules.firstDayIsReadFirst && !openDay(first, date!)) continue;
    for (const second of flightsBetween(rows, first.destination, destination!, rules)) {
      const date2 = first.scheduled_arrival_time_est.includes('+1') ? nextDay(date!) : date!;
      // Quirk of both benchmarks: times are compared as texts, so an arrival at `02:00:00+1` counts as before a departure at
      // 03:00:00.
      if (first.scheduled_arrival_time_est > second.scheduled_departure_time_est) continue;
      const day = openDay(first, date!);
      if (!day || !openDay(second, date2)) continue;
      results.push([
        rules.found(first, day, date as string),
        rules.found(second, rules.secondDay(second, date as string, date2 as string), date2 as string),
      ]);
    }
  }
  return results;
}

/** Quirk of both benchmarks: the next day is always in May and has no leading zero. After `2024-05-08` comes `2024-05-9`. */
function nextDay(date: Json): string {
  const day = typeof date === 'string' ? /^\s*[+-]?\d+\s*$/.exec(date.slice(-2)) : null;
  if (!day) throw new Refusal('date must end in a day, as 2024-05-16 does');
  return `2024-05-${Number(day[0]) + 1}`;
}
