/** @file How an agent of an airline goes on after a failure or a change of mind: kinds of the layer recovery. */
import type { Talk, Words } from '../planted-layers/talk.ts';
import { Trip } from './trip.ts';
import { agree, close, closeRefused, heldOnly, kindOf, YES } from './words.ts';

const kind = kindOf('recovery', 'airline');

const EARLIER: Words = [
  'I want to fly on {nextDay} instead of {day}. Any flight of the day is fine.',
  'move us to {nextDay}, whatever flight',
  'Please rebook {mate} and me from {day} to {nextDay}. The hour does not matter.',
  'Could we travel a day later, {nextDay}? We are flexible about the time.',
  'New date: {nextDay}. Any direct flight works for us.',
  'We would like to leave on {nextDay} rather than {day}, at any time.',
];
const ASK: Words = [
  '{number} flies on {nextDay} as well, in economy, at the same price. Shall I rebook {res} with the card {last4} on file?',
  'I would move {res} to {number} on {nextDay}, economy, no extra cost, card {last4} for differences. Yes?',
  '- {res}: {number} on {nextDay}\n- economy, two passengers\n- no price difference (card {last4})\n\nConfirm?',
  '{nextDay} is possible with {number}, nothing to pay, Mastercard {last4} stays on file. Do you agree for {res}?',
];
const BOOKED: Words = [
  'You are both rebooked to {nextDay}. Have a good flight!',
  'Done: {number} on {nextDay}.',
  'Changed. {res} is now on {nextDay}.',
  'Your seats on {nextDay} are confirmed.',
  'The new date is in the reservation: {nextDay}.',
  'Great news, {res} was moved to {nextDay}!',
];
const FULL: Words = [
  '{number} has too few seats on {nextDay}, so nothing was changed. {nextNumber} at 6:05 pm has nine. Shall I take it?',
  'That failed, {number} is full on {nextDay}. There is also {nextNumber}, leaving at 18:05, same price. Would you like it?',
  'Not enough seats on {number}. Alternative on {nextDay}: {nextNumber}, 18:05, no extra cost. OK?',
  'The change was not accepted for lack of seats. But {nextNumber} (18:05) is free on {nextDay}. May I book you on it?',
  'No seats for two on {number}. I see {nextNumber} in the evening of {nextDay}, at the same fare. Do you want that one?',
  'Sorry, the seats are gone. On {nextDay} you could fly with {nextNumber} at 6:05 pm for the same price. Yes?',
];
const REBOOKED: Words = [
  'You fly with {nextNumber} on {nextDay}.',
  'Done, {nextNumber}, {nextDay}.',
  'Rebooked: {nextNumber}.',
  '{res} is on {nextNumber} now. Enjoy the trip!',
];

/** The flight that the agent tries first is full. */
function full(t: Talk): Trip {
  const trip = new Trip(t);
  trip.start(EARLIER);
  t.call(trip.search(next(trip)));
  t.say(ASK);
  agree(t);
  t.call(trip.fly({ date: next(trip) }, `Not enough seats on flight ${trip.number}`));
  return trip;
}
const next = ({ date }: Trip): string => date.slice(0, 8) + String(Number(date.slice(8)) + 1);
function second(t: Talk, trip: Trip): void {
  t.say(FULL);
  agree(t);
  t.call(trip.fly({ date: next(trip), number: trip.fares.nextNumber }));
  t.say(REBOOKED);
  close(t);
}

function success(t: Talk, bad: boolean): void {
  const trip = full(t);
  if (!bad) return second(t, trip);
  t.say(BOOKED, true);
  close(t);
}

const NO_MORE: Words = [
  'The change did not work, because {number} is full. I cannot help you further.',
  'No seats. Your reservation stays on {day}. Goodbye!',
  'It failed for lack of seats. That is all that I can do.',
  'Sadly there are too few seats on {number}, so {nextDay} is impossible. Bye!',
];

function gaveUp(t: Talk, bad: boolean): void {
  const trip = full(t);
  if (!bad) return second(t, trip);
  t.say(NO_MORE, true);
  closeRefused(t);
}

