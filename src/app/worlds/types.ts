/** @file What the pages of worlds ask of their worker, and what it answers. All of it can be cloned. */
import type { Benchmark } from '../../environments/exact/types.ts';
import type { Task, ToolCall, ToolSchema, Verdict } from '../../environments/types.ts';

/** Which world: `retail-nano`, `telecom-full` (or `telecom`: its first level), … or an import, `tau2-airline`, …; of a generated one also which of them. */
export interface WorldRef {
  name: string;
  split: string;
  /** Null: the first. */
  seed: number | null;
  number: number | null;
  /** A generated task's id says split, seed and number; it comes before them. '' for none. */
  task: string;
}

export interface Import {
  id: string;
  importedAt: number;
  /** False where a newer import of the same domain is played instead. */
  used: boolean;
}

export interface WorldSummary {
  name: string;
  title: string;
  /** Records by table. */
  rows: { table: string; count: number }[];
  tasks: number;
  imported?: Import;
}

export interface TableInfo {
  /** As addresses and titles name it. */
  name: string;
  count: number;
  /** Fields that are worth a column. */
  columns: string[];
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
  /** Which of the generated worlds it is; null for an import. */
  place: { split: string; seed: number; number: number } | null;
}

/** What a list holds, and where in it the row asked for stands. */
export interface Found {
  total: number;
  at: number | null;
}

export interface TableRow {
  key: string;
  /** The columns' values in one line each. */
  cells: Record<string, string>;
}

export interface TaskSummary {
  id: string;
  /** What tells it from the others of its list. */
  label: string;
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
  /** As in `TaskSummary`. */
  label: string;
  /** Splits of the data that hold it; of an import. */
  splits: string[];
}
