/** @file How an agent of a phone provider goes on after a failure or a change of mind: kinds of the layer recovery. */
import type { Talk, Words } from '../planted-layers/talk.ts';
import { Line } from './line.ts';
import { agree, close, heldOnly, kindOf, transfer, YES } from './words.ts';

const kind = kindOf('recovery', 'telecom');

const SLOW: Words = [
  'My mobile internet does not work.',
  'no mobile data since yesterday!!',
  'I cannot open any page when I am not on Wi-Fi.',
  'Web pages do not load on my phone. Calls are fine.',
  'The internet on my phone is dead, please help.',
  'Mobile data fails on my line although I have signal.',
];
const FIRST_STEP: Words = [
  'Please check whether mobile data is switched on. If not, switch it on, then run a speed test.',
  'Could you look if mobile data is enabled, turn it on if needed, and run a speed test?',
  'Step 1: turn mobile data on in case it is off. Then a speed test, please.',
  'Let us start with mobile data: is it on? Switch it on if it is off, and do a speed test.',
];
const STILL: Words = [
  'It was on already. The speed test says “No Connection”.',
  'data is on. test: no connection',
  'Mobile data is enabled, but the test shows no connection at all.',
  'It is on, and still nothing. “No Connection”.',
  'On already. Speed test failed: No Connection.',
  'Checked, data was on. No change, no connection.',
];
const SOLVED: Words = [
  'Glad that it works again! Goodbye.',
  'Wonderful, then your internet is fixed. Have a nice day.',
  'Great, problem solved. Thank you for calling.',
  'Perfect, that did it. Enjoy your connection!',
  'Then everything is in order now. Bye!',
  'Good, so we have fixed it. Take care.',
];
const SECOND_STEP: Words = [
  'Thank you. Please look whether data saver is on and switch it off, then run the test once more.',
  'Then it is something else. Is a VPN connected? If so, disconnect it and test again.',
  'Step 2: set the network mode to 4g_5g_preferred, then a speed test, please.',
  'All right. Next, check the data saver mode, turn it off if it is on, and repeat the speed test.',
  'Hm. Let us look at the network mode: which one is chosen? Please set 4g_5g_preferred and run the test.',
  'Then please check for a VPN, disconnect it if there is one, and tell me what the speed test shows.',
];
const WORKS: Words = [
  'Yes! Excellent speed now.',
  'works, test says excellent',
  'That was it. The test shows an excellent connection.',
  'Excellent, says the test. Thank you!',
  'Pages load again, speed test excellent.',
  'The test is excellent now.',
];
const FINE: Words = [
  'Good to hear. Have a nice day!',
  'Great, it works. Goodbye.',
  'I am glad. Take care.',
  'Perfect. Thank you for your patience.',
];

function firstStep(t: Talk): Line {
  const line = new Line(t, { roaming: true });
  Object.assign(line.record, { data_used_gb: 1.2 });
  line.start(SLOW);
  t.say(FIRST_STEP);
  t.user(STILL);
  return line;
}
function secondStep(t: Talk): void {
  t.say(SECOND_STEP);
  t.user(WORKS);
  t.say(FINE);
}

function ignored(t: Talk, bad: boolean): void {
  firstStep(t);
  if (bad) t.say(SOLVED, true);
  else secondStep(t);
}

const SAME_STEP: Words = [
  'Please make sure that mobile data is on, and run a speed test.',
  'Could you check mobile data, switch it on if it is off, and test the speed?',
  'Please turn on mobile data and try a speed test.',
  'Is mobile data on? Please enable it and do the speed test.',
];
const TOLD_YOU: Words = ['I just did that. It is on.', 'again?? its on', 'As I said, mobile data is on.', 'It is on, I told you already.'];

function sameStep(t: Talk, bad: boolean): void {
  firstStep(t);
  if (bad) {
    t.say(SAME_STEP, true);
    t.user(TOLD_YOU);
  }
  secondStep(t);
}

