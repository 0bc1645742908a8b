/** @file The cases of `mua replay`. A case makes tool calls on a fresh copy of a domain's database. */
import { z } from 'zod';
import type { ImportedBenchmark } from './imported-benchmark.ts';
import { initialStateSchema } from './initial-state.ts';
import type { InitialState } from '../records/benchmark-task.ts';
import type { Json } from '../records/json.ts';
import type { RowChange, ToolCall } from '../records/task.ts';
import type { BenchmarkDomain } from './definition.ts';
import { benchmarkDomain } from './named.ts';
import { changedRows, runExact, StateHasher } from '../domains/exact/run.ts';
import { Overlay, type Rows, World } from '../environments/overlay.ts';
import { ImportError, check } from '../exchange/import-error.ts';
import { jsonPath } from '../base/schema-fault.ts';

export interface ReplayCase {
  id: Json;
  /** Changes to the databases before the first call. */
  initial_state?: InitialState | null;
  calls: ToolCall[];
}

export interface ReplayedCase {
  id: Json;
  /** The text of each call's result. */
  observations: string[];
  errors: boolean[];
  /** SHA-256 of the whole database as canonical JSON. */
  state_sha256: string;
  /** The same hash for the user's database. Null if the domain has no user database. */
  user_state_sha256: string | null;
  /** The rows that differ from the database file, by table and key. */
  changed: Omit<RowChange, 'call'>[];
}

const casesSchema = z.strictObject({
  cases: z.array(
    z.strictObject({
      id: z.union([z.string(), z.number()]),
      initial_state: initialStateSchema.strict().nullish(),
      calls: z.array(
        z.strictObject({
          name: z.string(),
          arguments: z.record(z.string(), z.unknown()),
          requestor: z.enum(['assistant', 'user']).optional(),
        }),
      ),
    }),
  ),
});

/** @throws ImportError that names the file, the path and the reason */
export function readCases(file: string, value: Json): ReplayCase[] {
  return check<{ cases: ReplayCase[] }>(casesSchema, value, file).cases;
}

/** Runs every case on a separate overlay over the same world. @throws ImportError if an initial state fails */
export function replayCases(
  data: ImportedBenchmark,
  cases: readonly ReplayCase[],
  {
    file = 'cases',
    hash,
    onProgress,
  }: { file?: string; hash?: (text: string) => string; onProgress?: (done: number, total: number, label: string) => void } = {},
): ReplayedCase[] {
  const domain = benchmarkDomain(data.benchmark, data.domain);
  const world = new World(data.domain, data.tables);
  const hasher = new StateHasher(dumper(domain, world), world, hash);
  return cases.map(({ id, initial_state, calls }, i) => {
    const rows = new Overlay(world);
    try {
      if (initial_state) domain.initialize?.(rows, initial_state);
    } catch (cause) {
      throw new ImportError(file, jsonPath(['cases', i, 'initial_state']), (cause as Error).message);
    }
    const results = calls.map((call) => runExact(domain, rows, call));
    const { agent, user } = hasher.hashes(rows);
    onProgress?.(i + 1, cases.length, 'cases');
    return {
      id,
      observations: results.map(({ text }) => text),
      errors: results.map(({ error }) => error),
      state_sha256: agent,
      user_state_sha256: user,
      changed: changedRows(rows),
    };
  });
}

/** The functions that return the whole state, for its hash. A domain that defines none has one database, which consists of all rows. */
function dumper({ dump, dumpUser = () => null }: BenchmarkDomain, { tables }: World): ConstructorParameters<typeof StateHasher>[0] {
  const everything = (rows: Rows): Json =>
    Object.fromEntries(
      [...tables.keys()].map((table) => [table, Object.fromEntries(rows.keys(table).map((key) => [key, rows.get(table, key)!]))]),
    );
  return { dump: dump ?? everything, dumpUser };
}
