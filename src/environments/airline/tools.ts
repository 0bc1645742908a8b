/** @file The airline's tools: one body each, with what the benchmarks do differently taken from `Rules`. */
import { type Arguments, key, member, numeric, Refusal, sequence } from '../exact/arguments.ts';
import type { ExactTool } from '../exact/make-domain.ts';
import { cloneJson } from '../json.ts';
import type { Rows } from '../overlay.ts';
import { pythonStr, type Printable } from '../exact/python.ts';
import { calculate, expressionText } from '../retail/calculate.ts';
import type { Json } from '../types.ts';
import type { Rules } from './rules.ts';
import type { Flight, FlightDate, Leg, Reservation, User } from './schema.ts';

interface Tool extends Omit<ExactTool, 'run'> {
  run(rows: Rows, args: Arguments, rules: Rules): Printable;
}

const AIRPORTS = [
  ['SFO', 'San Francisco'], ['JFK', 'New York'], ['LAX', 'Los Angeles'], ['ORD', 'Chicago'], ['DFW', 'Dallas'], ['DEN', 'Denver'], ['SEA', 'Seattle'],
  ['ATL', 'Atlanta'], ['MIA', 'Miami'], ['BOS', 'Boston'], ['PHX', 'Phoenix'], ['IAH', 'Houston'], ['LAS', 'Las Vegas'], ['MCO', 'Orlando'],
  ['EWR', 'Newark'], ['CLT', 'Charlotte'], ['MSP', 'Minneapolis'], ['DTW', 'Detroit'], ['PHL', 'Philadelphia'], ['LGA', 'LaGuardia'],
] as const;

const RESERVATION_IDS = ['HATHAT', 'HATHAU', 'HATHAV'];
const CERTIFICATE_IDS = ['certificate_3221322', 'certificate_3221323', 'certificate_3221324'];
const NOW = '2024-05-15T15:00:00';
const INSURANCE_FEE = 30;
const BAGGAGE_FEE = 50;

const TOOLS: Record<string, Tool> = {
  book_reservation: {
    parameters: ['user_id', 'origin', 'destination', 'flight_type', 'cabin', 'flights', 'passengers', 'payment_methods', 'total_baggages', 'nonfree_baggages', 'insurance'],
    mutates: true,
    run: bookReservation,
  },
  calculate: { parameters: ['expression'], run: (_, { expression }, { say }) => { const invalid = say('invalid characters in expression'); return calculate(expressionText(expression!, invalid), invalid); } },
  cancel_reservation: { parameters: ['reservation_id'], mutates: true, run: cancelReservation },
  get_flight_status: { parameters: ['flight_number', 'date'], run: (rows, { flight_number, date }, rules) => flightOn(rows, flight_number!, date!, rules).day.status },
  get_reservation_details: { parameters: ['reservation_id'], run: getReservationDetails },
  get_user_details: { parameters: ['user_id'], run: (rows, { user_id }, rules) => find(rows, 'user', user_id!, rules) as unknown as Printable },
  list_all_airports: { parameters: [], run: (_, __, rules) => rules.airports(AIRPORTS) },
  search_direct_flight: { parameters: ['origin', 'destination', 'date'], run: searchDirectFlight },
  search_onestop_flight: { parameters: ['origin', 'destination', 'date'], run: searchOnestopFlight },
  send_certificate: { parameters: ['user_id', 'amount'], mutates: true, run: sendCertificate },
  think: { parameters: ['thought'], run: () => '' },
  transfer_to_human_agents: { parameters: ['summary'], run: () => 'Transfer successful' },
  update_reservation_baggages: { parameters: ['reservation_id', 'total_baggages', 'nonfree_baggages', 'payment_id'], mutates: true, run: updateReservationBaggages },
  update_reservation_flights: { parameters: ['reservation_id', 'cabin', 'flights', 'payment_id'], mutates: true, run: updateReservationFlights },
  update_reservation_passengers: { parameters: ['reservation_id', 'passengers'], mutates: true, run: updateReservationPassengers },
};

/** The benchmark's tools, in its order. */
export function airlineTools(rules: Rules): ReadonlyMap<string, ExactTool> {
  return new Map(rules.tools.map((name) => {
    const { run, ...rest } = TOOLS[name]!;
    return [name, { ...rest, run: (rows: Rows, args: Arguments) => run(rows, args, rules) }];
  }));
}

