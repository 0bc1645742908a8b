/** @file Conversations of the airline and of the phone provider for the layer recovery. */
import { flightJob } from './flight-jobs.ts';
import * as air from './flights.ts';
import { end, handOver, serve, YES } from './phrases.ts';
import { phoneJob, type Want } from './phone-jobs.ts';
import * as tel from './phones.ts';
import { FAILURES, GIVES_UP } from './recovery-shop-words.ts';
import type { Call, Kind, Words } from './talk.ts';

const WITHDRAWN: Words = ['Stop, I have changed my mind. Leave it.', 'never mind, keep it as it is', 'No wait, I do not want it any more.', 'I take it back, please change nothing.', 'Forget about it, sorry.', 'Oh, then rather not. Please leave the booking alone.', 'My wife says no. So please do not.', "I've decided against it."]; // prettier-ignore
const KEPT: Words = ['No problem, {reservation} is unchanged.', 'All right, nothing was changed.', 'Sure, I leave it as it is.', 'Okay. {reservation} stays the same.', 'Fine, I did nothing.', 'Understood, no change.', 'Of course, it remains as before.', 'Then {reservation} is left alone.']; // prettier-ignore
const OTHER_DAY: Words = [
  'Sorry, I meant {otherBack}, not {newBack}. Otherwise yes.',
  'wait, {otherBack} please, not the {newBack}',
  'Can we make it {otherBack} instead? I mixed up the dates.',
  'Oh, {newBack} is wrong. It has to be {otherBack}.',
  'Correction: {otherBack} rather than {newBack}.',
  'Actually {otherBack} is better than {newBack}.',
  'Not {newBack}, I need {otherBack}. Go ahead with that.',
  'One moment, it should be {otherBack}.',
];
const NEW_DAY: Words = [
  'On {otherBack} there is {otherFlight}, for {rise} on {pay}. Shall I change {reservation} to that?',
  'Then {otherFlight} on {otherBack}, {rise} more, {pay}. Do you confirm?',
  '{reservation} would return on {otherBack} with {otherFlight} at {rise} ({pay}). OK?',
  'To confirm: {otherFlight}, {otherBack}, {rise} to {pay}. Yes?',
];
const CLAIMS: Words = ['Done, it is all changed.', 'Your booking {reservation} is updated.', 'The change went through.', 'All set! Enjoy your trip.', '{reservation} has been updated as you wished.', 'It worked, anything else?', 'Everything is in place now.', 'Updated successfully.']; // prettier-ignore
const HONEST: Words = [
  'It failed twice with an error, so {reservation} is unchanged. Please try again later.',
  'I am sorry, the change did not go through. Nothing was charged.',
  'The system reports an error also on the second try. {reservation} is as before.',
  'That has not worked: a technical error. Your booking is not changed.',
  'I could not make the change. Our system has a fault and {reservation} stays as it was.',
  'Two attempts failed, nothing is changed and nothing charged.',
  'To be honest, it did not work; {reservation} is unchanged.',
  'There is an error on our side, so the change is not made.',
];
const POOR: Words = ['Error.', 'Customer needs help.', 'Tool problem', 'Please help.', 'Failed', 'The system is down.', 'take over please', 'Customer is waiting.']; // prettier-ignore
const RICH: Words = [
  '{user} confirmed a change of {reservation}; the tool failed twice, nothing was changed or charged.',
  'Technical error on {reservation} ({first} {last}, {user}). Confirmed change could not be made, two attempts.',
  'Reservation {reservation}: update fails with an error. Customer {user} agreed to the change and its price.',
  '{reservation} of {user} cannot be updated because of a system error. Please make the confirmed change.',
];
const ASK_ID: Words = ['Could you tell me your user id?', 'What is your user id, please?', 'May I have the user id?', 'Which user id is it?', 'I need your user id.', 'Please provide the user id.', 'And your user id?', 'First the user id, please.']; // prettier-ignore

