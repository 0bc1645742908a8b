/** @file What customers of the airline want, with wordings of the wish, of the question for a yes and of the report. */
import { identify, readTrip, record, type Trip } from './flights.ts';
import type { Job, Talk, Words } from './talk.ts';

export type Want = 'cancel' | 'cabin' | 'bags' | 'flights' | 'name';

const WISH: Record<Want, Words> = {
  cancel: [
    'I have to cancel reservation {reservation}, {why}.',
    'please cancel {reservation}. reason: {why}',
    'Hello, my trip {from} to {to} cannot happen: {why}. The reservation is {reservation}, please cancel it.',
    'Can you cancel {reservation} for me? It is because {why}.',
    'Good day. Kindly cancel the booking {reservation}, as {why}.',
    'Need to call off my flights ({reservation}) since {why}.',
    'Cancel my reservation {reservation} please, {why}.',
    '{reservation} has to be cancelled; {why}.',
  ],
  cabin: [
    'I would like to fly business on reservation {reservation}.',
    'upgrade {reservation} to business please',
    'Hi, what would an upgrade to business be for {reservation}? I would like to have it.',
    'Please move everyone in {reservation} to business class.',
    'Could I get business seats for my trip {from} to {to}, booking {reservation}?',
    'For {reservation} I want business instead of {cabin}.',
    'Reservation {reservation}: change cabin to business.',
    'We want to travel in business. The booking is {reservation}.',
  ],
  bags: [
    'I need two more checked bags on {reservation}.',
    'add 2 bags to {reservation}',
    'Hello, we have more luggage than planned. Two extra suitcases for {reservation}, please.',
    'Could you add two checked bags to my booking {reservation}?',
    'Two additional bags, reservation {reservation}.',
    'My reservation {reservation} has {bags} bags, I want {moreBags}.',
    'Please put two more pieces of luggage on {reservation}.',
    "I'd like to check in two more bags with {reservation}.",
  ],
  flights: [
    'I want to fly back on {newBack} and not on {back}. Reservation {reservation}.',
    'change the return of {reservation} to {newBack} pls',
    'Could my return flight in {reservation} be moved from {back} to {newBack}?',
    'Hi! I have to stay two days longer, so please rebook the way back of {reservation} to {newBack}.',
    'For {reservation}, I need another return flight: {newBack}.',
    'My meeting was extended. Please change the flight home in {reservation} to {newBack}.',
    'Return on {newBack} instead of {back} please, booking {reservation}.',
    'The return leg of {reservation} should be on {newBack}.',
  ],
  name: [
    'The name of {passenger} in {reservation} is wrong, it should be {newName}.',
    'passenger name fix: {reservation}, {passenger} -> {newName}',
    'Hello, {passenger} has married and is now {newName}. Please update {reservation}.',
    'I misspelled a passenger in {reservation}. Please put {newName} rather than {passenger}.',
    'Can you correct {passenger} to {newName} on booking {reservation}?',
    'In {reservation} the last name of {passenger} has to be changed, giving {newName}.',
    'Please rename the passenger {passenger} to {newName} in {reservation}.',
    'There is an error in {reservation}: it must say {newName}, not {passenger}.',
  ],
};

