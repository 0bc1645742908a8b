/** @file What customers of the shop want, with wordings of the wish, of the question for a yes and of the report. */
import { identify, look, record, type Shop, type Status } from './shop.ts';
import type { Job, Talk, Words } from './talk.ts';

export type Want = 'cancel' | 'payment' | 'address' | 'items' | 'return' | 'exchange';

const WISH: Record<Want, Words> = {
  cancel: [
    "I don't need order {order} anymore, can you cancel it?",
    'Hi, please cancel {order}. I ordered it by mistake... no wait, I simply no longer need it.',
    'cancel my order {order} pls, not needed any longer',
    'Good morning. I would like to cancel the order with the number {order}, because we no longer need those things.',
    'Hey! Change of plans at home, so {order} can be cancelled. I no longer need it.',
    'My order {order} has the {item} and the {item2}. I no longer need either. Cancel?',
    'I want order {order} cancelled since it is no longer needed.',
    'Could you call off {order}? I do not need it now.',
  ],
  payment: [
    'I would like to pay order {order} with PayPal instead.',
    'can you switch the payment of {order} to my paypal',
    'Hello, I used the wrong payment method for {order}. It should be my PayPal account.',
    'Please move the payment for {order} over to PayPal.',
    'Is it possible to charge {order} to my PayPal rather than what I picked at checkout?',
    'Order {order}: please change payment to PayPal.',
    'Hi! For my order {order} I want PayPal to be used.',
    "I'd rather have {order} billed to PayPal, can you arrange that?",
  ],
  address: [
    'I have moved. Please send order {order} to {to}.',
    'wrong address on {order}! it needs to go to {to}',
    'Could you update where {order} is shipped? The new address is {to}, USA.',
    'Hi, order {order} should be delivered to {to} instead.',
    "I'll be at my sister's place. Please ship {order} to {to}.",
    'New shipping address for {order}: {to}.',
    'Please redirect {order} to {to}.',
    'Order {order} goes to the old flat. Can it go to {to}?',
  ],
  items: [
    'In order {order} I picked the {option} {item}. Can I have {newOption} instead?',
    'please change the {item} in {order} to {newOption}',
    'Hello, for {order} I would prefer the {item} in {newOption}.',
    'Could you swap the {option} {item} of {order} for the {newOption} one before it ships?',
    'I made a slip in {order}: the {item} should be {newOption}, not {option}.',
    'Hi there. {order} is not shipped yet, right? I want the {item} in {newOption}.',
    'The {item} in {order}, {option} to {newOption} please.',
    'Can the {item} I ordered ({order}) still be changed to {newOption}?',
  ],
  return: [
    'I want to send back the {item} from order {order}.',
    'hi, return for {order}: just the {item}',
    'The {item} in {order} is not what I hoped for. I would like to return it and keep the {item2}.',
    'Good afternoon, how can I return the {item} of order {order}?',
    'Please arrange a return of the {item} from {order}.',
    "I'm not happy with the {item}. Order number is {order}. Can I give it back?",
    'Return request: order {order}, the {item}.',
    'My {item} (order {order}) has to go back.',
  ],
  exchange: [
    'The {item} from {order} came in {option}, and I need {newOption}. Can I exchange it?',
    'exchange the {item} in {order} for {newOption} please',
    'Hello, I received {order} but would like the {item} in {newOption} instead of {option}.',
    'I would like to swap my delivered {item} ({order}) for the {newOption} version.',
    'Is an exchange possible? {order}, {item}, from {option} to {newOption}.',
    'My {item} from order {order} should be {newOption}. Please exchange it.',
    'Hi, I need to exchange something: the {item} from {order}, I want {newOption}.',
    'Could I trade the {option} {item} of {order} for a {newOption} one?',
  ],
};