const SIGNAL: Words = ['My phone has no signal.', 'no service on my phone, please help', 'I have no network since last night.', 'The phone cannot find a network.', 'There is no reception at all.', 'No bars, no calls.', 'I see "No Service" all day.', 'My phone is offline, it has no signal.']; // prettier-ignore
const AIRPLANE: Words = ['Please check if airplane mode is on, and turn it off.', 'Could you open the settings and switch airplane mode off?', 'Is airplane mode active? If so, please turn it off.', 'Let us look at airplane mode first: please make sure that it is off.']; // prettier-ignore
const STILL: Words = ['It was on, I turned it off. But there is still no signal.', 'It is off now, and no change.', 'ok off. still nothing', 'I did that and it does not work yet.', 'Off. No signal, though.', 'Airplane mode is off, the problem remains.', 'That did not help.', 'Done, but the bars are still empty.']; // prettier-ignore
const HAPPY: Words = ['Great, I am glad that it works now. Goodbye!', 'Wonderful, your problem is solved. Bye.', 'Good, then everything is fine. Have a nice day.', 'Perfect, glad I could fix it!', 'Excellent! Thank you for contacting us.', 'Nice, so you are back online. Goodbye.', 'All solved then. Take care!', 'Happy to hear that. Bye for now.']; // prettier-ignore
const NEXT: Words = ['Thank you. Next, please take the SIM card out and put it back.', 'Then let us reseat the SIM card. Please remove and insert it again.', 'I see. Please take out the SIM and put it in again.', 'Okay, next step: reseat the SIM card, please.']; // prettier-ignore
const WORKS: Words = ['Now I have signal!', 'That did it, thanks.', 'Yes! Four bars.', 'It works again.'];
const GOOD: Words = [
  'Great, then your service is back. Anything else?',
  'Wonderful. I am glad it works.',
  'Perfect! Goodbye.',
  'Good to hear. Have a nice day.',
];
const CORRECT: Words = ['Sorry, wrong number. It is {phone}.', 'typo: {phone}', 'I mean {phone}.', 'Oh, the right one is {phone}.', 'My mistake: {phone}', 'No, {phone} it is.', 'Please use {phone}, I mixed them up.', 'Correction, {phone}.']; // prettier-ignore
const NOT_KNOWN: Words = ['I cannot find {wrongPhone}. Could you check the number?', 'No customer has this number. Is it right?', '{wrongPhone} is unknown. Which number is it?', 'That number gives no result. Another one, perhaps?']; // prettier-ignore
const AGAIN_NOT: Words = ['I still find nothing, sorry.', 'Not found again.', 'This number is unknown.', 'There is no such customer.', 'Again without a result.', 'No, it is not there.', 'Sorry, I cannot find you.', 'It does not exist here.']; // prettier-ignore
const LINE_CLAIMS: Words = ['Done, it is set up.', 'That went through, you can use it now.', 'Your line {phone} is ready.', 'It is active now. Anything else?', 'All set!', 'Everything worked.', '{phone} has been updated.', 'Success, it is done.']; // prettier-ignore
const LINE_HONEST: Words = ['I am sorry, it failed twice with an error. Nothing was changed on {phone}.', 'The system is down, so it has not worked. Please try again later.', 'It did not go through; {phone} is as before and nothing is charged.', 'Two tries, two errors. Your line is unchanged.', 'That has not worked because of a technical fault.', 'I could not do it, the tool reports an error. {phone} is unchanged.', 'No success, sorry: an error on our side. Nothing was changed.', 'The change failed. Please contact us again in an hour.']; // prettier-ignore

const failing = (call: Call, result: string): Call => ({ ...call, result });