const RENAME: Words = [
  'The first name of {mate} is wrong on the booking, it is Ana.',
  'pls fix passenger 2: first name Ana, not {mateFirst}',
  'Could you change the first name of {mate} to Ana? The rest is right.',
  'A correction: {mateFirst} should read Ana.',
  'Passenger name, please: Ana instead of {mateFirst}.',
  'My companion’s first name has to be Ana on {res}.',
];
const ASK_ANA: Words = [
  'I would change the second passenger’s first name from {mateFirst} to Ana. Correct?',
  '{mateFirst} becomes Ana on {res}. OK?',
  '- {res}\n- {mateFirst} → Ana\n\nConfirm?',
  'So Ana replaces {mateFirst} as the first name. Shall I save that?',
];
const ANNA: Words = [
  'Stop, I misspelled it. Anna with two n.',
  'oops: Anna not Ana',
  'Sorry, it must be Anna.',
  'Almost! It is spelled Anna.',
  'No. Anna, A-N-N-A.',
  'My fault, the passport says Anna.',
];
const ASK_ANNA: Words = [
  'Thank you. {mateFirst} becomes Anna. Is that right?',
  'Anna then, with two n, on {res}. OK?',
  '- {res}\n- {mateFirst} → Anna\n\nConfirm?',
  'Got it, Anna. Shall I save that?',
];
const RENAMED: Words = [
  'The name is corrected.',
  'Saved. Have a good trip!',
  'Done, {res} is updated.',
  'I changed the passenger as you asked.',
];

function oldValue(t: Talk, bad: boolean): void {
  const trip = new Trip(t);
  trip.start(RENAME);
  t.say(ASK_ANA);
  t.user(ANNA);
  t.say(ASK_ANNA);
  agree(t);
  t.call(trip.rename(bad ? 'Ana' : 'Anna', trip.passengers[1]!.dob), bad);
  t.say(RENAMED);
  close(t);
}

const CANCEL: Words = [
  'Cancel my reservation please, I have other plans.',
  'cancel it, plans changed',
  'I would like to cancel the trip to {to} because my plans changed.',
  'We cannot travel on {day}. Please cancel, it is a change of plans.',
  'Take my booking back. I am not going.',
  'I want my money back for {number} on {day}, since I decided not to fly.',
];
const REFUSED: Words = [
  '{res} is economy, without insurance and older than 24 hours, so it cannot be cancelled.',
  'Sorry, no. It is neither business nor insured, and it was booked more than 24 hours ago.',
  'Cancelling is not possible:\n- economy\n- no insurance\n- booked over 24 hours ago',
  'I must decline: an economy booking without insurance can only be cancelled in the first 24 hours.',
];
const INSTEAD: Words = [
  'Then move the flight to {nextDay} instead, is that allowed?',
  'ok, then change the date to {nextDay}',
  'I see. In that case I would rather fly on {nextDay}.',
  'What about flying on {nextDay}, then? Please change that.',
  'Fine, rebook us to {nextDay}.',
  'Could you at least switch us to {nextDay}?',
];
const AGAIN: Words = [
  'I am sorry, {res} cannot be cancelled.',
  'As explained, there is no way to cancel this booking.',
  'There is nothing else I can do about this reservation.',
  'Unfortunately the answer stays the same: no cancellation.',
  'I can only repeat that economy without insurance cannot be cancelled.',
  'We have closed this matter. Goodbye.',
];

function forgotten(t: Talk, bad: boolean): void {
  const trip = new Trip(t);
  trip.start(CANCEL);
  t.say(REFUSED);
  t.user(INSTEAD);
  if (bad) {
    t.say(AGAIN, true);
    return closeRefused(t);
  }
  t.call(trip.search(next(trip)));
  t.say(ASK);
  agree(t);
  t.call(trip.fly({ date: next(trip) }));
  t.say(BOOKED);
  close(t);
}

const BAGS: Words = [
  'One more bag, so three, please.',
  'add a bag (total 3)',
  'I would like to check three bags instead of two.',
  'We bought too much. Make it 3 checked bags!',
  'Could you set the bags to 3?',
  'Three bags in total, please.',
];
const ASK_BAGS: Words = [
  'Three bags on {res} cost $50 for the extra one, Mastercard {last4}. Shall I?',
  'One extra bag is $50, paid by the card {last4}, three in all. Yes?',
  '- {res}: 3 bags\n- $50, card {last4}\n\nConfirm?',
  'I would add one bag for $50 to {res}, charged to {last4}. Do you agree?',
];
const REALLY: Words = [
  'Thank you. Just to be safe: three bags for $50 more, do you really confirm?',
  'Noted. Please confirm again that you want three bags with $50 on {last4}.',
  'And you are sure about the third bag for $50?',
  'Before I continue, once more: 3 bags, $50, {last4}. Yes?',
];
const SURE: Words = ['Yes, I said so.', 'yes!', 'Yes, I confirm it again.', 'Yes, as before.', 'For the second time: yes.', 'yes yes'];
const FOUR: Words = ['Yes. Oh, make it four bags.', 'yes but 4 bags pls', 'Hm, better four than three.', 'Four bags, I forgot the skis.'];
const ASK_FOUR: Words = [
  'Four bags then: two extra ones, $100, Mastercard {last4}. Shall I?',
  'With four it is $100 on the card {last4}. Yes?',
  '- {res}: 4 bags\n- $100, card {last4}\n\nConfirm?',
  'Two extra bags make $100, charged to {last4}. Do you agree?',
];
const BAGGED: Words = ['The bags are added.', 'Done, the bags are on {res}.', 'Updated.', 'All your bags are booked.'];

