/** @file What customers of the phone provider want, with wordings of the wish, of the question for a yes and of the report. */
import { money, type Call, type Job, type Talk, type Words } from './talk.ts';
import { identify, lineRecord, readBills, readLine, readPlan, readUsage, type Phone } from './phones.ts';

export type Want = 'refuel' | 'roaming' | 'resume' | 'suspend' | 'pay';

const WISH: Record<Want, Words> = {
  refuel: [
    'My data is used up. Can I get 2 GB more?',
    'no more data on my phone, need 2gb extra',
    'Hello, I seem to have no data left this month. I would like to add 2 GB.',
    'Please add two gigabytes to my line.',
    'Internet stopped because of the limit. I want to buy 2 GB.',
    'Could you refuel my data by 2 GB?',
    'I ran out of data. Two more GB would be great.',
    'Hi, top up 2 GB of data on my line please.',
  ],
  roaming: [
    "I'm abroad and have no data. Can you enable roaming?",
    'turn on roaming for my line please',
    'Good evening, I am travelling in France and would like to use data roaming.',
    'Please switch roaming on, I fly to Canada tomorrow.',
    'No internet since I landed in Spain. I think that roaming is off on my line.',
    'Can my line be used abroad? Please activate roaming.',
    'I need roaming on my number while I travel.',
    'Hi, roaming please, I am outside the country.',
  ],
  resume: [
    'My line is suspended although I have paid. Can you reactivate it?',
    'line suspended, bill paid last night, pls resume',
    'Hello, I settled the overdue bill. Please lift the suspension of my line.',
    'There is no service because my line was suspended. Everything is paid now.',
    'I have paid all I owed, so my line should be resumed.',
    'Could you bring my suspended line back? The bill is paid.',
    'Suspended line here. I paid. Please activate it again.',
    "I'd like the suspension removed; my bills are settled.",
  ],
  suspend: [
    'I am going on a long trip. Please suspend my line.',
    'pause my line for a while pls',
    'Hello, I would like to have my line suspended for some weeks.',
    'Can you put my line on hold? I will not need it this spring.',
    'I will work at sea for a while, so please suspend my number.',
    'Please suspend my line, I use another phone at present.',
    'I want my line paused until I am back.',
    'Suspend my line please, I am moving abroad for two months.',
  ],
  pay: [
    'I think that I have an unpaid bill. I would like to pay it.',
    'want to pay my overdue bill',
    'Good morning, you wrote that a bill is overdue. How can I pay it?',
    'Please help me to pay the bill that is late.',
    'I got a reminder about a bill and want to settle it.',
    'Is there an open bill on my account? Then I will pay it now.',
    'Let me pay what I owe for January.',
    'My bill is overdue, can I pay with you?',
  ],
};

const ASK: Record<Want, Words> = {
  refuel: [
    'On your {plan} each GB costs {perGb}, so 2 GB are {twoGb}. Shall I add 2 GB to the line {phone}?',
    '- Line: {phone}\n- Data: 2 GB\n- Price: {twoGb} ({perGb} per GB)\n\nDo you confirm?',
    'You used {used} of {limit} GB. 2 GB more cost {twoGb} on your next bill. Is that okay for {phone}?',
    'To confirm: refuel {phone} with 2 GB for {twoGb}. Yes or no?',
    'I can add 2 GB to {phone}. The price is {perGb} per GB, {twoGb} in total. May I?',
    '**Refuel** 2 GB for {phone}: {twoGb}. Proceed?',
    'Your limit of {limit} GB is reached. Adding 2 GB of data to {phone} would be {twoGb}. Do you agree?',
    'That makes {twoGb} for 2 GB on line {phone} ({plan}). Should I add the data?',
  ],
  roaming: [
    'Roaming is off on {phone}. I can enable it at no cost. Shall I?',
    'I would turn on data roaming for {phone}; it is free. OK?',
    'To confirm: enable roaming on the line {phone}, free of charge. Yes?',
    'Your line {phone} has no roaming yet. Enabling it costs nothing. Do you want that?',
    '- Line {phone}\n- Roaming: on\n- Price: $0.00\n\nShould I enable it?',
    'I can activate roaming on {phone} without a fee. May I do this?',
    'There is no charge for roaming. Do you confirm that I enable it on {phone}?',
    'So roaming gets switched on for {phone}, for free. Is that right?',
  ],
  resume: [
    'All bills are paid, so I can resume the line {phone}. Afterwards please restart your phone. Shall I resume it?',
    'I see that bill {bill} is paid. May I lift the suspension of {phone}? You will need to reboot the device then.',
    '- Line {phone}: resume\n- Then: reboot your phone\n\nDo you confirm?',
    'To confirm: I reactivate the suspended line {phone}. Yes?',
    'Everything is settled and the contract is valid. Should I resume {phone} now?',
    'The line {phone} can be resumed. A restart of the phone is needed after it. OK?',
    '**Resume** the line {phone}, as no bill is open. Proceed?',
    'I would lift the suspension of {phone} now. Do you agree?',
  ],
  suspend: [
    'I can suspend the line {phone}. You will have no service, and a holding fee of $5 per month applies. Do you confirm?',
    '- Suspend {phone}\n- Holding fee: $5 a month\n- No service meanwhile\n\nOkay?',
    'To confirm: suspension of {phone}, with a fee of $5 each month. Yes or no?',
    'A suspended line has no service and costs $5 per month. Should I suspend {phone}?',
    'I would suspend {phone} as of today; $5 a month is charged. May I?',
    '**Suspension** of the line {phone}. Fee: $5/month. Proceed?',
    'If you agree, the line {phone} is suspended, at $5 monthly. Shall I?',
    'Suspending {phone} means no calls and no data, and $5 per month. Do you want this?',
  ],
  pay: [
    'Bill {bill} over {due} is overdue. I can send you a payment request for it. Shall I?',
    '- Bill: {bill}\n- Amount: {due}\n- Status: overdue\n\nMay I send the payment request?',
    'You owe {due} (bill {bill}, overdue since February 5). Do you want me to send a payment request?',
    'To confirm: a payment request over {due} for bill {bill}. Yes?',
    'There is one overdue bill, {bill}, of {due}. Should I send the request to pay it?',
    '**Payment request** for {bill}: {due}. Do you agree?',
    'The bill for January, {bill}, is overdue. It is {due}. Is it okay if I send you a payment request?',
    'I found {bill} with {due} due. I would send a request for this payment now. OK?',
  ],
};