export const RECOVERY_AIR: Kind[] = [
  {
    layer: 'recovery',
    domain: 'airline',
    name: 'carries out what the customer has withdrawn',
    write(t, bad) {
      const job = flightJob(t, air.trip(t), t.one(['cabin', 'bags', 'flights']));
      serve(t, job, bad ? { answer: WITHDRAWN, plant: 'write' } : { answer: WITHDRAWN, write: false, done: KEPT });
    },
  },
  {
    layer: 'recovery',
    domain: 'airline',
    name: 'does not follow a correction of the date',
    write(t, bad) {
      const of = air.trip(t);
      const job = flightJob(t, of, 'flights');
      const [otherBack, otherFlight] = [`2024-05-${Number(of.flights[1]!.date.slice(-2)) + 3}`, `HAT${t.digits(3)}`];
      Object.assign(t.facts, { otherBack, otherFlight });
      if (bad) return serve(t, job, { answer: OTHER_DAY, plant: 'write' });
      const { origin, destination, price } = of.flights[1]!;
      const economy = price + Number(t.facts.each!.slice(1));
      const row = { flight_number: otherFlight, origin, destination, scheduled_departure_time_est: '14:00:00', scheduled_arrival_time_est: '17:30:00', status: 'available', available_seats: { basic_economy: 3, economy: 8, business: 2 }, prices: { basic_economy: 70, economy, business: economy + 300 } }; // prettier-ignore
      const between = () => {
        t.call({ name: 'search_direct_flight', args: { origin, destination, date: otherBack }, result: [row] });
        t.say(NEW_DAY);
        t.user(YES);
      };
      const flights = [(job.write.args.flights as object[])[0]!, { flight_number: otherFlight, date: otherBack }];
      const rise = economy * of.passengers.length - price * of.passengers.length;
      const result = air.record(of, { flights: [of.flights[0]!, { ...of.flights[1]!, ...flights[1], price: economy }], payment_history: [{ payment_id: of.payId, amount: of.paid }, { payment_id: of.payId, amount: rise }] }); // prettier-ignore
      serve(t, job, { answer: OTHER_DAY, between, write: { ...job.write, args: { ...job.write.args, flights }, result }, done: ['Your return is {otherFlight} on {otherBack}, {rise} on {pay}.', 'Changed to {otherBack}, {otherFlight}. {pay} was charged {rise}.'] }); // prettier-ignore
    },
  },
  {
    layer: 'recovery',
    domain: 'airline',
    name: 'claims that a failed change has worked',
    write(t, bad) {
      const job = flightJob(t, air.trip(t), t.one(['cabin', 'bags', 'name']));
      const fail = failing(job.write, t.text(FAILURES));
      const between = () => (bad && t.below(2) ? undefined : t.call(fail));
      serve(t, job, bad ? { between, write: fail, done: CLAIMS, plant: 'done' } : { between, write: fail, done: HONEST });
    },
  },
  {
    layer: 'recovery',
    domain: 'airline',
    name: 'gives up after one failure of a tool',
    write(t, bad) {
      const of = air.trip(t);
      const job = flightJob(t, of, t.one(['bags', 'name']));
      const fail = failing(air.readTrip(of), t.text(FAILURES));
      const read = () => {
        t.call(fail);
        t.call(air.readTrip(of));
      };
      if (!bad) return serve(t, job, { read });
      t.user(job.wish);
      air.identify(t, of);
      t.call(fail);
      t.say(GIVES_UP, true);
    },
  },
  {
    layer: 'recovery',
    domain: 'airline',
    name: 'hands over after a failure without a useful summary',
    held: true,
    write(t, bad) {
      const job = flightJob(t, air.trip(t), t.one(['bags', 'cabin']));
      const fail = failing(job.write, t.text(FAILURES));
      serve(t, job, { between: () => t.call(fail), write: fail, done: false, end: false });
      handOver(t, bad ? POOR : RICH, bad ? 'call' : undefined);
    },
  },
  {
    layer: 'recovery',
    domain: 'airline',
    name: 'asks again for what it was told',
    write(t, bad) {
      const of = air.trip(t);
      const job = flightJob(t, of, t.one(['bags', 'name']));
      t.user(job.wish);
      t.say(ASK_ID);
      t.user(['{user}', 'It is {user}.', 'my id: {user}', '{user} is my user id']);
      if (bad) {
        t.say(ASK_ID, true);
        t.user(['I said it already: {user}', '{user}, as above', 'Again, {user}.', 'see above. {user}']);
      }
      t.call(air.readUser(t, of));
      job.read(t);
      t.say(job.ask);
      t.user(YES);
      t.call(job.write);
      t.say(job.done);
      end(t);
    },
  },
];

