/** @file Conversations run again on a domain: the state they lead to, and where observations differ from the record. */
import type { ExactDomain } from '../environments/exact/types.ts';
import { changedRows, runExact } from '../environments/exact/run.ts';
import { canonicalJson } from '../environments/json.ts';
import { Overlay } from '../environments/overlay.ts';
import type { Json, RowChange } from '../environments/types.ts';
import { type Conversation, callsOf } from './conversation.ts';
import { sameObservation } from './observations.ts';

export interface ObservationDifference {
  /** Index among the conversation's calls. */
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
 * Makes the conversation's calls on `rows`. An observation that is not the recorded one is reported and the replay goes on:
 * tau2 gives up there in live evaluation, and goes on when it re-grades (`strict_replay`).
 */
export function replay(domain: ExactDomain, rows: Overlay, conversation: Conversation): Replay {
  const result: Replay = { rows, observations: [], errors: [], differences: [] };
  callsOf(conversation).forEach(({ recorded, ...call }, i) => {
    const { text, error } = runExact(domain, rows, call);
    result.observations.push(text);
    result.errors.push(error);
    if (recorded !== undefined && !sameObservation(recorded, text)) result.differences.push({ call: i, name: call.name, recorded, ours: text });
  });
  return result;
}

/** A row that is not as the gold actions leave it. */
export interface RowDifference { table: string; key: string; gold: Json; ours: Json }

/**
 * Rows in which two states over one world differ; none if and only if the databases are equal. Numbers compare as
 * numbers: tau-bench v1 hashes Python's text of them, where 5 is not 5.0, which its successor gave up as a fault.
 */
export function rowDifferences(gold: Overlay, ours: Overlay): RowDifference[] {
  const place = ({ table, key }: Pick<RowChange, 'table' | 'key'>) => JSON.stringify([table, key]);
  const changes = [gold, ours].map((rows) => new Map(changedRows(rows).map((change) => [place(change), change])));
  return [...new Set(changes.flatMap((map) => [...map.keys()]))].flatMap((at) => {
    const [a, b] = [changes[0]!.get(at), changes[1]!.get(at)];
    const base = (a ?? b)!.before;
    const difference = { table: (a ?? b)!.table, key: (a ?? b)!.key, gold: a ? a.after : base, ours: b ? b.after : base };
    return canonicalJson(difference.gold) === canonicalJson(difference.ours) ? [] : [difference];
  });
}
