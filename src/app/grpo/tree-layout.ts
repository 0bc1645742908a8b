/**
 * @file Computes positions for the stretches of a tree. Levels are columns from left to right, each rollout is a row, parents are centred.
 */
import type { Played, Stretch } from './act-tree.ts';

/** The share of a level's width that the ribbons to the next level take. */
export const BEND = 0.14;

/** Horizontal lengths are in levels, vertical lengths in pixels. */
export interface Block<R extends Played = Played> {
  stretch: Stretch<R>;
  left: number;
  width: number;
  top: number;
  height: number;
}

export interface TreeLayout<R extends Played = Played> {
  /** The blocks in depth-first order. */
  blocks: Block<R>[];
  /** SVG paths from a stretch to the stretches that follow it. */
  ribbons: { stretch: Stretch<R>; path: string }[];
  /** The top of each rollout's row, from top to bottom. */
  ends: { one: R; top: number }[];
  levels: number;
  height: number;
}

/**
 * @param row the height of one rollout in pixels
 * @param gap the distance between two stretches of a level in pixels
 */
export function layOut<R extends Played>(tree: Stretch<R>, row: number, gap: number): TreeLayout<R> {
  const levels = depth(tree);
  const layout: TreeLayout<R> = { blocks: [], ribbons: [], ends: [], levels, height: 0 };
  /** Places a stretch and all after it below `top`. */
  function place(stretch: Stretch<R>, level: number, top: number): { block: Block<R>; bottom: number } {
    const height = row * stretch.rollouts.length;
    const last = stretch.next.length === 0;
    const block: Block<R> = { stretch, left: level, width: last ? levels - level : 1 - BEND, top, height };
    layout.blocks.push(block);
    if (last) {
      stretch.rollouts.forEach((one, i) => layout.ends.push({ one, top: top + row * i }));
      return { block, bottom: top + height };
    }
    const after: Block<R>[] = [];
    let bottom = top - gap;
    for (const next of stretch.next) {
      const placed = place(next, level + 1, bottom + gap);
      after.push(placed.block);
      bottom = placed.bottom;
    }
    block.top = (top + bottom - height) / 2;
    let start = block.top;
    for (const next of after) {
      layout.ribbons.push({ stretch: next.stretch, path: ribbon(level + 1 - BEND, start, next.left, next.top, next.height) });
      start += next.height;
    }
    return { block, bottom };
  }
  layout.height = place(tree, 0, 0).bottom;
  return layout;
}

const depth = (stretch: Stretch): number => 1 + Math.max(0, ...stretch.next.map(depth));

function ribbon(x: number, y: number, toX: number, toY: number, height: number): string {
  const middle = (x + toX) / 2;
  return `M${x} ${y}C${middle} ${y} ${middle} ${toY} ${toX} ${toY}v${height}C${middle} ${toY + height} ${middle} ${y + height} ${x} ${y + height}Z`;
}
