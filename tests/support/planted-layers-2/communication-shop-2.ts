/** @file More kinds of the layer communication for a shop: questions, promises, prices and states of orders. */
import type { Talk, Words } from '../planted-layers/talk.ts';
import { Shop } from './shop.ts';
import { agree, close, heldOnly, kindOf } from './words.ts';

const kind = kindOf('communication', 'retail');

const TWO_THINGS: Words = [
  'Two things: return the {other} from {order} to my Visa, and how much is left on my gift card?',
  'I want to send back the {other} of {order} (refund to the Visa). And what is the balance of my gift card?',
  'return the {other}, order {order}, visa. also whats on my gift card right now?',
  'Please take back the {other} from {order} and refund the Visa. Besides, could you tell me the balance of my gift card?',
  'The {other} in {order} goes back, money to the Visa please. How many dollars do I still have on the gift card?',
  '1. Return {other} ({order}), Visa\n2. What is my gift card balance?',
];
const ASK_OTHER: Words = [
  'I would register the return of the {other} from {order}, {otherPrice} to Visa {last4}. Is that everything you return, and do I have your yes?',
  'Return of the {other} ({order}): {otherPrice} back to the card {last4}. Nothing else from this order can be returned later. Do you confirm?',
  'Shall I request this return: {other}, order {order}, refund of {otherPrice} to the Visa ending in {last4}?',
  '- {other} from {order}\n- refund {otherPrice}\n- Visa {last4}\n\nConfirm with yes, please.',
];
const RETURNED: Words = [
  'The return of the {other} is requested. {otherPrice} comes to Visa {last4} in 5 to 7 business days, and an email explains the rest.',
  'Done. {otherPrice} for the {other} goes to your card {last4} within 5 to 7 business days. You will get an email.',
  'Return requested: {other}, {otherPrice}, Visa {last4}, 5–7 business days. Details by email.',
  'I have registered it: the {other} goes back and {otherPrice} reaches the Visa {last4} in 5 to 7 business days. Please follow the email.',
];
const RETURNED_BALANCE: Words = [
  'The return of the {other} is requested. {otherPrice} comes to Visa {last4} in 5 to 7 business days; an email follows. Your gift card holds {balance}.',
  'Done. {otherPrice} goes to your card {last4} within 5 to 7 business days, see the email. As for the other question: {balance}.',
  'Return requested: {other}, {otherPrice}, Visa {last4}, 5–7 business days. Details by email. Gift card: {balance}.',
  'I have registered it: {otherPrice} reaches the Visa {last4} in 5 to 7 business days, please follow the email. And you still have {balance} in gift money.',
];

function question(t: Talk, bad: boolean): void {
  const shop = new Shop(t, 'delivered');
  shop.start(TWO_THINGS);
  shop.read();
  t.say(ASK_OTHER);
  agree(t);
  t.call(shop.returns([shop.itemIds[1]!]));
  t.say(bad ? RETURNED : RETURNED_BALANCE, bad);
  close(t, bad);
}

const MOVE: Words = [
  'I moved. Send {order} to {street}, {suite}, {city}, {state} {newZip}, and make that my default address too.',
  'new address: {street} {suite}, {city} {state} {newZip}, USA. for order {order} and for my profile as well',
  'Could {order} go to {street}, {suite}, {city}, {state} {newZip}? And store this address in my account, please.',
  'Please change both the delivery of {order} and my profile to {street}, {suite}, {city}, {state} {newZip}.',
  'We have a new home: {street}, {suite}, {city} {state} {newZip}. Order {order} should go there, my default should change too.',
  'Address update for {order} and for the account: {street}, {suite}, {city}, {state} {newZip}.',
];
const ASK_MOVE: Words = [
  'I would first send {order} to {street}, {suite}, {city}, {state} {newZip}, and then change the default address to the same. Yes to both?',
  'Two changes: delivery of {order}, and your default address, both to {street}, {suite}, {city}, {state} {newZip}. Confirm both?',
  '- {order}: ship to {street}, {suite}, {city}, {state} {newZip}\n- profile: same address\n\nShall I do both?',
  'New address for {order} and for your profile: {street}, {suite}, {city}, {state} {newZip}. May I change the two?',
];
const PROMISE: Words = [
  '{order} now goes to {street}. I will update your default address next.',
  'The order is changed. Your profile comes right after this, I will take care of it.',
  'Order updated to {street}. I shall now change the profile as well.',
  'First part done: {order} ships to {street}. I am going to do the default address for you now.',
];
const KEPT: Words = [
  'And the default address is {street} too.',
  'As promised, your profile shows {street} now.',
  'The profile is updated as well.',
  'Second part done too: your default address has changed.',
];
const WAITING: Words = ['Thanks!', 'ok', 'Good.', 'Very kind.', 'great', 'Alright.'];

