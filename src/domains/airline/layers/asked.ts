/** @file Facts that the airline's customers ask for. */
import { type AskedFact, balanceAsked, PRICE_ASKED } from '../../../agent/layers/communication-questions.ts';
import { recordsIn } from '../../../agent/layers/readings.ts';

export const ASKED: readonly AskedFact[] = [
  PRICE_ASKED,
  balanceAsked('(?:gift ?cards?|certificates?|vouchers?)', ({ calls }) =>
    calls.flatMap(({ value }) => [...recordsIn(value)].flatMap(({ amount }) => (typeof amount === 'number' ? amount : []))),
  ),
  {
    name: 'status of the flight',
    asks: /\b(?:is|are|will|was)\b[^.?!\n]{0,50}\b(?:on time|delayed|late|on schedule)\b|\bflight status\b|\bstatus of\b[^.?!\n]*\bflight|\bany delays?\b/i,
    gives: (text) =>
      /\b(?:on time|schedul\w+|delay\w*|late|cancell?ed|as planned|available|landed|departed|in the air|flying)\b/i.test(text),
  },
  {
    name: 'time of the flight',
    asks: /\b(?:what time|when)\b[^.?!\n]*\b(?:leaves?|departs?|takes? off|arrives?|lands?|boards?|boarding)\b/i,
    gives: (text) => /\b\d{1,2}:\d{2}\b|\b\d{1,2} ?(?:am|pm|o'clock)\b/i.test(text),
  },
  {
    name: 'number of bags',
    asks: /\bhow many\b[^.?!\n]*\b(?:bags?|suitcases?|luggage|baggages?)\b/i,
    gives: (text) =>
      /\b(?:\d|no|one|two|three|four|five|six)\b[^.?!\n]*\b(?:bags?|suitcases?|pieces?|luggage|baggages?)\b|\b(?:bags?|suitcases?|luggage|baggages?)\b[^.?!\n]*\d/i.test(
        text,
      ),
  },
];
