/** @file The database at the end of an episode beside the task's goal, row by row and field by field. */
import { equalJson } from '../../environments/json.ts';
import type { Json, RowChange } from '../../environments/types.ts';

export interface FieldDiff {
  /** Path in the row, e.g. `items.0.price`; '' is the row itself. Undefined values: not there. */
  path: string;
  before: Json | undefined;
  after: Json | undefined;
  goal: Json | undefined;
}

export interface RowDiff {
  table: string;
  key: string;
  /** `right`: as the goal asks. `missing`: the goal changes it, the agent did not. `unexpected`: the other way round. */
  state: 'right' | 'wrong' | 'missing' | 'unexpected';
  /** The tool call that changed it last. */
  call: number | null;
  fields: FieldDiff[];
}

/** Goal rows first, in their order; then what nobody asked for. */
export function compareRows(changes: readonly RowChange[], goal: readonly RowChange[]): RowDiff[] {
  const name = (row: RowChange) => `${row.table}\n${row.key}`;
  const made = new Map(changes.map((row) => [name(row), row]));
  const wanted = new Map(goal.map((row) => [name(row), row]));
  return [...new Map([...wanted, ...made]).keys()].map((id) => {
    const actual = made.get(id);
    const target = wanted.get(id);
    const { table, key, before } = (actual ?? target)!;
    // A row that one side left alone still is what it was.
    const after = actual ? actual.after : before;
    const aim = target ? target.after : before;
    const state = !target ? 'unexpected' : !actual ? 'missing' : equalJson(after, aim) ? 'right' : 'wrong';
    return { table, key, state, call: actual?.call ?? null, fields: fieldDiffs(before, after, aim) };
  });
}

/** Fields where before, after and goal are not all the same. */
function fieldDiffs(...sides: [before: Json | undefined, after: Json | undefined, goal: Json | undefined]): FieldDiff[] {
  return differingFields(sides).map(({ path, values: [before, after, goal] }) => ({ path, before, after, goal }));
}

/** The paths at which versions of a row are not all the same, and what each has there. */
export function differingFields(sides: readonly (Json | undefined)[], path = ''): { path: string; values: (Json | undefined)[] }[] {
  if (sides.every((side) => equalJson(side, sides[0]))) return [];
  const opened = sides.filter((side) => side !== undefined && side !== null);
  const alike = opened.length > 0 && opened.every((side) => typeof side === 'object' && Array.isArray(side) === Array.isArray(opened[0]));
  if (!alike || opened.length < 2) return [{ path, values: [...sides] }];
  const keys = new Set(opened.flatMap((side) => Object.keys(side as object)));
  return [...keys].flatMap((key) => differingFields(sides.map((side) => child(side, key)), path ? `${path}.${key}` : key));
}

function child(value: Json | undefined, key: string): Json | undefined {
  if (value === undefined || value === null || typeof value !== 'object') return undefined;
  return Object.hasOwn(value, key) ? (value as Record<string, Json>)[key] : undefined;
}