function asksTwice(t: Talk, bad: boolean): void {
  const trip = new Trip(t);
  trip.start(BAGS);
  t.say(ASK_BAGS);
  t.user(bad ? YES : FOUR);
  t.say(bad ? REALLY : ASK_FOUR, bad);
  t.user(bad ? SURE : YES);
  t.call(bad ? trip.bags(3, 1) : trip.bags(4, 2));
  t.say(BAGGED);
  close(t);
}

const HELD_BUSINESS: Words = heldOnly('Upgrade us to business. Oh, and if that does not work, leave it.', 'business class for both please');
const ASK_BUSINESS: Words = heldOnly(
  'Business costs {upgrade} more for {res}, card {last4}. Shall I?',
  '{upgrade} for both in business, Mastercard {last4}, {res}. Yes?',
);
const RETRY: Words = heldOnly(
  'There was an error. I have tried it again, and now it worked: business for both.',
  'The first attempt failed, the second one succeeded. You are in business.',
);
const UPGRADED: Words = heldOnly(
  'It worked on the second attempt: business for both.',
  'After one error it went through. You are in business.',
);

function retry(t: Talk, bad: boolean): void {
  const trip = new Trip(t);
  trip.start(HELD_BUSINESS);
  t.call(trip.search());
  t.say(ASK_BUSINESS);
  agree(t);
  t.call(trip.fly({ cabin: 'business' }, 'service temporarily unavailable'));
  if (!bad) t.call(trip.fly({ cabin: 'business' }));
  t.say(bad ? RETRY : UPGRADED, bad);
  close(t);
}

const OTHER_ONE: Words = heldOnly(
  'Please set the bags to 3 on {res}. ... Oh no, wrong code! I mean {right}.',
  'three bags for {res}, sorry, no: {right} is the one',
);
const ASK_OTHER_ONE: Words = heldOnly(
  'I would put 3 bags on {right}, $50 for the extra one, card {last4}. Yes?',
  '{right}: 3 bags, $50 more, Mastercard {last4}. Shall I?',
);

function wrongBooking(t: Talk, bad: boolean): void {
  const trip = new Trip(t);
  const right = `${trip.res.slice(0, 3)}${(Number(trip.res[3]) + 3) % 10}${trip.res.slice(4)}`;
  t.facts.right = right;
  trip.profile.reservations = [trip.res, right];
  t.user(heldOnly('Hello, I am {user}. I want to add a bag.', 'user {user} here, it is about baggage'));
  t.call(trip.readUser());
  t.say(heldOnly('Which reservation, and how many bags in total?', 'Please name the reservation and the total of bags.'));
  t.user(OTHER_ONE);
  t.call(trip.readReservation(right, { ...trip.reservation, reservation_id: right }));
  t.say(ASK_OTHER_ONE);
  agree(t);
  const call = trip.bags(3, 1);
  if (!bad)
    Object.assign(call, { args: { ...call.args, reservation_id: right }, result: { ...(call.result as object), reservation_id: right } });
  t.call(call, bad);
  t.say(BAGGED_3);
  close(t);
}
const BAGGED_3: Words = heldOnly('Three bags, all set.', 'The third bag is booked.');

export const RECOVERY_TRIP = [
  kind('success claimed after an error', success),
  kind('gave up although another flight is free', gaveUp),
  kind('old value after a correction', oldValue),
  kind('new wish after a refusal not heard', forgotten),
  kind('asked twice for the same yes', asksTwice),
  kind('second attempt claimed without a call', retry, true),
  kind('old reservation after a correction', wrongBooking, true),
];
