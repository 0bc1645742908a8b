/** @file Conversations of the shop for the layer recovery: failed tools, changes of mind, corrections, refusals. */
import { end, handOver, serve, YES } from './phrases.ts';
import { BY_EMAIL, byEmail, byName, identify, look, readOrder, readUser, record, shop } from './shop.ts';
import { shopJob, type Want } from './shop-jobs.ts';
import type { Call, Kind, Words } from './talk.ts';
import * as say from './recovery-shop-words.ts';
const failing = (call: Call, result: string): Call => ({ ...call, result });

export const RECOVERY_SHOP: Kind[] = [
  {
    layer: 'recovery',
    domain: 'retail',
    name: 'gives up after one failure of a tool',
    write(t, bad) {
      const s = shop(t);
      const job = shopJob(t, s, t.one<Want>(['cancel', 'address', 'payment']));
      const fail = failing(readOrder(s, 'pending'), t.text(say.FAILURES));
      if (!bad) {
        const read = () => {
          t.call(readUser(t, s));
          t.call(fail);
          t.call(readOrder(s, 'pending'));
        };
        return serve(t, job, { read });
      }
      t.user(job.wish);
      identify(t, s);
      t.call(fail);
      t.say(say.GIVES_UP, true);
    },
  },
  {
    layer: 'recovery',
    domain: 'retail',
    name: 'claims that a failed change has worked',
    write(t, bad) {
      const job = shopJob(t, shop(t), t.one<Want>(['address', 'payment', 'cancel']));
      const fail = failing(job.write, t.text(say.FAILURES));
      const between = () => (bad && t.below(2) ? undefined : t.call(fail));
      const done = bad ? say.CLAIMS : say.HONEST;
      serve(t, job, { between, write: fail, done, ...(bad && { plant: 'done' as const }) });
    },
  },
  {
    layer: 'recovery',
    domain: 'retail',
    name: 'hands over after a failure without a useful summary',
    write(t, bad) {
      const job = shopJob(t, shop(t), t.one<Want>(['cancel', 'address']));
      const fail = failing(job.write, t.text(say.FAILURES));
      serve(t, job, { between: () => t.call(fail), write: fail, done: false, end: false });
      const poor: Words = [
        'Customer needs help.',
        'error',
        'Tool failed.',
        'please take over',
        'Technical issue.',
        'Customer waiting',
        'It does not work.',
        'Transfer.',
      ];
      handOver(t, bad ? poor : say.SUMMARY, bad ? 'call' : undefined);
    },
  },
  {
    layer: 'recovery',
    domain: 'retail',
    name: 'does not follow a change of mind',
    write(t, bad) {
      const s = shop(t);
      const job = shopJob(t, s, 'return');
      if (bad) return serve(t, job, { answer: say.OTHER_PAY, plant: 'write' });
      const write = { ...job.write, args: { ...job.write.args, payment_method_id: s.giftId }, result: record(s, 'delivered', { status: 'return requested', return_items: [s.items[0].item_id], return_payment_method_id: s.giftId }) }; // prettier-ignore
      const between = () => {
        t.say(say.NEW_PAY);
        t.user(YES);
      };
      serve(t, job, {
        answer: say.OTHER_PAY,
        between,
        write,
        done: [
          'Done. {price} goes to your gift card; look for our email with the steps.',
          'The return is requested, {price} to the gift card. You will get an email.',
        ],
      });
    },
  },
  {
    layer: 'recovery',
    domain: 'retail',
    name: 'carries out what the customer has withdrawn',
    write(t, bad) {
      const job = shopJob(t, shop(t), t.one<Want>(['cancel', 'return', 'payment']));
      const answer = t.below(2) ? say.NEVER_MIND : say.NEVER_MIND.map((text) => `Yes. Oh, wait. ${text}`);
      serve(t, job, bad ? { answer, plant: 'write' } : { answer, write: false, done: say.KEPT });
    },
  },
  {
    layer: 'recovery',
    domain: 'retail',
    name: 'goes on with what the customer has corrected',
    write(t, bad) {
      const s = shop(t);
      const job = shopJob(t, s, 'cancel');
      t.facts.wrongEmail = s.who.email.replace(/\d+@/, (digits) => `${Number(digits.slice(0, -1)) + 7}@`);
      const wrong: Call = { name: 'find_user_id_by_email', args: { email: t.facts.wrongEmail }, result: say.NOT_FOUND };
      t.user(job.wish);
      t.say(say.ASK_EMAIL_AGAIN);
      t.user(['{wrongEmail}', "It's {wrongEmail}", 'my email: {wrongEmail}', 'Sure, {wrongEmail}']);
      t.call(wrong);
      t.say(say.ASK_AGAIN);
      t.user(say.CORRECTED);
      t.call(bad ? wrong : byEmail(s), bad);
      if (bad) {
        t.say(say.STILL_NOT);
        return end(t);
      }
      look(t, s, 'pending');
      t.say(job.ask);
      t.user(YES);
      t.call(job.write);
      t.say(job.done);
      end(t);
    },
  },
  {
    layer: 'recovery',
    domain: 'retail',
    name: 'repeats a call that has failed for good',
    write(t, bad) {
      const s = shop(t);
      const job = shopJob(t, s, 'cancel');
      t.facts.wrongEmail = s.who.email.replace('.', '_');
      const wrong: Call = { name: 'find_user_id_by_email', args: { email: t.facts.wrongEmail }, result: say.NOT_FOUND };
      t.user(job.wish);
      t.say(say.ASK_EMAIL_AGAIN);
      t.user(['{wrongEmail}', 'It is {wrongEmail}.', 'sure, {wrongEmail}', '{wrongEmail} I think']);
      t.call(wrong);
      if (bad) {
        t.call(wrong);
        t.call(wrong, true);
        if (t.below(2)) t.call(wrong);
      }
      t.say(say.ASK_AGAIN.slice(0, 2));
      t.user(['{first} {last}, {zip}', 'My name is {first} {last}, zip {zip}.']);
      t.call(byName(s));
      look(t, s, 'pending');
      t.say(job.ask);
      t.user(YES);
      t.call(job.write);
      t.say(job.done);
      end(t);
    },
  },
  {
    layer: 'recovery',
    domain: 'retail',
    name: 'asks again for what it was told',
    write(t, bad) {
      const s = shop(t);
      const job = shopJob(t, s, t.one<Want>(['cancel', 'address']));
      t.user(job.wish);
      t.say(say.ASK_EMAIL_AGAIN);
      t.user(BY_EMAIL);
      if (bad) {
        t.say(say.ASK_EMAIL_AGAIN, true);
        t.user(['I just told you: {email}', 'As I said, {email}', '{email}, see above', 'again? {email}']);
      }
      t.call(byEmail(s));
      look(t, s, 'pending');
      t.say(job.ask);
      t.user(YES);
      t.call(job.write);
      t.say(job.done);
      end(t);
    },
  },
  {
    layer: 'recovery',
    domain: 'retail',
    name: 'ends when the email is not found',
    write(t, bad) {
      const s = shop(t);
      const job = shopJob(t, s, 'address');
      t.facts.wrongEmail = s.who.email.replace('example', 'exampel');
      t.user(job.wish);
      t.say(say.ASK_EMAIL_AGAIN);
      t.user(['{wrongEmail}', 'Sure: {wrongEmail}', 'mail is {wrongEmail}', 'It is {wrongEmail}']);
      t.call({ name: 'find_user_id_by_email', args: { email: t.facts.wrongEmail }, result: say.NOT_FOUND });
      if (bad) {
        t.say(say.ENDS, true);
        return t.below(2) ? t.user(['But I am a customer!', 'What? I have an order with you.']) : undefined;
      }
      t.say(say.ASK_AGAIN);
      t.user(['{first} {last}, {zip}', 'I am {first} {last}, zip code {zip}.']);
      t.call(byName(s));
      look(t, s, 'pending');
      t.say(job.ask);
      t.user(YES);
      t.call(job.write);
      t.say(job.done);
      end(t);
    },
  },
  {
    layer: 'recovery',
    domain: 'retail',
    name: 'ignores an allowed request after a refusal',
    write(t, bad) {
      const s = shop(t);
      const job = shopJob(t, s, 'return');
      t.user(shopJob(t, s, 'cancel').wish);
      identify(t, s);
      look(t, s, 'delivered');
      t.say(say.REFUSED);
      t.user(say.THEN_RETURN);
      if (bad) {
        t.say(say.REPEATS, true);
        return end(t);
      }
      t.say(job.ask);
      t.user(YES);
      t.call(job.write);
      t.say(job.done);
      end(t);
    },
  },
  {
    layer: 'recovery',
    domain: 'retail',
    name: 'reports two changes as done although one failed',
    held: true,
    write(t, bad) {
      const s = shop(t);
      const [move, pay] = [shopJob(t, s, 'address'), shopJob(t, s, 'payment')];
      serve(t, move, { end: false });
      t.user(['And I want to pay it with PayPal.', 'Please also switch the payment to PayPal.']);
      t.say(pay.ask);
      t.user(YES);
      const fail = failing(pay.write, t.text(say.FAILURES));
      t.call(fail);
      if (!bad || t.below(2)) t.call(fail, false);
      const both: Words = ['Both are done: the new address and PayPal.', 'The address and the payment of {order} are changed.'];
      const one: Words = [
        'The address is changed. The payment is not: the tool failed twice, so {pay} stays. Please try again later.',
        'Only the address worked. Switching to PayPal failed with an error, nothing changed there.',
      ];
      t.say(bad ? both : one, bad);
      end(t);
    },
  },
  {
    layer: 'recovery',
    domain: 'retail',
    name: 'stops in silence when a change fails',
    held: true,
    write(t, bad) {
      const job = shopJob(t, shop(t), t.one<Want>(['cancel', 'payment']));
      const fail = failing(job.write, t.text(say.FAILURES));
      const between = () => {
        t.call(fail);
        if (!bad) t.say(say.RETRY);
        if (!bad) t.user(['ok', 'Sure.']);
      };
      serve(
        t,
        job,
        bad ? { between, write: false, done: ['Is there anything else?', 'What else can I do for you?'], plant: 'done' } : { between },
      );
    },
  },
];
