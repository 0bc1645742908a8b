/** @file Describes the goal of a task and the final database of a rollout, with one line for each database row. */
import type { Json } from '../../../records/json.ts';
import type { RowChange, Verdict } from '../../../records/task.ts';
import { compareRows, type RowDiff } from '../database/row-diff.ts';

const FIELDS_SHOWN = 3;
const VALUE_LENGTH = 32;

/** The changes that the task asks for, such as `orders/#W1: status pending → cancelled`. */
export function goalLines(goal: readonly RowChange[]): string[] {
  return compareRows(goal, goal).map(({ table, key, fields }) => {
    const shown = fields
      .slice(0, FIELDS_SHOWN)
      .map(({ path, before, after }) => `${path && `${path} `}${before === undefined ? '' : `${short(before)} → `}${short(after)}`);
    const more = fields.length - shown.length;
    return `${table}/${key}: ${shown.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
  });
}

export interface FinalLine {
  row: string;
  state: RowDiff['state'];
  /** The fields that differ from the goal. */
  fields: string[];
}

/** The rows that differ from the goal. Empty if the database equals the goal. */
export function finalLines({ changes, goal }: Pick<Verdict, 'changes' | 'goal'>): FinalLine[] {
  return compareRows(changes, goal)
    .filter(({ state }) => state !== 'right')
    .map(({ table, key, state, fields }) => ({
      row: `${table}/${key}`,
      state,
      fields: fields
        .filter(({ after, goal: aim }) => JSON.stringify(after) !== JSON.stringify(aim))
        .map(({ path }) => path || 'the whole row'),
    }));
}

function short(value: Json | undefined): string {
  if (value === undefined) return 'not there';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > VALUE_LENGTH ? `${text.slice(0, VALUE_LENGTH - 1)}…` : text;
}
