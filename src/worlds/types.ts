/** @file Questions and answers between the World pages and their worker. All values can be cloned. */
import type { Conditions } from '../records/conditions.ts';
import type { Benchmark } from '../records/benchmark-task.ts';
import type { Json } from '../records/json.ts';
import type { Domain } from '../environments/types.ts';
import type { Task, ToolCall, ToolSchema, Verdict } from '../records/task.ts';

/**
 * Names a world. `name` is a generated domain with its level (`retail-nano`; `telecom` means its first level) or an import
 * (`tau2-airline`). `split`, `seed` and `number` choose one of the generated worlds.
 */
export interface WorldRef {
  name: string;
  split: string;
  /** Null means the default. */
  seed: number | null;
  number: number | null;
  /** A task's id, or ''. The id of a generated task contains split, seed and number, and takes precedence over them. */
  task: string;
}

export interface Import {
  id: string;
  importedAt: number;
  /** False if there is a newer import of the same domain. Episodes use the newest. */
  used: boolean;
}

export interface ImportableBenchmark {
  title: string;
  /** Names of its domains. */
  domains: string[];
  /** The files that a visitor has to bring. Names of files stand in backticks. */
  files: string;
}

export interface WorldSummary {
  name: string;
  title: string;
  /** Number of records by table. */
  rows: { table: string; count: number }[];
  tasks: number;
  imported?: Import;
}

export interface TableInfo {
  /** The name in addresses and titles. */
  name: string;
  count: number;
  /** Fields that a list shows as columns. */
  columns: string[];
}

export interface Range {
  least: number;
  most: number;
}

/** A field whose values are keys of a table. */
export interface Reference {
  /** Such as `user_id` or `items[].product_id`; `*` stands for an id or a date in the path. */
  field: string;
  to: string;
  /** How many rows of `to` one row names. */
  names: Range;
  /** How many rows name one row of `to`. */
  namedBy: Range;
  /** The number of values for which `to` has no row. */
  missing: number;
}

export interface TableRelations {
  name: string;
  count: number;
  /** The field that repeats the row's key. Null: no field does. */
  key: string | null;
  references: Reference[];
  /** The other fields at the top level of a row. */
  others: string[];
}

/** One of the worlds of a generated domain. */
export interface GeneratedWorld {
  split: 'train' | 'heldout';
  seed: number;
  number: number;
  /** The conditions of the tasks. Without them, the level has its defaults. */
  conditions?: Conditions;
}

export interface WorldInfo {
  title: string;
  benchmark: Benchmark | null;
  tables: TableInfo[];
  tools: ToolSchema[];
  userTools: ToolSchema[];
  terminalTools: string[];
  policy: string;
  splits: { name: string; tasks: number }[];
  /** Null for an import. */
  generated: GeneratedWorld | null;
}

/** What another engine needs to know of the tasks that a run trains on. */
export interface TrainingTasks {
  domain: Domain;
  /** The agent's first message, which is not sampled. Null if the customer speaks first. */
  greeting: string | null;
  /** The names that a reset of `mua env-serve` takes. */
  tasks: string[];
}

/** The size of a list, and the position of the chosen row in it. */
export interface Found {
  total: number;
  /** Null if the list does not contain the row. */
  at: number | null;
}

export interface TableRow {
  key: string;
  /** The columns' values, each in one line. */
  cells: Record<string, string>;
}

export interface TaskSummary {
  id: string;
  /** Short name within its list. */
  label: string;
  /** What the customer wants, in one line. */
  wants: string;
  actions: number;
  noop: boolean;
}

export interface GoldRun {
  calls: { call: ToolCall; text: string; error: boolean; changed: number }[];
  verdict: Verdict;
}

export interface WorldTask {
  task: Task;
  /** `TaskSummary` has the same field. */
  label: string;
  /** The splits that contain the task. */
  splits: string[];
  /** What a benchmark scores besides the database, by name. */
  criteria: Json;
}
