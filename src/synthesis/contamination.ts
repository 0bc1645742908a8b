/** @file How much of the customers' words of a set also stands in held-out tasks, which then measure memory. */
import type { GradedRow } from './types.ts';
import { eachRun, masked, runsOf, wordsOf } from '../base/words.ts';

/** So many words in a row that two customers say by chance are rare, if they have names or numbers in them. */
const RUN = 8;

export interface Contamination {
  /** The texts of held-out customers. */
  against: number;
  /** The share of rows in which the customer says a run of eight words of a held-out text. */
  rows: number;
  /** The share of all different runs of eight words. */
  runs: number;
  /** The share of rows whose first message is one of the held-out texts, with names and numbers masked. */
  openers: number;
  /** The rows with the id of a held-out task. */
  ids: number;
}

/** What a held-out task or conversation says. */
export interface HeldOut {
  id: string | null;
  texts: string[];
}

/** @returns null without rows */
export function contaminationOf(rows: readonly GradedRow[], held: readonly HeldOut[]): Contamination | null {
  if (rows.length === 0) return null;
  const texts = held.flatMap((one) => one.texts);
  const known = runsOf(texts, RUN);
  const openers = new Set(texts.map(masked));
  const ids = new Set(held.flatMap(({ id }) => id ?? []));
  const said = rows.map(({ messages }) => messages.filter(({ role }) => role === 'user').map(({ content }) => content));
  const own = runsOf(said.flat(), RUN);
  const share = (fits: (words: readonly string[], i: number) => boolean) => said.filter(fits).length / rows.length;
  return {
    against: texts.length,
    rows: share((all) => all.some((text) => hasRun(text, known))),
    runs: own.size === 0 ? 0 : [...own].filter((run) => known.has(run)).length / own.size,
    openers: share(([first]) => first !== undefined && openers.has(masked(first))),
    ids: rows.filter(({ id }) => ids.has(id)).length,
  };
}

function hasRun(text: string, known: ReadonlySet<string>): boolean {
  let found = false;
  eachRun(wordsOf(text), RUN, (run) => (found ||= known.has(run)));
  return found;
}
