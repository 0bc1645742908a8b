/** @file The database at one tool call of an episode: rows before and after the call, and the goal of the task. */
import { answersOf, path } from '../../../base/message-path.ts';
import type { Json } from '../../../records/json.ts';
import type { RowChange, ToolCall } from '../../../records/task.ts';
import type { Trajectory } from '../../../records/trajectory.ts';
import { equalJson } from '../../../base/json.ts';
import { differingFields } from './row-diff.ts';

export type Episode = Pick<Trajectory, 'nodes' | 'leaf' | 'verdict' | 'userCalls'>;

export interface LoggedCall {
  /** The index in the episode's log. It is the `call` in an address. */
  index: number;
  call: ToolCall;
  /** Who made the call. The agent never sees the customer's calls. */
  by: 'agent' | 'customer';
  /** The id of the message with the call. For a customer's call, it is the message before the call. */
  node: number;
  error: boolean;
  /** The rows that the call changed. `before` is the row before this call. */
  changes: RowChange[];
}

/** All calls on the path to the leaf, in order. */
export function loggedCalls({ nodes, leaf, userCalls = [] }: Episode): LoggedCall[] {
  const calls: LoggedCall[] = userCalls.map(({ index, call, after, error, changes }) => ({
    index,
    call,
    by: 'customer',
    node: after,
    error,
    changes,
  }));
  for (const { call, asked, result } of answersOf(path({ nodes, leaf })).values())
    calls.push({ index: result.index, call, by: 'agent', node: asked, error: result.error, changes: result.changes });
  return calls.sort((a, b) => a.index - b.index);
}

export interface MomentField {
  /** The path in the row; '' is the row itself. A value is undefined if the field does not exist. */
  path: string;
  before: Json | undefined;
  after: Json | undefined;
  goal: Json | undefined;
}

export interface MomentRow {
  table: string;
  key: string;
  /** True if this call changed the row. */
  now: boolean;
  /** The last call up to this call that changed the row. */
  since: number | null;
  /** The row after the call, compared with the goal. `pending`: the goal changes the row, but no call has changed it yet. */
  state: 'right' | 'wrong' | 'pending' | 'unexpected';
  fields: MomentField[];
}

/** The rows that the calls up to `at` changed, and the rows that the goal changes. `at` is −1 for the time before the first call. */
export function momentRows(episode: Episode, at: number): MomentRow[] {
  const name = ({ table, key }: RowChange) => JSON.stringify([table, key]);
  const made = new Map<string, { base: Json; last: RowChange; since: number }>();
  for (const { index, changes } of loggedCalls(episode)) {
    if (index > at) break;
    for (const change of changes) {
      const known = made.get(name(change));
      made.set(name(change), { base: known ? known.base : change.before, last: change, since: index });
    }
  }
  const goal = new Map((episode.verdict?.goal ?? []).map((change) => [name(change), change]));
  return [...new Set([...made.keys(), ...goal.keys()])]
    .map((id): MomentRow => {
      const change = made.get(id);
      const target = goal.get(id);
      const { table, key, before: base } = change ? { ...change.last, before: change.base } : target!;
      const now = change?.since === at;
      const after = change ? change.last.after : base;
      const before = now ? change!.last.before : after;
      const aim = target ? target.after : base;
      const state = equalJson(after, aim) ? 'right' : !target ? 'unexpected' : equalJson(after, base) ? 'pending' : 'wrong';
      const fields = differingFields([base, before, after, aim]).map(({ path, values }) => ({
        path,
        before: values[1],
        after: values[2],
        goal: values[3],
      }));
      return { table, key, now, since: change?.since ?? null, state, fields };
    })
    .sort((a, b) => Number(b.now) - Number(a.now));
}

/** Reads the rows at the start of the episode. */
export interface BaseTables {
  tables(): Promise<{ name: string; count: number }[]>;
  /** The first `most` rows of a table. */
  rows(table: string, most: number): Promise<(readonly [key: string, row: Json])[]>;
}

/** The rows of a table after call `at`. `rows` are its first rows at the start. Changed rows that are not among them come last. */
export function tableAt(
  name: string,
  rows: readonly (readonly [key: string, row: Json])[],
  episode: Episode,
  at: number,
): { key: string; row: Json; since: number | null }[] {
  const now = new Map(rows.map(([key, row]) => [key, { key, row, since: null as number | null }]));
  for (const { index, changes } of loggedCalls(episode)) {
    if (index > at) break;
    for (const { table, key, after } of changes) {
      if (table !== name) continue;
      if (after === null) now.delete(key);
      else now.set(key, { key, row: after, since: index });
    }
  }
  return [...now.values()];
}