const ASK: Record<Want, Words> = {
  cancel: [
    'Thanks, {first}. I would cancel order {order} ({item} and {item2}) with the reason "no longer needed". {total} goes back to {pay} {time}. Do you confirm (yes/no)?',
    "Here's what I'll do:\n\n- **Order:** {order}\n- **Items:** {item}, {item2}\n- **Reason:** no longer needed\n- **Refund:** {total} to {pay}, {time}\n\nShall I proceed?",
    'Order {order} is still pending. I can cancel all of it as no longer needed; the refund of {total} reaches {pay} {time}. OK?',
    '{first}, to confirm: cancel {order}, reason "no longer needed", refund of {total} to {pay} {time}. Is this right?',
    'I found it. Cancelling {order} means that the {item} and the {item2} will not be sent, and {total} is refunded to {pay} {time}. The reason on file would be "no longer needed". May I go ahead?',
    '### Cancellation\n1. Order {order}\n2. Reason: no longer needed\n3. {total} back to {pay} {time}\n\nPlease reply with "yes" to continue.',
    'So: {order} gets cancelled because it is no longer needed, and {pay} is credited {total} {time}. Yes or no?',
    'The order {order} can be cancelled. You would receive {total} on {pay} {time}. I would note "no longer needed" as the reason. Do you want me to do this?',
  ],
  payment: [
    'I can change order {order} ({total}) from {pay} to your PayPal account. {total} goes back to {pay} {time}. Do you confirm?',
    '- Order: {order}\n- New payment method: PayPal\n- Amount: {total}\n- Refund to {pay}: {time}\n\nIs that okay?',
    'Then {total} for {order} will be charged to PayPal, and {pay} gets {total} back {time}. Shall I do that?',
    'To confirm: {order} will be paid with PayPal ({total}), and the {total} on {pay} is refunded {time}. Yes?',
    '**Change of payment** for {order}: PayPal instead of {pay}. The {total} is returned to {pay} {time}. Proceed?',
    'Your order {order} is pending, so its payment can be moved to PayPal. {pay} would be refunded {total} {time}. Do you agree?',
    'Switching {order} to your PayPal account: PayPal is charged {total}, {pay} is refunded the same amount {time}. Please say yes to continue.',
    'Just to be sure: PayPal will pay the {total} of {order} and you get {total} on {pay} {time}. Right?',
  ],
  address: [
    'I would change the shipping address of {order} to {to}, USA. Is that correct?',
    '**New shipping address** for order {order}:\n\n{to}, USA\n\nShall I save it?',
    'So {order} will be shipped to {to}. May I update it?',
    'Order {order} is pending, so the address can be changed to {to}. Do you confirm (yes/no)?',
    'To confirm, please check the address for {order}: {to}, USA. Is all of it right?',
    'I am about to replace the address of {order} with {to}. OK to proceed?',
    'Please confirm: order {order}, ship to {to}, USA.',
    'The parcel of {order} would go to {to} instead. Would you like me to make this change?',
  ],
  items: [
    'I would change the {item} in {order} from {option} ({price}) to {newOption} ({newPrice}); {diffText}, with {pay}. Items of an order can be changed only once, so please confirm that this is everything. Shall I proceed?',
    '- Order {order}\n- {item}: {option} → {newOption}\n- Difference: {diffText} ({pay})\n\nAfter this the order cannot be changed or cancelled again. Are these all the items you want to change, and do you confirm?',
    'The {newOption} {item} is available for {newPrice}, so {diffText} on {pay}. This works once for {order}: is there any other item to change, or shall I go ahead with just this one?',
    'Before I change {order}: {item} to {newOption}, {diffText} via {pay}. I can only do it a single time. Have you named all items? If so, say yes.',
    'For {order} I would replace the {option} {item} with the {newOption} one. {diffText}, settled with {pay}. Please note that no more changes are possible later. Is this the complete list, and is it okay?',
    '**Item change** in {order}\n\n* {item}, {option} to {newOption}\n* {diffText}, {pay}\n\nOnly one change per order. Anything else to include? Otherwise please confirm with yes.',
    'I can swap the {item} to {newOption} in {order}: {diffText} using {pay}. Since it is possible just once, please tell me whether that is all you want to change. Do you agree?',
    'Here is the plan: {order}, {item} in {newOption} at {newPrice} instead of {price}, {diffText} on {pay}. Is there nothing else you want to modify in this order? If so, shall I do it?',
  ],
  return: [
    'I can register the return of the {item} ({price}) from {order}, with the refund of {price} to {pay}. You will get an email about how to send it back. Do you confirm?',
    '- Order: {order}\n- Return: {item}, {price}\n- Refund to: {pay}\n\nAn email will explain how to return it. Proceed?',
    'So the {item} of {order} goes back and {price} is refunded to {pay}. Instructions follow by email. Is that right, and is it the only item?',
    'Return summary for {order}: {item} for {price}, refund on {pay}; we email you the return instructions. Yes or no?',
    'I would request a return for the {item} in {order}. You get {price} back on {pay}, and an email with the next steps. Shall I?',
    '**Return** of the {item} from {order}, {price} to {pay}. You will receive an email with the return steps. May I submit it?',
    'To confirm: only the {item} from {order} is returned, and {pay} receives {price}. The instructions come by email. Okay?',
    'The {item} ({order}) can be returned. {price} would be credited to {pay} and an email tells you how to send the item. Do you want that?',
  ],
  exchange: [
    'I can exchange the {option} {item} of {order} for the {newOption} one ({newPrice}); {diffText}, with {pay}. An exchange works only once an order: is this all you want to exchange? You will get an email on how to send it back. Do you confirm?',
    '- Order {order}\n- {item}: {option} → {newOption}\n- Difference: {diffText} ({pay})\n- You get an email with return instructions\n\nPlease confirm that these are all the items, then I will proceed. OK?',
    'The {newOption} {item} costs {newPrice}, so {diffText} on {pay}. {order} can be exchanged one time only, so have you named everything? An email will tell you how to send the old one. Shall I go ahead?',
    'For {order}: exchange of the {item}, {option} for {newOption}, {diffText}, {pay}. Nothing else from this order can be exchanged afterwards. Is the list complete and do you agree? The return steps come by email.',
    'Exchange of one {item} in {order}: new one {newOption}, {newPrice}, {diffText} via {pay}. We email you how to return the {option} one. Only one exchange is possible: are there other items? If not, please say yes.',
    '**Exchange** {order}\n\n1. {item} from {option} to {newOption}\n2. {diffText}, {pay}\n3. email with instructions\n\nAre all items included? Yes to continue.',
    'I would swap your {item} from {order} for {newOption}; {diffText} on {pay}. You will receive an email about sending back the {option} one. As this can be done just once, is that everything? Yes or no?',
    'Let me repeat: {order}, {item}, {option} out and {newOption} in, {diffText} with {pay}, and an email with the steps. Do you have further items to exchange, or may I do it like this?',
  ],
};

