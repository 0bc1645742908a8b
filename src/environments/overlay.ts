/** @file An immutable base world, and layers of changed rows on top of it. */
import type { Json } from '../records/json.ts';
import type { RowChange } from '../records/task.ts';
import { equalJson, freezeJson } from '../base/json.ts';

/** The database as tools see it. Rows are frozen: clone a row before you change it. */
export interface Rows {
  get(table: string, key: string): Json | undefined;
  /** The keys in order: first those of the base world, then those of inserted rows. */
  keys(table: string): string[];
  put(table: string, key: string, value: Json): void;
  delete(table: string, key: string): void;
}

export type WorldTables = Map<string, Map<string, Json>>;

/** A base world: tables of frozen rows in a fixed order. */
export class World {
  constructor(
    readonly id: string,
    readonly tables: WorldTables,
  ) {
    for (const table of tables.values()) for (const row of table.values()) freezeJson(row);
  }

  get(table: string, key: string): Json | undefined {
    return this.tables.get(table)?.get(key);
  }

  keys(table: string): string[] {
    return [...(this.tables.get(table)?.keys() ?? [])];
  }
}

interface Cell {
  /** Undefined if the row was deleted. */
  value: Json | undefined;
  call: number;
}

/** Changed rows on top of a world or of another layer. A row that was not changed is read from the layer below. */
export class Overlay implements Rows {
  private readonly cells = new Map<string, Map<string, Cell>>();

  constructor(readonly below: World | Overlay) {}

  get(table: string, key: string): Json | undefined {
    const cell = this.cells.get(table)?.get(key);
    return cell ? cell.value : this.below.get(table, key);
  }

  keys(table: string): string[] {
    const changed = this.cells.get(table);
    if (!changed) return this.below.keys(table);
    const below = this.below.keys(table);
    const known = new Set(below);
    return [...below, ...[...changed.keys()].filter((key) => !known.has(key))].filter(
      (key) => changed.get(key)?.value !== undefined || !changed.has(key),
    );
  }

  put(table: string, key: string, value: Json): void {
    this.set(table, key, freezeJson(value), -1);
  }

  delete(table: string, key: string): void {
    this.set(table, key, undefined, -1);
  }

  /** The rows that differ from the layer below, sorted by call, table and key. A row that has its old value again is not included. */
  changes(): RowChange[] {
    return this.differing(equalJson);
  }

  /**
   * The changes with which `apply` makes the same rows in another overlay. A different order of keys counts as a change, because
   * tau1's observations show it.
   */
  written(): RowChange[] {
    return this.differing((before, value) => JSON.stringify(before) === JSON.stringify(value));
  }

  private differing(same: (before: Json | undefined, value: Json | undefined) => boolean): RowChange[] {
    const list: RowChange[] = [];
    for (const [table, rows] of this.cells) {
      for (const [key, { value, call }] of rows) {
        const before = this.below.get(table, key);
        if (!same(before, value)) list.push({ table, key, before: before ?? null, after: value ?? null, call });
      }
    }
    const place = (change: RowChange) => `${change.table}\n${change.key}`;
    return list.sort((a, b) => a.call - b.call || (place(a) < place(b) ? -1 : 1));
  }

  /** Applies the rows that a tool call changed. */
  apply(changes: readonly RowChange[]): void {
    for (const { table, key, after, call } of changes) this.set(table, key, after === null ? undefined : freezeJson(after), call);
  }

  private set(table: string, key: string, value: Json | undefined, call: number): void {
    let rows = this.cells.get(table);
    if (!rows) this.cells.set(table, (rows = new Map()));
    rows.set(key, { value, call });
  }
}
