/** @file Conversations of the shop for the layer policy: rules on what must happen before an act. */
import { BARE, GREETING, end, handOver, serve } from './phrases.ts';
import { byEmail, byName, identify, look, readOrder, readUser, record, shop } from './shop.ts';
import { shopJob, type Want } from './shop-jobs.ts';
import type { Kind, Talk, Words } from './talk.ts';

const WITH_ID: Words = [
  "My user id is {user}. What's the status of order {order}?",
  'user id {user}, please show me where {order} is',
  'Hello, {user} here. Could you tell me what is in my order {order}?',
  'I am {user} and want to know the total of {order}.',
  'Hi, account {user}: has {order} been sent already?',
  "This is {user}. I'd like to check on {order}, please.",
  'I have the user id {user}; please look at order {order} for me.',
  'Can you check {order}? The id of my account is {user}.',
];
const STATUS: Words = [
  'Order {order} is pending. It has the {item} and the {item2}, {total} in total.',
  'It is still pending: {item} ({price}) and {item2} ({price2}).',
  'Your order {order} over {total} has the status pending.',
  '{order} has not been shipped, its status is pending.',
  'The order is pending and contains a {item} and a {item2}.',
  'Status of {order}: **pending**. Total: {total}.',
  'I see {order} as pending, with {total} to be paid in all.',
  '{order} ({item}, {item2}) is pending at the moment.',
];
const STILL_WHO: Words = [
  'Thanks. A user id is not enough, though. Please tell me your email as well.',
  'I still have to verify you. Which email is on the account?',
  'Could you also give me your email, or your name and zip code? I need it for verification.',
  'For your safety I need your email address besides the user id.',
  'Thank you, but I must find you by email or by name and zip.',
  'Noted. Before I can look at it, what is your email?',
  'I cannot use the id alone. Your email, please?',
  "Let me verify you first, what's your email?",
];
const NO_TOOL_DELIVERED: Words = [
  'My parcel of {order} says delivered but it never arrived. I want somebody to search for it.',
  'The {item} in {order} arrived broken and I need a written warranty statement from a manager.',
  'I want to file a complaint about your courier with {order}.',
  'I need the {item} of {order} repaired, not returned.',
];
const NO_TOOL_PENDING: Words = [
  'can you match a price I saw elsewhere for {order}?',
  'I would like to add a gift message and wrapping to {order}.',
  'Please split {order} into two parcels with two dates.',
  'Please issue a tax invoice with our company number for {order}.',
];
const NO_TOOL_SUMMARY: Words = [
  'Customer {first} {last} ({user}) has a request about order {order} that the tools cannot do: search, repair or complaint.',
  '{user}: special request for {order}, not possible with the tools. Identity verified.',
  'Verified customer {first} {last}, order {order}. The request needs a human, because no tool fits.',
  'Order {order} of {user}. The customer asks for a service without a tool. Nothing was changed.',
];
const GIVE_UP: Words = [
  'Customer {user} wants to cancel order {order}.',
  '{first} {last} asks for the cancellation of {order}, which is pending.',
  'Please cancel the pending order {order} for {user}.',
  'Cancellation of {order} requested, reason no longer needed.',
  'User {user} would like {order} cancelled.',
  'Please handle: {order}, cancel, no longer needed.',
];
const NO_REMINDER_ITEMS: Words = [
  'I would change the {item} in {order} from {option} to {newOption}; {diffText} with {pay}. Do you confirm?',
  '- Order {order}\n- {item}: {option} → {newOption}\n- {diffText}, {pay}\n\nOK?',
  'For {order}: {item} in {newOption} at {newPrice}, so {diffText} on {pay}. Shall I do it?',
  'So {newOption} for {option} in {order}, {diffText} using {pay}. Yes or no?',
  '{newOption} is available for {newPrice}; {diffText} on {pay}. May I update {order}?',
  '**{order}**: {item} {option} → {newOption}, {diffText} ({pay}). Proceed?',
  'I can replace the {option} {item} of {order} by the {newOption} one, {diffText}, {pay}. Is that right?',
  'Please confirm for {order}: {item} to {newOption}, {diffText} via {pay}.',
];
const NO_REMINDER_EXCHANGE: Words = NO_REMINDER_ITEMS.map(
  (words) => `${words.replace('change the', 'exchange the')} An email will explain how to send the old one back.`,
);
const BESIDE: Words = [
  'I am looking at your order now, just a second.',
  'Thanks, {first}! Let me check {order} for you.',
  'Great, found you. Now I will open {order}.',
  'One moment while I read the order.',
  'Perfect. Let me pull up the details of {order}.',
  'Thank you for waiting, I am getting the order.',
  'Alright, checking {order}.',
  'I have your account, and now I look at your order.',
];
const RECOMMEND: Words = [
  'Both are in stock. Personally I would take the {newOption} one, it looks much nicer.',
  'I really recommend {newOption}, it is the better choice for most people.',
  'If you ask me, {newOption} is worth it. I love it.',
  'You should definitely go with {newOption}; it is my favourite.',
  'In my opinion the {newOption} {item} is far better than the {option} one.',
  "Trust me, {newOption} is gorgeous. I'd go for that.",
  "I think you'd be happier with {newOption}, everyone likes it more.",
  'My advice would be the {newOption} one, it feels more premium.',
];
const NO_OPINION: Words = [
  'I cannot give a recommendation, but here are the facts: {option} costs {price} and {newOption} {newPrice}.',
  "I'm not able to say which is better. The {option} one is {price}, the {newOption} one {newPrice}.",
  'That is up to you. Prices: {option} {price}, {newOption} {newPrice}.',
  'I have no opinion to offer. Both are available: {option} at {price}, {newOption} at {newPrice}.',
  'I can only tell you the data: {newOption} is {newPrice} and {option} is {price}.',
  'Sorry, I do not give advice on taste. {newOption} is available for {newPrice}.',
  'Recommendations are not something I can offer. {option}: {price}. {newOption}: {newPrice}.',
  'I must leave the choice to you. {option} is {price} and {newOption} is {newPrice}.',
];
const WHICH: Words = [
  'Which one would you take, {option} or {newOption}?',
  'hmm {newOption} or {option}, what do you think?',
  'What do you recommend, keep {option} or change to {newOption}?',
  'Is {newOption} better? I cannot decide.',
];
const SHIPPED: Words = [
  'I am sorry, but {order} is already processed, and only pending orders can be cancelled. So I cannot cancel it.',
  'Order {order} has the status processed. A cancellation is possible only while an order is pending.',
  'That is no longer possible: {order} is processed, and we cancel pending orders only.',
  'Unfortunately I have to decline, because {order} is processed and not pending any more.',
];
const KEEP: Words = ['Oh, too bad. Thanks anyway.', 'I see. Then I keep it.', 'Hm, okay.', 'All right, bye.'];

