/** @file Wordings of the conversations of the shop for the layer communication. */
import type { Words } from './talk.ts';

export const NO_TIME_ASK: Words = [
  'Order {order} ({item}, {item2}) would be cancelled as no longer needed, and {total} goes back to {pay}. Do you confirm?',
  '- Order {order}\n- Reason: no longer needed\n- Refund {total} to {pay}\n\nShall I cancel?',
  'I can cancel {order} as no longer needed. You get {total} on {pay}. OK?',
  'To confirm: cancel {order}, reason "no longer needed", {total} to {pay}. Yes?',
  'The order {order} is pending. Cancel it (no longer needed) with a refund of {total} to {pay}?',
  '**Cancel {order}**: reason no longer needed, refund {total}, {pay}. Proceed?',
  'I would cancel {order} with the {item} and the {item2}, reason: no longer needed. {total} is returned to {pay}. Right?',
  'Shall I cancel {order} for you as no longer needed, and refund {total} to {pay}?',
];
export const NO_TIME_DONE: Words = [
  'Order {order} is cancelled, and {total} goes to {pay}.',
  'Done! {order} is cancelled.',
  'Your order is cancelled and {total} is refunded to {pay}. Anything else?',
  '{order} has been cancelled. The refund of {total} is on its way.',
  'Cancelled. {total} back to {pay}.',
  'All set, {order} is off and the {total} will be refunded.',
  'The cancellation of {order} is complete; refund {total}.',
  'I cancelled it for you. {pay} gets {total}.',
];
export const WRONG_TIME: Words = [
  'Order {order} is cancelled. {total} will be on {pay} immediately.',
  'Done. You will see {total} on {pay} within 24 hours.',
  'Cancelled. The {total} reaches {pay} in 2 to 3 business days.',
  '{order} is cancelled, expect {total} on {pay} in about two weeks.',
  'The refund of {total} to {pay} is instant, you can use it right away.',
  'Cancelled! {total} back on {pay} in 10 to 14 days.',
  'I have cancelled {order}; the {total} will be on {pay} tomorrow.',
  '{order} is off. {pay} is credited with {total} today.',
];
export const OTHER_TIME: Words = [
  'Order {order} is cancelled. {total} needs 5–7 business days to reach {pay}.',
  'Done. In five to seven business days you will see {total} on {pay}.',
  'Cancelled. As it was paid by card, {total} takes up to seven business days (at least five).',
  '{order} is cancelled, and within 5 to 7 working days {total} is on {pay}.',
  'The refund: {total}, {pay}, 5-7 business days. The order {order} is cancelled.',
  'Cancelled! Allow 5 to 7 business days for the {total} on {pay}.',
  'I have cancelled {order}. Banks need 5 to 7 business days until the {total} is on {pay}.',
  '{order} is off. It takes from 5 to 7 business days until {pay} shows the {total}.',
];
export const WRONG_AMOUNT: Words = [
  'Order {order} is cancelled. {wrong} will be back on {pay} within 5 to 7 business days.',
  'Done, you get {wrong} on {pay} in 5 to 7 business days.',
  '{order} is cancelled; the refund to {pay} is {wrong}, within 5-7 business days.',
  'Cancelled. {wrong} returns to {pay} in 5 to 7 business days.',
  'I cancelled {order}. In 5 to 7 business days, {pay} receives {wrong}.',
  'That is done. Refund: **{wrong}**, {pay}, 5 to 7 business days.',
  'All set. {pay} will show {wrong} within 5 to 7 business days.',
  '{order} was cancelled and {wrong} is refunded to {pay} in five to seven business days.',
];
export const OTHER_AMOUNT: Words = [
  'Order {order} is cancelled. USD {plain} will be back on {pay} within 5 to 7 business days.',
  'Done. The {item} ({price}) and the {item2} ({price2}) make {total}, which is on {pay} in 5 to 7 business days.',
  '{order} is cancelled; the refund to {pay} is {plain} dollars, within 5-7 business days.',
  'Cancelled: {price} + {price2} = {total}, back on {pay} in 5 to 7 business days.',
  'I cancelled {order}. In 5 to 7 business days {pay} receives the full amount of {total}.',
  'That is done. Refund: **{total}**, {pay}, 5 to 7 business days.',
  'All set. {price} for the {item} plus {price2} for the {item2}, so {total}, will be on {pay} within 5 to 7 business days.',
  '{order} was cancelled, {plain} USD go to {pay} in five to seven business days.',
];
export const NO_PRICE_ITEMS: Words = [
  'I would change the {item} in {order} from {option} to {newOption} and settle the difference with {pay}. It works once, so is this everything? Do you confirm?',
  '- {order}: {item}, {option} → {newOption}\n- {pay} for the difference\n\nOnly one change is possible. Are all items named, and is it OK?',
  'For {order}: {newOption} {item} instead of {option}, difference via {pay}. Have you named all items? Shall I go ahead?',
  'The {item} can be {newOption}. {pay} is used for the difference. Nothing else can be changed in {order} later: is that all, and do you agree?',
  'So the {item} of {order} becomes {newOption}, with {pay}. Please confirm that no other item is to be changed.',
  '**Change** {order}: {item} to {newOption} ({pay}). Is the list complete? Yes to continue.',
  'I can swap it to {newOption}; any difference is settled with {pay}. As this works once for {order}: anything else? If not, say yes.',
  'Is it right that only the {item} of {order} changes, to {newOption}, with {pay} for the difference? Then I would do it.',
];
export const NO_PRICE_DONE: Words = [
  'Order {order} now has the {newOption} {item}.',
  'Done, it is {newOption} now.',
  'The {item} was changed to {newOption}. The difference is settled with {pay}.',
  'Changed! You will get the {item} in {newOption}.',
  'All set with {newOption}.',
  'Your order {order} was updated to the {newOption} {item}.',
  'That worked, {newOption} it is.',
  'The order was modified as you wished.',
];
export const ASK_STATUS: Words = [
  'What is the status of {order}, and what did I pay?',
  'status of {order}? and the total pls',
  'Hello, has order {order} been sent? And how much was it?',
  "I'd like to know whether {order} is on its way and its total.",
  'Can you look up {order} for me? I need the status and the price.',
  'Could you tell me how far {order} is and what it cost?',
  'Where is {order} now? What is the sum?',
  'Please check {order}: status and total.',
];
export const TRUE_STATUS: Words = [
  'Order {order} is {status}. The total is {total}.',
  'It has the status {status}, and you paid {total}.',
  '{order}: **{status}**, {total}.',
  'I see that {order} over {total} is {status}.',
  'Your order is {status}. It cost {total}: {price} and {price2}.',
  'The status is "{status}" and the sum {total}.',
  '{order} ({total}) is currently {status}.',
  'According to our system, {order} is {status}; the total comes to {total}.',
];
export const FALSE_STATUS: Words = TRUE_STATUS.map((text) => text.replace('{status}', '{false}'));
export const FALSE_TOTAL: Words = TRUE_STATUS.map((text) => text.replace('{total}', '{wrong}').replace(': {price} and {price2}', ''));
export const NO_REASON: Words = [
  "I'm sorry, I can't do that.",
  'Unfortunately that is not possible.',
  'No, sorry. Is there anything else?',
  'I am afraid I cannot help you with this request.',
  'That cannot be done, sorry.',
  "I'm unable to cancel {order}.",
  'Sorry, I have to decline.',
  'This is nothing that I can do for {order}.',
];
export const REASON: Words = [
  "I'm sorry, I can't cancel {order}, because it is {status} and only pending orders can be cancelled.",
  'Unfortunately {order} is already {status}. Cancelling works for pending orders only.',
  'No, sorry: the status of {order} is {status}, so it is too late for a cancellation.',
  'I cannot cancel it. Orders must be pending for that and {order} is {status}.',
  'As {order} is {status}, it cannot be cancelled.',
  'I am unable to cancel {order} since it is {status} and no longer pending.',
  'Sorry, I have to decline. A cancellation needs the status pending; yours is {status}.',
  'The order {order} is {status}. That is why I cannot cancel it.',
];
export const WRONG_REASON: Words = REASON.map((text) => text.replaceAll('{status}', '{false}'));
export const NO_MAIL_ASK: Words = [
  'I can register the return of the {item} ({price}) from {order} with a refund to {pay}. Do you confirm?',
  '- {order}\n- return: {item}, {price}\n- refund: {pay}\n\nProceed?',
  'So the {item} of {order} is returned and {price} goes to {pay}. Is that right?',
  'Return of the {item} ({order}), refund {price} on {pay}. Yes or no?',
  'I would request the return of the {item} in {order}; you get {price} on {pay}. Shall I?',
  '**Return** {item}, {order}, {price} to {pay}. May I submit it?',
  'To confirm: {item} from {order} back, {price} on {pay}. OK?',
  'The {item} can go back, {price} would be credited to {pay} for {order}. Do you want that?',
];
export const NO_MAIL_DONE: Words = [
  'The return is requested, {price} goes to {pay}.',
  'Done, the {item} is registered for return.',
  'Your return is in the system. Refund: {price}, {pay}.',
  'Return requested!',
  'I have requested the return of the {item}.',
  'All set, the {item} of {order} can go back.',
  'The {item} is marked for return and {pay} receives {price}.',
  'Return accepted. {price} to {pay}.',
];
export const NOTHING_DONE: Words = [
  'Order {order} is cancelled. {total} will be back on {pay} within 5 to 7 business days.',
  'Done! I cancelled {order}; {total} returns to {pay} in 5 to 7 business days.',
  'All set, {order} has been cancelled and {total} goes to {pay} in 5-7 business days.',
  'I have just cancelled it. {pay} gets {total} in 5 to 7 business days.',
  'Your order {order} was successfully cancelled, refund of {total} within 5 to 7 business days to {pay}.',
  '✅ {order} cancelled. {total}, {pay}, 5 to 7 business days.',
  'It is done, {order} is off. Expect {total} on {pay} within 5 to 7 business days.',
  'The cancellation went through. {total} in 5 to 7 business days on {pay}.',
];
export const PROBLEM: Words = [
  'My parcel {order} says delivered but I never got it. Somebody has to search for it.',
  'I want to complain about the driver who brought {order}.',
  'i need a repair of the {item} from {order}, no return',
  'Please make an invoice with my company on it for {order}.',
];
export const POOR: Words = ['Customer needs help.', 'Transfer', 'The customer has a question.', 'User wants a human.', 'help needed', 'Customer request', 'Please assist this customer.', 'Issue with an order.']; // prettier-ignore
export const RICH: Words = [
  '{first} {last} ({user}) did not receive order {order} although its status is delivered, and wants a search. No tool for that.',
  'Verified {user}. Order {order}: the customer asks for a service (search, complaint, repair or invoice) beyond the tools. Nothing changed.',
  'User {user}, order {order}, {item}. The request is outside of the tools, please follow up. Identity checked.',
  'Order {order} of {first} {last} ({user}): special request about the delivered order; no action taken so far.',
];
export const SILENT: Words = ['Have a nice day!', 'Bye.'];
