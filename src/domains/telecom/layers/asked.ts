/** @file Facts that the phone provider's customers ask for. */
import { type AskedFact, PRICE_ASKED } from '../../../agent/layers/communication-questions.ts';

export const ASKED: readonly AskedFact[] = [
  PRICE_ASKED,
  {
    name: 'used data',
    asks: /^(?!.*\b(?:costs?|price|pay|charged?)\b).*(?:\bhow (?:much|many)\b.*\b(?:data|gb|gigabytes?)\b|\bdata (?:usage|left|balance)\b)/i,
    gives: (text) => /\d ?(?:gb|gigabytes?)\b|\b(?:no|all(?: of)?|none of) (?:your |the )?data\b/i.test(text),
  },
  {
    name: 'a date',
    asks: /\bwhen\b[^.?!\n]*\b(?:contract|cycle|due|plan|bill)\b/i,
    gives: (text) =>
      /\b\d{4}-\d{2}-\d{2}\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w* \d|\b\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|\b(?:overdue|no end|today|tomorrow)\b/i.test(
        text,
      ),
  },
];
