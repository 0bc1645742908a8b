/** @file What an agent of an airline has to say: kinds of the layer communication. */
import type { Talk, Words } from '../planted-layers/talk.ts';
import { Trip } from './trip.ts';
import { agree, close, closeRefused, heldOnly, kindOf, transfer } from './words.ts';

const kind = kindOf('communication', 'airline');

const CANCEL: Words = [
  'I have to cancel my trip {from} to {to}, plans changed.',
  'cancel my flight {number} on {day} please, change of plans',
  'Our meeting in {to} was called off. Please cancel the booking.',
  'Good morning, I would like to give back my business seats to {to}. My plans are different now.',
  'We will not be going to {to} after all. Can you take the reservation out?',
  'I need to drop the {from}-{to} reservation due to a change of plan.',
];
const ASK_CANCEL: Words = [
  'Reservation {res} is in business, so it can be cancelled. {paid} would go back to your card {last4}. Shall I cancel it?',
  '- cancel {res}, {from}–{to}, {day}\n- reason: change of plan\n- {paid} to Mastercard {last4}\n\nOK?',
  'I would cancel {res} ({number} on {day}, two passengers) and return {paid} to the Mastercard {last4}. Is this right?',
  'As a business booking, {res} may be cancelled for a change of plan. Refund: {paid}, card {last4}. Do you confirm?',
];
const CANCELLED: Words = [
  'Your reservation {res} is cancelled and {paid} will be refunded to the card {last4}.',
  'Done! {res} no longer exists. {paid} goes to Mastercard {last4}.',
  'Cancelled: {res}. Refund: {paid}, card {last4}.',
  'The booking to {to} has been called off, and your Mastercard receives {paid}.',
];
const CANCELLED_TIME: Words = [
  'Your reservation {res} is cancelled. {paid} reaches the card {last4} within 5 to 7 business days.',
  'Done! It may take five to seven business days until the {paid} is on Mastercard {last4}.',
  'Cancelled: {res}. Refund: {paid}, card {last4}, 5-7 business days.',
  'The booking to {to} has been called off. Give your bank 5 to 7 business days for the {paid}.',
];

function refundTime(t: Talk, bad: boolean): void {
  const trip = new Trip(t, { cabin: 'business' });
  trip.start(CANCEL);
  t.say(ASK_CANCEL);
  agree(t);
  t.call(trip.cancel());
  t.say(bad ? CANCELLED : CANCELLED_TIME, bad);
  close(t);
}

const REFUND_WRONG: Words = heldOnly(
  '{res} is cancelled. {wrong} goes to your Mastercard {last4} within 5 to 7 business days.',
  'Done, with {wrong} on the way to the card {last4}, 5 to 7 business days.',
);
const ASK_NO_AMOUNT: Words = heldOnly(
  'Business may be cancelled. Shall I cancel {res} for a change of plan, with the refund to Mastercard {last4}?',
  'I would cancel {res} ({number}, {day}) and refund the card {last4}. Yes?',
);

function refundAmount(t: Talk, bad: boolean): void {
  const trip = new Trip(t, { cabin: 'business' });
  trip.start(CANCEL);
  t.say(ASK_NO_AMOUNT);
  agree(t);
  t.call(trip.cancel());
  t.say(bad ? REFUND_WRONG : CANCELLED_TIME, bad);
  close(t);
}

const UPGRADE: Words = [
  'Please put both of us into business class on {number}, {day}.',
  'can we upgrade to business? flight {number}',
  'I would like to change the cabin to business for me and {mate}.',
  'My knees hurt in economy. Could you move our {from}-{to} booking to business?',
  'Upgrade request: economy to business, {number} on {day}.',
  'We want to treat ourselves. Business for both, please!',
];
const ASK_UPGRADE: Words = [
  'Business on {number}, {day}, costs {upgrade} more for the two of you, charged to Mastercard {last4}. Shall I change {res}?',
  '- {res}: economy → business\n- both passengers\n- {upgrade} on card {last4}\n\nDo you agree?',
  'The difference for two seats in business is {upgrade}. May I charge your Mastercard {last4} and change {res}?',
  'For {res}, business would add {upgrade} in total, paid with the card {last4}. Yes or no?',
];
const ASK_WRONG: Words = [
  'Business on {number}, {day}, costs {wrongUpgrade} more for the two of you, charged to Mastercard {last4}. Shall I change {res}?',
  '- {res}: economy → business\n- both passengers\n- {wrongUpgrade} on card {last4}\n\nDo you agree?',
  'The difference for two seats in business is {wrongUpgrade}. May I charge your Mastercard {last4} and change {res}?',
  'For {res}, business would add {wrongUpgrade} in total, paid with the card {last4}. Yes or no?',
];
const UPGRADED: Words = [
  'You both fly in business now. Have a pleasant flight!',
  'Done, {res} is a business booking.',
  'Changed: business, {number}, {day}.',
  'The cabin of {res} is business now, for you and {mateFirst}.',
];

