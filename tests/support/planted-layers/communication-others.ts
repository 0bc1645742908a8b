/** @file Conversations of the airline and of the phone provider for the layer communication. */
import { flightJob } from './flight-jobs.ts';
import * as air from './flights.ts';
import { end, handOver, HUMAN, serve, YES } from './phrases.ts';
import { PAID, IS_PAID, phoneJob } from './phone-jobs.ts';
import * as tel from './phones.ts';
import type { Kind, Words } from './talk.ts';

const NO_RISE_ASK: Words = [
  'I can move all {people} passenger(s) of {reservation} to business and charge {pay}. Do you confirm?',
  '- {reservation}: business on all flights\n- Payment: {pay}\n\nShall I upgrade?',
  'Business has seats on both flights of {reservation}. I would use {pay}. OK?',
  'To confirm: business instead of {cabin} on {reservation}, difference to {pay}. Yes?',
  'Should I upgrade {reservation} to business with {pay}?',
  '**Upgrade** {reservation}, business, {pay}. Do you agree?',
  'I would change the cabin of {reservation} to business, paid with {pay}. May I proceed?',
  'So {reservation} in business, and {pay} is charged. Is that what you want?',
];
const NO_RISE_DONE: Words = ['{reservation} is in business now.', 'Done, enjoy business!', 'The upgrade went through.', 'You all fly in business now.', 'Your cabin is business for both flights.', 'Upgraded, {pay} was charged.', 'I changed {reservation} to business.', 'Business is booked.']; // prettier-ignore
const WRONG_BAGS: Words = [
  'Two more bags make {moreBags} on {reservation}. They cost $30 each, $60 in total, on {pay}. Do you confirm?',
  '- {reservation}: {moreBags} bags\n- 2 bags: $70\n- {pay}\n\nShall I add them?',
  'Extra bags are $25 each. For two on {reservation} I would charge $50 to {pay}, which makes {moreBags} bags. OK?',
  'To confirm: {moreBags} bags on {reservation}, free of charge, with {pay} on file. Yes?',
  'Each extra bag is $75, so $150 for two on {reservation}, with {pay}. You would have {moreBags}. Proceed?',
  '**Bags** {reservation}: {bags} → {moreBags}, $80, {pay}. OK?',
  'Adding two bags to {reservation} is $120 on {pay} ($60 per bag), {moreBags} in total. Shall I?',
  'I would raise it from {bags} to {moreBags} bags on {reservation} at $40 each with {pay}. Do you want that?',
];
const BAGS_DONE: Words = ['{reservation} has {moreBags} bags now.', 'Done: {moreBags} bags.', 'Two bags were added.', 'Your booking includes {moreBags} bags.', 'I added them, {moreBags} in all.', 'Added 2 bags.', 'All set with {moreBags} bags.', 'The bags are on {reservation}.']; // prettier-ignore
const NO_TIME_ASK: Words = [
  'I can cancel {reservation}, as {allowed}. {paid} goes back to {pay}. Do you confirm?',
  '- {reservation}\n- Refund {paid}, {pay}\n\nShall I cancel?',
  'All flights of {reservation} are cancelled and {paid} is returned to {pay}. Yes?',
  'To confirm: cancel {reservation}, {paid} to {pay}. OK?',
  'Since {allowed}, {reservation} can be cancelled with {paid} to {pay}. Proceed?',
  '**Cancel** {reservation}: {paid} back on {pay}. Yes or no?',
  'Shall I cancel {reservation} and refund {paid} to {pay}?',
  'The cancellation of {reservation} gives you {paid} on {pay}. May I go on?',
];
const NO_TIME_DONE: Words = ['{reservation} is cancelled.', 'Done. {paid} is refunded to {pay}.', 'Your reservation has been cancelled; {paid} goes to {pay}.', 'All flights are cancelled.', 'I cancelled {reservation}; {pay} gets {paid}.', 'Cancelled: {reservation}. Refund {paid}.', 'That is done.', 'The booking {reservation} no longer exists.']; // prettier-ignore
const COMPLAIN: Words = [
  'My flight {flight} in {reservation} was cancelled. I want some compensation.',
  'cancelled flight {flight}, {reservation}, and i ask for compensation',
  'You cancelled {flight} ({reservation}). What compensation can I have?',
  'As {flight} on {reservation} was cancelled, I would like a compensation.',
];
const OFFER: Words = ['I can send you a certificate of {comp}. OK?', 'You are entitled to a certificate over {comp}. Shall I send it?', 'A travel certificate of {comp} is possible. Would you like it?', 'We can offer {comp} as a certificate. Do you accept?']; // prettier-ignore
const SENT: Words = ['The certificate of {comp} is in your account.', 'Done, {comp} were sent as a certificate.', 'You have a certificate over {comp} now.', 'Sent: {comp}.']; // prettier-ignore
const SENT_WRONG: Words = SENT.map((text) => text.replace('{comp}', '{wrong}'));
const POOR: Words = ['Customer needs help.', 'User has a problem with a booking.', 'Transfer please', 'See conversation.', 'The customer wants something.', 'Not possible here.', 'Booking issue.', 'Customer asks for an agent.']; // prettier-ignore
const FLOWN: Words = [
  '{user} asks to cancel {reservation} because {why}; {flight} on {day} was already flown, so it needs a human.',
  'Reservation {reservation}, customer {first} {last} ({user}). First segment flown. Wants to cancel the rest: {why}.',
  'Partly flown trip {reservation} ({user}), cancellation wanted, reason: {why}. Not possible with the tools.',
  'Cancellation of {reservation} requested by {user}. {flight} is used. Reason given: {why}.',
];
const NO_REASON: Words = ['Sorry, I cannot cancel {reservation}.', 'That is not possible.', "I'm afraid I have to say no.", 'No, I can not do that for you.', 'This reservation cannot be cancelled.', 'I am unable to do it.', 'Unfortunately not. Anything else?', 'We have to decline this.']; // prettier-ignore
const REASON: Words = [
  'Sorry, I cannot cancel {reservation}: it is {cabin}, has no insurance and was booked more than 24 hours ago.',
  'That is not possible, because an uninsured {cabin} booking can be cancelled only within 24 hours.',
  'The booking is older than a day, it is not business and there is no travel insurance. So I cannot cancel it.',
  'I must decline as {cabin} without insurance does not qualify after 24 hours.',
  'This reservation cannot be cancelled, since none of the conditions holds: not booked within 24 hours, not business, not insured.',
  'I am unable to do it: no insurance, {cabin}, booked over 24 hours ago.',
  'Unfortunately not, for the reason that {reservation} is an uninsured {cabin} booking older than 24 hours.',
  'We have to decline this because there is no travel insurance on it and the first 24 hours are over.',
];

