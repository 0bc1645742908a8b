/** @file The database at one tool call of an episode: rows before and after it, beside what the task wants. */
import { path } from '../../agent/trajectory.ts';
import type { Trajectory } from '../../agent/types.ts';
import { equalJson } from '../../environments/json.ts';
import type { Json, RowChange, ToolCall } from '../../environments/types.ts';
import { differingFields } from '../logic/row-diff.ts';

export type Episode = Pick<Trajectory, 'nodes' | 'leaf' | 'verdict' | 'userCalls'>;

export interface LoggedCall {
  /** Place in the episode's log: the `call` of addresses. */
  index: number;
  call: ToolCall;
  /** Who made it; the agent never sees the customer's own calls. */
  by: 'agent' | 'customer';
  /** The message that holds the call; of a customer's call, the message it was made after. */
  node: number;
  error: boolean;
  /** Rows it changed: `before` is the row before this very call. */
  changes: RowChange[];
}

/** Every call on the way to the leaf, in order. */
export function loggedCalls({ nodes, leaf, userCalls = [] }: Episode): LoggedCall[] {
  const calls: LoggedCall[] = userCalls.map(({ index, call, after, error, changes }) => ({ index, call, by: 'customer', node: after, error, changes }));
  let asked: { id: number; call: ToolCall } | null = null;
  for (const node of path({ nodes, leaf })) {
    if (node.toolCall) asked = { id: node.id, call: node.toolCall };
    if (!node.toolResult || !asked) continue;
    const { index, error, changes } = node.toolResult;
    calls.push({ index, call: asked.call, by: 'agent', node: asked.id, error, changes });
  }
  return calls.sort((a, b) => a.index - b.index);
}

export interface MomentField {
  /** Path in the row; '' is the row itself. Undefined values: not there. */
  path: string;
  before: Json | undefined;
  after: Json | undefined;
  goal: Json | undefined;
}

export interface MomentRow {
  table: string;
  key: string;
  /** Whether this call changed it. */
  now: boolean;
  /** The last call up to this one that changed it. */
  since: number | null;
  /** How the row stands to the goal after the call; `pending`: the goal changes it, nobody has yet. */
  state: 'right' | 'wrong' | 'pending' | 'unexpected';
  fields: MomentField[];
}

/** Rows that had changed by the end of call `at`, and those that the goal changes. With `at` below all calls: as it began. */
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
      const fields = differingFields([base, before, after, aim]).map(({ path, values }) => ({ path, before: values[1], after: values[2], goal: values[3] }));
      return { table, key, now, since: change?.since ?? null, state, fields };
    })
    .sort((a, b) => Number(b.now) - Number(a.now));
}

/** Where rows that no call changed come from. */
export interface BaseTables {
  tables(): Promise<{ name: string; count: number }[]>;
  /** The first `most` rows of a table. */
  rows(table: string, most: number): Promise<(readonly [key: string, row: Json])[]>;
}

/** A table as it was after call `at`: its rows in order, those that were not among the ones given last. */
export function tableAt(name: string, rows: readonly (readonly [key: string, row: Json])[], episode: Episode, at: number): { key: string; row: Json; since: number | null }[] {
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
