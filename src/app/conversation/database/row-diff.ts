/** @file Compares the database at the end of an episode with the task's goal, row by row and field by field. */
import { equalJson } from '../../../base/json.ts';
import type { Json } from '../../../records/json.ts';
import type { RowChange } from '../../../records/task.ts';

export interface FieldDiff {
  /** The path in the row, e.g. `items.0.price`; '' is the row itself. A value is undefined if the field does not exist. */
  path: string;
  before: Json | undefined;
  after: Json | undefined;
  goal: Json | undefined;
}

export interface RowDiff {
  table: string;
  key: string;
  /** `right`: equals the goal. `missing`: only the goal changes the row. `unexpected`: only the agent changed the row. */
  state: 'right' | 'wrong' | 'missing' | 'unexpected';
  /** The last tool call that changed the row. */
  call: number | null;
  fields: FieldDiff[];
}

/** The rows that the goal changes, in the goal's order, and after them the other changed rows. */
export function compareRows(changes: readonly RowChange[], goal: readonly RowChange[]): RowDiff[] {
  const name = (row: RowChange) => `${row.table}\n${row.key}`;
  const made = new Map(changes.map((row) => [name(row), row]));
  const wanted = new Map(goal.map((row) => [name(row), row]));
  return [...new Map([...wanted, ...made]).keys()].map((id) => {
    const actual = made.get(id);
    const target = wanted.get(id);
    const { table, key, before } = (actual ?? target)!;
    // If only the episode or only the goal changes the row, the other one has the row from before the episode.
    const after = actual ? actual.after : before;
    const aim = target ? target.after : before;
    const state = !target ? 'unexpected' : !actual ? 'missing' : equalJson(after, aim) ? 'right' : 'wrong';
    return { table, key, state, call: actual?.call ?? null, fields: fieldDiffs(before, after, aim) };
  });
}

/** The fields whose three values (before, after, and in the goal) are not all equal. */
function fieldDiffs(...sides: [before: Json | undefined, after: Json | undefined, goal: Json | undefined]): FieldDiff[] {
  return differingFields(sides).map(({ path, values: [before, after, goal] }) => ({ path, before, after, goal }));
}

/** The paths at which the versions of a row differ, with the value of each version. */
export function differingFields(sides: readonly (Json | undefined)[], path = ''): { path: string; values: (Json | undefined)[] }[] {
  if (sides.every((side) => equalJson(side, sides[0]))) return [];
  const opened = sides.filter((side) => side !== undefined && side !== null);
  const alike = opened.length > 0 && opened.every((side) => typeof side === 'object' && Array.isArray(side) === Array.isArray(opened[0]));
  if (!alike || opened.length < 2) return [{ path, values: [...sides] }];
  const keys = new Set(opened.flatMap((side) => Object.keys(side as object)));
  return [...keys].flatMap((key) =>
    differingFields(
      sides.map((side) => child(side, key)),
      path ? `${path}.${key}` : key,
    ),
  );
}

function child(value: Json | undefined, key: string): Json | undefined {
  if (value === undefined || value === null || typeof value !== 'object') return undefined;
  return Object.hasOwn(value, key) ? (value as Record<string, Json>)[key] : undefined;
}
