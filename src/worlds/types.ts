/** @file The questions of the World views, and the answers of their worker. All values can be cloned. */
import type { Conditions } from '../records/conditions.ts';
import type { Benchmark } from '../records/benchmark-task.ts';
import type { Json } from '../records/json.ts';
import type { Domain } from '../environments/types.ts';
import type { Split, Task, ToolCall, ToolSchema, Verdict } from '../records/task.ts';

/**
 * Names a world. `name` is a generated domain with its level (`retail-nano`; `telecom` means its first level), or an import
 * (`tau2-airline`). `split`, `seed` and `number` choose one of the generated worlds.
 */
export interface WorldRef {
  name: string;
  split: string;
  /** For `seed` and `number`, null means the default. */
  seed: number | null;
  number: number | null;
  /**
   * The id of a task, or ''. The id of a generated task contains split, seed and number. If it is given, these are used instead
   * of the fields above.
   */
  task: string;
}

export interface Import {
  id: string;
  importedAt: number;
  /** False if a newer import of the same domain exists. Episodes use the newest one. */
  used: boolean;
}

export interface ImportableBenchmark {
  title: string;
  /** The names of the benchmark's domains. */
  domains: string[];
  /** The files that a visitor must bring. File names are in backticks. */
  files: string;
}

export interface WorldSummary {
  name: string;
  title: string;
  /** The number of records in each table. */
  rows: { table: string; count: number }[];
  /** 0 if they are not counted. */
  tasks: number;
  imported?: Import;
  /** Set for a generated world. */
  generated?: {
    domain: string;
    level: string;
    /** Whether an MCP server holds the rows. Then `rows` are those with which it begins, and the world has no page. */
    hosted: boolean;
  };
}

/** A visitor's own scenario. */
export interface OwnScenario {
  /** The name of its domain. */
  name: string;
  title: string;
  /** The name of its file. */
  file: string;
  sha256: string;
  addedAt: number;
  /** Each level with the number of records in each table of its first world. Empty if there is a problem. */
  levels: { name: string; rows: WorldSummary['rows'] }[];
  /** Why its worlds cannot be made. */
  problem?: string;
}

export interface TableInfo {
  /** The name of the table in URLs and titles. */
  name: string;
  count: number;
  /** The fields that a list shows as columns. */
  columns: string[];
}

export interface Range {
  least: number;
  most: number;
}

/** A field whose values are keys of a table. */
export interface Reference {
  /** A path such as `user_id` or `items[].product_id`. A `*` in the path stands for an id or a date. */
  field: string;
  to: string;
  /** The number of rows of `to` to which one row refers. */
  names: Range;
  /** The number of rows that refer to one row of `to`. */
  namedBy: Range;
  /** The number of values that are not keys of `to`. */
  missing: number;
}

export interface TableRelations {
  name: string;
  count: number;
  /** The field that repeats the row's key. Null if no field does. */
  key: string | null;
  references: Reference[];
  /** The other top-level fields of a row. */
  others: string[];
}

/** One of the worlds of a generated domain. */
export interface GeneratedWorld {
  split: Split;
  seed: number;
  number: number;
  /** The conditions of the tasks. Default: those of the level. */
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

/** What another engine needs to know about the tasks on which a run trains. */
export interface TrainingTasks {
  domain: Domain;
  /** The agent's first message, which is not sampled. Null if the customer speaks first. */
  greeting: string | null;
  /** The names of the tasks for a reset of `mua env-serve`. */
  tasks: string[];
  /** The same for the tasks of validation. */
  validation: string[];
}

/** The size of a list, and the position of the chosen row in it. */
export interface Found {
  total: number;
  /** Null if the row is not in the list. */
  at: number | null;
}

export interface TableRow {
  key: string;
  /** The value of each column, as one line. */
  cells: Record<string, string>;
}

export interface TaskSummary {
  id: string;
  /** A short name, which is unique in its list. */
  label: string;
  /** A line that says what the customer wants. */
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
  /** The same short name as in `TaskSummary`. */
  label: string;
  /** The splits that contain the task. */
  splits: string[];
  /** What a benchmark scores in addition to the database, by name. */
  criteria: Json;
}
