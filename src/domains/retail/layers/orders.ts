/** @file What the agent says about orders: their ids, statuses and totals. */
import { amountsIn, dollars, sameAmount } from '../../../agent/layers/communication-money.ts';
import type { RuleLog } from '../../../agent/layers/rule-log.ts';
import type { Said, Talk } from '../../../agent/layers/talk.ts';
import { sentences } from '../../../agent/sentences.ts';
import { ordersIn } from './acts.ts';
import { ShopFacts } from './money.ts';

/** Words that say what the amount of a sentence is. */
export const DIFFERENCE = /\bdifferen(?:ce|t(?:ial)?)|\badditional|\bextra\b|\bowe\b|\bmore expensive|\bcheaper|\bcosts? (?:more|less)/i;
export const REFUND = /\brefund|\bcredited|\bget back|\breturned to your|\b(?:go|goes|going|went|sent|paid) back to/i;

const STATUS =
  /#?W\d{6,8}\b[^.\n?]{0,30}?\b(?:is|has(?: already)? been|status(?: is)?:?)\s+(?:currently |already |now |still |in |a |the )*(?:["'*]?)(pending|processed|delivered|cancelled|canceled|shipped)\b/gi;
const TOTAL = /\b(?:order )?total\b/i;

/** @param judged sentences whose amounts were checked; this check adds its own */
export function checkOrders({ place, text }: Said, talk: Talk, facts: ShopFacts, log: RuleLog, judged: Set<string>): void {
  const heard = talk
    .heardIn(-1, place)
    .map((message) => message.text.toUpperCase())
    .join('\n');
  const shown = talk
    .callsIn(-1, place)
    .map(({ value, args }) => JSON.stringify([value, args]))
    .join('\n');
  for (const id of ordersIn(text))
    log.check(
      'unknown_order',
      place,
      shown.includes(id) || heard.includes(id.slice(2)) ? null : `named the order ${id}, which nobody named before`,
    );
  const now = new ShopFacts(talk, place);
  for (const [sentence, status] of [...text.matchAll(STATUS)].map(
    ([said, word]) => [said, word!.toLowerCase().replace('canceled', 'cancelled')] as const,
  )) {
    const [id, ...more] = ordersIn(sentence);
    const statuses = id && more.length === 0 ? now.statuses.get(id) : undefined;
    if (!statuses || /\bnot\b|n't\b|\bonly\b|\bif\b|\bonce\b/i.test(sentence)) continue;
    const last = statuses.at(-1)!;
    const same = last.startsWith(status) || (status === 'processed' && talk.writes.some(({ args }) => args.order_id === id));
    log.check('wrong_status', place, same ? null : `said that order ${id} is ${status}; it is ${last}`);
  }
  for (const sentence of sentences(text).filter((part) => TOTAL.test(part) && !DIFFERENCE.test(part) && !REFUND.test(part))) {
    const [amount, ...more] = amountsIn(sentence);
    const [id, ...others] = ordersIn(sentence);
    const order = id && others.length === 0 ? facts.orders.get(id) : undefined;
    const total = order && facts.total(order);
    if (!amount || more.length > 0 || total === undefined) continue;
    judged.add(sentence);
    const changed =
      talk.writes.some(({ args, place: written }) => args.order_id === id && written < place) ||
      /\bnew\b|\bitems?\b|\bwould\b/i.test(sentence);
    log.check(
      'wrong_amount',
      place,
      changed || sameAmount(amount, total) ? null : `said a total of ${dollars(amount.value)}; order ${id} cost ${dollars(total)}`,
    );
  }
}
