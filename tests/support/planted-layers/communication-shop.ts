/** @file Conversations of the shop for the layer communication: what the customer must be told, and whether it is true. */
import { end, handOver, HUMAN, serve } from './phrases.ts';
import { identify, look, readOrder, shop } from './shop.ts';
import { shopJob, type Want } from './shop-jobs.ts';
import type { Kind } from './talk.ts';
import * as say from './communication-shop-words.ts';
const wrongMoney = (value: number, by: number) => `$${(value + by).toFixed(2)}`;

export const COMMUNICATION_SHOP: Kind[] = [
  {
    layer: 'communication',
    domain: 'retail',
    name: 'does not say when the refund arrives',
    write(t, bad) {
      const job = shopJob(t, shop(t), 'cancel');
      const once = t.below(2) ? { ask: say.NO_TIME_ASK } : { done: say.NO_TIME_DONE };
      serve(t, job, bad ? { ask: say.NO_TIME_ASK, done: say.NO_TIME_DONE, plant: 'write' } : once);
    },
  },
  {
    layer: 'communication',
    domain: 'retail',
    name: 'says a wrong time for the refund',
    write(t, bad) {
      if (!bad && t.below(3) === 0) return serve(t, shopJob(t, shop(t, true), 'cancel'));
      serve(
        t,
        shopJob(t, shop(t), 'cancel'),
        bad ? { ask: say.NO_TIME_ASK, done: say.WRONG_TIME, plant: 'done' } : { ask: say.NO_TIME_ASK, done: say.OTHER_TIME },
      );
    },
  },
  {
    layer: 'communication',
    domain: 'retail',
    name: 'says a wrong amount of the refund',
    write(t, bad) {
      const s = shop(t);
      t.facts.wrong = t.one([wrongMoney(s.total, 10), wrongMoney(s.total, -9.9), t.facts.price!]);
      t.facts.plain = s.total.toFixed(2);
      serve(t, shopJob(t, s, 'cancel'), bad ? { done: say.WRONG_AMOUNT, plant: 'done' } : { done: say.OTHER_AMOUNT });
    },
  },
  {
    layer: 'communication',
    domain: 'retail',
    name: 'does not say the difference in price',
    write(t, bad) {
      serve(
        t,
        shopJob(t, shop(t), 'items'),
        bad ? { ask: say.NO_PRICE_ITEMS, done: say.NO_PRICE_DONE, plant: 'write' } : { done: say.NO_PRICE_DONE },
      );
    },
  },
  {
    layer: 'communication',
    domain: 'retail',
    name: 'says a wrong status or total of an order',
    write(t, bad) {
      const s = shop(t);
      const [status, lie] = t.one([['pending', 'delivered'], ['delivered', 'cancelled'], ['processed', 'pending'], ['cancelled', 'processed']] as const); // prettier-ignore
      Object.assign(t.facts, { status, false: lie, wrong: wrongMoney(s.total, t.one([20, -12.5, 100])) });
      t.user(say.ASK_STATUS);
      identify(t, s);
      t.call(readOrder(s, status));
      t.say(bad ? t.one([say.FALSE_STATUS, say.FALSE_TOTAL]) : say.TRUE_STATUS, bad);
      end(t);
    },
  },
  {
    layer: 'communication',
    domain: 'retail',
    name: 'refuses without a reason',
    write(t, bad) {
      const s = shop(t);
      const status = t.one(['processed', 'delivered'] as const);
      t.facts.status = status;
      t.user(shopJob(t, s, 'cancel').wish);
      identify(t, s);
      look(t, s, status);
      t.say(bad ? say.NO_REASON : say.REASON, bad);
      end(t);
    },
  },
  {
    layer: 'communication',
    domain: 'retail',
    name: 'refuses for a reason that is not true',
    held: true,
    write(t, bad) {
      const s = shop(t);
      const [status, lie] = t.one([
        ['processed', 'delivered'],
        ['delivered', 'processed'],
        ['processed', 'cancelled'],
      ] as const);
      Object.assign(t.facts, { status, false: lie });
      t.user(shopJob(t, s, 'cancel').wish);
      identify(t, s);
      look(t, s, status);
      t.say(bad ? say.WRONG_REASON : say.REASON, bad);
      end(t);
    },
  },
  {
    layer: 'communication',
    domain: 'retail',
    name: 'does not mention the email about the return',
    write(t, bad) {
      const job = shopJob(t, shop(t), 'return');
      const once = t.below(2) ? { ask: say.NO_MAIL_ASK } : { done: say.NO_MAIL_DONE };
      serve(t, job, bad ? { ask: say.NO_MAIL_ASK, done: say.NO_MAIL_DONE, plant: 'write' } : once);
    },
  },
  {
    layer: 'communication',
    domain: 'retail',
    name: 'says that something is done that it has not done',
    write(t, bad) {
      const job = shopJob(t, shop(t), 'cancel');
      serve(t, job, bad ? { write: false, done: say.NOTHING_DONE, plant: 'done' } : { done: say.NOTHING_DONE });
    },
  },
  {
    layer: 'communication',
    domain: 'retail',
    name: 'hands over without saying what it is about',
    write(t, bad) {
      const s = shop(t);
      t.user(say.PROBLEM);
      identify(t, s);
      look(t, s, 'delivered');
      handOver(t, bad ? say.POOR : say.RICH, bad ? 'call' : undefined);
    },
  },
  {
    layer: 'communication',
    domain: 'retail',
    name: 'hands over without telling the customer',
    held: true,
    write(t, bad) {
      const s = shop(t);
      t.user(say.PROBLEM);
      identify(t, s);
      look(t, s, 'delivered');
      handOver(t, say.RICH, bad ? 'text' : undefined, bad ? say.SILENT : HUMAN);
    },
  },
  {
    layer: 'communication',
    domain: 'retail',
    name: 'says a wrong difference in price',
    held: true,
    write(t, bad) {
      const s = shop(t);
      const job = shopJob(t, s, 'exchange' satisfies Want);
      if (!bad) return serve(t, job);
      const rise = s.other.price - s.items[0].price;
      const wrong = (Math.abs(rise) + 4.3).toFixed(2);
      Object.assign(t.facts, { diff: `$${wrong}`, diffText: rise > 0 ? `you pay $${wrong} more` : `you get $${wrong} back` });
      serve(t, job, { plant: 'ask' });
    },
  },
];