const ASK: Record<Want, Words> = {
  cancel: [
    'I can cancel {reservation} ({from} to {to} and back) because {allowed}. {paid} goes back to {pay} within 5 to 7 business days. Do you confirm?',
    '- Reservation: {reservation}\n- Trip: {from}, {to}\n- Refund: {paid} to {pay} in 5 to 7 business days\n\nIt is allowed as {allowed}. Shall I cancel it?',
    'As {allowed}, a cancellation is possible. The whole reservation {reservation} is cancelled and {paid} is returned to {pay} in 5–7 business days. Yes?',
    'To confirm: cancel all flights of {reservation}; refund of {paid} to {pay}, 5 to 7 business days. Do you want this?',
    'Since {allowed}, I would cancel {reservation} for you. You will have {paid} on {pay} within five to seven business days. OK to proceed?',
    '**Cancellation of {reservation}**\n\nAll flights {from}–{to}–{from}. Refund {paid}, {pay}, 5-7 business days.\n\nPlease answer yes or no.',
    'Your reservation {reservation} qualifies: {allowed}. Shall I cancel it now, with {paid} back on {pay} in 5 to 7 business days?',
    'The cancellation covers both flights of {reservation}. {pay} is credited with {paid} in 5 to 7 business days. May I go on?',
  ],
  cabin: [
    'Business for {people} passenger(s) on {reservation} costs {rise} more in all ({each} each), charged to {pay}. The flights stay the same. Do you confirm?',
    '- Reservation {reservation}\n- Cabin: business on all flights\n- To pay: {rise} with {pay}\n\nShall I upgrade?',
    'The upgrade of {reservation} from {cabin} to business would be {rise} on {pay}. Yes or no?',
    'To confirm: both flights of {reservation} in business, additional cost {rise}, {pay}. Okay?',
    'I found business seats. For {reservation} you would pay {rise} more with {pay}. Should I change it?',
    '**Upgrade** of {reservation} to business\n\n* {people} passenger(s), {each} each\n* total {rise} to {pay}\n\nDo you agree?',
    'Changing {reservation} to business class on every flight costs {rise}. I would charge {pay}. May I proceed?',
    'So business instead of {cabin} for {reservation}; {rise} is the difference and {pay} is charged. Is that what you want?',
  ],
  bags: [
    'Two more bags make {moreBags} on {reservation}. Both are extra, so $50 each, $100 in total, charged to {pay}. Do you confirm?',
    '- {reservation}: {moreBags} checked bags\n- 2 extra bags at $50: $100\n- {pay}\n\nShall I add them?',
    'Your free bags are used up, so 2 bags cost $100 ($50 each) on {pay}. Should I add them to {reservation}, for a total of {moreBags}?',
    'To confirm: {moreBags} bags on {reservation}, $100 to pay with {pay}. Yes?',
    'Each extra bag is $50. For two on {reservation} I would charge $100 to {pay}; you would have {moreBags} bags. OK?',
    '**Bags for {reservation}**\n\n{bags} → {moreBags}, price $100 ({pay}). Proceed?',
    'I would raise the bags of {reservation} from {bags} to {moreBags}. That is $100, paid with {pay}. Do you want that?',
    'Adding two bags to {reservation} comes to $100 on {pay} ($50 per bag). The total is then {moreBags}. Shall I?',
  ],
  flights: [
    'I can move the return of {reservation} to {newFlight} on {newBack}, same cabin. You pay {rise} more with {pay}. Do you confirm?',
    '- Reservation {reservation}\n- Outbound: {flight}, {day} (unchanged)\n- Return: {newFlight}, {newBack}\n- Difference: {rise}, {pay}\n\nOK?',
    '{newFlight} on {newBack} has seats in {cabin}. The change of {reservation} costs {rise} on {pay}. Yes or no?',
    'To confirm: return flight {newFlight} on {newBack} instead of {flight2} on {back}, {rise} to {pay}, reservation {reservation}. Is this fine?',
    'For {reservation} I would replace {flight2} by {newFlight} ({newBack}) for {rise}, paid with {pay}. Shall I change it?',
    '**Change of {reservation}**\n\n1. {flight} stays\n2. {flight2} becomes {newFlight} on {newBack}\n3. {rise} on {pay}\n\nProceed?',
    'The way back would be {newFlight} on {newBack}. The price difference is {rise} with {pay}. May I update {reservation}?',
    'Then {reservation} returns on {newBack} with {newFlight}; additional {rise}, {pay}. Do you agree?',
  ],
  name: [
    'I would change the passenger {passenger} to {newName} in {reservation}, at no cost. Do you confirm?',
    '- Reservation {reservation}\n- Passenger: {passenger} → {newName}\n- Everything else stays\n\nIs this right?',
    'To confirm: {newName} instead of {passenger} on {reservation}. Yes?',
    'So {passenger} becomes {newName} in reservation {reservation}. Shall I save it?',
    '{reservation} will list {newName} (now {passenger}). The date of birth stays. OK?',
    '**Passenger** in {reservation}: {newName}, formerly {passenger}. Proceed?',
    'May I update {reservation} so that the passenger is {newName} and no longer {passenger}?',
    'I will correct {passenger} to {newName} on booking {reservation} if you say yes.',
  ],
};

