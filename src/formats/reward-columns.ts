/** @file Finds the rewards and the other columns of rows. Each tool names them in its own way. */
import { isObject } from '../base/json.ts';
import type { ForeignValue } from '../records/foreign.ts';
import { numberOf, type Row } from './row-fields.ts';

/** Columns of the conversation and of its place. */
const OWN = new Set(
  (
    'messages prompt completion input output tools prompt_ids completion_ids completion_mask logprobs id request_id uid group index step ' +
    'task example_id reward score rewards advantage termination num_turns error'
  ).split(' '),
);
/** The columns in which tools name the ending, for example verifiers in `stop_condition`. */
export const ENDING_COLUMNS = ['termination', 'termination_reason', 'stop_condition', 'exit_status', 'stop_reason', 'finish_reason'];
const ENDINGS = new Set(ENDING_COLUMNS);
/** Longer texts are content, such as a reference answer, and no value to filter by. */
const LONGEST = 120;
const MOST_COLUMNS = 60;

/**
 * The values of a row by name, with those of its objects. A field of an object has its own name, or a longer one if a column or the field of
 * an object before has this name. The parts of the reward come first, because they are found by their own names.
 */
export function flatRow(row: Row): Row {
  const flat: Row = { ...row };
  const { rewards, ...others } = row;
  for (const [name, value] of Object.entries({ rewards, ...others })) {
    if (!isObject(value) || (OWN.has(name) && !/^(?:rewards?|score)$/.test(name))) continue;
    for (const [field, own] of Object.entries(value)) {
      const isReward = field === 'score' || field === 'reward';
      if (isReward && OWN.has(name)) continue;
      flat[isReward || field in flat ? `${name}.${field}` : field] = own;
    }
  }
  return flat;
}

/**
 * The columns of a row beside its conversation and the parts of its reward: numbers, booleans and short texts.
 * @param flat a row as `flatRow` makes it
 * @param parts the parts of the reward
 * @param given the column with the reward. Another reward of the row is a column.
 * @param note is told if there are more columns than are kept
 */
export function otherColumns(
  flat: Row,
  parts: readonly string[],
  given: string | undefined,
  note: (line: string) => void,
): Record<string, ForeignValue> {
  const columns: Record<string, ForeignValue> = {};
  for (const [name, value] of Object.entries(flat)) {
    const rival = given !== undefined && name !== given && ['reward', 'score'].includes(name) && value !== flat[given];
    if ((OWN.has(name) && !rival) || ENDINGS.has(name) || parts.includes(name) || !isStorable(name)) continue;
    const kept = columnValue(value);
    if (kept === undefined) continue;
    if (Object.keys(columns).length === MOST_COLUMNS) {
      note(`only the first ${MOST_COLUMNS} of the other columns are kept`);
      break;
    }
    columns[name] = kept;
  }
  return columns;
}

function columnValue(value: unknown): ForeignValue | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string' && typeof value !== 'bigint') return undefined;
  const text = String(value);
  return text.trim() !== '' && isStorable(text) ? text : undefined;
}

const isStorable = (text: string) => text !== '__proto__' && text.length <= LONGEST && !/[\p{Cs}\p{Cc}]/u.test(text);

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

/**
 * The parts of a reward that the rows have as a number: the fields of `rewards`, or the columns whose names contain “reward”. They are parts
 * only if their sum is the reward in each row.
 * @param rows all rows of the file that have a reward, as `flatRow` makes them
 * @returns the names, and whether they add up
 */
export function rewardParts(rows: readonly { flat: Row; reward: number }[]): { names: string[]; add: boolean } {
  const fields = new Set(rows.flatMap(({ flat }) => (isObject(flat.rewards) ? Object.keys(flat.rewards) : [])));
  const all = [...new Set(rows.flatMap(({ flat }) => Object.keys(flat)))];
  const columns = all.filter((name) => !OWN.has(name) && /reward/i.test(name) && !OTHERS.test(name));
  const names = (fields.size > 0 ? [...fields] : columns).filter((name) => isNumeric(rows.map(({ flat }) => flat[name])));
  const sum = (flat: Row) => names.reduce((total, name) => total + (numberOf(flat[name]) ?? 0), 0);
  return { names, add: rows.every(({ flat, reward }) => Math.abs(sum(flat) - reward) <= 1e-6 * Math.max(1, Math.abs(reward))) };
}

const isNumeric = (values: readonly unknown[]): boolean => {
  const present = values.filter((value) => value !== undefined && value !== null && !Number.isNaN(value));
  return present.length > 0 && present.every((value) => typeof value !== 'string' && numberOf(value) !== undefined);
};