const DONE: Record<Want, Words> = {
  refuel: ['2 GB were added to {phone} for {twoGb}.', 'Done! You have 2 GB more, for {twoGb}.', 'The 2 GB are on your line; {twoGb} goes on the next bill.', 'Your line {phone} is refueled: 2 GB, {twoGb}.', 'I added 2 GB. The charge is {twoGb}.', 'Refueled. 2 GB, {twoGb}.', 'All set: {twoGb} for 2 GB of data.', 'You can go online again, 2 GB were added at {twoGb}.'], // prettier-ignore
  roaming: ['Roaming is enabled on {phone}, at no cost.', 'Done, roaming is on. Please make sure that it is on in your phone too.', 'I enabled roaming for free.', 'Your line can roam now. It costs nothing.', 'Roaming: on. No charge.', 'That worked, {phone} has roaming.', 'Roaming is active for {phone}. Please check the setting in your phone as well.', 'All set, roaming is on and free.'], // prettier-ignore
  resume: [
    'The line {phone} is active again. Please restart your phone now to get service.',
    'Done. Now reboot the device, then you have service.',
    'Your suspension is lifted. Turn the phone off and on again, please.',
    'Resumed! A reboot of your phone brings the service back.',
    '{phone} works again as soon as you have restarted your device.',
    'The line is resumed. Please power-cycle the phone.',
    'It is active. Could you reboot your phone, so that it finds the network?',
    'Line resumed. Last step: restart the phone.',
  ],
  suspend: ['The line {phone} is suspended. $5 per month will be charged.', 'Done, {phone} is on hold for $5 a month.', 'Your line is suspended now, with a fee of $5 monthly.', 'Suspended. Holding fee $5/month.', 'I suspended {phone}; $5 per month.', 'The suspension starts today and costs $5 a month.', 'All set: {phone} is suspended ($5/month).', 'Your number is paused, fee $5 each month.'], // prettier-ignore
  pay: [
    'The request was sent. Please check your payment requests on the phone, and accept it if {due} is right.',
    'Sent! Look at the payment request on your device and pay it.',
    'You should see a payment request over {due} now. Please check it and make the payment.',
    'I sent the request for {due}. Can you open and accept it?',
    'The payment request for {bill} is out. Please check it on your phone, then pay.',
    'Request sent. Tell me when you have checked and paid it.',
    'Please look at your payment requests: there is one of {due}. You can pay it right away.',
    'There is now a request over {due} on your phone. Check it and, if it is fine, pay.',
  ],
};

export const PAID: Words = ['I accepted it and paid.', 'done, paid', 'Okay, the payment went through on my side.', 'I have paid it now.', 'Paid!', 'The request was there and I paid it.', 'yes, just paid', 'My phone says that the payment was made.']; // prettier-ignore
export const IS_PAID: Words = ['Thank you, bill {bill} is paid.', 'I see the payment: {bill} is paid.', 'Confirmed, {due} for {bill} has arrived.', 'Great, the status of {bill} is Paid.', 'The bill is paid, thank you.', 'It is paid now.', 'Your bill {bill} shows as paid.', 'All done, {bill} is settled.']; // prettier-ignore

export function phoneJob(t: Talk, of: Phone, want: Want): Job {
  const ids = { customer_id: of.customer, line_id: of.line };
  const calls: Record<Want, Call> = {
    refuel: { name: 'refuel_data', args: { ...ids, gb_amount: 2 }, result: { message: `Successfully added 2.0 GB of data for line ${of.line} for ${money(2 * of.plan.perGb)}`, new_data_refueling_gb: '2.0', charge: `${2 * of.plan.perGb}.0` } }, // prettier-ignore
    roaming: { name: 'enable_roaming', args: ids, result: 'Roaming enabled successfully' },
    resume: { name: 'resume_line', args: ids, result: { message: 'Line resumed successfully', line: lineRecord(of, { status: 'Active', suspension_start_date: null }) } }, // prettier-ignore
    suspend: { name: 'suspend_line', args: { ...ids, reason: 'travel' }, result: { message: 'Line suspended successfully. $5/month holding fee will apply.', line: lineRecord(of, { status: 'Suspended', suspension_start_date: '2025-02-25' }) } }, // prettier-ignore
    pay: { name: 'send_payment_request', args: { customer_id: of.customer, bill_id: of.bill }, result: `Payment request sent to the customer for bill ${of.bill}` }, // prettier-ignore
  };
  return {
    wish: WISH[want],
    find: () => identify(t, of),
    read() {
      if (want !== 'pay') t.call(readLine(of));
      if (want === 'refuel') for (const call of [readUsage(of), readPlan(of)]) t.call(call);
      if (want === 'resume') t.call(readBills(of, 'Paid'));
      if (want === 'pay') t.call(readBills(of, 'Overdue'));
    },
    ask: ASK[want],
    write: calls[want],
    done: DONE[want],
  };
}