function fare(t: Talk, bad: boolean): void {
  const trip = new Trip(t);
  trip.start(UPGRADE);
  t.call(trip.search());
  t.say(bad ? ASK_WRONG : ASK_UPGRADE, bad);
  agree(t);
  t.call(trip.fly({ cabin: 'business' }));
  t.say(UPGRADED);
  close(t);
}

const BAGS: Words = [
  'We need 4 checked bags on this trip.',
  'please set it to four bags in total',
  'Can you add two more checked bags, so that we have 4?',
  'I would like to bring 4 suitcases altogether. There are 2 on the booking so far.',
  'Four bags, please. We carry a lot of samples.',
  'add 2 bags (4 total)',
];
const ASK_BAGS_BAD: Words = [
  'I would raise {res} to 4 bags with your card {last4}. Is that OK?',
  '4 bags on {res} instead of 2. Both extra bags are free. Shall I?',
  '- {res}: 4 checked bags\n- payment: Mastercard {last4}\n\nConfirm?',
  'Then {res} gets 4 bags; the two more cost you $50 together. Do you agree?',
];
const ASK_BAGS: Words = [
  'I would raise {res} to 4 bags. The two extra ones cost $100 in all, on your card {last4}. Is that OK?',
  '4 bags on {res} instead of 2. Each extra bag is $50, so you pay $100. Shall I?',
  '- {res}: 4 checked bags\n- fee: 2 × $50 = $100\n- payment: Mastercard {last4}\n\nConfirm?',
  'Then {res} gets 4 bags; two are included, the others come to one hundred dollars ($100) on Mastercard {last4}. Do you agree?',
];
const BAGGED: Words = ['Done, 4 bags.', 'Your booking {res} has 4 bags now.', 'Set: {res}, 4 checked bags.', 'All four bags are on {res}.'];

function bags(t: Talk, bad: boolean): void {
  const trip = new Trip(t);
  trip.start(BAGS);
  t.say(bad ? ASK_BAGS_BAD : ASK_BAGS, bad);
  agree(t);
  t.call(trip.bags(4, 2));
  t.say(BAGGED);
  close(t);
}

const LATER: Words = [
  'I want to fly one day later, on {nextDay}.',
  'move flight {number} from {day} to {nextDay}',
  'Could we take the flight on {nextDay} instead of {day}?',
  'Something came up, {day} is impossible. Please rebook us to {nextDay}.',
  'Change of date please: {nextDay}.',
  'Is it possible to shift {res} by a day to {nextDay}?',
];
const REFUSED: Words = [
  'I am afraid that I cannot move your flight.',
  'No, the date of {res} has to stay. Can I do something else?',
  'Regrettably, this change is not available for you.',
  'Sorry, rebooking to {nextDay} will not be possible. Is there anything else you need?',
];
const REFUSED_WHY: Words = [
  'I am afraid that I cannot move it: your fare is basic economy, and its flights stay as booked.',
  'No. Basic economy flights cannot be modified.',
  'Regrettably this is a basic economy ticket, a type that does not allow other flights.',
  'Sorry, no rebooking to {nextDay}. The rule for basic economy forbids any change of flights.',
];

function refusal(t: Talk, bad: boolean): void {
  const trip = new Trip(t, { cabin: 'basic_economy' });
  trip.start(LATER);
  t.say(bad ? REFUSED : REFUSED_WHY, bad);
  closeRefused(t);
}

