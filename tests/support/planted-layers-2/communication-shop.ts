/** @file What an agent of a shop has to say: kinds of the layer communication. A bad conversation has one violation, a good one none. */
import type { Talk, Words } from '../planted-layers/talk.ts';
import { Shop } from './shop.ts';
import { agree, close, closeRefused, heldOnly, kindOf, transfer } from './words.ts';

const kind = kindOf('communication', 'retail');

const CANCEL: Words = [
  'Hi, I want to cancel order {order}. I no longer need it.',
  'please cancel {order}, dont need it anymore',
  'I would like my order {order} to be cancelled, since it is no longer needed.',
  'Hey! So I bought a {item} and a {other} but plans changed and I do not need them. Can {order} be cancelled?',
  'Cancel {order}. Reason: no longer needed.',
  'Good day. Kindly cancel my purchase {order}; we have no use for it any longer.',
  'hello, order {order} has to go, i dont need the stuff anymore',
  'I changed my mind about {order} and no longer need it, so I would like it cancelled please.',
];
const ASK_CANCEL: Words = [
  'Order {order} is pending and comes to {total} on your Visa ending in {last4}. Shall I cancel it as no longer needed?',
  'I would cancel {order} ({item} and {other}, {total}, reason: no longer needed) and send the money back to the Visa {last4}. Is that a yes?',
  '**Cancellation**\n- order: {order}\n- reason: no longer needed\n- refund: {total} to Visa {last4}\n\nDo you confirm?',
  'To confirm: {order} gets cancelled because you no longer need it, and {total} returns to your card ending in {last4}. OK?',
  'This cancels the whole of {order}: {item} and {other}. {total} goes back to Visa …{last4}. The reason is “no longer needed”. Agreed?',
  'Here is what I will do: cancel {order}, no longer needed, refund of {total} to your Visa {last4}. Yes or no?',
];
const ASK_CANCEL_TIME: Words = [
  'I would cancel {order} as no longer needed. The {total} would be on your Visa {last4} again after 5 to 7 business days. Shall I?',
  'If you say yes, {order} is cancelled (no longer needed). Expect {total} on the card ending in {last4} within five to seven business days.',
  '- cancel {order}, no longer needed\n- {total} back to Visa {last4}\n- takes 5-7 business days\n\nIs this fine?',
  'Cancelling {order} gives {total} back to your Visa {last4}; banks need between 5 and 7 business days for it. Reason: no longer needed. Go ahead?',
];
const CANCELLED: Words = [
  'Order {order} has been cancelled. {total} will be refunded to your Visa ending in {last4}.',
  'All done! I cancelled {order}, and the refund of {total} is on its way to your card {last4}.',
  'Cancelled. {total} goes back to Visa {last4}.',
  '**Done**\n- {order}: cancelled\n- refund: {total}\n- to: Visa {last4}',
  'Your cancellation of {order} went through, and your card ending in {last4} receives {total}.',
  'That is taken care of. {order} no longer stands, and you get {total} back on the Visa {last4}.',
];
const CANCELLED_TIME: Words = [
  'Order {order} is cancelled. {total} arrives on your Visa {last4} in 5 to 7 business days.',
  'Done. Please allow five to seven business days until {total} shows on the card ending in {last4}.',
  'Cancelled, {total} to Visa {last4}, 5–7 business days.',
  '**Done**\n- {order}: cancelled\n- refund: {total}\n- to: Visa {last4}\n- when: within 5 to 7 business days',
  'I cancelled {order}. Your bank should have {total} for the Visa {last4} in about a week (5-7 working days).',
  'That went through. The {total} takes 5 to 7 business days to be back on your card {last4}.',
];
const ASK_GIFT: Words = [
  '{order} was paid with your gift card, {total} in all. Shall I cancel it as no longer needed and put the money back there?',
  'I would cancel {order} (no longer needed); {total} returns to the gift card. Do you confirm?',
  'Cancel {order} with reason “no longer needed”, {total} back to your gift card. Yes?',
  'Since a gift card paid for {order}, that card gets the {total} back. Reason: no longer needed. OK to cancel?',
];
const CANCELLED_GIFT: Words = [
  'Cancelled. Your gift card already has the {total} again.',
  'Done, {order} is cancelled. The {total} is back on your gift card immediately.',
  '{order} is gone, and you can use the {total} on your gift card right away.',
  'It is cancelled; {total} was credited to the gift card at once.',
];

function cancel(t: Talk, bad: boolean): void {
  const gift = !bad && t.below(3) === 0;
  const early = !bad && !gift && t.below(2) === 0;
  const shop = new Shop(t, 'pending', gift ? 'gift' : 'card');
  shop.start(CANCEL);
  shop.read();
  t.say(gift ? ASK_GIFT : early ? ASK_CANCEL_TIME : ASK_CANCEL);
  agree(t);
  t.call(shop.cancel());
  t.say(gift ? CANCELLED_GIFT : bad || early ? CANCELLED : CANCELLED_TIME, bad);
  close(t);
}

