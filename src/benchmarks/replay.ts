/** @file Replays conversations on a domain. Finds the final state, and the observations that differ from the recording. */
import type { ExactDomain } from '../domains/exact/types.ts';
import { changedRows, runExact } from '../domains/exact/run.ts';
import { canonicalJson } from '../base/json.ts';
import { Overlay } from '../environments/overlay.ts';
import type { Json } from '../records/json.ts';
import type { RowChange } from '../records/task.ts';
import { type Conversation, callsOf } from './recorded-conversation.ts';
import { sameObservation } from './same-observation.ts';

export interface ObservationDifference {
  /** The index of the call in the conversation. */
  call: number;
  name: string;
  recorded: string;
  ours: string;
}

export interface Replay {
  rows: Overlay;
  observations: string[];
  errors: boolean[];
  differences: ObservationDifference[];
}

/**
 * Makes the conversation's calls on `rows`. An observation that differs from the recorded one is reported, and the replay
 * continues. In tau2, a live evaluation stops at such a difference, but grading again continues (`strict_replay`).
 */
export function replay(domain: Pick<ExactDomain, 'execute'>, rows: Overlay, conversation: Conversation): Replay {
  const result: Replay = { rows, observations: [], errors: [], differences: [] };
  callsOf(conversation).forEach(({ recorded, ...call }, i) => {
    const { text, error } = runExact(domain, rows, call);
    result.observations.push(text);
    result.errors.push(error);
    if (recorded !== undefined && !sameObservation(recorded, text))
      result.differences.push({ call: i, name: call.name, recorded, ours: text });
  });
  return result;
}

/** A row that differs from the row after the gold actions. */
export interface RowDifference {
  table: string;
  key: string;
  gold: Json;
  ours: Json;
}

/**
 * The rows in which two states of one world differ. The list is empty if and only if the databases are equal. Numbers are
 * compared as numbers. tau-bench v1 instead hashes Python's text of a number, so that 5 differs from 5.0; tau2-bench fixed
 * this.
 */
export function rowDifferences(gold: Overlay, ours: Overlay): RowDifference[] {
  const rowId = ({ table, key }: Pick<RowChange, 'table' | 'key'>) => JSON.stringify([table, key]);
  const changes = [gold, ours].map((rows) => new Map(changedRows(rows).map((change) => [rowId(change), change])));
  return [...new Set(changes.flatMap((map) => [...map.keys()]))].flatMap((at) => {
    const [a, b] = [changes[0]!.get(at), changes[1]!.get(at)];
    const base = (a ?? b)!.before;
    const difference = { table: (a ?? b)!.table, key: (a ?? b)!.key, gold: a ? a.after : base, ours: b ? b.after : base };
    return canonicalJson(difference.gold) === canonicalJson(difference.ours) ? [] : [difference];
  });
}
