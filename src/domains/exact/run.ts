/** @file Runs calls on an exact domain, and hashes its states in the same way as the reference. */
import type { ExactResult } from '../../environments/types.ts';
import type { ExactDomain, ExecuteOptions } from './types.ts';
import { canonicalJson, cloneJson } from '../../base/json.ts';
import { Overlay, type World } from '../../environments/overlay.ts';
import { sha256 } from '../../base/sha256.ts';
import type { Json } from '../../records/json.ts';
import type { RowChange, ToolCall } from '../../records/task.ts';

/** Runs one call on `rows`. If the call fails, its writes are dropped, except if the tool itself succeeded (`kept`). Never throws. */
export function runExact(domain: Pick<ExactDomain, 'execute'>, rows: Overlay, call: ToolCall, options?: ExecuteOptions): ExactResult {
  const draft = new Overlay(rows);
  // A tool may store its arguments in the database, so it gets a copy.
  const result = domain.execute(draft, { ...call, arguments: cloneJson(call.arguments) }, options);
  if (!result.error || result.kept) rows.apply(draft.written());
  return result;
}

/** Whether the row is internal to the domain and not part of a database file. */
const internal = ({ table, key }: RowChange) => table === '' && key !== 'device' && key !== 'surroundings';

/** The database rows that differ from the unchanged world. */
export function changedRows(rows: Overlay): Omit<RowChange, 'call'>[] {
  return rows
    .changes()
    .filter((change) => !internal(change))
    .map(({ table, key, before, after }) => ({ table, key, before, after }));
}

/**
 * Computes the SHA-256 of the canonical JSON of whole databases. The states of a world share most rows, so the text of each
 * frozen row is cached.
 */
export class StateHasher {
  private readonly texts = new WeakMap<object, string>();
  private untouched: StateHashes | undefined;

  /** @param hash hashes a text and returns hex. A native function is faster than the default. */
  constructor(
    private readonly domain: Pick<ExactDomain, 'dump' | 'dumpUser'>,
    private readonly world: World,
    private readonly hash: (text: string) => string = sha256,
  ) {}

  /** `user` is null if the domain has no user database. */
  hashes(rows: Overlay): StateHashes {
    if (rows.changes().length) return this.compute(rows);
    return (this.untouched ??= this.compute(new Overlay(this.world)));
  }

  private compute(rows: Overlay): StateHashes {
    const user = this.domain.dumpUser(rows);
    return { agent: this.hash(this.textOf(this.domain.dump(rows), 2)), user: user === null ? null : this.hash(this.textOf(user, 2)) };
  }

  /** The canonical JSON of a value. The rows are `depth` levels below it, and their texts are cached. */
  private textOf(value: Json, depth: number): string {
    if (depth === 0 || value === null || typeof value !== 'object') return this.rowText(value);
    if (Array.isArray(value)) return `[${value.map((child) => this.textOf(child, depth - 1)).join(',')}]`;
    return `{${Object.keys(value)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${this.textOf(value[key]!, depth - 1)}`)
      .join(',')}}`;
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

export interface StateHashes {
  agent: string;
  user: string | null;
}
