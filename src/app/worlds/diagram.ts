/** @file Places the tables of a world as boxes in columns, with a line for each reference. All lengths are in CSS pixels. */
import type { Range, Reference, TableRelations } from '../../worlds/types.ts';

/** The height of a text line in a box. WIDTH is the width of a box. */
export const LINE = 20;
export const WIDTH = 200;
/** The space between two columns. It fits the numbers at both ends of a line. DOWN is the space between two boxes. */
const ACROSS = 96;
const DOWN = 28;
/** The height that a line takes in a column through which it passes. */
const PASSING = 12;
/** The number of boxes in a row of tables without references. */
const A_ROW = 4;

export interface Box {
  table: TableRelations;
  left: number;
  top: number;
  height: number;
}

export interface Line {
  from: string;
  reference: Reference;
  path: string;
  /** The texts at both ends of the line, with their positions. */
  ends: { text: string; x: number; y: number; anchor: 'start' | 'end' }[];
}

/** A box, or the gap through which a long line passes a column. */
interface Item {
  table: TableRelations | null;
  column: number;
  top: number;
  height: number;
  /** The items to which lines lead: in the column before, and in the column after. */
  before: Item[];
  after: Item[];
}

/** The number of text lines in a box: the name, the key, one for each reference, and one for the other fields. */
export const linesOf = ({ references, others }: TableRelations): number => 2 + references.length + (others.length > 0 ? 1 : 0);

/** Writes a range of counts, such as `1` or `0–7`. */
export const rangeText = ({ least, most }: Range): string => (least === most ? String(most) : `${least}–${most}`);

export function layOut(tables: readonly TableRelations[]): { boxes: Box[]; lines: Line[]; width: number; height: number } {
  const byName = new Map(tables.map((table) => [table.name, table]));
  const linked = new Set(
    tables.flatMap(({ name, references }) => (references.length > 0 ? [name, ...references.map(({ to }) => to)] : [])),
  );
  const columnOf = columnsOf(tables.filter(({ name }) => linked.has(name)));
  const items = new Map(
    [...columnOf].map(([name, column]): [string, Item] => {
      const table = byName.get(name)!;
      return [name, { table, column, top: 0, height: linesOf(table) * LINE, before: [], after: [] }];
    }),
  );
  const columns: Item[][] = Array.from({ length: Math.max(0, ...columnOf.values()) + (items.size > 0 ? 1 : 0) }, () => []);
  for (const item of items.values()) columns[item.column]!.push(item);

  // A line over several columns gets a gap in each column in between.
  const passes = new Map<Reference, Item[]>();
  for (const { name, references } of tables)
    for (const reference of references) {
      const [a, b] = [items.get(name)!, items.get(reference.to)!];
      if (a === b) continue;
      const [left, right] = a.column < b.column ? [a, b] : [b, a];
      const chain = [left];
      for (let column = left.column + 1; column < right.column; column++) {
        const pass: Item = { table: null, column, top: 0, height: PASSING, before: [], after: [] };
        columns[column]!.push(pass);
        chain.push(pass);
      }
      chain.push(right);
      for (let i = 1; i < chain.length; i++) {
        chain[i]!.before.push(chain[i - 1]!);
        chain[i - 1]!.after.push(chain[i]!);
      }
      passes.set(reference, chain.slice(1, -1));
    }
  order(columns);

  const tallest = Math.max(0, ...columns.map(heightOf));
  for (const column of columns) stack(column, (tallest - heightOf(column)) / 2);
  const xOf = (column: number) => column * (WIDTH + ACROSS);
  const boxes = [...items.values()].map(({ table, column, top, height }): Box => ({ table: table!, left: xOf(column), top, height }));

  const alone = tables.filter(({ name }) => !linked.has(name));
  let bottom = boxes.length > 0 ? tallest + DOWN : 0;
  for (let i = 0; i < alone.length; i += A_ROW) {
    const row = alone
      .slice(i, i + A_ROW)
      .map((table, at): Box => ({ table, left: at * (WIDTH + DOWN), top: bottom, height: linesOf(table) * LINE }));
    boxes.push(...row);
    bottom += Math.max(...row.map(({ height }) => height)) + DOWN;
  }

  return {
    boxes,
    lines: drawLines(tables, new Map(boxes.map((box) => [box.table.name, box])), passes),
    // A reference of a table to itself is drawn at the right of its box.
    width: Math.max(
      0,
      ...boxes.map(({ left, table }) => left + WIDTH + (table.references.some(({ to }) => to === table.name) ? ACROSS / 2 : 0)),
    ),
    height: Math.max(0, ...boxes.map(({ top, height }) => top + height)),
  };
}