const NO_PRICE_ASK: Words = ['I can add 2 GB to the line {phone}. Shall I?', '- Line {phone}\n- 2 GB of data\n\nDo you confirm?', 'You used {used} of {limit} GB. Should I add 2 GB to {phone}?', 'To confirm: 2 GB for {phone}. Yes or no?', 'So 2 GB more on {phone}. OK?', '**Refuel** {phone} by 2 GB. Proceed?', 'Your data is used up. I would add 2 GB of data to {phone}. Do you agree?', 'May I refuel the line {phone} with 2 GB?']; // prettier-ignore
const NO_PRICE_DONE: Words = ['2 GB were added to {phone}.', 'Done! You have 2 GB more.', 'The 2 GB are on your line.', 'Your line is refueled.', 'I added 2 GB.', 'Refueled by 2 GB.', 'All set.', 'You can go online again.']; // prettier-ignore
const WRONG_PRICE: Words = [
  'On your {plan} each GB costs {wrongGb}, so 2 GB are {wrongTwo}. Shall I add 2 GB to {phone}?',
  '- {phone}\n- 2 GB\n- {wrongTwo}\n\nDo you confirm?',
  '2 GB more cost {wrongTwo} for {phone}. Is that okay?',
  'To confirm: 2 GB for {wrongTwo} on {phone}. Yes or no?',
  'I can add 2 GB to {phone} for {wrongTwo} in total. May I?',
  '**Refuel** 2 GB, {phone}, {wrongTwo}. Proceed?',
  'Adding 2 GB of data to {phone} would be {wrongTwo}. Do you agree?',
  'That makes {wrongTwo} for 2 GB on {phone}. Should I?',
];
const WRONG_DUE: Words = [
  'Bill {bill} over {wrong} is overdue. I can send you a payment request for it. Shall I?',
  '- Bill: {bill}\n- Amount: {wrong}\n- overdue\n\nMay I send the payment request?',
  'You owe {wrong} (bill {bill}, overdue). Do you want a payment request?',
  'To confirm: a payment request over {wrong} for bill {bill}. Yes?',
  'There is one overdue bill, {bill}, of {wrong}. Should I request the payment?',
  '**Payment request** for {bill}: {wrong}. Do you agree?',
  'The bill {bill} is overdue; it is {wrong}. Is it okay if I send a payment request?',
  'I found {bill} with {wrong} due. I would send a request now. OK?',
];
const REQUEST_SENT: Words = ['The request was sent. Please check your payment requests and accept it.', 'Sent! Please pay it on your phone.', 'Please open the payment request on your device and pay.', 'I sent it. Could you check and accept it?']; // prettier-ignore
const NO_REBOOT_ASK: Words = ['All bills are paid, so I can resume the line {phone}. Shall I?', 'I see that {bill} is paid. May I lift the suspension of {phone}?', 'To confirm: I resume the line {phone}. Yes?', '- Line {phone}: resume\n\nDo you confirm?', 'Everything is settled. Should I resume {phone} now?', 'The line {phone} can be resumed. OK?', '**Resume** {phone}. Proceed?', 'I would lift the suspension of {phone}. Do you agree?']; // prettier-ignore
const NO_REBOOT_DONE: Words = ['The line {phone} is active again.', 'Done, your line works now.', 'Your suspension is lifted.', 'Resumed!', '{phone} is back.', 'The line is resumed. Anything else?', 'It is active now.', 'All good, you have service again.']; // prettier-ignore
const CLAIM: Words = ['Roaming is enabled on {phone}.', 'Done, roaming is on.', 'I enabled roaming for free.', 'Your line can roam now.', 'Roaming: on.', 'That worked, {phone} has roaming.', 'Roaming is active now.', 'I switched it on at no cost.']; // prettier-ignore
const LOCKED_RICH: Words = ['{customer}, {phone}: the SIM card is locked by a PUK. Airplane mode is off, the card was reseated. Needs a new PUK.', 'No service on {phone} of {first} {last} ({customer}): SIM locked (PUK), cannot be solved on the phone.', 'Customer {customer} has a SIM with PUK lock on line {phone}; tried status bar and SIM check.', 'PUK lock on the SIM of {phone}. Customer {customer}, identified by number.']; // prettier-ignore
const LOCKED_POOR: Words = ['Phone problem.', 'Customer has an issue', 'no service', 'Needs a human.', 'Transfer the customer.', 'Technical problem.', 'Could not solve it.', 'Customer is waiting.']; // prettier-ignore