const EARLY: Words = [
  '{name}, line {phone}: no mobile data, speed test shows no connection. Mobile data is on; nothing else was tried.',
  'Mobile data of {phone} fails. Checked so far: mobile data is on. Speed test: no connection.',
  'Customer {name} has no mobile internet on {phone}. I only had mobile data checked; it is on.',
  'No mobile data on {line} ({phone}). One step done, mobile data was on, the test failed.',
];
const LOCKED: Words = [
  'Please check the SIM card. What does the phone say about it?',
  'Next, look at the SIM status, please.',
  'Let us check the SIM. Is it active, missing or locked?',
  'What does your phone show for the SIM card?',
];
const IS_LOCKED: Words = [
  'It says that the SIM is locked with a PUK.',
  'sim locked (PUK)',
  'The SIM card is locked, it asks for a PUK.',
  'Locked. PUK needed.',
];
const LOCKED_SUMMARY: Words = [
  '{name}, {phone}: no mobile data. Mobile data is on, the SIM is locked with a PUK and I cannot unlock it.',
  'SIM of {phone} is locked (PUK), hence no connection. Mobile data is on. Please unlock it for {name}.',
  'Line {line}, {phone}: SIM locked by PUK. Checked before: mobile data on, speed test without a connection.',
  '{phone} has a SIM that asks for its PUK. Data switch is fine. Needs a human to unlock it.',
];

function early(t: Talk, bad: boolean): void {
  firstStep(t);
  if (bad) return transfer(t, EARLY, true);
  t.say(LOCKED);
  t.user(IS_LOCKED);
  transfer(t, LOCKED_SUMMARY);
}

const POOR: Words = [
  'Customer has a problem with the phone.',
  'Technical issue, please help.',
  'User needs support.',
  'See conversation.',
  'The steps did not help.',
  'Please take over this case.',
];

function summary(t: Talk, bad: boolean): void {
  firstStep(t);
  t.say(LOCKED);
  t.user(IS_LOCKED);
  transfer(t, bad ? POOR : LOCKED_SUMMARY, bad);
}

const OPEN_BILL: Words = [
  'My service was cut. I want to pay bill {bill}.',
  'pls let me pay {bill}, line is suspended',
  'How can I pay my overdue bill {bill}?',
  'I would like to settle {bill} now.',
  'Send me a request for bill {bill}, please.',
  'My line is suspended over {bill}. Let me pay.',
];
const ASK_REQUEST: Words = [
  'Bill {bill} over {due} is overdue. Shall I send the payment request?',
  '{due} are due for {bill}. May I send you the request?',
  '- {bill}, overdue\n- {due}\n\nSend a request?',
  'I see {bill} with {due}, overdue. Do you want the request now?',
];
const WAITING: Words = [
  'A bill is awaiting payment already, so the phone should show a request. Please look at your payment requests and pay it.',
  'I cannot send a second request, one is open. Could you check the payment requests on your phone?',
  'There is an earlier request that still waits for you. Please open and pay it first.',
  'One payment request is pending. Please accept it on the phone, then tell me.',
];
const PAID: Words = ['Paid.', 'ok its paid now', 'I found it and paid.', 'Done, payment made.'];
const RESUMED: Words = [
  'Thank you, {bill} is paid and your line is active. Please restart the phone.',
  'Paid and resumed. Restart the phone to get service.',
  'All paid! {phone} is on again after you reboot the phone.',
  'The line is active again; please turn the phone off and on.',
];
const TAKEN = 'A bill is already awaiting payment for this customer';

function repeated(t: Talk, bad: boolean): void {
  const line = new Line(t, { status: 'Suspended' });
  line.start(OPEN_BILL);
  t.call(line.bills());
  t.say(ASK_REQUEST);
  agree(t);
  t.call(line.request(TAKEN));
  if (bad) {
    t.call(line.request(TAKEN), true);
    t.call(line.request(TAKEN));
  }
  t.say(WAITING);
  t.user(PAID);
  t.call(line.billIs('Paid'));
  t.call(line.resume());
  t.say(RESUMED);
}