/** A copy of a record that may be changed. */
function find(rows: Rows, what: 'user', id: Json, rules: Rules): User;
function find(rows: Rows, what: 'reservation', id: Json, rules: Rules): Reservation;
function find(rows: Rows, what: 'user' | 'reservation', id: Json, rules: Rules): unknown {
  const row = rows.get(`${what}s`, key(id, `${what}_id`));
  if (row === undefined) throw new Refusal(rules.notFound(what, id));
  return cloneJson(row);
}

function save(rows: Rows, reservation: Reservation): Printable {
  rows.put('reservations', reservation.reservation_id, reservation as unknown as Json);
  return reservation as unknown as Printable;
}

function getReservationDetails(rows: Rows, { reservation_id }: Arguments, rules: Rules): Printable {
  const row = rows.get('reservations', key(reservation_id!, 'reservation_id'));
  if (row === undefined) throw new Refusal(rules.reservationDetailsNotFound(reservation_id!));
  return row as Printable;
}

function flightOn(rows: Rows, number: Json, date: Json, { say }: Rules): { flight: Flight; day: FlightDate } {
  const flight = rows.get('flights', key(number, 'flight_number')) as unknown as Flight | undefined;
  if (!flight) throw new Refusal(say(`flight ${pythonStr(number)} not found`));
  const name = key(date, 'date');
  if (!Object.hasOwn(flight.dates, name)) throw new Refusal(say(`flight ${pythonStr(number)} not found on date ${pythonStr(date)}`));
  return { flight, day: flight.dates[name]! };
}

/** The leg for a flight that has seats to sell, at its price. */
function availableLeg(rows: Rows, wanted: Json, cabin: Json, passengers: Json, rules: Rules): Leg {
  const number = member(wanted, 'flight_number', 'a flight');
  // A flight that does not exist is told before a missing date is.
  if (rows.get('flights', key(number, 'flight_number')) === undefined) flightOn(rows, number, '', rules);
  const date = member(wanted, 'date', 'a flight');
  const { flight, day } = flightOn(rows, number, date, rules);
  if (day.status !== 'available') throw new Refusal(rules.say(`flight ${flight.flight_number} not available on date ${pythonStr(date)}`));
  const cabinName = key(cabin, 'cabin');
  if (!Object.hasOwn(day.available_seats, cabinName)) throw new Refusal(`there is no cabin ${pythonStr(cabin, true)}`);
  if (day.available_seats[cabinName]! < count(passengers)) throw new Refusal(rules.say(`not enough seats on flight ${flight.flight_number}`));
  return rules.leg(wanted, flight, date as string, day.prices[cabinName]!);
}

/** Python's `len`. */
function count(passengers: Json): number {
  return sequence(passengers, 'passengers').length;
}

function bookReservation(rows: Rows, args: Arguments, rules: Rules): Printable {
  const wanted = rules.flights(args.flights!), passengers = rules.passengers(args.passengers!), payments = rules.payments(args.payment_methods!);
  const user = find(rows, 'user', args.user_id!, rules);
  const { origin, destination, flight_type, cabin, total_baggages, nonfree_baggages, insurance } = args as Record<string, Json>;
  const reservation = rules.newReservation({
    reservation_id: RESERVATION_IDS.find((id) => rows.get('reservations', id) === undefined) ?? rules.fourthReservation(),
    user_id: args.user_id as string,
    origin: origin!,
    destination: destination!,
    flight_type: flight_type!,
    cabin: cabin!,
    flights: [],
    passengers,
    // Quirk: tau1 keeps the caller's list itself, so that a later cancellation grows the arguments of this call. A copy here.
    payment_history: cloneJson(payments) as unknown as Reservation['payment_history'],
    created_at: NOW,
    total_baggages: total_baggages!,
    nonfree_baggages: nonfree_baggages!,
    insurance: insurance!,
  });
  let total = 0;
  reservation.flights = legs(wanted, (flight) => {
    const leg = availableLeg(rows, flight, cabin!, passengers, rules);
    total += leg.price * count(passengers);
    return leg;
  });
  if (insurance === 'yes') total += INSURANCE_FEE * count(passengers);
  total += BAGGAGE_FEE * numeric(nonfree_baggages!, 'nonfree_baggages');
  const paid = sequence(payments, 'payment_methods').map((payment) => {
    const id = member(payment, 'payment_id', 'a payment'), amount = member(payment, 'amount', 'a payment');
    const name = key(id, 'payment_id');
    if (!Object.hasOwn(user.payment_methods, name)) throw new Refusal(rules.say(`payment method ${pythonStr(id)} not found`));
    const method = user.payment_methods[name]!;
    if (method.source !== 'credit_card' && method.amount < numeric(amount, 'amount')) throw new Refusal(rules.say(`not enough balance in payment method ${name}`));
    return { id: name, amount };
  });
  const sum = paid.reduce((before, { amount }) => before + numeric(amount, 'amount'), 0);
  if (sum !== total) throw new Refusal(rules.say(`payment amount does not add up, total price is ${pythonStr(total)}, but paid ${pythonStr(sum)}`));
  for (const { id, amount } of paid) {
    const method = user.payment_methods[id];
    if (!method) throw new Refusal(`the certificate ${id} is used up`);
    if (method.source === 'gift_card') method.amount -= numeric(amount, 'amount');
    // Quirk of both: a certificate is gone, whatever is left of it.
    else if (method.source === 'certificate') delete user.payment_methods[id];
  }
  if (rules.bookingTakesSeats) for (const leg of reservation.flights) takeSeats(rows, leg, cabin as string, count(passengers));
  // When tau1 overwrites a reservation, the user lists it twice.
  user.reservations.push(reservation.reservation_id);
  rows.put('users', reservation.user_id, user as unknown as Json);
  return save(rows, reservation);
}

