/** @file A customer of an airline with one reservation, and the calls that read and change it. */
import { person } from '../planted-layers/people.ts';
import { type Call, money, type Talk, type Words } from '../planted-layers/talk.ts';
import { HELLO, WAIT } from './words.ts';

const ROUTES = ['JFK SEA', 'ORD MIA', 'SFO BOS', 'DEN ATL', 'PHX LGA', 'MSP LAX'];
const ASK: Words = [
  'Certainly. Could I have your user id and the reservation number?',
  'I can check. What are your user id and booking code?',
  'Sure! User id and reservation, please.',
  'Happy to look. Please send me your user id along with the reservation id.',
];
const IDENTITY: Words = [
  'My user id is {user} and the reservation is {res}.',
  'user {user}, booking {res}',
  'Here you go: {user}, reservation {res}.',
  '{user} / {res}',
  'The id is {user}. The booking code is {res}.',
  'I am {user}, and this is about {res}.',
];

export interface TripOptions {
  cabin?: string;
  insurance?: string;
  membership?: string;
  created?: string;
}

export class Trip {
  readonly user: string;
  readonly card: string;
  readonly res: string;
  readonly date: string;
  readonly number: string;
  readonly reservation: Record<string, unknown>;
  readonly profile: Record<string, unknown>;
  readonly passengers: { first_name: string; last_name: string; dob: string }[];

  constructor(
    private readonly t: Talk,
    { cabin = 'economy', insurance = 'no', membership = 'regular', created = '2024-05-03T09:12:44' }: TripOptions = {},
  ) {
    const who = person(t);
    const mate = person(t);
    this.user = who.user;
    this.card = `credit_card_${t.digits(7)}`;
    const letters = (n: number) => Array.from({ length: n }, () => t.one('ABCDEFGHJKLMNPQRSTUVWXYZ'.split(''))).join('');
    this.res = `${letters(3)}${t.below(10)}${letters(2)}`;
    this.number = `HAT${100 + t.below(180)}`;
    const [origin, destination] = t.one(ROUTES).split(' ') as [string, string];
    const day = 18 + t.below(10);
    this.date = `2024-05-${day}`;
    const fare = 110 + t.below(160);
    const more = 90 + t.below(200);
    const nextNumber = `HAT${290 + t.below(9)}`;
    this.passengers = [
      { first_name: who.first, last_name: who.last, dob: who.dob },
      { first_name: mate.first, last_name: mate.last, dob: mate.dob },
    ];
    this.reservation = {
      reservation_id: this.res,
      user_id: this.user,
      origin,
      destination,
      flight_type: 'one_way',
      cabin,
      flights: [{ origin, destination, flight_number: this.number, date: this.date, price: fare }],
      passengers: this.passengers,
      payment_history: [{ payment_id: this.card, amount: fare * 2 }],
      created_at: created,
      total_baggages: 2,
      nonfree_baggages: 0,
      insurance,
    };
    const last4 = t.digits(4);
    this.profile = {
      name: { first_name: who.first, last_name: who.last },
      address: who.address,
      email: who.email,
      dob: who.dob,
      payment_methods: { [this.card]: { source: 'credit_card', brand: 'mastercard', last_four: last4, id: this.card } },
      saved_passengers: [],
      membership,
      reservations: [this.res],
    };
    this.fares = { fare, more, nextNumber };
    Object.assign(t.facts, {
      name: `${who.first} ${who.last}`,
      mate: `${mate.first} ${mate.last}`,
      mateFirst: mate.first,
      user: this.user,
      res: this.res,
      from: origin,
      to: destination,
      number: this.number,
      nextNumber,
      day: `May ${day}`,
      nextDay: `May ${day + 1}`,
      cabin: cabin.replace('_', ' '),
      last4,
      paid: money(fare * 2),
      wrong: money(fare * 2 + 45),
      upgrade: money(more * 2),
      wrongUpgrade: money(more + 15),
    });
  }
  readonly fares: { fare: number; more: number; nextNumber: string };

