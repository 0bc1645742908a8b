/** @file Running calls on an exact domain, and states as the reference hashes them. */
import type { ExactCall, ExactDomain, ExactResult, ExecuteOptions } from './types.ts';
import { canonicalJson, cloneJson } from '../json.ts';
import { Overlay, type World } from '../overlay.ts';
import { sha256 } from '../sha256.ts';
import type { Json, RowChange } from '../types.ts';

/** Runs one call on `rows`: what an error wrote is dropped, unless the tool itself succeeded (`kept`). Never throws. */
export function runExact(domain: ExactDomain, rows: Overlay, call: ExactCall, options?: ExecuteOptions): ExactResult {
  const draft = new Overlay(rows);
  // Tools may keep what they are given in the database: the caller's arguments stay its own.
  const result = domain.execute(draft, { ...call, arguments: cloneJson(call.arguments) }, options);
  if (!result.error || result.kept) rows.apply(draft.written());
  return result;
}

/** A row of the domain's own bookkeeping, which is part of no database file. */
const internal = ({ table, key }: RowChange) => table === '' && key !== 'device' && key !== 'surroundings';

/** Rows of the databases that differ from the base world, by table and key. */
export function changedRows(rows: Overlay): Omit<RowChange, 'call'>[] {
  return rows.changes().filter((change) => !internal(change)).map(({ table, key, before, after }) => ({ table, key, before, after }));
}

/**
 * SHA-256 over the canonical JSON of whole databases. The texts of rows, frozen and mostly shared, are made once for all
 * states of a world.
 */
export class StateHasher {
  private readonly texts = new WeakMap<object, string>();
  private untouched: StateHashes | undefined;

  /** @param hash of a text, in hex; a native one is faster than the default */
  constructor(private readonly domain: ExactDomain, private readonly world: World, private readonly hash: (text: string) => string = sha256) {}

  /** `user` is null where the domain has no user database. */
  hashes(rows: Overlay): StateHashes {
    if (rows.changes().length) return this.compute(rows);
    return (this.untouched ??= this.compute(new Overlay(this.world)));
  }

  private compute(rows: Overlay): StateHashes {
    const user = this.domain.dumpUser(rows);
    return { agent: this.hash(this.textOf(this.domain.dump(rows), 2)), user: user === null ? null : this.hash(this.textOf(user, 2)) };
  }

  /** Canonical JSON; below `depth` levels of tables are rows, whose texts are kept. */
  private textOf(value: Json, depth: number): string {
    if (depth === 0 || value === null || typeof value !== 'object') return this.rowText(value);
    if (Array.isArray(value)) return `[${value.map((child) => this.textOf(child, depth - 1)).join(',')}]`;
    return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${this.textOf(value[key]!, depth - 1)}`).join(',')}}`;
  }

  private rowText(value: Json): string {
    if (value === null || typeof value !== 'object') return canonicalJson(value);
    let text = this.texts.get(value);
    if (text === undefined) {
      text = canonicalJson(value);
      if (Object.isFrozen(value)) this.texts.set(value, text);
    }
    return text;
  }
}

export interface StateHashes { agent: string; user: string | null }
