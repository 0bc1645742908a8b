/**
 * @file The tree of an expression of Python source. A form that this code does not evaluate, such as a comparison, becomes a node that holds
 * only its text.
 */
import type { Constant } from './constants.ts';

export type Node =
  | Constant
  | { kind: 'name'; id: string }
  | { kind: 'attribute'; of: Node; name: string }
  | { kind: 'call'; of: Node; args: Node[]; keywords: { name: string | null; value: Node }[] }
  | { kind: 'subscript'; of: Node; index: Node }
  | { kind: 'list' | 'tuple' | 'set'; items: Node[] }
  | { kind: 'dict'; entries: { key: Node | null; value: Node }[] }
  | { kind: 'unary'; op: string; of: Node }
  | { kind: 'binary'; op: string; left: Node; right: Node }
  | { kind: 'other'; text: string; rank: number };

/** Binary operators with their ranks. A higher rank binds more closely. */
export const RANKS: Record<string, number> = {
  '|': 7,
  '^': 8,
  '&': 9,
  '<<': 10,
  '>>': 10,
  '+': 11,
  '-': 11,
  '*': 12,
  '/': 12,
  '//': 12,
  '%': 12,
  '@': 12,
  '**': 14,
};
/** The ranks of the other forms. */
export const RANK = { test: 2, or: 3, and: 4, not: 5, compare: 6, unary: 13, power: 14, atom: 16 };