function promise(t: Talk, bad: boolean): void {
  const shop = new Shop(t, 'pending');
  shop.start(MOVE);
  shop.read();
  t.say(ASK_MOVE);
  agree(t);
  t.call(shop.move());
  t.say(PROMISE, bad);
  t.user(WAITING);
  if (bad) {
    t.say(['Is there anything else?', 'Thank you for shopping with us. Goodbye!', 'Have a nice day!', 'Can I do something else for you?']);
    t.user(['No, bye.', 'that is all', 'Nothing else.', 'no thanks']);
  } else {
    t.call(shop.moveHome());
    t.say(KEPT);
    close(t);
  }
}

const MODIFY: Words = heldOnly(
  'In {order}, make the {item} {new} instead of {old}. Use my Visa.',
  'My pending order {order} has a {item} in {old}, I need {new}. Any difference goes to the Visa.',
  'change {item} in {order} to {new}, visa for whatever',
);
const ASK_NO_PRICE: Words = heldOnly(
  'I would change the {item} in {order} from {old} to {new}, with your Visa {last4}. Afterwards the order is fixed. Is that everything, and is it a yes?',
  'So: {item} of {order}, {new} for {old}, payment by Visa {last4}. No other change is possible later. Shall I?',
);
const ASK_PRICE: Words = heldOnly(
  'I would change the {item} in {order} from {old} to {new}, which costs {diff} more, on your Visa {last4}. Afterwards the order is fixed. Is that everything, and is it a yes?',
  'So: {item} of {order}, {new} for {old}. Instead of {price} it is {newPrice}, and Visa {last4} pays the rest of {diff}. No other change is possible later. Shall I?',
);
const MODIFIED: Words = heldOnly(
  'The {item} in {order} is now {new}.',
  'Changed! You get the {item} in {new}. The order cannot be altered any more.',
  'Done, {old} became {new}, and the Visa {last4} was used.',
);
const MODIFIED_PRICE: Words = heldOnly(
  'The {item} in {order} is now {new}. Your Visa {last4} pays the {diff} that it costs more.',
  'Changed! {new} costs {newPrice} instead of {price}, and the rest was taken from the Visa.',
  'Done, {old} became {new}. Charged to the Visa {last4}: {diff}.',
);

function difference(t: Talk, bad: boolean): void {
  const shop = new Shop(t, 'pending');
  shop.start(MODIFY);
  shop.read(true);
  t.say(bad ? ASK_NO_PRICE : ASK_PRICE);
  agree(t);
  t.call(shop.modify());
  t.say(bad ? MODIFIED : MODIFIED_PRICE, bad);
  close(t);
}

const MOVE_ORDER: Words = heldOnly(
  'Deliver {order} to {street}, {suite}, {city}, {state} {newZip} instead, please.',
  'wrong address on {order}! should be {street} {suite}, {city} {state} {newZip}',
  'Please redirect order {order} to {street}, {suite}, {city}, {state} {newZip}.',
);
const ASK_ORDER: Words = heldOnly(
  'Shall I send {order} to {street}, {suite}, {city}, {state} {newZip}, USA?',
  'New delivery address for {order}: {street}, {suite}, {city}, {state} {newZip}. Is that right?',
);
const MOVED: Words = heldOnly(
  'The address of {order} has been changed to {street}, {city}.',
  'All good, {order} now ships to {street}, {suite}.',
  'Updated. {order} goes to {city} now.',
);

function claimed(t: Talk, bad: boolean): void {
  const shop = new Shop(t, 'pending');
  shop.start(MOVE_ORDER);
  shop.read();
  t.say(ASK_ORDER);
  agree(t);
  if (!bad) t.call(shop.move());
  t.say(MOVED, bad);
  close(t);
}