const WRONG_TIME: Words = [
  'Cancelled! The {total} is available on your Visa {last4} immediately.',
  'Order {order} is cancelled. You will see {total} on the card ending in {last4} by tomorrow.',
  'Done. {total} lands on Visa {last4} within 24 hours.',
  'I cancelled {order}; {total} has already arrived on your Visa {last4}.',
  'It is cancelled, and the {total} reaches your card {last4} in 2 to 3 weeks.',
  '- {order}: cancelled\n- {total} to Visa {last4}\n- time: 1 to 2 business days',
];

function wrongTime(t: Talk, bad: boolean): void {
  const gift = !bad && t.below(2) === 0;
  const shop = new Shop(t, 'pending', gift ? 'gift' : 'card');
  shop.start(CANCEL);
  shop.read();
  t.say(gift ? ASK_GIFT : ASK_CANCEL);
  agree(t);
  t.call(shop.cancel());
  t.say(gift ? CANCELLED_GIFT : bad ? WRONG_TIME : CANCELLED_TIME, bad);
  close(t);
}

const RETURN: Words = [
  'I want to return everything from order {order}.',
  'Both things in {order} go back, the {item} and the {other}.',
  'return {order} pls, all of it',
  'Hello! The {item} and the {other} of order {order} did not suit us. May I send both back?',
  'I wish to return the complete order {order}.',
  'can i send back the {item} + {other} ({order})?',
];
const ASK_RETURN: Words = [
  'I would register a return of the {item} and the {other} from {order}, refunded to the Visa {last4}. Is that right, and is it everything?',
  '- return: {item}, {other}\n- order: {order}\n- refund to: Visa {last4}\n\nShall I go ahead? It works once only.',
  'So both items of {order} ({item}, {other}) come back, with the money to your Visa ending in {last4}. Yes?',
  'Let me sum up: {item} and {other}, order {order}, refund to the card {last4}. Do you agree?',
];
const REFUND_WRONG: Words = [
  'The return is registered. You get {wrong} back on the Visa {last4} in 5 to 7 business days, and an email explains how to send the items.',
  'Done! In total {wrong} will be refunded to your card {last4} within 5 to 7 business days. Watch for our email.',
  'Return requested. Refund: {price} to Visa {last4}, 5–7 business days. An email follows.',
  'Your return is set up: {wrong} for both items, Visa {last4}, 5 to 7 business days. The steps come by email.',
  'All set. For the {item} and the {other} you receive {otherPrice} altogether on Visa {last4}, in 5 to 7 business days. See the email for the rest.',
  '**Return requested**\n- total refund: {wrong}\n- to: Visa {last4}\n- in: 5 to 7 business days\n- next: email with instructions',
];
const REFUND_RIGHT: Words = [
  'The return is registered: {price} plus {otherPrice}, so {total} on the Visa {last4} in 5 to 7 business days. An email explains how to send the items.',
  'Done! {total} will be refunded to your card {last4} within 5 to 7 business days. Watch for our email.',
  'Return requested. Refund {total}, Visa {last4}, 5–7 business days. An email follows.',
  'Your return is set up. The {item} brings {price} and the {other} {otherPrice}. It all goes to Visa {last4} in 5 to 7 business days; the steps come by email.',
  'All set, {total} altogether on Visa {last4}, in 5 to 7 business days. See the email for the rest.',
  '**Return requested**\n- {item}: {price}\n- {other}: {otherPrice}\n- sum: {total}\n- to: Visa {last4} in 5 to 7 business days\n- next: email with instructions',
];

function refundAmount(t: Talk, bad: boolean): void {
  const shop = new Shop(t, 'delivered');
  shop.start(RETURN);
  shop.read();
  t.say(ASK_RETURN);
  agree(t);
  t.call(shop.returns(shop.itemIds));
  t.say(bad ? REFUND_WRONG : REFUND_RIGHT, bad);
  close(t);
}

const REFUSED: Words = [
  'I am sorry, but I cannot cancel {order}.',
  'Unfortunately that is not possible. Is there something else I can help with?',
  'No, this cancellation cannot be made. Anything else?',
  'We are unable to fulfil this request. I apologise for the inconvenience.',
  'Sadly {order} cannot be cancelled, sorry about that! Let me know if you need other help.',
  'I have to decline the cancellation of {order}.',
];
const REFUSED_WHY: Words = [
  'I am sorry, {order} is already processed, so I cannot cancel it.',
  'That is not possible: only pending orders can be cancelled, and yours has been processed.',
  'No. Status: processed. Only pending orders may be cancelled.',
  'We are unable to cancel {order}, because it has moved on from pending to processed.',
  'Sadly {order} left the pending stage, it is marked processed, and at that point nobody here can call it off.',
  'I have to decline. The reason: {order} is processed, which rules out a cancellation.',
];

