/** @file Finds where conversations differ: several as columns of moves, two as aligned columns, and two as token sequences. */
import { path } from '../../../base/message-path.ts';
import type { Trajectory } from '../../../records/trajectory.ts';
import type { Turn } from './acts.ts';

/** `together`: a move that the majority makes. `leaves`: the first move that differs from the majority. `apart`: a move after that one. */
export type MovePlace = 'together' | 'leaves' | 'apart';

export interface Divergence {
  /** How many moves at the beginning are equal in all columns. */
  shared: number;
  /** One list for each column, one entry for each move. */
  places: MovePlace[][];
  /** The index of the move at which each column leaves the majority; null if it never does. */
  leaves: (number | null)[];
}

/**
 * Follows, move by move, the majority of the columns. If two moves are equally frequent, the move with the higher mean reward is the
 * majority's, or the first one if their rewards are equal too. A column that ends while it follows the majority has never left it.
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

/** Puts equal moves into one row, by a longest common subsequence. The other moves between two such rows are put side by side in order. */
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

/** The first difference between two conversations. */
export interface Fork {
  /** The index of the first different turn. */
  turn: number;
  /** True if a move differs. False if all moves are equal, so that only words or results differ. */
  act: boolean;
  /** For each conversation, the position of the first different token of this turn. Null if one of the conversations has no tokens. */
  tokens: [number, number] | null;
}

type Played = Pick<Trajectory, 'nodes' | 'leaf'> & { turns: readonly Turn[] };

/**
 * Finds the first move that differs or, if all moves are equal, the first token that differs; without tokens, the first turn with other
 * words. Null if all tokens or words are equal.
 */
export function forkOf(a: Played, b: Played): Fork | null {
  const hasTokens = tokensOf(a).length > 0 && tokensOf(b).length > 0;
  const moves = Array.from({ length: Math.max(a.turns.length, b.turns.length) }, (_, t) => t);
  const turn = moves.find((t) => a.turns[t]?.move !== b.turns[t]?.move);
  if (turn !== undefined && !hasTokens) return { turn, act: true, tokens: null };
  if (turn !== undefined) {
    const said = (played: Played) => played.turns[turn]?.nodes[0]?.tokens ?? [];
    const offset = firstDifference(said(a), said(b)) ?? 0;
    const token = (played: Played) => Math.min(startOf(played, turn) + offset, tokensOf(played).length - 1);
    return { turn, act: true, tokens: [token(a), token(b)] };
  }
  if (!hasTokens) {
    const other = moves.find((t) => wordsOf(a.turns[t]!) !== wordsOf(b.turns[t]!));
    return other === undefined ? null : { turn: other, act: false, tokens: null };
  }
  const token = firstDifference(tokensOf(a), tokensOf(b));
  if (token === null) return null;
  const at = moves.findLastIndex((t) => a.turns[t]!.nodes.length > 0 && startOf(a, t) <= token);
  /** If one conversation continues where the other ends, the shorter one has no different token. */
  const within = (played: Played) => Math.min(token, tokensOf(played).length - 1);
  return { turn: Math.max(0, at), act: false, tokens: [within(a), within(b)] };
}

/** The words and results of a turn, without the markup of a model. */
const wordsOf = ({ nodes }: Turn): string => JSON.stringify(nodes.map(({ role, text, content = text }) => [role, content]));

const tokensOf = (played: Pick<Trajectory, 'nodes' | 'leaf'>): number[] => path(played).flatMap(({ tokens }) => tokens);

/** The position of a turn's first token. A turn without messages begins at the end. */
function startOf(played: Played, turn: number): number {
  const nodes = path(played);
  const first = played.turns[turn]?.nodes[0];
  const at = nodes.findIndex(({ id }) => id === first?.id);
  return nodes.slice(0, at < 0 ? undefined : at).reduce((sum, { tokens }) => sum + tokens.length, 0);
}

/** The index of the first difference. Null if both lists are equal. */
function firstDifference(a: readonly number[], b: readonly number[]): number | null {
  const at = a.findIndex((token, i) => token !== b[i]);
  return at >= 0 ? at : a.length < b.length ? a.length : null;
}
