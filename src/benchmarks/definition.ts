/** @file The contract between a benchmark's folder and the rest of the playground. */
import type { ConversationRuleSet } from '../agent/rules.ts';
import type { Judgement, WorldSession } from '../environments/domain.ts';
import type { Rows, World, WorldTables } from '../environments/overlay.ts';
import type { ExactResult } from '../environments/types.ts';
import type { ImportLimits } from '../exchange/file-source.ts';
import type { Benchmark, BenchmarkTask, InitialState } from '../records/benchmark-task.ts';
import type { EvaluationReport, IntentReport } from '../records/evaluation.ts';
import type { Json } from '../records/json.ts';
import type { Task, ToolCall, ToolSchema } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';
import type { Files } from './import/read-files.ts';
import type { ImportedBenchmark } from './imported-benchmark.ts';
import type { Conversation, RecordedRun } from './recorded-conversation.ts';
import type { RescoredRun } from './compare-rewards.ts';

/**
 * The object that defines a benchmark, in `src/benchmarks/NAME/index.ts`. It is registered in the list in `src/benchmarks/index.ts`. What
 * reads files, it imports when they are read: every first visit loads the definitions, and the schemas of files need a large library.
 */
export interface BenchmarkDefinition<T extends BenchmarkTask = BenchmarkTask> {
  /** Lower-case letters and digits. The name is part of what is stored: names of domains (`tau2-retail`), imports and tasks. */
  name: string;
  /** The name that upstream uses. It is shown to people. */
  title: string;
  /** The version of upstream that the code follows. */
  version: string;
  domains: readonly BenchmarkDomain[];
  /** How a conversation starts, continues and ends, and the prompt of the simulated user. */
  rules: ConversationRuleSet;
  /** The tools that end the conversation when a call of them succeeds. */
  terminalTools: readonly string[];
  /** The names of the splits for training and for held-out evaluation. The first name that the data has is used. */
  splits: Record<'train' | 'heldout', readonly string[]>;
  files: BenchmarkFiles<T>;
  tasks: TaskReader<T>;
  /** Begins an episode of a task. Present if the worlds are no tables: then the domains' `execute` and `judge` are not used. */
  session?(imported: ImportedBenchmark<T>, task: Task): Promise<WorldSession>;
  /** Makes the parts of a task that only this benchmark has: its customer, tools, …. @param level one of `importedLevels` */
  stored?(task: T, level: string): Partial<Task>;
  /** The benchmark's one number, from the share of successes in each group of tasks of a report. Null if it cannot be computed. */
  score?(groups: ScoredGroups): BenchmarkScore | null;
  /** Rounds the process score of a set of tasks, as upstream does. */
  roundSet?(score: number): number;
  /** Runs the cases of `mua replay` in the benchmark's own formats. Default: the cases of `replay-cases.ts`. */
  replay?(job: ReplayJob): Promise<ReplayOutput>;
  /**
   * Computes the benchmark's own reward of an episode. The episode itself checks whether the conversation ended properly, so
   * this function need not.
   */
  judge(played: PlayedTask<T> & { met?: readonly boolean[] }): Judgement | Promise<Judgement>;
  /** Reads, scores and writes upstream's results files. Absent if the playground reads no results of this benchmark. */
  results?: BenchmarkResults<T>;
}

/** What a report says of each group of tasks. */
export type ScoredGroups = Readonly<Record<string, Pick<IntentReport, 'tasks' | 'pass_hat_1'>>>;

export type BenchmarkScore = NonNullable<EvaluationReport['score']>;

export interface ReplayJob {
  /** The paths of all files of the data. */
  paths: readonly string[];
  read(path: string): Promise<string>;
  /** The name of the input, for error messages, and its text. */
  file: string;
  text: string;
  /** Whether to add the rendered prompts of each query. */
  prompts: boolean;
  hash?: (text: string) => string;
  onProgress?: (done: number, total: number, label: string) => void;
}

export interface ReplayOutput {
  /** The results of the cases, which are computed one by one: with prompts, all of them together are too long for one text. */
  cases: Iterable<object>;
  /** The number of calls of the cases so far, and of those that returned errors. */
  counts(): { calls: number; errors: number };
}

/** A domain's tools and its database. A world without tables keeps its state in a single row. Every `ExactDomain` fits this interface. */
export interface BenchmarkDomain {
  name: string;
  tools: readonly ToolSchema[];
  /** The tools of the simulated user. */
  userTools?: readonly ToolSchema[];
  /** Converts database files to rows. @throws error that names the path and the reason */
  load(database: Json, userDatabase?: Json): WorldTables;
  /** Changes fresh rows to the initial state of a task. @throws error that names the action that failed */
  initialize?(rows: Rows, state: InitialState): void;
  /** Runs one call. If the call fails, the caller drops its writes, except if the result is `kept`. */
  execute(rows: Rows, call: ToolCall): ExactResult;
  /** Returns the whole database, which `mua replay` hashes. Default: all rows. */
  dump?(rows: Rows): Json;
  /** Returns the user's database. Null if the domain has none. */
  dumpUser?(rows: Rows): Json;
}