export const COMMUNICATION_AIR: Kind[] = [
  {
    layer: 'communication',
    domain: 'airline',
    name: 'does not say what an upgrade costs',
    write(t, bad) {
      const job = flightJob(t, air.trip(t), 'cabin');
      serve(t, job, bad ? { ask: NO_RISE_ASK, done: NO_RISE_DONE, plant: 'write' } : { done: NO_RISE_DONE });
    },
  },
  {
    layer: 'communication',
    domain: 'airline',
    name: 'says a wrong price of bags',
    write(t, bad) {
      const job = flightJob(t, air.trip(t), 'bags');
      serve(t, job, bad ? { ask: WRONG_BAGS, done: BAGS_DONE, plant: 'ask' } : { done: BAGS_DONE });
    },
  },
  {
    layer: 'communication',
    domain: 'airline',
    name: 'does not say when the refund arrives',
    write(t, bad) {
      const job = flightJob(t, air.trip(t, { cabin: 'business' }), 'cancel');
      const once = t.below(2) ? { ask: NO_TIME_ASK } : { done: NO_TIME_DONE };
      serve(t, job, bad ? { ask: NO_TIME_ASK, done: NO_TIME_DONE, plant: 'write' } : once);
    },
  },
  {
    layer: 'communication',
    domain: 'airline',
    name: 'refuses without a reason',
    write(t, bad) {
      const of = air.trip(t, { cabin: t.one(['economy', 'basic_economy']) });
      t.user(flightJob(t, of, 'cancel').wish);
      air.identify(t, of);
      t.call(air.readTrip(of));
      t.say(bad ? NO_REASON : REASON, bad);
      end(t);
    },
  },
  {
    layer: 'communication',
    domain: 'airline',
    name: 'hands over without saying what it is about',
    write(t, bad) {
      const of = air.trip(t, { cabin: 'business', flown: true });
      t.user(flightJob(t, of, 'cancel').wish);
      air.identify(t, of);
      t.call(air.readTrip(of));
      handOver(t, bad ? POOR : FLOWN, bad ? 'call' : undefined, HUMAN);
    },
  },
  {
    layer: 'communication',
    domain: 'airline',
    name: 'says another amount than that of the certificate',
    held: true,
    write(t, bad) {
      const of = air.trip(t, { membership: t.one(['silver', 'gold']) });
      const amount = 100 * of.passengers.length;
      t.facts.wrong = `$${amount + t.one([50, 100, 25])}`;
      t.user(COMPLAIN);
      air.identify(t, of);
      t.call(air.readTrip(of));
      t.call(air.flightStatus(of, 'cancelled'));
      t.say(OFFER);
      t.user(YES);
      const result = `Certificate certificate_${t.digits(7)} added to user ${of.who.user} with amount ${amount}.`;
      t.call({ name: 'send_certificate', args: { user_id: of.who.user, amount }, result });
      t.say(bad ? SENT_WRONG : SENT, bad);
      end(t);
    },
  },
];

