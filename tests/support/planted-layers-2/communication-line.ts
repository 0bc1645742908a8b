/** @file What an agent of a phone provider has to say: kinds of the layer communication. */
import type { Talk, Words } from '../planted-layers/talk.ts';
import { Line } from './line.ts';
import { agree, close, closeRefused, heldOnly, kindOf } from './words.ts';

const kind = kindOf('communication', 'telecom');

const DATA: Words = [
  'I ran out of data. Please add 2 GB.',
  'mobile data stopped, i used it all. top up 2gb?',
  'Could you put two more gigabytes (2 GB) on my line?',
  'The month is not over and my data is gone! I would take 2 GB more.',
  'Refuel 2 GB, please.',
  'I need another 2 GB of data for the rest of the month.',
];
const ASK_DATA_BAD: Words = [
  'I can add 2 GB to {phone}. Shall I?',
  '2 GB for your line {phone} cost {wrong2}. Do you agree?',
  'Sure thing! 2 GB go on {phone} as soon as you say yes.',
  '- 2 GB for {phone}\n- price: {wrong2}\n\nOK?',
];
const ASK_DATA: Words = [
  'I can add 2 GB to {phone} for {price2}. Shall I?',
  'Each GB is {perGb} on the {plan}, so 2 GB cost {price2}. Do you agree?',
  'Sure thing! That would be {price2} for 2 GB on {phone}. Say yes and they are yours.',
  '- 2 GB for {phone}\n- {perGb} each\n- price: {price2}\n\nOK?',
];
const ADDED: Words = ['The 2 GB are on your line.', 'Done, 2 GB more.', 'Your line has 2 extra GB now. Enjoy!', 'Added: 2 GB, {phone}.'];

function refuel(t: Talk, bad: boolean): void {
  const line = new Line(t);
  line.start(DATA, true);
  t.call(line.usage());
  t.say(bad ? ASK_DATA_BAD : ASK_DATA, bad);
  agree(t);
  t.call(line.refuel(2));
  t.say(ADDED);
  close(t);
}

const SUSPENDED: Words = [
  'My phone shows no service since this morning.',
  'no signal at all, line seems dead',
  'I cannot call anybody. I think that my line was suspended.',
  'Hello, my service was cut off. I want to pay whatever is open.',
  'Why is my line suspended? Let me settle the bill.',
  'Service is gone. Is there an unpaid bill?',
];
const BILL_WRONG: Words = [
  'Your line is suspended because bill {bill} over {wrongDue} is overdue. May I send you a payment request?',
  'There is one overdue bill, {bill}: {wrongDue}. Shall I send the request for it?',
  '- bill {bill}\n- overdue\n- {wrongDue}\n\nDo you want a payment request?',
  'I found the cause, an unpaid bill of {wrongDue} ({bill}). Is it all right if I request the payment?',
];
const BILL: Words = [
  'Your line is suspended because bill {bill} over {due} is overdue. May I send you a payment request?',
  'There is one overdue bill, {bill}: {due}. Shall I send the request for it?',
  '- bill {bill}\n- overdue\n- {due}\n\nDo you want a payment request?',
  'I found the cause, an unpaid bill of {due} ({bill}). Is it all right if I request the payment?',
];
const REQUESTED: Words = [
  'The request is on your phone. Please check your payment requests and pay it.',
  'Sent. Open the payment request, accept it, and tell me when it is paid.',
  'I have sent it; look at your payment requests and make the payment, please.',
  'Request sent! Check it on your phone and pay. I will wait.',
];
const I_PAID: Words = [
  'Paid it.',
  'ok payment made',
  'I accepted the request and paid.',
  'It says that the payment was successful.',
  'done',
  'I have paid now.',
];
const RESUMED: Words = [
  'The bill is paid and your line is active again. Please restart your phone to get service.',
  'Paid and resumed. Reboot the phone, then the signal returns.',
  'Thank you! {bill} is settled, {phone} is active. Turn the device off and on once.',
  'Your payment arrived and the line was resumed. A restart of the phone brings the service back.',
];