/** Recognises and reads the files of a benchmark. */
export interface BenchmarkFiles<T extends BenchmarkTask> {
  /** One or two sentences that say which files a visitor must bring. File names are in backticks. */
  help: string;
  /**
   * The files by which a folder is recognised, for the error message if no folder is found. `domain` is the wanted domain, if
   * one is given.
   */
  expected(domain?: string): string;
  /**
   * Recognises a folder with the data of one domain by its file names. In the result, `domain` is null if only the content of
   * the files shows it.
   */
  find(folder: Folder): Pick<Candidate, 'domain' | 'files'> | null;
  /** Reads the database of a folder that was found. @throws {UnknownDomain} if it belongs to no known domain; {ImportError} */
  open(candidate: Candidate, files: Files): Promise<{ domain: string; database: Json }>;
  /**
   * Checks the database and reads the other files. If files are missing, there are no tasks, or the policy is empty.
   * @throws {ImportError}
   */
  read(found: Chosen, files: Files, limits: ImportLimits): Promise<ImportContent<T>>;
  /** True if the benchmark has no policy. */
  withoutPolicy?: true;
  /** The name of the file with the tasks or the policy, for the error message if it is missing. */
  fileOf(part: 'tasks' | 'policy', domain: string): string;
}

/** A folder of the files to import. */
export interface Folder {
  path: string;
  /** The paths of its files, by file name. */
  files: ReadonlyMap<string, string>;
  /** The paths of the files in the parent folder, by file name. */
  above: ReadonlyMap<string, string>;
  /** The paths of all files, in all folders. */
  all: readonly string[];
}

/** A folder that contains a domain's data. */
export interface Candidate {
  benchmark: Benchmark;
  folder: string;
  /** The domain, if the file names show it. Null if the database must be read to find it. */
  domain: string | null;
  /** The paths of the files, by file name. */
  files: ReadonlyMap<string, string>;
}

/** A folder whose domain is known. */
export interface Chosen {
  candidate: Candidate;
  domain: string;
  database: Json;
}

export type ImportContent<T extends BenchmarkTask> = Omit<ImportedBenchmark<T>, 'benchmark' | 'domain' | 'database'>;

/** Reads the parts of a task of the benchmark. */
export interface TaskReader<T extends BenchmarkTask> {
  /** The gold actions, which lead to the wanted state. */
  gold(task: T): ToolCall[];
  /** The gold actions after each message of the user. Default: all of them after the first one. */
  goldTurns?(task: T): ToolCall[][];
  /** The instruction for a model that plays the user. */
  instruction(task: T): string;
  /** A line that says what the user wants. Default: the instruction. */
  wants?(task: T): string | null;
  /** The messages before the episode, in tau2-bench's format. */
  history?(task: T): Json[];
  /** The texts that the agent must say. */
  outputs(task: T): readonly string[];
  /** The task without the texts that the agent must say. */
  withoutOutputs(task: T): T;
  /** What is scored in addition to the database, by name. */
  criteria(task: T): Record<string, Json>;
  /** Finds the task that a person names by `id`. Only for benchmarks in which people use shorter names than the task's own id. */
  find?(tasks: readonly T[], id: string): T | undefined;
}

/** A task, and the conversation that was played with it. */
export interface PlayedTask<T extends BenchmarkTask> {
  /** The domain's name. */
  domain: string;
  /** The world before the task's initial state is applied. */
  world: World;
  task: T;
  conversation: Conversation;
}

/** Reads, scores and writes results files in upstream's format. */
export interface BenchmarkResults<T extends BenchmarkTask> {
  /** Whether the JSON value of a file is a results file of this benchmark. */
  isFile(value: unknown): boolean;
  /** @throws {ImportError} that names the file, the path and the reason */
  read(file: string, value: Json): Promise<RecordedRun[]>;
  /** Finds the task of a recorded run. Default: the task whose id the run has. */
  taskOf?(tasks: readonly T[], run: RecordedRun): T | undefined;
  /** Scores a recorded run with our data and our rules. */
  score(run: RecordedRun, played: PlayedTask<T>, options: ScoreOptions): RescoredRun | Promise<RescoredRun>;
  /** Describes the variants of the reward, by their flags of `mua rescore`. */
  variants?: Readonly<Record<string, string>>;
  /** Writes episodes in the format of the results. The episodes may be of any domain. */
  write?(trajectories: readonly Trajectory[], info: ResultsInfo): object;
}

export interface ScoreOptions {
  /** The name of one of the benchmark's `variants`. */
  variant?: string;
  /** Judges the assertions in natural language. Default: the judgements in the results are used. */
  judge?: Judge;
}

/** Says for each assertion whether the conversation meets it. Null if unknown. */
export type Judge = (assertions: readonly string[], conversation: Conversation) => Promise<(boolean | null)[]>;

/** What is needed to write results, in addition to the trajectories. */
export interface ResultsInfo {
  domain: { name: string; policy: string };
  trials: number;
  seed: number;
  /** The names of the models. `user` is null for the scripted user. */
  agent: string;
  user: string | null;
  temperature: number;
  /** The start time of the episodes, in milliseconds since 1970. */
  startedAt: number;
  limits: { maxSteps: number; maxErrors: number };
}
