/** @file Where conversations differ: several as a tree of moves, two as aligned columns, two as token sequences. */
import { path } from '../../../agent/trajectory.ts';
import type { Trajectory } from '../../../records/trajectory.ts';

/** `together`: a move that most make. `leaves`: the first different move. `apart`: a move after that. */
export type MovePlace = 'together' | 'leaves' | 'apart';

export interface Divergence {
  /** How many first moves all have in common. */
  shared: number;
  /** One list for each column, one entry for each move. */
  places: MovePlace[][];
  /** The move at which each column leaves the majority; null: never. */
  leaves: (number | null)[];
}

/**
 * Follows the move that most columns make. If two moves are equally frequent, the move with the higher mean reward counts,
 * then the first. A column that ends while it follows the majority has never left it.
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
  const places = columns.map((moves, i) =>
    moves.map((_, t): MovePlace => (leaves[i] === null || t < leaves[i]! ? 'together' : t === leaves[i] ? 'leaves' : 'apart')),
  );
  return { shared: shared ?? 0, places, leaves };
}

function mean(columns: readonly number[], rewards: readonly (number | null)[]): number {
  return columns.reduce((sum, i) => sum + (rewards[i] ?? 0), 0) / columns.length;
}

/** One row of two aligned columns: the index in each column, null if the row has no entry of that column. */
export interface AlignedRow {
  a: number | null;
  b: number | null;
  same: boolean;
}

/** Pairs equal moves by a longest common subsequence. Moves between two pairs share rows in their order. */
export function align(a: readonly string[], b: readonly string[]): AlignedRow[] {
  // longest[i][j]: the length of the longest common subsequence of a.slice(i) and b.slice(j).
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

/** The position of the first different token; null if the sequences are equal. */
export function firstDifferentToken(a: Pick<Trajectory, 'nodes' | 'leaf'>, b: Pick<Trajectory, 'nodes' | 'leaf'>): number | null {
  const [left, right] = [a, b].map((trajectory) => path(trajectory).flatMap(({ tokens }) => tokens)) as [number[], number[]];
  const at = left.findIndex((token, i) => token !== right[i]);
  return at >= 0 ? at : left.length < right.length ? left.length : null;
}