/** A leg for each wanted flight; what is empty but no list stays what it is. */
function legs(wanted: Json, leg: (flight: Json) => Leg): Leg[] {
  const flights = sequence(wanted, 'flights');
  return flights.length ? flights.map(leg) : (wanted as unknown as Leg[]);
}

function takeSeats(rows: Rows, { flight_number, date }: Leg, cabin: string, seats: number): void {
  const flight = cloneJson(rows.get('flights', flight_number) as unknown as Flight);
  const day = flight.dates[date] as Extract<FlightDate, { status: 'available' }>;
  day.available_seats[cabin]! -= seats;
  rows.put('flights', flight_number, flight as unknown as Json);
}

/** Quirk of both: the seats of a cancelled reservation stay taken, a cancelled one can be cancelled again, and gift cards get nothing back. */
function cancelReservation(rows: Rows, { reservation_id }: Arguments, rules: Rules): Printable {
  const reservation = find(rows, 'reservation', reservation_id!, rules);
  const history = sequence(reservation.payment_history as unknown as Json, 'payment_history') as unknown as Reservation['payment_history'];
  reservation.payment_history = [...history, ...history.map(({ payment_id, amount }) => ({ payment_id, amount: 0 - numeric(amount, 'amount') }))];
  reservation.status = 'cancelled';
  return save(rows, reservation);
}

/** Charges (or pays back) the difference that a change makes, and saves both records. */
function settle(rows: Rows, reservation: Reservation, paymentId: Json, total: number, rules: Rules, change: () => void): Printable {
  const user = find(rows, 'user', reservation.user_id, rules);
  const id = key(paymentId, 'payment_id');
  if (!Object.hasOwn(user.payment_methods, id)) throw new Refusal(rules.say('payment method not found'));
  const method = user.payment_methods[id]!;
  if (method.source === 'certificate') throw new Refusal(rules.say('certificate cannot be used to update reservation'));
  if (method.source === 'gift_card') {
    if (method.amount < total) throw new Refusal(rules.say('gift card balance is not enough'));
    method.amount -= total;
  }
  change();
  if (total !== 0) reservation.payment_history.push(rules.payment(id, total));
  if (method.source === 'gift_card') rows.put('users', reservation.user_id, user as unknown as Json);
  return save(rows, reservation);
}

/** Quirk of both: neither the numbers nor their kinds are checked, only the price that follows from them. */
function updateReservationBaggages(rows: Rows, { reservation_id, total_baggages, nonfree_baggages, payment_id }: Arguments, rules: Rules): Printable {
  const reservation = find(rows, 'reservation', reservation_id!, rules);
  const more = numeric(nonfree_baggages!, 'nonfree_baggages') - numeric(reservation.nonfree_baggages, 'nonfree_baggages');
  return settle(rows, reservation, payment_id!, BAGGAGE_FEE * Math.max(0, more), rules, () => Object.assign(reservation, { total_baggages, nonfree_baggages }));
}