/** The bill is overdue; the customer pays it. */
function pay(t: Talk, line: Line, ask: Words, planted = false): void {
  line.start(SUSPENDED);
  t.call(line.bills());
  t.say(ask, planted);
  agree(t);
  t.call(line.request());
  t.say(REQUESTED);
  t.user(I_PAID);
}

function billAmount(t: Talk, bad: boolean): void {
  const line = new Line(t, { status: 'Suspended' });
  pay(t, line, bad ? BILL_WRONG : BILL, bad);
  t.call(line.billIs('Paid'));
  t.call(line.resume());
  t.say(RESUMED);
  close(t);
}

const TOO_EARLY: Words = [
  'Thank you, bill {bill} is paid.',
  'Wonderful, I see your payment of {due}. Everything is settled.',
  'Bill {bill}: paid. We are done here.',
  'Your payment has been received, so nothing is open any more.',
];
const NOT_YET: Words = [
  'Bill {bill} still awaits your payment. Could you try once more?',
  'I do not see the {due} yet; the bill is awaiting payment. Did the phone show an error?',
  'Status of {bill}: awaiting payment, not paid. Please check the request again.',
  'The payment has not been received so far. Please look whether the request is still open.',
];

function paidOrNot(t: Talk, bad: boolean): void {
  const line = new Line(t, { status: 'Suspended' });
  pay(t, line, BILL);
  t.call(line.billIs('Awaiting Payment'));
  t.say(bad ? TOO_EARLY : NOT_YET, bad);
  if (bad) return close(t);
  t.user(I_PAID);
  t.call(line.billIs('Paid'));
  t.call(line.resume());
  t.say(RESUMED);
}

const NO_RESTART: Words = [
  'The bill is paid and your line {phone} is active again.',
  'Paid and resumed. Your service is back!',
  'Thank you! {bill} is settled and {phone} is active. Enjoy.',
  'Your payment arrived and I have resumed the line.',
];

function restart(t: Talk, bad: boolean): void {
  const line = new Line(t, { status: 'Suspended' });
  pay(t, line, BILL);
  t.call(line.billIs('Paid'));
  t.call(line.resume());
  t.say(bad ? NO_RESTART : RESUMED, bad);
  close(t, bad);
}

const RESUME: Words = [
  'My line is suspended. Switch it on again.',
  'reactivate my line please, all bills are paid',
  'I paid everything, so kindly lift the suspension of my line.',
  'Please resume my number. It has been off for days.',
  'Turn my line back on!',
  'I would like the suspension to be removed, there is nothing unpaid.',
];
const NO: Words = [
  'I am sorry, I cannot resume this line.',
  'Lifting the suspension is not something I can do here. Anything else?',
  'Your line has to stay suspended, unfortunately.',
  'That request must be declined. Can I help with something else?',
  'I cannot, because a bill of {due} is still overdue.',
  'It stays suspended until you settle your unpaid bill.',
];
const NO_WHY: Words = [
  'I am sorry, the contract of this line ended on {contract}, so I may not resume it.',
  'The bills are fine. But your contract ran out on {contract}, and after that a line cannot come back.',
  'Not possible: contract end {contract} lies in the past.',
  'That request must be declined, since the contract expired on {contract}.',
  'I cannot, as the line’s contract is over ({contract}), even though every bill is paid.',
  'It stays suspended: the contract end date, {contract}, has passed.',
];

function ended(t: Talk, bad: boolean): void {
  const line = new Line(t, { status: 'Suspended', contract: '2025-01-31' });
  line.start(RESUME);
  t.call(line.bills('Paid'));
  t.say(bad ? NO : NO_WHY, bad);
  closeRefused(t);
}

