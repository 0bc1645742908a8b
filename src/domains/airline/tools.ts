/** @file The airline's tools. The argument `rules` has the differences between the two benchmarks. */
import { type Arguments, key, member, numeric, Refusal, sequence } from '../exact/arguments.ts';
import type { ExactTool } from '../exact/make-domain.ts';
import { cloneJson } from '../../base/json.ts';
import type { Rows } from '../../environments/overlay.ts';
import { pythonStr, type Printable } from '../exact/python.ts';
import { calculate, expressionText } from '../retail/calculate.ts';
import type { Json } from '../../records/json.ts';
import type { Rules } from './rules.ts';
import { AIRPORTS, searchDirectFlight, searchOnestopFlight } from './search.ts';
import { availableLeg, count, find, flightOn, legs, save } from './records.ts';
import type { Flight, FlightDate, Leg, Reservation } from './schema.ts';

interface Tool extends Omit<ExactTool, 'run'> {
  run(rows: Rows, args: Arguments, rules: Rules): Printable;
}

const RESERVATION_IDS = ['HATHAT', 'HATHAU', 'HATHAV'];
const CERTIFICATE_IDS = ['certificate_3221322', 'certificate_3221323', 'certificate_3221324'];
const NOW = '2024-05-15T15:00:00';
const INSURANCE_FEE = 30;
const BAGGAGE_FEE = 50;

const TOOLS: Record<string, Tool> = {
  book_reservation: {
    parameters: [
      'user_id',
      'origin',
      'destination',
      'flight_type',
      'cabin',
      'flights',
      'passengers',
      'payment_methods',
      'total_baggages',
      'nonfree_baggages',
      'insurance',
    ],
    mutates: true,
    run: bookReservation,
  },
  calculate: {
    parameters: ['expression'],
    run: (_, { expression }, { say }) => {
      const invalid = say('invalid characters in expression');
      return calculate(expressionText(expression!, invalid), invalid);
    },
  },
  cancel_reservation: { parameters: ['reservation_id'], mutates: true, run: cancelReservation },
  get_flight_status: {
    parameters: ['flight_number', 'date'],
    run: (rows, { flight_number, date }, rules) => flightOn(rows, flight_number!, date!, rules).day.status,
  },
  get_reservation_details: { parameters: ['reservation_id'], run: getReservationDetails },
  get_user_details: {
    parameters: ['user_id'],
    run: (rows, { user_id }, rules) => find(rows, 'user', user_id!, rules) as unknown as Printable,
  },
  list_all_airports: { parameters: [], run: (_, __, rules) => rules.airports(AIRPORTS) },
  search_direct_flight: { parameters: ['origin', 'destination', 'date'], run: searchDirectFlight },
  search_onestop_flight: { parameters: ['origin', 'destination', 'date'], run: searchOnestopFlight },
  send_certificate: { parameters: ['user_id', 'amount'], mutates: true, run: sendCertificate },
  think: { parameters: ['thought'], run: () => '' },
  transfer_to_human_agents: { parameters: ['summary'], run: () => 'Transfer successful' },
  update_reservation_baggages: {
    parameters: ['reservation_id', 'total_baggages', 'nonfree_baggages', 'payment_id'],
    mutates: true,
    run: updateReservationBaggages,
  },
  update_reservation_flights: {
    parameters: ['reservation_id', 'cabin', 'flights', 'payment_id'],
    mutates: true,
    run: updateReservationFlights,
  },
  update_reservation_passengers: { parameters: ['reservation_id', 'passengers'], mutates: true, run: updateReservationPassengers },
};

/** The benchmark's tools in the benchmark's order. */
export function airlineTools(rules: Rules): ReadonlyMap<string, ExactTool> {
  return new Map(
    rules.tools.map((name) => {
      const { run, ...rest } = TOOLS[name]!;
      return [name, { ...rest, run: (rows: Rows, args: Arguments) => run(rows, args, rules) }];
    }),
  );
}

function getReservationDetails(rows: Rows, { reservation_id }: Arguments, rules: Rules): Printable {
  const row = rows.get('reservations', key(reservation_id!, 'reservation_id'));
  if (row === undefined) throw new Refusal(rules.reservationDetailsNotFound(reservation_id!));
  return row as Printable;
}