/** Quirk of both: no flights at all is a change too, which pays everything back; seats are neither taken nor freed. */
function updateReservationFlights(rows: Rows, { reservation_id, cabin, flights, payment_id }: Arguments, rules: Rules): Printable {
  const wanted = rules.flights(flights!);
  const reservation = find(rows, 'reservation', reservation_id!, rules);
  const { passengers, flights: old } = reservation;
  let total = 0;
  const changed = legs(wanted, (flight) => {
    const number = member(flight, 'flight_number', 'a flight');
    const same = old.find((leg) => leg.flight_number === number && leg.date === member(flight, 'date', 'a flight') && cabin === reservation.cabin);
    const leg = same ? rules.leg(flight, same, same.date, same.price) : availableLeg(rows, flight, cabin!, passengers, rules);
    total += leg.price * count(passengers);
    return leg;
  });
  total -= sequence(old as unknown as Json, 'flights').reduce<number>((sum, leg) => sum + numeric(member(leg, 'price', 'a flight'), 'price'), 0) * count(passengers);
  return settle(rows, reservation, payment_id!, total, rules, () => {
    reservation.flights = changed;
    if (rules.updateWritesCabin) reservation.cabin = cabin!;
  });
}

/** Quirk of both: of what is no list of objects only the length is checked. */
function updateReservationPassengers(rows: Rows, args: Arguments, rules: Rules): Printable {
  const passengers = rules.passengers(args.passengers!);
  const reservation = find(rows, 'reservation', args.reservation_id!, rules);
  if (count(passengers) !== count(reservation.passengers)) throw new Refusal(rules.say('number of passengers does not match'));
  reservation.passengers = cloneJson(passengers);
  return save(rows, reservation);
}

function sendCertificate(rows: Rows, { user_id, amount }: Arguments, rules: Rules): Printable {
  const user = find(rows, 'user', user_id!, rules);
  const id = CERTIFICATE_IDS.find((name) => !Object.hasOwn(user.payment_methods, name));
  if (!id) throw new Refusal(rules.fourthCertificate);
  user.payment_methods[id] = rules.certificate(id, cloneJson(amount!));
  rows.put('users', user_id as string, user as unknown as Json);
  return `Certificate ${id} added to user ${user_id as string} with amount ${pythonStr(amount!)}.`;
}

/** Flights from and to an airport; undefined stands for any. */
function* flightsBetween(rows: Rows, origin: Json | undefined, destination: Json | undefined, { nullIsAnyAirport }: Rules): Generator<Flight> {
  const matches = (airport: string, wanted: Json | undefined) => wanted === undefined || airport === wanted || (nullIsAnyAirport && wanted === null);
  for (const number of rows.keys('flights')) {
    const flight = rows.get('flights', number) as unknown as Flight;
    if (matches(flight.origin, origin) && matches(flight.destination, destination)) yield flight;
  }
}

/** The flight's day if seats are sold on it. */
function openDay({ dates }: Flight, date: Json): FlightDate | null {
  const name = key(date, 'date');
  const day = Object.hasOwn(dates, name) ? dates[name]! : null;
  return day?.status === 'available' ? day : null;
}

function searchDirectFlight(rows: Rows, { origin, destination, date }: Arguments, rules: Rules): Printable {
  return [...flightsBetween(rows, origin!, destination!, rules)].flatMap((flight) => {
    const day = openDay(flight, date!);
    return day ? [rules.found(flight, day, null)] : [];
  });
}

function searchOnestopFlight(rows: Rows, { origin, destination, date }: Arguments, rules: Rules): Printable {
  const results: Printable[] = [];
  for (const first of flightsBetween(rows, origin!, undefined, rules)) {
    if (rules.firstDayIsReadFirst && !openDay(first, date!)) continue;
    for (const second of flightsBetween(rows, first.destination, destination!, rules)) {
      const date2 = first.scheduled_arrival_time_est.includes('+1') ? nextDay(date!) : date!;
      // Quirk of both: times compare as texts, so that an arrival at `02:00:00+1` is before a departure at 03:00:00.
      if (first.scheduled_arrival_time_est > second.scheduled_departure_time_est) continue;
      const day = openDay(first, date!);
      if (!day || !openDay(second, date2)) continue;
      results.push([rules.found(first, day, date as string), rules.found(second, rules.secondDay(second, date as string, date2 as string), date2 as string)]);
    }
  }
  return results;
}

/** Quirk of both: always in May, and without a leading zero: after `2024-05-08` comes `2024-05-9`. */
function nextDay(date: Json): string {
  const day = typeof date === 'string' ? /^\s*[+-]?\d+\s*$/.exec(date.slice(-2)) : null;
  if (!day) throw new Refusal('date must end in a day, as 2024-05-16 does');
  return `2024-05-${Number(day[0]) + 1}`;
}