/**
 * The column of each table. A table is to the right of the tables that refer to it. In a cycle, the table that comes first is at the left.
 */
function columnsOf(tables: readonly TableRelations[]): Map<string, number> {
  const byName = new Map(tables.map((table) => [table.name, table]));
  const column = new Map<string, number>();
  const finished: string[] = [];
  const forward = new Map<string, string[]>();
  const visit = (name: string, open: ReadonlySet<string>) => {
    if (forward.has(name)) return;
    const within = new Set([...open, name]);
    const targets = byName
      .get(name)!
      .references.map(({ to }) => to)
      .filter((to) => !within.has(to));
    forward.set(name, targets);
    for (const to of targets) visit(to, within);
    finished.unshift(name);
  };
  for (const { name } of tables) visit(name, new Set());
  for (const name of finished) {
    const at = column.get(name) ?? 0;
    column.set(name, at);
    for (const to of forward.get(name)!) column.set(to, Math.max(column.get(to) ?? 0, at + 1));
  }
  return column;
}

/** Sorts each column by the mean position of its items' neighbours, forward and then backward, so that few lines cross. */
function order(columns: Item[][]): void {
  const sort = (column: Item[], near: 'before' | 'after') => {
    const place = (item: Item) => {
      const tops = item[near].map(({ top, height }) => top + height / 2);
      return tops.length > 0 ? tops.reduce((a, b) => a + b) / tops.length : item.top;
    };
    const places = new Map(column.map((item) => [item, place(item)]));
    column.sort((a, b) => places.get(a)! - places.get(b)!);
    stack(column, 0);
  };
  for (const column of columns) stack(column, 0);
  for (let round = 0; round < 3; round++) {
    for (const column of columns.slice(1)) sort(column, 'before');
    for (const column of columns.slice(0, -1).reverse()) sort(column, 'after');
  }
}

const heightOf = (column: readonly Item[]) => column.reduce((sum, { height }) => sum + height, DOWN * Math.max(0, column.length - 1));

function stack(column: readonly Item[], from: number): void {
  let top = from;
  for (const item of column) {
    item.top = top;
    top += item.height + DOWN;
  }
}

function drawLines(
  tables: readonly TableRelations[],
  boxes: ReadonlyMap<string, Box>,
  passes: ReadonlyMap<Reference, readonly Item[]>,
): Line[] {
  const all = tables.flatMap(({ name, references }) =>
    references.map((reference, i) => {
      const [a, b] = [boxes.get(name)!, boxes.get(reference.to)!];
      return { from: name, reference, a, b, y: a.top + (2 + i + 0.5) * LINE, right: b.left >= a.left, self: a === b };
    }),
  );
  return all.map(({ from, reference, a, b, y, right, self }): Line => {
    // Lines that end at the same side of a box are spread over the height of its name and key.
    const same = all.filter((one) => one.b === b && (one.self || !one.right) === (self || !right)).sort((one, two) => one.y - two.y);
    const step = (2 * LINE) / same.length;
    const end = b.top + step * (same.findIndex((one) => one.reference === reference) + 0.5);
    const out = right || self ? a.left + WIDTH : a.left;
    const into = self || !right ? b.left + WIDTH : b.left;
    const over = (x: number, away: boolean, at: number, text: string) =>
      ({ text, x: x + (away ? 6 : -6), y: at - 4, anchor: away ? 'start' : 'end' }) as const;
    const ends = [over(out, right || self, y, rangeText(reference.namedBy))];
    if (step >= 12) ends.push(over(into, self || !right, end, rangeText(reference.names)));
    if (self) {
      const x = out + ACROSS / 2 - 8;
      return { from, reference, ends, path: `M${out} ${y}C${x} ${y} ${x} ${end} ${into} ${end}` };
    }
    const through = [...(passes.get(reference) ?? [])].sort((one, two) => (right ? one.column - two.column : two.column - one.column));
    let path = `M${out} ${y}`;
    let [x, at] = [out, y];
    const curve = (toX: number, toY: number) => {
      const middle = (x + toX) / 2;
      path += `C${middle} ${at} ${middle} ${toY} ${toX} ${toY}`;
      [x, at] = [toX, toY];
    };
    for (const { column, top } of through) {
      const left = column * (WIDTH + ACROSS);
      const middle = top + PASSING / 2;
      curve(right ? left : left + WIDTH, middle);
      x = right ? left + WIDTH : left;
      path += `H${x}`;
    }
    curve(into, end);
    return { from, reference, path, ends };
  });
}