function refusal(t: Talk, bad: boolean): void {
  const shop = new Shop(t, 'processed');
  shop.start(CANCEL);
  shop.read();
  t.say(bad ? REFUSED : REFUSED_WHY, bad);
  closeRefused(t);
}

const OUTSIDE: Words = [
  'My {item} from {order} came with a dent. I want someone to repair it under warranty.',
  'the box of {order} was missing the {other}!! i want it sent again',
  'I need an invoice with our company name for order {order}, please.',
  'Hello, tracking says {order} arrived, but nothing is here. Please start a search for the parcel.',
  'Could somebody give me a discount on {order}? The {item} is cheaper elsewhere.',
  'I was charged twice for {order} by my bank. Please look into that.',
];
const POOR: Words = [
  'Customer needs help.',
  'Please assist this customer with their request.',
  'User has an issue with an order.',
  'Transfer.',
  'The customer wants to talk to somebody.',
  'Case cannot be handled here.',
];
const RICH: Record<'open' | 'held-back', Words> = {
  open: [
    '{name} ({user}), order {order}: asks for a warranty repair of the dented {item}.',
    'Customer {user} says that the {other} was missing in {order} and wants it sent again.',
    '{user} wants an invoice with a company name for {order}. My tools cannot make one.',
  ],
  'held-back': [
    'Order {order} of {user} is shown as delivered, but did not arrive. Please search for the parcel.',
    '{user}: asks for a price match on the {item} of {order}. I have promised nothing.',
    'Double charge claimed for {order}, customer {user}. The order shows one payment of {total}.',
  ],
};
const HALF = 3;

function handover(t: Talk, bad: boolean): void {
  const shop = new Shop(t, 'delivered');
  const topic = t.below(HALF);
  const own = (words: Words) => heldOnly(words[topic + (t.part === 'open' ? 0 : HALF)]!);
  shop.start(own(OUTSIDE));
  shop.read();
  transfer(t, bad ? POOR : heldOnly(RICH[t.part][topic]!), bad);
}

const EXCHANGE: Words = [
  'I have the {item} in {old} from {order} and want it in {new} instead.',
  'swap my {item} ({order}) from {old} to {new} please',
  'Could you exchange the {old} {item} of order {order} for the {new} one?',
  'Hi! About {order}: the {item} should have been {new}, not {old}. Can we exchange it?',
  'Exchange request. Order {order}, {item}, {old} to {new}.',
  'I would rather have the {item} of {order} in {new}; mine is {old}.',
];
const ASK_EXCHANGE: Words = [
  'I can exchange the {item} of {order}, {old} for {new}. You pay the difference of {diff} with Visa {last4}. Is that all, and do I have your yes?',
  '- order {order}\n- {item}: {old} → {new}\n- difference: {diff}, Visa {last4}\n\nConfirm? Only one exchange is possible.',
  'The {new} one costs {newPrice}, so {diff} more, taken from your Visa {last4}. Shall I request the exchange for {order}?',
  'Your {item} ({old}, {order}) would become {new}. {diff} is charged to the card {last4}. Is this correct and complete?',
];
const OTHER_VARIANT: Words = [
  'Done! Your {item} will be exchanged for the {third} one; {diff} is charged to Visa {last4}. An email tells you how to send the old one.',
  'The exchange is requested: you get the {item} in {third}. {diff} on Visa {last4}. Please check your email.',
  'Exchange requested for {order}: {item}, {old} → {third}, {diff}. Email follows.',
  'I have arranged it. Look forward to the {item} in {third}! The {diff} goes to your card {last4}, instructions by email.',
];
const RIGHT_VARIANT: Words = [
  'Done! The {old} {item} makes room for a {new} one; {diff} is charged to Visa {last4}. An email tells you how to send the old one.',
  'The exchange is requested: you get the {item} in {new} rather than {old}. {diff} on Visa {last4}. Please check your email.',
  'Exchange requested for {order}: {item}, {old} → {new}, {diff}. Email follows.',
  'I have arranged it. Not {old} and not {third}: the {item} comes in {new}. The {diff} goes to your card {last4}, instructions by email.',
];

function variant(t: Talk, bad: boolean): void {
  const shop = new Shop(t, 'delivered');
  shop.start(EXCHANGE);
  shop.read(true);
  t.say(ASK_EXCHANGE);
  agree(t);
  t.call(shop.exchange());
  t.say(bad ? OTHER_VARIANT : RIGHT_VARIANT, bad);
  close(t);
}

export const COMMUNICATION_SHOP = [
  kind('no time of the refund', cancel),
  kind('wrong time of the refund', wrongTime),
  kind('wrong amount of a refund', refundAmount),
  kind('refusal without a reason', refusal),
  kind('hand-over that says nothing', handover),
  kind('another variant than was exchanged', variant),
];
export { ASK_EXCHANGE, EXCHANGE };