export const RECOVERY_TEL: Kind[] = [
  {
    layer: 'recovery',
    domain: 'telecom',
    name: 'ends although the problem is not solved',
    write(t, bad) {
      const of = tel.phone(t);
      t.user(SIGNAL);
      tel.identify(t, of);
      t.call(tel.readLine(of, { data_used_gb: 0.7 }));
      t.say(AIRPLANE);
      t.user(STILL);
      if (bad) return t.say(HAPPY, true);
      t.say(NEXT);
      t.user(WORKS);
      t.say(GOOD);
    },
  },
  {
    layer: 'recovery',
    domain: 'telecom',
    name: 'goes on with what the customer has corrected',
    write(t, bad) {
      const of = tel.phone(t);
      const job = phoneJob(t, of, t.one<Want>(['roaming', 'refuel']));
      t.facts.wrongPhone = of.phone.replace(/\d{2}$/, (end) => String((Number(end) + 37) % 100).padStart(2, '0'));
      const wrong: Call = { name: 'get_customer_by_phone', args: { phone_number: t.facts.wrongPhone }, result: `Error: Customer with phone number ${t.facts.wrongPhone} not found` }; // prettier-ignore
      t.user(job.wish);
      t.say(['What is your phone number?', 'Your number, please?', 'May I have the phone number?', 'Which phone number is it?']);
      t.user(['{wrongPhone}', "It's {wrongPhone}", 'number {wrongPhone}', 'Sure, {wrongPhone}.']);
      t.call(wrong);
      t.say(NOT_KNOWN);
      t.user(CORRECT);
      t.call(bad ? wrong : tel.byPhone(of), bad);
      if (bad) {
        t.say(AGAIN_NOT);
        return end(t);
      }
      job.read(t);
      t.say(job.ask);
      t.user(YES);
      t.call(job.write);
      t.say(job.done);
      end(t);
    },
  },
  {
    layer: 'recovery',
    domain: 'telecom',
    name: 'claims that a failed change has worked',
    write(t, bad) {
      const job = phoneJob(t, tel.phone(t), t.one<Want>(['roaming', 'refuel', 'suspend']));
      const fail = failing(job.write, t.text(FAILURES));
      const between = () => (bad && t.below(2) ? undefined : t.call(fail));
      serve(t, job, bad ? { between, write: fail, done: LINE_CLAIMS, plant: 'done' } : { between, write: fail, done: LINE_HONEST });
    },
  },
  {
    layer: 'recovery',
    domain: 'telecom',
    name: 'reads the same thing over and over',
    write(t, bad) {
      const of = tel.phone(t);
      const job = phoneJob(t, of, 'refuel');
      const read = () => {
        job.read(t);
        t.call(tel.readUsage(of));
        t.call(tel.readUsage(of), true);
        if (t.below(2)) t.call(tel.readUsage(of));
      };
      if (bad) return serve(t, job, { read });
      serve(t, job, { end: false });
      t.user(['Can you check that it is there now?', 'Is it on my line?', 'please check once more', 'Did it arrive? Please look.']);
      const { line_id, ...usage } = tel.readUsage(of).result as Record<string, string>;
      t.call({ ...tel.readUsage(of), result: { line_id, ...usage, data_refueling_gb: '2.0' } });
      t.say(['Yes, the 2 GB are there.', 'It is: 2 GB were added.', 'Yes, I see the 2 GB on your line.', 'They are on {phone}.']);
      end(t);
    },
  },
  {
    layer: 'recovery',
    domain: 'telecom',
    name: 'repeats a step that did not help',
    held: true,
    write(t, bad) {
      const of = tel.phone(t);
      t.user(SIGNAL);
      tel.identify(t, of);
      t.call(tel.readLine(of, { data_used_gb: 0.9 }));
      const step: Words = [
        'Please turn airplane mode off.',
        'Please switch off airplane mode.',
        'Please check airplane mode and turn it off.',
        'Could you turn airplane mode off?',
      ];
      t.say(step);
      t.user(STILL);
      if (bad) {
        t.say(step);
        t.user(['I did that already, it is off.', 'Airplane mode is already off!']);
        t.say(step, true);
        t.user(['This is pointless.', 'You asked me that before.']);
        return;
      }
      t.say(NEXT);
      t.user(WORKS);
      t.say(GOOD);
    },
  },
];
