/** @file Draws the values of worlds and blueprints. */
import type { Dice } from '../base/dice.ts';
import type { Json } from '../records/json.ts';
import type { Draw } from '../records/scenario.ts';
import type { Split } from '../records/task.ts';
import type { Expressions, Scope } from './cel.ts';
import { namesOf } from './names.ts';

export interface Drawing {
  cel: Expressions;
  dice: Dice;
  split: Split;
  /** What expressions may name. */
  scope: Scope;
  /** The keys of a table. */
  keys(table: string): readonly string[];
  /** Where the draw stands in the file. */
  path: string;
}

/** Keys have two digits, and three in large tables. So a model cannot learn them by heart, and they stay short. */
const keyNumber = (dice: Dice, used: number): number => (used < 45 ? dice.int(10, 99) : dice.int(100, 999));

/** A value. A key may be in use; then the caller draws again. @throws InputError */
export function drawValue(draw: Draw, { cel, dice, split, scope, keys, path }: Drawing, table?: string): Json {
  if ('id' in draw) return `${draw.id}_${keyNumber(dice, table === undefined ? 0 : keys(table).length)}`;
  if ('from' in draw) return dice.pick(draw.from);
  if ('min' in draw) return draw.min + (draw.step ?? 1) * dice.int(0, Math.floor((draw.max - draw.min) / (draw.step ?? 1)));
  if ('some' in draw) {
    const chosen = new Set(
      dice.sample(
        draw.some.map((_, i) => i),
        dice.int(draw.least, draw.most),
      ),
    );
    return draw.some.filter((_, i) => chosen.has(i));
  }
  if ('row' in draw) {
    const known = keys(draw.row);
    return known.length === 0 ? null : dice.pick(known);
  }
  if ('person' in draw) {
    const { first, last } = namesOf(split);
    return draw.person === 'full' ? `${dice.pick(first)} ${dice.pick(last)}` : dice.pick(draw.person === 'first' ? first : last);
  }
  return cel.json(draw.cel, scope, `${path}.cel`);
}