export const COMMUNICATION_TEL: Kind[] = [
  {
    layer: 'communication',
    domain: 'telecom',
    name: 'does not say what data costs',
    write(t, bad) {
      const job = phoneJob(t, tel.phone(t), 'refuel');
      serve(t, job, bad ? { ask: NO_PRICE_ASK, done: NO_PRICE_DONE, plant: 'write' } : { done: NO_PRICE_DONE });
    },
  },
  {
    layer: 'communication',
    domain: 'telecom',
    name: 'says a wrong price of data',
    write(t, bad) {
      const of = tel.phone(t);
      const wrong = of.plan.perGb + t.one([1, 1.5, 3]);
      Object.assign(t.facts, { wrongGb: `$${wrong.toFixed(2)}`, wrongTwo: `$${(2 * wrong).toFixed(2)}` });
      serve(t, phoneJob(t, of, 'refuel'), bad ? { ask: WRONG_PRICE, done: NO_PRICE_DONE, plant: 'ask' } : { done: NO_PRICE_DONE });
    },
  },
  {
    layer: 'communication',
    domain: 'telecom',
    name: 'says a wrong amount of a bill',
    write(t, bad) {
      const of = tel.phone(t);
      t.facts.wrong = `$${(of.due + t.one([10, -7.2, 30])).toFixed(2)}`;
      serve(t, phoneJob(t, of, 'pay'), { ...(bad && { ask: WRONG_DUE, plant: 'ask' as const }), done: REQUEST_SENT, end: false });
      t.user(PAID);
      t.call(tel.readBill(of, 'Paid'));
      t.say(IS_PAID.map((text) => text.replace('{due}', 'the payment')));
      end(t);
    },
  },
  {
    layer: 'communication',
    domain: 'telecom',
    name: 'does not say that the phone must be restarted',
    write(t, bad) {
      const job = phoneJob(t, tel.phone(t, { suspended: true }), 'resume');
      serve(t, job, bad ? { ask: NO_REBOOT_ASK, done: NO_REBOOT_DONE, plant: 'write' } : { ask: NO_REBOOT_ASK });
    },
  },
  {
    layer: 'communication',
    domain: 'telecom',
    name: 'says that something is done that it has not done',
    write(t, bad) {
      serve(t, phoneJob(t, tel.phone(t), 'roaming'), bad ? { write: false, done: CLAIM, plant: 'done' } : { done: CLAIM });
    },
  },
  {
    layer: 'communication',
    domain: 'telecom',
    name: 'hands over without saying what it is about',
    held: true,
    write(t, bad) {
      const of = tel.phone(t);
      t.user(['No service on my phone at all.', 'My phone does not find the network any more.']);
      tel.identify(t, of);
      t.call(tel.readLine(of, { data_used_gb: 1.1 }));
      t.say(['Please check the status bar and tell me what you see.', 'Is airplane mode on?']);
      t.user(['It shows no signal. Airplane mode is off.', 'Airplane mode is off, no signal.']);
      t.say(['What is the status of the SIM card?', 'Please check the SIM status.']);
      t.user(['It is locked, PUK required.', 'The SIM is locked by a PUK.']);
      handOver(t, bad ? LOCKED_POOR : LOCKED_RICH, bad ? 'call' : undefined);
    },
  },
];