function bookReservation(rows: Rows, args: Arguments, rules: Rules): Printable {
  const wanted = rules.flights(args.flights!),
    passengers = rules.passengers(args.passengers!),
    payments = rules.payments(args.payment_methods!);
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
    // Quirk: tau1 stores the list from the call itself, so a later cancellation also changes this call's arguments. We store a
    // copy.
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
    const id = member(payment, 'payment_id', 'a payment'),
      amount = member(payment, 'amount', 'a payment');
    const name = key(id, 'payment_id');
    if (!Object.hasOwn(user.payment_methods, name)) throw new Refusal(rules.say(`payment method ${pythonStr(id)} not found`));
    const method = user.payment_methods[name]!;
    if (method.source !== 'credit_card' && method.amount < numeric(amount, 'amount'))
      throw new Refusal(rules.say(`not enough balance in payment method ${name}`));
    return { id: name, amount };
  });
  const sum = paid.reduce((before, { amount }) => before + numeric(amount, 'amount'), 0);
  if (sum !== total)
    throw new Refusal(rules.say(`payment amount does not add up, total price is ${pythonStr(total)}, but paid ${pythonStr(sum)}`));
  for (const { id, amount } of paid) {
    const method = user.payment_methods[id];
    if (!method) throw new Refusal(`the certificate ${id} is used up`);
    if (method.source === 'gift_card') method.amount -= numeric(amount, 'amount');
    // Quirk of both benchmarks: a payment uses up the whole certificate.
    else if (method.source === 'certificate') delete user.payment_methods[id];
  }
  if (rules.bookingTakesSeats) for (const leg of reservation.flights) takeSeats(rows, leg, cabin as string, count(passengers));
  // Quirk: if a reservation overwrites another one in tau1, the user's list contains its id twice.
  user.reservations.push(reservation.reservation_id);
  rows.put('users', reservation.user_id, user as unknown as Json);
  return save(rows, reservation);
}

function takeSeats(rows: Rows, { flight_number, date }: Leg, cabin: string, seats: number): void {
  const flight = cloneJson(rows.get('flights', flight_number) as unknown as Flight);
  const day = flight.dates[date] as Extract<FlightDate, { status: 'available' }>;
  day.available_seats[cabin]! -= seats;
  rows.put('flights', flight_number, flight as unknown as Json);
}

/** Quirks of both benchmarks: a cancellation frees no seats and refunds no gift cards. A cancelled reservation can be cancelled again. */
function cancelReservation(rows: Rows, { reservation_id }: Arguments, rules: Rules): Printable {
  const reservation = find(rows, 'reservation', reservation_id!, rules);
  const history = sequence(reservation.payment_history as unknown as Json, 'payment_history') as unknown as Reservation['payment_history'];
  reservation.payment_history = [
    ...history,
    ...history.map(({ payment_id, amount }) => ({ payment_id, amount: 0 - numeric(amount, 'amount') })),
  ];
  reservation.status = 'cancelled';
  return save(rows, reservation);
}

/** Charges or refunds the price difference of a change, and stores the reservation and the user. */
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

/** Quirk of both benchmarks: the numbers of bags are not checked. Only the resulting price is checked. */
function updateReservationBaggages(
  rows: Rows,
  { reservation_id, total_baggages, nonfree_baggages, payment_id }: Arguments,
  rules: Rules,
): Printable {
  const reservation = find(rows, 'reservation', reservation_id!, rules);
  const more = numeric(nonfree_baggages!, 'nonfree_baggages') - numeric(reservation.nonfree_baggages, 'nonfree_baggages');
  return settle(rows, reservation, payment_id!, BAGGAGE_FEE * Math.max(0, more), rules, () =>
    Object.assign(reservation, { total_baggages, nonfree_baggages }),
  );
}

/**
 * Quirks of both benchmarks: a change to an empty list of flights refunds everything. A change of flights neither takes nor
 * frees seats.
 */
function updateReservationFlights(rows: Rows, { reservation_id, cabin, flights, payment_id }: Arguments, rules: Rules): Printable {
  const wanted = rules.flights(flights!);
  const reservation = find(rows, 'reservation', reservation_id!, rules);
  const { passengers, flights: old } = reservation;
  let total = 0;
  const changed = legs(wanted, (flight) => {
    const number = member(flight, 'flight_number', 'a flight');
    const same = old.find(
      (leg) => leg.flight_number === number && leg.date === member(flight, 'date', 'a flight') && cabin === reservation.cabin,
    );
    const leg = same ? rules.leg(flight, same, same.date, same.price) : availableLeg(rows, flight, cabin!, passengers, rules);
    total += leg.price * count(passengers);
    return leg;
  });
  total -=
    sequence(old as unknown as Json, 'flights').reduce<number>((sum, leg) => sum + numeric(member(leg, 'price', 'a flight'), 'price'), 0) *
    count(passengers);
  return settle(rows, reservation, payment_id!, total, rules, () => {
    reservation.flights = changed;
    if (rules.updateWritesCabin) reservation.cabin = cabin!;
  });
}

/** Quirk of both benchmarks: if the value is not a list of objects, only its length is checked. */
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
