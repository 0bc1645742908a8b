/** @file Patterns for names, and the choice that a question leaves open. */
import { escapeRegExp } from '../../../base/escape-reg-exp.ts';

/** Finds a name or a value: `500ml` in `500 ml`, `T-Shirt` in `t shirts`, `13-inch` in `13 inches`. */
export function wordPattern(name: string): RegExp {
  const parts = name.toLowerCase().match(/\p{L}+|\d+(?:\.\d+)?|[%+]/gu) ?? [];
  const last = parts.length - 1;
  const body = parts
    .map((part, i) =>
      part === 'gray' || part === 'grey'
        ? 'gr[ae]y'
        : i === last && /^\p{L}{3,}$/u.test(part)
          ? `${escapeRegExp(part.replace(/(es|s)$/, ''))}(?:es|s)?`
          : escapeRegExp(part),
    )
    .join("[\\s\\-/&']*");
  return new RegExp(`(?<![\\p{L}\\p{N}$.])${body}(?![\\p{L}\\p{N}])`, 'u');
}

export interface Mention<T> {
  value: T;
  from: number;
  to: number;
}

/** Whether mentions of different values are alternatives: `to PayPal or to the gift card`. */
export function isChoice<T>(text: string, mentions: readonly Mention<T>[]): boolean {
  return mentions.some((mention, i) => {
    const before = mentions[i - 1];
    if (!before || before.value === mention.value) return false;
    const between = text.slice(before.to, mention.from);
    return between.length < 60 && /\bor\b|\/\s*$/i.test(between) && !/[.?!]\s|\n/.test(between);
  });
}
