/** @file The goal of a task and where a rollout left the database, a line a row. */
import type { Json, RowChange, Verdict } from '../../environments/types.ts';
import { compareRows, type RowDiff } from './row-diff.ts';

const FIELDS_SHOWN = 3;
const VALUE_LENGTH = 32;

/** What the task wants changed: `orders/#W1: status pending → cancelled`. */
export function goalLines(goal: readonly RowChange[]): string[] {
  return compareRows(goal, goal).map(({ table, key, fields }) => {
    const shown = fields.slice(0, FIELDS_SHOWN).map(({ path, before, after }) => `${path && `${path} `}${before === undefined ? '' : `${short(before)} → `}${short(after)}`);
    const more = fields.length - shown.length;
    return `${table}/${key}: ${shown.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
  });
}

export interface FinalLine {
  row: string;
  state: RowDiff['state'];
  /** The fields that are not as the goal has them. */
  fields: string[];
}

/** Rows that are not as the goal wants them; none: the database is as the goal. */
export function finalLines({ changes, goal }: Pick<Verdict, 'changes' | 'goal'>): FinalLine[] {
  return compareRows(changes, goal)
    .filter(({ state }) => state !== 'right')
    .map(({ table, key, state, fields }) => ({
      row: `${table}/${key}`,
      state,
      fields: fields.filter(({ after, goal: aim }) => JSON.stringify(after) !== JSON.stringify(aim)).map(({ path }) => path || 'the whole row'),
    }));
}

function short(value: Json | undefined): string {
  if (value === undefined) return 'not there';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > VALUE_LENGTH ? `${text.slice(0, VALUE_LENGTH - 1)}…` : text;
}
