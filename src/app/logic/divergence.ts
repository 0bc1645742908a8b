/** @file Where conversations part: several as a tree of moves, two as aligned columns, two as token sequences. */
import { path } from '../../agent/trajectory.ts';
import type { Trajectory } from '../../agent/types.ts';

/** `together`: on the way that most take. `leaves`: the first move that is another. `apart`: after that. */
export type Place = 'together' | 'leaves' | 'apart';

export interface Divergence {
  /** First moves that all have in common. */
  shared: number;
  /** One list a column, one entry a move. */
  places: Place[][];
  /** The move at which each column leaves the others; null: never. */
  leaves: (number | null)[];
}

/**
 * Follows the way that most columns take; of equally many the one with the higher mean reward, then the first. A column
 * that ends on that way has never left it.
 */
export function divergence(columns: readonly (readonly string[])[], rewards: readonly (number | null)[] = []): Divergence {
  const leaves: (number | null)[] = columns.map(() => null);
  let way = columns.map((_, i) => i);
  let shared: number | null = null;
  for (let t = 0; ; t++) {
    const playing = way.filter((i) => t < columns[i]!.length);
    const branches = new Map<string, number[]>();
    for (const i of playing) branches.set(columns[i]![t]!, [...(branches.get(columns[i]![t]!) ?? []), i]);
    if (shared === null && (playing.length < columns.length || branches.size !== 1)) shared = t;
    if (playing.length === 0) break;
    const [main] = [...branches.values()].sort((a, b) => b.length - a.length || mean(b, rewards) - mean(a, rewards));
    for (const i of playing) if (!main!.includes(i)) leaves[i] = t;
    way = main!;
  }
  const places = columns.map((moves, i) => moves.map((_, t): Place => (leaves[i] === null || t < leaves[i]! ? 'together' : t === leaves[i] ? 'leaves' : 'apart')));
  return { shared: shared ?? 0, places, leaves };
}

function mean(columns: readonly number[], rewards: readonly (number | null)[]): number {
  return columns.reduce((sum, i) => sum + (rewards[i] ?? 0), 0) / columns.length;
}

/** One row of two aligned columns: places in each, null where the other stands alone. */
export interface AlignedRow {
  a: number | null;
  b: number | null;
  same: boolean;
}

/** Pairs equal moves by a longest common subsequence; moves between two pairs stand beside each other as they come. */
export function align(a: readonly string[], b: readonly string[]): AlignedRow[] {
  // longest[i][j]: of a from i on and b from j on.
  const longest = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i]![j] = a[i] === b[j] ? longest[i + 1]![j + 1]! + 1 : Math.max(longest[i + 1]![j]!, longest[i]![j + 1]!);
    }
  }
  const rows: AlignedRow[] = [];
  let left: number[] = [];
  let right: number[] = [];
  const flush = () => {
    for (let k = 0; k < Math.max(left.length, right.length); k++) rows.push({ a: left[k] ?? null, b: right[k] ?? null, same: false });
    left = [];
    right = [];
  };
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      flush();
      rows.push({ a: i++, b: j++, same: true });
    } else if (j >= b.length || (i < a.length && longest[i + 1]![j]! >= longest[i]![j + 1]!)) left.push(i++);
    else right.push(j++);
  }
  flush();
  return rows;
}

/** Place in both sequences of the first token that is not the same, or null when they are equal. */
export function firstDifferentToken(a: Pick<Trajectory, 'nodes' | 'leaf'>, b: Pick<Trajectory, 'nodes' | 'leaf'>): number | null {
  const [left, right] = [a, b].map((trajectory) => path(trajectory).flatMap(({ tokens }) => tokens)) as [number[], number[]];
  const at = left.findIndex((token, i) => token !== right[i]);
  return at >= 0 ? at : left.length < right.length ? left.length : null;
}