const DONE: Record<Want, Words> = {
  cancel: [
    'Order {order} is cancelled. {total} will be back on {pay} {time}.',
    'Done! {order} has been cancelled and the refund of {total} to {pay} follows {time}. Anything else?',
    'Your order is cancelled. Expect {total} on {pay} {time}.',
    'All set. {order} is now cancelled; {total} returns to {pay} {time}.',
    'The cancellation of {order} went through, {total} goes to {pay} {time}.',
    '✅ {order} cancelled\n💳 {total} to {pay} {time}',
    'I have cancelled {order}. The amount of {total} is refunded to {pay} {time}.',
    'That worked: {order} is off, and {pay} gets {total} {time}.',
  ],
  payment: [
    'Order {order} is now paid with PayPal. {total} will be back on {pay} {time}.',
    'Done, PayPal pays for {order}. The refund of {total} to {pay} arrives {time}.',
    'The payment method was changed to PayPal, and {pay} is refunded {total} {time}.',
    'All good: {order} is charged to PayPal now; {total} returns to {pay} {time}.',
    'I have moved {order} to PayPal. You get {total} on {pay} {time}.',
    'PayPal is set for {order}. {total} goes back to {pay} {time}.',
    'Changed! {order}: PayPal. Refund to {pay}: {total}, {time}.',
    'Your PayPal account now covers {order}, and {total} comes back to {pay} {time}.',
  ],
  address: [
    'The address of {order} is updated to {to}.',
    'Done. {order} will be sent to {to}.',
    'Saved! {order} now ships to {to}.',
    'I have changed it: {order} goes to {to}.',
    'Your order {order} has the new address {to}.',
    'All set, the parcel of {order} will go to {to}.',
    'Updated: {order}, {to}.',
    'The shipping address for {order} is now {to}.',
  ],
  items: [
    'Order {order} now has the {item} in {newOption}; {diffText} on {pay}.',
    'Done: the {item} is changed to {newOption}, and {diffText} ({pay}).',
    'Your {item} in {order} will be {newOption}. The difference: {diffText}, {pay}.',
    'Changed! {item}, {newOption}. {diffText} with {pay}.',
    'The order was modified: {newOption} {item}, {diffText} via {pay}.',
    'All set, {order} contains the {newOption} {item} now, so {diffText} on {pay}.',
    'I have replaced the {item} by the {newOption} one, {diffText} on {pay}.',
    'That is done. {order}: {item} in {newOption}; {diffText}, {pay}.',
  ],
  return: [
    'The return is requested. {price} will go to {pay}. Please watch for our email with the instructions.',
    'Done: the return of the {item} is registered, {price} is refunded to {pay}. You will receive an email on how to send it back.',
    'Your return for {order} is in our system; an email with the steps is on its way, and {price} goes to {pay}.',
    'Return requested! Check your email for the instructions. Refund: {price}, {pay}.',
    'I have requested the return of the {item}. You get {price} on {pay}, and an email about sending it.',
    'All set. An email will tell you how to return the {item}; {pay} receives {price}.',
    'The {item} is marked for return. We have emailed you what to do, and {price} goes back to {pay}.',
    'Return accepted for {order}. Instructions by email, {price} to {pay}.',
  ],
  exchange: [
    'The exchange is requested: {newOption} {item}, {diffText} on {pay}. You will get an email on how to return the old one.',
    'Done, the {item} is exchanged for {newOption}; {diffText} ({pay}). The instructions come by email.',
    'Exchange registered for {order}. {diffText} with {pay}, and an email explains how to send back the {option} one.',
    'Your {newOption} {item} is on the list now. {diffText}, {pay}. Please follow the email about the return of the old one.',
    'I have requested it: {option} for {newOption}, {diffText} via {pay}. Watch your email for the steps.',
    'All done. {order}: exchange requested, {diffText} on {pay}; email with instructions follows.',
    'The exchange went through: {item} in {newOption}, {diffText} with {pay}. Look out for an email on how to send the old one.',
    'Exchange requested, {first}. {diffText} on {pay}. An email with the return steps will arrive.',
  ],
};