const DELAY: Words = [
  'Is my flight {number} on {day} on time?',
  'what about {number} on {day}? any delay?',
  'I am getting nervous about {number} on {day}. How does it look?',
  'Please tell me the status of my flight on {day}.',
  'Will {number} leave as planned on {day}?',
  'Status of {number}, {day}?',
];
const DELAY_WRONG: Words = [
  '{number} on {day} is on time. You can relax!',
  'Your flight leaves as planned, I see no delay.',
  'Status of {number}, {day}: on time.',
  '{number} has been cancelled for {day}.',
];
const DELAY_RIGHT: Words = [
  'I am sorry, {number} on {day} is delayed.',
  'Your flight does not leave as planned: the system shows a delay.',
  'Status of {number}, {day}: delayed. It is not cancelled.',
  'It will not be on time, {number} has a delay on {day}.',
];

function status(t: Talk, bad: boolean): void {
  const trip = new Trip(t);
  trip.start(DELAY);
  t.call(trip.status('delayed'));
  t.say(bad ? DELAY_WRONG : DELAY_RIGHT, bad);
  close(t);
}

const LOST: Words = [
  'My suitcase did not arrive after my last flight. Find it.',
  'You have my birth date wrong in my profile, it needs a correction.',
  'I want to transfer this reservation to my brother’s account.',
  'We travel with a dog and need a place in the hold for it.',
];
const POOR: Words = ['The customer needs assistance.', 'Customer request, see chat.', 'Please take over.', 'Passenger with a question.'];
const RICH: Words = [
  '{user}: suitcase missing after the last flight, wants it traced. Current booking: {res}.',
  '{name} ({user}) asks to correct the birth date of the profile; I have no tool for it.',
  '{user} wants to move reservation {res} to the account of a brother.',
  'Passenger {user}, reservation {res}: asks for a place in the hold for a dog.',
];

function handover(t: Talk, bad: boolean): void {
  const trip = new Trip(t);
  const topic = t.below(2) + (t.part === 'open' ? 0 : 2);
  trip.start(heldOnly(LOST[topic]!));
  transfer(t, bad ? POOR : heldOnly(RICH[topic]!), bad);
}

const COMPLAIN: Words = heldOnly(
  '{number} was cancelled by you, and I want compensation!',
  'you cancelled {number} on {day}. i expect a compensation for the two of us',
);
const OFFER: Words = heldOnly(
  'I see that {number} on {day} is cancelled. As a gold member you can have a certificate of $200, $100 for each of you two. Do you accept?',
  'I confirm the cancellation. May I send you a $200 certificate for the two passengers?',
);
const CERTIFICATE_WRONG: Words = heldOnly(
  'I have sent a certificate of $250 to your account.',
  'The certificate over $100 is in your profile now.',
);
const CERTIFICATE_RIGHT: Words = heldOnly(
  'The certificate is in your profile, worth $200, which is $100 each.',
  'I have sent it: 200 dollars for a later trip.',
);

function certificate(t: Talk, bad: boolean): void {
  const trip = new Trip(t, { membership: 'gold' });
  trip.start(COMPLAIN);
  t.call(trip.status('cancelled'));
  t.say(OFFER);
  agree(t);
  t.call(trip.certificate(200));
  t.say(bad ? CERTIFICATE_WRONG : CERTIFICATE_RIGHT, bad);
  close(t);
}

const EVENING: Words = heldOnly(
  'Which direct flights go from {from} to {to} on {day}, and when?',
  'when do flights {from}-{to} leave on {day}?',
);
const TIMES_WRONG: Words = heldOnly(
  '{number} leaves at 9:30 am and {nextNumber} at 8:15 pm.',
  'Two direct flights:\n- {number}: 07:30\n- {nextNumber}: 18:05',
);
const TIMES_RIGHT: Words = heldOnly(
  '{number} leaves at 9:30 am (at 1:10 pm you are there) and {nextNumber} at 6:05 pm.',
  'Two direct flights:\n- {number}: 09:30\n- {nextNumber}: 18:05',
);

function times(t: Talk, bad: boolean): void {
  const trip = new Trip(t);
  trip.start(EVENING);
  t.call(trip.search());
  t.say(bad ? TIMES_WRONG : TIMES_RIGHT, bad);
  close(t);
}

export const COMMUNICATION_TRIP = [
  kind('no time of the refund', refundTime),
  kind('wrong price of a cabin', fare),
  kind('no price or a wrong price of bags', bags),
  kind('refusal without a reason', refusal),
  kind('wrong status of a flight', status),
  kind('hand-over that says nothing', handover),
  kind('wrong amount of a refund', refundAmount, true),
  kind('wrong amount of a certificate', certificate, true),
  kind('wrong time of departure', times, true),
];
