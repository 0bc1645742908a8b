/** @file A customer of the airline with a reservation, and the results of the airline's tools. It is 2024-05-15. */
import { person, type Person } from './people.ts';
import type { Call, Talk, Words } from './talk.ts';

const AIRPORTS = ['SFO', 'JFK', 'ORD', 'DEN', 'SEA', 'ATL', 'BOS', 'PHX', 'LAS', 'MSP'];

export type Cabin = 'basic_economy' | 'economy' | 'business';
export interface Trip {
  who: Person;
  reservation: string;
  cabin: Cabin;
  insurance: 'yes' | 'no';
  membership: 'regular' | 'silver' | 'gold';
  created: string;
  flights: { flight_number: string; origin: string; destination: string; date: string; price: number }[];
  passengers: { first_name: string; last_name: string; dob: string }[];
  bags: number;
  nonfree: number;
  payId: string;
  paid: number;
}

export type TripOf = Partial<Pick<Trip, 'cabin' | 'insurance' | 'membership' | 'created' | 'bags'>> & { people?: number; flown?: boolean };

export function trip(t: Talk, of: TripOf = {}): Trip {
  const who = person(t);
  const at = t.below(8);
  const [from, to] = [AIRPORTS[at]!, AIRPORTS[at + 1 + t.below(2)]!];
  const people = of.people ?? 1 + t.below(2);
  const leg = (origin: string, destination: string, day: number) => ({
    flight_number: `HAT${t.digits(3)}`,
    origin,
    destination,
    date: `2024-05-${day}`,
    price: 90 + t.below(180),
  });
  const first = of.flown ? 11 + t.below(3) : 19 + t.below(4);
  const flights = [leg(from, to, first), leg(to, from, of.flown ? 18 + t.below(3) : first + 4)];
  const others = Array.from({ length: people - 1 }, () => person(t));
  const paid = flights.reduce((sum, { price }) => sum + price * people, 0);
  const four = t.digits(4);
  const made: Trip = {
    who,
    reservation: `${t.one([...'ABCDEFGHKMN'])}${t.digits(2)}${t.one([...'PQRSTUVXYZ'])}${t.one([...'JKLMNWXY'])}${t.digits(1)}`,
    cabin: of.cabin ?? 'economy',
    insurance: of.insurance ?? 'no',
    membership: of.membership ?? 'regular',
    created: of.created ?? `2024-05-0${1 + t.below(8)}T1${t.below(10)}:2${t.below(10)}:07`,
    flights,
    passengers: [who, ...others].map(({ first, last, dob }) => ({ first_name: first, last_name: last, dob })),
    bags: of.bags ?? people,
    nonfree: 0,
    payId: `credit_card_${t.digits(7)}`,
    paid,
  };
  const city = { from, to };
  const rise = 140 + t.below(300);
  Object.assign(t.facts, city, {
    first: who.first,
    last: who.last,
    email: who.email,
    user: who.user,
    reservation: made.reservation,
    cabin: made.cabin.replace('_', ' '),
    day: flights[0]!.date,
    back: flights[1]!.date,
    newBack: `2024-05-${Number(flights[1]!.date.slice(-2)) + 2}`,
    flight: flights[0]!.flight_number,
    flight2: flights[1]!.flight_number,
    newFlight: `HAT${t.digits(3)}`,
    paid: `$${paid}`,
    rise: `$${rise * people}`,
    each: `$${rise}`,
    people: String(people),
    pay: `your Mastercard ending in ${four}`,
    four,
    bags: String(made.bags),
    moreBags: String(made.bags + 2),
    comp: `$${100 * people}`,
    delayComp: `$${50 * people}`,
    passenger: `${made.passengers.at(-1)!.first_name} ${made.passengers.at(-1)!.last_name}`,
    newName: `${made.passengers.at(-1)!.first_name} ${t.one(['Abbott', 'Lowell', 'Nygaard', 'Serrano', 'Kimura', 'Dunne'])}`,
  });
  return made;
}

const profile = ({ who, payId, membership, reservation }: Trip, four: string) => ({
  name: { first_name: who.first, last_name: who.last },
  address: who.address,
  email: who.email,
  dob: who.dob,
  payment_methods: { [payId]: { source: 'credit_card', brand: 'mastercard', last_four: four, id: payId } },
  saved_passengers: [],
  membership,
  reservations: [reservation],
});

export const record = (trip: Trip, more: object = {}) => ({
  reservation_id: trip.reservation,
  user_id: trip.who.user,
  origin: trip.flights[0]!.origin,
  destination: trip.flights[0]!.destination,
  flight_type: 'round_trip',
  cabin: trip.cabin,
  flights: trip.flights,
  passengers: trip.passengers,
  payment_history: [{ payment_id: trip.payId, amount: trip.paid }],
  created_at: trip.created,
  total_baggages: trip.bags,
  nonfree_baggages: trip.nonfree,
  insurance: trip.insurance,
  ...more,
});

const ASK_WHO: Words = [
  'I can help with that. What is your user id?',
  'Sure! Please give me your user ID so that I can find your booking.',
  'Of course. May I have your user id, please?',
  'Gladly. Which user id do you have with us?',
  'Let me check. Could you tell me your user id first?',
  "Thanks for reaching out. I'll need your user id to get started.",
  'Happy to assist. Please share the user id of your account.',
  'All right, first your user id, please.',
];
const USER: Words = [
  '{user}',
  "It's {user}.",
  'My user id is {user}',
  '{user}, thanks',
  'user id {user}',
  'Sure, {user}.',
  'That is {user}.',
  'here: {user}',
];

export const readUser = (t: Talk, of: Trip): Call => ({ name: 'get_user_details', args: { user_id: of.who.user }, result: profile(of, t.facts.four!) }); // prettier-ignore
export const readTrip = (of: Trip, more?: object): Call => ({
  name: 'get_reservation_details',
  args: { reservation_id: of.reservation },
  result: record(of, more),
});
export const flightStatus = (of: Trip, status: string, leg = 0): Call => ({
  name: 'get_flight_status',
  args: { flight_number: of.flights[leg]!.flight_number, date: of.flights[leg]!.date },
  result: status,
});

export function identify(t: Talk, of: Trip): void {
  t.say(ASK_WHO);
  t.user(USER);
  t.call(readUser(t, of));
}