const DONE: Record<Want, Words> = {
  cancel: [
    '{reservation} is cancelled. {paid} returns to {pay} in 5 to 7 business days.',
    'Done. The refund of {paid} for {reservation} reaches {pay} within 5 to 7 business days.',
    'Your reservation {reservation} has been cancelled, and {paid} goes to {pay} in 5-7 business days.',
    'All flights of {reservation} are cancelled. Expect {paid} on {pay} in 5 to 7 business days.',
    'I cancelled {reservation}; {pay} gets {paid} within 5 to 7 business days.',
    'Cancelled: {reservation}. Refund: {paid}, {pay}, 5–7 business days.',
    'That is done, and {paid} comes back to {pay} in five to seven business days.',
    'The booking {reservation} no longer exists. You get {paid} on {pay} in 5 to 7 business days.',
  ],
  cabin: ['{reservation} is in business now. {rise} was charged to {pay}.', 'Done, enjoy business! {pay} was charged {rise}.', 'The upgrade went through: {rise} on {pay}.', 'All {people} in business, for {rise} with {pay}.', 'Your cabin is business for both flights; {rise} was paid with {pay}.', 'Upgraded. Charge: {rise}, {pay}.', 'I changed {reservation} to business and charged {rise} to {pay}.', 'Business is booked for {reservation}, {rise} on {pay}.'], // prettier-ignore
  bags: ['{reservation} has {moreBags} bags now. $100 was charged to {pay}.', 'Done: {moreBags} bags, $100 on {pay}.', 'Two bags were added for $100 ({pay}).', 'Your booking includes {moreBags} checked bags; {pay} paid $100.', 'I added them. {moreBags} bags in all, $100 with {pay}.', 'Added 2 bags, $100, {pay}.', 'All set with {moreBags} bags on {reservation} for $100.', 'The bags are on {reservation}. Cost: $100 on {pay}.'], // prettier-ignore
  flights: ['Your return is {newFlight} on {newBack} now; {rise} was charged to {pay}.', 'Done. {reservation}: back on {newBack}, {rise} with {pay}.', 'I changed it to {newFlight}, {newBack}. {pay} was charged {rise}.', 'The new return flight is {newFlight} on {newBack} ({rise}, {pay}).', 'Rebooked! {newFlight}, {newBack}, for {rise}.', 'Return changed: {newBack}, {newFlight}. Charge {rise} on {pay}.', 'That worked; you fly home on {newBack} and paid {rise} more.', '{reservation} is updated with {newFlight} on {newBack}, at {rise}.'], // prettier-ignore
  name: ['The passenger in {reservation} is {newName} now.', 'Done, it says {newName}.', 'I corrected the name to {newName}.', '{newName} is on the booking {reservation}.', 'Updated: {newName}.', 'The name was changed to {newName} at no cost.', 'All set, {reservation} lists {newName}.', 'Name corrected, {newName} can travel.'], // prettier-ignore
};

/** `why` is the customer's reason and `allowed` what allows a cancellation. */
export function flightJob(t: Talk, of: Trip, want: Want, why = 'my plans have changed', allowed = 'it is a business booking'): Job {
  Object.assign(t.facts, { why, allowed });
  const { reservation: id, flights, passengers, payId, cabin, bags } = of;
  const rise = Number(t.facts.rise!.slice(1));
  const paid = { payment_id: payId, amount: of.paid };
  const keep = flights.map(({ flight_number, date }) => ({ flight_number, date }));
  const moved = [keep[0]!, { flight_number: t.facts.newFlight!, date: t.facts.newBack! }];
  const charged = (amount: number) => ({ payment_history: [paid, { payment_id: payId, amount }] });
  const people = passengers.with(-1, { ...passengers.at(-1)!, last_name: t.facts.newName!.split(' ').at(-1)! });
  const write = {
    cancel: ['cancel_reservation', {}, { ...charged(-of.paid), status: 'cancelled' }],
    cabin: ['update_reservation_flights', { cabin: 'business', flights: keep, payment_id: payId }, { cabin: 'business', ...charged(rise) }],
    bags: ['update_reservation_baggages', { total_baggages: bags + 2, nonfree_baggages: 2, payment_id: payId }, { total_baggages: bags + 2, nonfree_baggages: 2, ...charged(100) }], // prettier-ignore
    flights: ['update_reservation_flights', { cabin, flights: moved, payment_id: payId }, { flights: [flights[0]!, { ...flights[1]!, ...moved[1] }], ...charged(rise) }], // prettier-ignore
    name: ['update_reservation_passengers', { passengers: people }, { passengers: people }],
  } satisfies Record<Want, [string, object, object]>;
  const [name, args, result] = write[want];
  return {
    wish: WISH[want],
    find: () => identify(t, of),
    read() {
      t.call(readTrip(of));
      const seats = { basic_economy: 9, economy: 7, business: 4 };
      const found = (leg: number, number: string, date: string) => {
        const { origin, destination, price } = flights[leg]!;
        const each = rise / passengers.length;
        const prices = {
          basic_economy: Math.round(price / 2),
          economy: price + (want === 'flights' ? each : 0),
          business: price + (leg ? 0 : each),
        };
        const row = { flight_number: number, origin, destination, scheduled_departure_time_est: '09:00:00', scheduled_arrival_time_est: '12:30:00', status: 'available', available_seats: seats, prices }; // prettier-ignore
        t.call({ name: 'search_direct_flight', args: { origin, destination, date }, result: [row] });
      };
      if (want === 'cabin') flights.forEach(({ flight_number, date }, leg) => found(leg, flight_number, date));
      if (want === 'flights') found(1, t.facts.newFlight!, t.facts.newBack!);
    },
    ask: ASK[want],
    write: { name, args: { reservation_id: id, ...args }, result: record(of, result) },
    done: DONE[want],
  };
}