const WHERE: Words = heldOnly(
  'What is the state of my order {order}?',
  'has {order} left yet? need to know',
  'Could you tell me how far order {order} has come?',
);
const STATE_WRONG: Words = heldOnly(
  'Good news: {order} has been delivered.',
  '{order} is still pending, so it has not been handled yet.',
  'Your order {order} was cancelled.',
);
const STATE_RIGHT: Words = heldOnly(
  '{order} is processed. It is neither pending nor delivered. The tracking id is {tracking}.',
  'It has been processed already, which means that it can no longer be changed.',
  'Status of {order}: processed. It was not cancelled.',
);

function state(t: Talk, bad: boolean): void {
  const shop = new Shop(t, 'processed');
  shop.start(WHERE);
  t.call(shop.readOrder(), false, shop.beside());
  t.say(bad ? STATE_WRONG : STATE_RIGHT, bad);
  close(t);
}

const PAYMENT: Words = heldOnly(
  'Switch the payment of {order} from Visa to my gift card.',
  'pls charge {order} to the gift card instead',
  'I want my gift card to pay for order {order}. The Visa should not.',
);
const ASK_PAYMENT: Words = heldOnly(
  '{order} ({total}) would be paid by your gift card instead of the Visa {last4}. Do you agree?',
  'Gift card instead of Visa {last4} for {order}, {total} in all: yes?',
);
const PAID: Words = heldOnly(
  'Done: the gift card pays for {order} now, and {total} goes back to Visa {last4}.',
  'The payment of {order} is on your gift card. You will see a refund on the Visa {last4}.',
);
const PAID_TIME: Words = heldOnly(
  'Done: the gift card pays for {order} now. The {total} is on Visa {last4} again in 5 to 7 business days.',
  'The payment of {order} is on your gift card. The Visa {last4} gets its {total} back after 5-7 business days.',
);

function switched(t: Talk, bad: boolean): void {
  const shop = new Shop(t, 'pending');
  shop.start(PAYMENT);
  shop.read();
  t.say(ASK_PAYMENT);
  agree(t);
  t.call(shop.pay());
  t.say(bad ? PAID : PAID_TIME, bad);
  close(t);
}

const BOTH: Words = heldOnly(
  'Please cancel {order} and {next}. I need neither of them any longer.',
  'cancel two orders: {order}, {next}. both no longer needed',
);
const ASK_BOTH: Words = heldOnly(
  'Both are pending. {order} was paid with the gift card, {next} with the Visa {last4}, {total} each. Shall I cancel both as no longer needed?',
  '- {order}: {total}, gift card\n- {next}: {total}, Visa {last4}\n- reason: no longer needed\n\nCancel both?',
);
const BOTH_DONE: Words = heldOnly(
  'Both are cancelled. {total} is on your gift card right away, and another {total} goes to Visa {last4}.',
  'Done. The gift card has its {total} at once. The Visa {last4} gets {total} as well.',
);
const BOTH_TIME: Words = heldOnly(
  'Both are cancelled. {total} is on your gift card right away, and another {total} is on Visa {last4} in 5 to 7 business days.',
  'Done. The gift card has its {total} at once. For the Visa {last4} it takes 5-7 business days.',
);

function both(t: Talk, bad: boolean): void {
  const shop = new Shop(t, 'pending', 'gift');
  const [payment] = shop.order.payment_history as Record<string, unknown>[];
  const second = { ...shop.order, order_id: t.facts.next, payment_history: [{ ...payment, payment_method_id: shop.card }] };
  shop.start(BOTH);
  shop.read();
  t.call(shop.readOrder(t.facts.next, second));
  t.say(ASK_BOTH);
  agree(t);
  t.call(shop.cancel());
  t.call({ ...shop.cancel(undefined, t.facts.next), result: { ...second, status: 'cancelled', cancel_reason: 'no longer needed' } });
  t.say(bad ? BOTH_DONE : BOTH_TIME, bad);
  close(t);
}

export const COMMUNICATION_SHOP_2 = [
  kind('a question without an answer', question),
  kind('a promise that was not kept', promise),
  kind('no difference in price', difference, true),
  kind('a change that was never made', claimed, true),
  kind('wrong state of an order', state, true),
  kind('no time of the refund after a new payment', switched, true),
  kind('no time of the second of two refunds', both, true),
];
