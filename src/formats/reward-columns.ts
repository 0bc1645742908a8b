/** @file Finds the columns of rewards in rows of TRL, which has one column for each reward function, named after the function. */
import { numberOf, type Row } from './row-fields.ts';

/** Names of numbers that are not rewards. */
const OTHERS = /(?:^|_)(?:ids?|index|step|epoch|seed|turns|count|num|len|length|tokens|time|ms|seconds|logprobs?|weight)(?:_|$)/i;

/**
 * TRL writes the reward functions between `completion` and `advantage`, and adds them with weight 1. If the names of some contain “reward”,
 * only these are rewards, because the other columns may be extra columns of the data.
 */
export function rewardColumns(rows: readonly Row[]): string[] {
  const first = rows.find((row) => 'completion' in row);
  if (!first) return [];
  const names = [...new Set(rows.flatMap(Object.keys))];
  const [from, to] = ['completion', 'advantage'].map((name) => Object.keys(first).indexOf(name)) as [number, number];
  const between = to > from ? Object.keys(first).slice(from + 1, to) : names;
  const numeric = between.filter((name) => isNumeric(rows.map((row) => row[name])) && !OTHERS.test(name));
  const named = numeric.filter((name) => /reward/i.test(name));
  return named.length > 0 || to < from ? named : numeric;
}

const isNumeric = (values: readonly unknown[]): boolean => {
  const present = values.filter((value) => value !== undefined && value !== null && !Number.isNaN(value));
  return present.length > 0 && present.every((value) => typeof value !== 'string' && numberOf(value) !== undefined);
};
