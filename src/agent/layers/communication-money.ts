/** @file Amounts of money in messages: `$1,234.50`, `55 dollars`, `25.0 USD`. */
import { sentences } from '../sentences.ts';

export interface Amount {
  /** In dollars, without a sign. */
  value: number;
  /** The sentence or line that names it. */
  sentence: string;
  /** Where the amount begins in the sentence. */
  at: number;
  /** Whether the agent says that it is not exact. */
  rough: boolean;
}

const NUMBER = String.raw`(?:\d{1,3}(?:,\d{3})+|\d{1,7})(?:\.\d{1,2})?`;
const MONEY = new RegExp(String.raw`\$\s?(${NUMBER})(?![\d%])|(?<![\w$.,])(${NUMBER})\s?(?:USD\b|US dollars?\b|dollars?\b|bucks\b)`, 'gi');
const ROUGH =
  /\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|just (?:over|under)|less than|more than|up to|over|under|at least)\s*$/i;

/** Cuts no number: `$3. 50` is not expected, `1.5 GB` is. */
export function amountsIn(text: string): Amount[] {
  return sentences(text).flatMap((sentence) =>
    [...sentence.matchAll(MONEY)].map(({ 1: sign, 2: word, index }) => ({
      value: Number((sign ?? word)!.replaceAll(',', '')),
      sentence,
      at: index,
      rough: ROUGH.test(sentence.slice(0, index)),
    })),
  );
}

/** Whether two amounts are the same to the cent, or to the dollar if one is not exact. */
export const sameAmount = (amount: Pick<Amount, 'value' | 'rough'>, value: number): boolean =>
  Math.abs(amount.value - Math.abs(value)) < (amount.rough ? 1 : 0.0051);

export const dollars = (value: number): string => `$${Math.abs(value).toFixed(2)}`;

/** The sums of all selections of these values, without the empty one. At most 8 values are read. */
export function sumsOf(values: readonly number[]): number[] {
  let sums: number[] = [0];
  for (const value of values.slice(0, 8)) sums = [...sums, ...sums.map((sum) => sum + value)];
  return sums.slice(1);
}
