/** @file Finds the characters of a text that a person does not see, and shows them. */

/** Joiners that scripts and emoji need. They stay between two characters that are not ASCII. */
const JOINER = /(?<=[^\p{ASCII}\p{C}])[\u200c\u200d](?=[^\p{ASCII}\p{C}])/u;
const HIDDEN = new RegExp(
  `(?!${JOINER.source}|[\\n\\t])[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Noncharacter_Code_Point}\\u2028\\u2029\\u115f\\u1160\\u3164\\uffa0]`,
  'gu',
);

/** The characters of a text that a person does not see: control, format and zero-width characters, and lone surrogates. */
export const hiddenCharacters = (text: string): string[] => text.replace(/\r\n/g, '\n').match(HIDDEN) ?? [];

export const withoutHidden = (text: string): string => text.replace(HIDDEN, '');

/** The text with `\u…` for each hidden character. */
export const visible = (text: string): string =>
  text.replace(/\r\n/g, '\n').replace(HIDDEN, (own) => `\\u${own.codePointAt(0)!.toString(16).padStart(4, '0')}`);