  start(wish: Words): void {
    const { t } = this;
    if (t.below(3) === 0) t.say(HELLO);
    if (t.below(2)) {
      t.user(wish);
      t.say(ASK);
      t.user(IDENTITY);
    } else t.messages.push({ role: 'user', content: `${t.text(wish)}\n${t.text(IDENTITY)}` });
    this.read();
  }
  read(): void {
    const calls = [this.readUser(), this.readReservation()];
    if (this.t.loose) this.t.call(calls, false, this.t.below(2) ? this.t.text(WAIT) : null);
    else for (const call of calls) this.t.call(call);
  }
  readUser(): Call {
    return { name: 'get_user_details', args: { user_id: this.user }, result: this.profile };
  }
  readReservation(reservation_id = this.res, result: unknown = this.reservation): Call {
    return { name: 'get_reservation_details', args: { reservation_id }, result };
  }
  status(result: string): Call {
    return { name: 'get_flight_status', args: { flight_number: this.number, date: this.date }, result };
  }
  /** Two flights of the day: the first leaves at 9:30, the second at 18:05. */
  search(date = this.date): Call {
    const { origin, destination } = this.reservation as Record<string, string>;
    const flight = (flight_number: string, departs: string, arrives: string, seats: number) => ({
      flight_number,
      origin,
      destination,
      scheduled_departure_time_est: departs,
      scheduled_arrival_time_est: arrives,
      status: 'available',
      available_seats: { basic_economy: 3, economy: seats, business: seats },
      prices: { basic_economy: this.fares.fare - 40, economy: this.fares.fare, business: this.fares.fare + this.fares.more },
    });
    const result = [flight(this.number, '09:30:00', '13:10:00', 4), flight(this.fares.nextNumber, '18:05:00', '21:45:00', 9)];
    return { name: 'search_direct_flight', args: { origin, destination, date }, result };
  }

  private result(change: Record<string, unknown>, error?: string): unknown {
    return error ? `Error: ${error}` : { ...this.reservation, ...change };
  }
  cancel(error?: string): Call {
    const [payment] = this.reservation.payment_history as { payment_id: string; amount: number }[];
    const change = { payment_history: [payment, { ...payment, amount: -payment!.amount }], status: 'cancelled' };
    return { name: 'cancel_reservation', args: { reservation_id: this.res }, result: this.result(change, error) };
  }
  bags(total: number, nonfree: number, error?: string): Call {
    const paid = nonfree ? [{ payment_id: this.card, amount: 50 * nonfree }] : [];
    const history = [...(this.reservation.payment_history as unknown[]), ...paid];
    return {
      name: 'update_reservation_baggages',
      args: { reservation_id: this.res, total_baggages: total, nonfree_baggages: nonfree, payment_id: this.card },
      result: this.result({ total_baggages: total, nonfree_baggages: nonfree, payment_history: history }, error),
    };
  }
  /** Changes the cabin for the price `upgrade`, or the flight for no price. */
  fly({ cabin, number = this.number, date = this.date }: { cabin?: string; number?: string; date?: string }, error?: string): Call {
    const price = this.fares.fare + (cabin ? this.fares.more : 0);
    const { origin, destination } = this.reservation as Record<string, string>;
    const history = this.reservation.payment_history as unknown[];
    const change = {
      cabin: cabin ?? this.reservation.cabin,
      flights: [{ origin, destination, flight_number: number, date, price }],
      payment_history: cabin ? [...history, { payment_id: this.card, amount: this.fares.more * 2 }] : history,
    };
    return {
      name: 'update_reservation_flights',
      args: { reservation_id: this.res, cabin: change.cabin, flights: [{ flight_number: number, date }], payment_id: this.card },
      result: this.result(change, error),
    };
  }
  rename(first_name: string, dob: string): Call {
    const passengers = [this.passengers[0], { ...this.passengers[1], first_name, dob }];
    return { name: 'update_reservation_passengers', args: { reservation_id: this.res, passengers }, result: this.result({ passengers }) };
  }
  certificate(amount: number): Call {
    return {
      name: 'send_certificate',
      args: { user_id: this.user, amount },
      result: `Certificate certificate_3221322 added to user ${this.user} with amount ${amount}.`,
    };
  }
}