const STATUS: Record<Want, Status> = { cancel: 'pending', payment: 'pending', address: 'pending', items: 'pending', return: 'delivered', exchange: 'delivered' }; // prettier-ignore

function call(s: Shop, want: Want) {
  const { order, items, other, payId, payPalId, to, total } = s;
  const [ids, more] = [[items[0].item_id], { item_ids: [items[0].item_id], new_item_ids: [other.item_id], payment_method_id: payId }];
  const rise = Math.round((other.price - items[0].price) * 100) / 100;
  const refund = { transaction_type: 'refund', amount: total, payment_method_id: payId };
  const payment = { transaction_type: 'payment', amount: total, payment_method_id: payId };
  const settled = { transaction_type: rise > 0 ? 'payment' : 'refund', amount: Math.abs(rise), payment_method_id: payId };
  const write = {
    cancel: ['cancel_pending_order', { order_id: order, reason: 'no longer needed' }, record(s, 'cancelled', { payment_history: [payment, refund], cancel_reason: 'no longer needed' })], // prettier-ignore
    payment: ['modify_pending_order_payment', { order_id: order, payment_method_id: payPalId }, record(s, 'pending', { payment_history: [payment, { ...payment, payment_method_id: payPalId }, refund] })], // prettier-ignore
    address: ['modify_pending_order_address', { order_id: order, ...to }, record(s, 'pending', { address: to })],
    items: ['modify_pending_order_items', { order_id: order, ...more }, record(s, 'pending', { items: [other, items[1]], status: 'pending (item modified)', payment_history: [payment, settled] })], // prettier-ignore
    return: ['return_delivered_order_items', { order_id: order, item_ids: ids, payment_method_id: payId }, record(s, 'delivered', { status: 'return requested', return_items: ids, return_payment_method_id: payId })], // prettier-ignore
    exchange: ['exchange_delivered_order_items', { order_id: order, ...more }, record(s, 'delivered', { status: 'exchange requested', exchange_items: ids, exchange_new_items: [other.item_id], exchange_payment_method_id: payId, exchange_price_difference: rise })], // prettier-ignore
  } satisfies Record<Want, [string, object, object]>;
  const [name, args, result] = write[want];
  return { name, args, result };
}

export function shopJob(t: Talk, s: Shop, want: Want): Job {
  return {
    wish: WISH[want],
    find: () => identify(t, s),
    read() {
      look(t, s, STATUS[want]);
      if (want !== 'items' && want !== 'exchange') return;
      const [was, other] = [s.items[0], s.other];
      const variants = [was, other].map(({ item_id, options, price }) => [item_id, { item_id, options, available: true, price }] as const);
      const result = { name: was.name, product_id: was.product_id, variants: Object.fromEntries(variants) };
      t.call({ name: 'get_product_details', args: { product_id: was.product_id }, result });
    },
    ask: ASK[want],
    write: call(s, want),
    done: DONE[want],
  };
}