const any = (t: Talk, wants: Want[]) => t.one(wants);

export const POLICY_SHOP: Kind[] = [
  {
    layer: 'policy',
    domain: 'retail',
    name: 'shows data to a customer who gave only a user id',
    write(t, bad) {
      const s = shop(t);
      t.user(WITH_ID);
      if (!bad) {
        t.say(STILL_WHO);
        t.user(['{email}', 'it is {email}', 'Sure, {email}', '{email} is the email']);
        t.call(byEmail(s));
      }
      if (t.below(2)) t.call(readUser(t, s), bad);
      t.call(readOrder(s, 'pending'), bad && t.expected.length === 0);
      t.say(STATUS);
      end(t);
    },
  },
  {
    layer: 'policy',
    domain: 'retail',
    name: 'changes an order without looking at its status',
    write(t, bad) {
      const s = shop(t, t.below(3) === 0);
      const job = shopJob(
        t,
        s,
        any(t, bad ? ['cancel', 'payment', 'address', 'return'] : ['cancel', 'payment', 'address', 'return', 'items']),
      );
      serve(t, job, bad ? { read: () => t.call(readUser(t, s)), plant: 'write' } : {});
    },
  },
  {
    layer: 'policy',
    domain: 'retail',
    name: 'asks for a yes without naming the details',
    write(t, bad) {
      const s = shop(t);
      const want = any(t, ['cancel', 'payment', 'address', 'return']);
      serve(t, shopJob(t, s, want), bad ? { ask: BARE, plant: 'write' } : {});
    },
  },
  {
    layer: 'policy',
    domain: 'retail',
    name: 'does something else than what the customer confirmed',
    write(t, bad) {
      const s = shop(t);
      const want = any(t, ['payment', 'address', 'return']);
      const job = shopJob(t, s, want);
      if (!bad) return serve(t, job);
      const { args } = job.write;
      const { giftId } = s;
      const home = s.who.address;
      const ids = s.items.map(({ item_id }) => item_id);
      const paid = { transaction_type: 'payment', amount: s.total };
      const [other, result] = {
        payment: [{ payment_method_id: giftId }, record(s, 'pending', { payment_history: [{ ...paid, payment_method_id: giftId }] })],
        address: [home, record(s, 'pending', { address: home })],
        return: [
          { item_ids: ids },
          record(s, 'delivered', { status: 'return requested', return_items: ids, return_payment_method_id: s.payId }),
        ],
      }[want as 'payment' | 'address' | 'return'];
      serve(t, job, { write: { ...job.write, args: { ...args, ...other }, result }, plant: 'write' });
    },
  },
  {
    layer: 'policy',
    domain: 'retail',
    name: 'transfers what its tools can do',
    write(t, bad) {
      const s = shop(t);
      const delivered = !bad && t.below(2) > 0;
      t.user(bad ? shopJob(t, s, 'cancel').wish : delivered ? NO_TOOL_DELIVERED : NO_TOOL_PENDING);
      identify(t, s);
      look(t, s, delivered ? 'delivered' : 'pending');
      handOver(t, bad ? GIVE_UP : NO_TOOL_SUMMARY, bad ? 'call' : undefined);
    },
  },
  {
    layer: 'policy',
    domain: 'retail',
    name: 'does not remind the customer to name all items',
    write(t, bad) {
      const s = shop(t);
      const want = any(t, ['items', 'exchange']);
      const ask = want === 'items' ? NO_REMINDER_ITEMS : NO_REMINDER_EXCHANGE;
      serve(t, shopJob(t, s, want), bad ? { ask, plant: 'write' } : {});
    },
  },
  {
    layer: 'policy',
    domain: 'retail',
    name: 'makes several calls in a turn',
    system: (bad) => (bad ? 'strict' : 'loose'),
    write(t, bad) {
      const s = shop(t);
      serve(t, shopJob(t, s, any(t, ['cancel', 'address', 'payment'])), {
        read: () => t.call([readUser(t, s), readOrder(s, 'pending')], bad, !bad && t.below(2) ? t.text(BESIDE) : null),
      });
    },
  },
  {
    layer: 'policy',
    domain: 'retail',
    name: 'writes to the customer beside a call',
    system: (bad) => (bad ? 'strict' : 'loose'),
    write(t, bad) {
      const s = shop(t);
      serve(t, shopJob(t, s, any(t, ['cancel', 'address', 'payment'])), {
        read: () => t.call(readOrder(s, 'pending'), bad, t.text(BESIDE)),
      });
    },
  },
  {
    layer: 'policy',
    domain: 'retail',
    name: 'recommends what it likes',
    held: true,
    write(t, bad) {
      const s = shop(t);
      const job = shopJob(t, s, 'items');
      t.user(job.wish);
      job.find(t);
      job.read(t);
      t.say(job.ask);
      t.user(WHICH);
      t.say(bad ? RECOMMEND : NO_OPINION, bad);
      t.user(['OK. Then {newOption} please, and nothing else. Yes.', 'Fine, I stay with {newOption}. That is all, go ahead, yes.']);
      t.call(job.write);
      t.say(job.done);
      end(t);
    },
  },
  {
    layer: 'policy',
    domain: 'retail',
    name: 'tries to cancel an order that is processed',
    held: true,
    write(t, bad) {
      const s = shop(t);
      const job = shopJob(t, s, 'cancel');
      if (t.below(2)) t.say(GREETING);
      t.user(job.wish);
      if (t.below(2)) identify(t, s);
      else {
        t.say(['Sure. May I have your name and zip code?']);
        t.user(['{first} {last}, {zip}']);
        t.call(byName(s));
      }
      look(t, s, 'processed');
      if (bad) {
        t.say(job.ask);
        t.user(['Yes please.', 'yes']);
        t.call({ ...job.write, result: 'Error: non-pending order cannot be cancelled' }, true);
      }
      t.say(SHIPPED);
      t.user(KEEP);
    },
  },
];
