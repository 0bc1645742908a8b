/** @file Facts that the shop's customers ask for. */
import { type AskedFact, balanceAsked, PRICE_ASKED } from '../../../agent/layers/communication-questions.ts';
import { saysTime } from '../../../agent/layers/communication-refunds.ts';
import { recordsIn } from '../../../agent/layers/readings.ts';
import { wordPattern } from '../writes/patterns.ts';
import { ShopRecords } from '../writes/records.ts';

export const ASKED: readonly AskedFact[] = [
  PRICE_ASKED,
  balanceAsked('gift ?cards?', ({ calls }) =>
    calls.flatMap(({ value }) => [...recordsIn(value)].flatMap(({ balance }) => (typeof balance === 'number' ? balance : []))),
  ),
  {
    name: 'status',
    asks: /\bwhere(?:'s| is| are)\b[^.?!\n]*\b(?:orders?|packages?|parcels?|shipment|delivery|it|W\d{6,})\b|\b(?:status|tracking (?:id|number))\b|\bwhen\b[^.?!\n]*\b(?:arrive|delivered|ship|shipped|get here)\b|\bhas\b[^.?!\n]*\bshipped\b/i,
    gives: (text) =>
      /\b(?:pending|process\w*|deliver\w*|cancell?ed|shipp\w+|on (?:its|the) way|track\w*|transit|arriv\w*|dispatched|returned)\b/i.test(
        text,
      ),
  },
  {
    name: 'time of the refund',
    asks: /\b(?:when|how (?:long|soon|fast))\b[^.?!\n]*\b(?:refund\w*|money)\b/i,
    gives: saysTime,
  },
  {
    name: 'options',
    asks: /\b(?:which|what) (?:other )?(?:colou?rs?|sizes?|options?|variants?|materials?)\b/i,
    gives: (text, { calls }) =>
      [...new ShopRecords(calls.map(({ value }) => value)).items.values()].some(({ options }) =>
        Object.values(options).some((value) => wordPattern(value).test(text.toLowerCase())),
      ),
  },
];