const DATA: Words = [
  'I need 2 GB more data.',
  'add 2gb',
  'Please put 2 GB on my line.',
  'Could I have two more GB (2 GB)?',
  'Top up my data by 2 GB.',
  'My data is used up, 2 GB more please.',
];
const ASK_2: Words = [
  '2 GB for {phone} cost {price2}. Shall I add them?',
  'At {perGb} per GB, 2 GB are {price2} for {phone}. Yes?',
  '- {phone}\n- 2 GB\n- {price2}\n\nConfirm?',
  'That makes {price2} for 2 GB on {phone}. Do you agree?',
];
const ONE: Words = [
  'That is too much. Only 1 GB, please.',
  'hm then 1 gb',
  'Make it one GB instead.',
  'Oh. One gigabyte is enough.',
  'I will take 1 GB, not 2.',
  'Then let us say 1 GB.',
];
const ASK_1: Words = [
  '1 GB for {phone} costs {perGb}. Shall I add it?',
  'One GB is {perGb}, on {phone}. Yes?',
  '- {phone}\n- 1 GB\n- {perGb}\n\nConfirm?',
  'That makes {perGb} for 1 GB. Do you agree?',
];
const ADDED: Words = ['The data is on your line.', 'Done, enjoy your data.', 'Added.', 'Your line has its extra data now.'];

function oldValue(t: Talk, bad: boolean): void {
  const line = new Line(t);
  line.start(DATA, true);
  t.say(ASK_2);
  t.user(ONE);
  t.say(ASK_1);
  agree(t);
  t.call(line.refuel(bad ? 2 : 1), bad);
  t.say(ADDED);
  close(t);
}

const NO_DATA: Words = heldOnly('No, that is too expensive. Leave it.', 'nah forget it', 'Never mind, I can wait until the cycle ends.');
const ALL_RIGHT: Words = heldOnly('All right, I add nothing.', 'No problem, nothing was charged.');

function withdrawn(t: Talk, bad: boolean): void {
  const line = new Line(t);
  line.start(DATA, true);
  t.say(ASK_2);
  t.user(NO_DATA);
  if (bad) t.call(line.refuel(2), true);
  t.say(bad ? ADDED : ALL_RIGHT);
  if (!bad) close(t);
}

const NOT_RESUMED: Words = heldOnly(
  'The bill is paid, but resuming failed: the system does not respond. May I try once more?',
  'Your payment is there. Only the line could not be resumed because of an error. Shall I repeat it?',
);

function claimed(t: Talk, bad: boolean): void {
  const line = new Line(t, { status: 'Suspended' });
  line.start(OPEN_BILL);
  t.call(line.bills());
  t.say(ASK_REQUEST);
  agree(t);
  t.call(line.request());
  t.say(heldOnly('Sent. Please pay it on your phone.', 'The request is there. Open it and pay, please.'));
  t.user(PAID);
  t.call(line.billIs('Paid'));
  t.call(line.resume('service temporarily unavailable'));
  t.say(bad ? RESUMED : NOT_RESUMED, bad);
  if (bad) return close(t);
  t.user(YES);
  t.call(line.resume());
  t.say(RESUMED);
}

const SORRY: Words = heldOnly(
  'I am very sorry for the trouble. Please give me a moment.',
  'My apologies once more. I appreciate your patience.',
  'I do understand how annoying this is. Please wait a little.',
);
const SO: Words = heldOnly('And now?', 'hello?', 'I am waiting.', 'what is the next step');

function apologies(t: Talk, bad: boolean): void {
  firstStep(t);
  if (bad) {
    t.say(SORRY);
    t.user(SO);
    t.say(SORRY, true);
    t.user(SO);
  }
  secondStep(t);
}

export const RECOVERY_LINE = [
  kind('failed step passed over', ignored),
  kind('same step again', sameStep),
  kind('hand-over after the first step', early),
  kind('hand-over without what was tried', summary),
  kind('same failing call again', repeated),
  kind('old value after a correction', oldValue),
  kind('change made after the wish was withdrawn', withdrawn, true),
  kind('success claimed after an error', claimed, true),
  kind('apologies without a step', apologies, true),
];