const HOW_MUCH: Words = [
  'How much data have I used this month?',
  'data usage so far?',
  'Could you tell me the gigabytes I used in this cycle?',
  'I want to know my data consumption.',
  'Am I over my limit? How many GB have I used?',
  'Please check my used data.',
];
const USED_WRONG: Words = [
  'You have used {wrongUsed} GB of your {limit} GB.',
  'So far it is {wrongUsed} GB in this cycle.',
  'Used: {wrongUsed} GB. Limit: {limit} GB.',
  'Your line shows {wrongUsed} GB, you are within the limit of {limit} GB.',
];
const USED: Words = [
  'You have used {used} GB, which is more than the {limit} GB of your plan.',
  'So far it is {used} GB in this cycle, and {limit} GB were included.',
  'Used: {used} GB. Limit: {limit} GB.',
  'Your line shows {used} GB, you are over the limit of {limit} GB. The cycle ends on February 28.',
];

function used(t: Talk, bad: boolean): void {
  const line = new Line(t);
  line.start(HOW_MUCH);
  t.call(line.usage());
  t.say(bad ? USED_WRONG : USED, bad);
  close(t);
}

const ABROAD: Words = heldOnly(
  'I am in Spain and have no data. Is roaming on? If not, turn it on. What does it cost?',
  'travelling abroad, no internet. pls enable roaming, how much is it?',
);
const ROAM_WRONG: Words = heldOnly(
  'Roaming is on for {phone} now. It costs $10 a week.',
  'I enabled it for a one-time fee of $5. Please switch on roaming on the phone too.',
);
const ROAM: Words = heldOnly(
  'Roaming is on for {phone} now, and enabling it is free. Please switch it on in the phone, too.',
  'I enabled it at no cost ($0). Your phone needs data roaming switched on as well.',
);

function roaming(t: Talk, bad: boolean): void {
  const line = new Line(t);
  line.start(ABROAD);
  t.call(line.roam());
  t.say(bad ? ROAM_WRONG : ROAM, bad);
  close(t);
}

const CYCLE: Words = heldOnly(
  'Please add 2 GB. And when does my billing cycle end?',
  'two questions: can i get 2 GB, and on which day does the cycle end',
);
const CYCLE_ENDS: Words = heldOnly(
  'The 2 GB are on. Your cycle ends on February 28.',
  'Done: 2 GB more. As for the cycle, 2025-02-28 is its last day.',
);

function cycle(t: Talk, bad: boolean): void {
  const line = new Line(t);
  line.start(CYCLE, true);
  t.call(line.usage());
  t.say(ASK_DATA);
  agree(t);
  t.call(line.refuel(2));
  t.say(bad ? ADDED : CYCLE_ENDS, bad);
  close(t, bad);
}

const COVERAGE: Words = heldOnly(
  'The coverage in my street is poor. Can somebody come and measure it?',
  'bad signal at home, send a technician',
);
const TECHNICIAN: Words = heldOnly(
  'A technician will visit you tomorrow at 9 am, and I credit you $20 for the trouble.',
  'I have arranged it: our field team calls you within the hour.',
);
const NO_TECHNICIAN: Words = heldOnly(
  'I cannot send anybody, as I have no means to do so from here. I can check your phone’s settings with you.',
  'A visit is not within what I can arrange. Shall we look at the network mode of your phone instead?',
);

function technician(t: Talk, bad: boolean): void {
  const line = new Line(t);
  line.start(COVERAGE);
  t.say(bad ? TECHNICIAN : NO_TECHNICIAN, bad);
  if (bad) close(t, true);
  else closeRefused(t);
}

export const COMMUNICATION_LINE = [
  kind('no price or a wrong price of data', refuel),
  kind('wrong amount of a bill', billAmount),
  kind('a bill called paid that is not', paidOrNot),
  kind('no word about the restart', restart),
  kind('refusal with no reason or a wrong one', ended),
  kind('wrong usage of data', used),
  kind('a price for what is free', roaming, true),
  kind('a question without an answer', cycle, true),
  kind('a promise that nobody can keep', technician, true),
];
