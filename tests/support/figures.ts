/**
 * @file Finds the figures of a text: numbers with “%” or “points”, intervals “(a to b)” with the number before them, and every number in a
 * table of a document, except for its first column.
 */
export interface FoundFigure {
  /** The place of the number in the text. */
  at: number;
  number: string;
}

const NUMBER = String.raw`[−+]?\d+(?:,\d{3})*(?:\.\d+)?`;
const WORD = '(?:two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty)';
const LIST = new RegExp(
  String.raw`(?<![\w.^-])(?:${NUMBER}(?:, and |, | and | to | or | → ))*(?:${NUMBER}|${WORD})\s?(?:%|(?:percentage )?points?\b)`,
  'g',
);
const INTERVAL = new RegExp(String.raw`(?:(?<![\w.^-])${NUMBER}(?: %)? )?\(\s*(?:interval )?(?:${NUMBER}) to (?:${NUMBER})[^)]*\)`, 'g');
const ANY = new RegExp(String.raw`(?<![\w.^-])${NUMBER}|\b${WORD}(?= (?:percentage )?points)`, 'g');

const blank = (text: string) => text.replace(/[^\n]/g, ' ');

/** The text, with spaces in place of everything that has no figures: code, links, comments, styles, and “95 %” of intervals. */
function readable(path: string, text: string): string {
  const parts = path.endsWith('.md')
    ? [/^---\n[\s\S]*?\n---/g, /^```[\s\S]*?^```/gm, /`[^`\n]*`/g, /\]\([^)]*\)/g, /<!--[\s\S]*?-->/g]
    : [/<style>[\s\S]*?<\/style>/g, /<!--[\s\S]*?-->/g, /\/\*[\s\S]*?\*\//g, /^\s*\/\/.*$/gm];
  const confidence = /\b95 % (?:confidence )?intervals?|\bat 95 %/g;
  return [...parts, confidence].reduce((rest, part) => rest.replace(part, blank), text);
}

/** The rows of tables without their first cell, as ranges of the text. Heads and separators are not rows. */
function cells(text: string): [number, number][] {
  const ranges: [number, number][] = [];
  for (const [table] of text.matchAll(/^\|.*\n\|[-:| ]+\n(?:\|.*(?:\n|$))*/gm)) {
    let at = text.indexOf(table);
    for (const [i, line] of table.split('\n').entries()) {
      if (i >= 2 && line) ranges.push([at + line.indexOf('|', 1), at + line.length]);
      at += line.length + 1;
    }
  }
  return ranges;
}

/** The figures of a text, in order. */
export function figuresOf(path: string, text: string): FoundFigure[] {
  const clean = readable(path, text);
  const ranges = [
    ...[LIST, INTERVAL].flatMap((pattern) =>
      [...clean.matchAll(pattern)].map(({ index, 0: found }): [number, number] => [index, index + found.length]),
    ),
    ...(path.endsWith('.md') ? cells(clean) : []),
  ];
  return [...clean.matchAll(ANY)].flatMap(({ index, 0: number }) =>
    ranges.some(([from, to]) => from <= index && index < to) ? [{ at: index, number }] : [],
  );
}
