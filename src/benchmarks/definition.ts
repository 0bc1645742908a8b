/** @file What a benchmark is: the contract between a benchmark's folder and the rest of the playground. */
import type { ConversationRuleSet } from '../agent/rules.ts';
import type { Judgement } from '../environments/domain.ts';
import type { Rows, World, WorldTables } from '../environments/overlay.ts';
import type { ExactResult, TaskQuery } from '../environments/types.ts';
import type { ImportLimits } from '../exchange/file-source.ts';
import type { Benchmark, BenchmarkTask, InitialState } from '../records/benchmark-task.ts';
import type { Json } from '../records/json.ts';
import type { ToolCall, ToolSchema } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';
import type { Files } from './import/read-files.ts';
import type { ImportedBenchmark } from './imported-benchmark.ts';
import type { Conversation, RecordedRun } from './recorded-conversation.ts';
import type { RescoredRun } from './compare-rewards.ts';

/** One object a benchmark, in `src/benchmarks/NAME/index.ts`. The list in `src/benchmarks/index.ts` registers it. */
export interface BenchmarkDefinition<T extends BenchmarkTask = BenchmarkTask> {
  /** Lower-case letters and digits. It is stored: in names of domains (`tau2-retail`), in imports and in tasks. */
  name: string;
  /** The name that upstream uses, for people. */
  title: string;
  /** The version of upstream that the code follows. */
  version: string;
  domains: readonly BenchmarkDomain[];
  /** How a conversation starts, goes on and ends, and the prompt of the simulated user. */
  rules: ConversationRuleSet;
  /** Tools whose successful call ends the conversation. */
  terminalTools: readonly string[];
  /** The splits that training and held-out evaluation use: the first one that the data has. */
  splits: Record<TaskQuery['split'], readonly string[]>;
  files: BenchmarkFiles<T>;
  tasks: TaskReader<T>;
  /** The benchmark's own reward of an episode. Whether the conversation ended properly does not matter here; the episode checks this. */
  judge(played: PlayedTask<T> & { met?: readonly boolean[] }): Judgement | Promise<Judgement>;
  /** Results files of upstream. Absent: the benchmark has none that the playground reads. */
  results?: BenchmarkResults<T>;
}

/** A domain's tools over its database. A world that has no tables of its own keeps its state in a row. `ExactDomain` has this form. */
export interface BenchmarkDomain {
  name: string;
  tools: readonly ToolSchema[];
  /** Tools of the simulated user. */
  userTools?: readonly ToolSchema[];
  /** The rows of a database file. @throws naming path and reason */
  load(database: Json, userDatabase?: Json): WorldTables;
  /** Brings fresh rows into the initial state of a task. @throws naming the action that failed */
  initialize?(rows: Rows, state: InitialState): void;
  /** Runs one call. The caller drops the writes of a call that fails, unless the result is `kept`. */
  execute(rows: Rows, call: ToolCall): ExactResult;
  /** The whole database, which `mua replay` hashes. Default: all rows. */
  dump?(rows: Rows): Json;
  /** The user's database; null if the domain has none. */
  dumpUser?(rows: Rows): Json;
}

/** How the files of a benchmark are recognised and read. */
export interface BenchmarkFiles<T extends BenchmarkTask> {
  /** The files that a visitor has to bring, in a sentence or two. Names of files stand in backticks. */
  help: string;
  /** The files by which a folder is recognised, for the error where no folder is found. `domain`: the domain that is wanted, if one is. */
  expected(domain?: string): string;
  /** Recognises a folder with the data of one domain by the names of its files. `domain` is null if only its content tells the domain. */
  find(folder: Folder): Pick<Candidate, 'domain' | 'files'> | null;
  /** Reads the database of a found folder. @throws {UnknownDomain} if it belongs to no known domain; {ImportError} */
  open(candidate: Candidate, files: Files): Promise<{ domain: string; database: Json }>;
  /** Checks the database and reads the rest. Files that are missing give no tasks, and an empty policy. @throws {ImportError} */
  read(found: Chosen, files: Files, limits: ImportLimits): Promise<ImportContent<T>>;
  /** The name of the file that holds the tasks or the policy, for the error where it is missing. */
  fileOf(part: 'tasks' | 'policy', domain: string): string;
}

/** A folder of the files to import. */
export interface Folder {
  path: string;
  /** Paths by file name. */
  files: ReadonlyMap<string, string>;
  /** The files of the folder above, by name. */
  above: ReadonlyMap<string, string>;
}

/** A folder with a domain's data. */
export interface Candidate {
  benchmark: Benchmark;
  folder: string;
  /** Known from the names of the files. Null: the database must be read. */
  domain: string | null;
  /** Paths by file name. */
  files: ReadonlyMap<string, string>;
}

/** A folder whose domain is known. */
export interface Chosen {
  candidate: Candidate;
  domain: string;
  database: Json;
}

export type ImportContent<T extends BenchmarkTask> = Omit<ImportedBenchmark<T>, 'benchmark' | 'domain' | 'database'>;

/** How a task of the benchmark is read. */
export interface TaskReader<T extends BenchmarkTask> {
  /** The actions that lead to the wanted state. */
  gold(task: T): ToolCall[];
  /** What a model is told that plays the user. */
  instruction(task: T): string;
  /** What the user wants, in one line. Default: the instruction. */
  wants?(task: T): string | null;
  /** The messages before the episode, in tau2-bench's format. */
  history?(task: T): Json[];
  /** Texts that the agent must say. */
  outputs(task: T): readonly string[];
  /** The task without texts that the agent must say. */
  withoutOutputs(task: T): T;
  /** What is scored besides the database, by name. */
  criteria(task: T): Record<string, Json>;
  /** The task that a person names by `id`, where names shorter than the task's own id are usual. */
  find?(tasks: readonly T[], id: string): T | undefined;
}

/** A conversation about a task. */
export interface PlayedTask<T extends BenchmarkTask> {
  /** The domain's name. */
  domain: string;
  /** The world before the task's initial state. */
  world: World;
  task: T;
  conversation: Conversation;
}

/** Reads, scores and writes results files in the format of upstream. */
export interface BenchmarkResults<T extends BenchmarkTask> {
  /** Whether the JSON of a file is a results file of this benchmark. */
  isFile(value: unknown): boolean;
  /** @throws {ImportError} naming file, path and reason */
  read(file: string, value: Json): RecordedRun[];
  /** The task of a recorded run. Default: the task with the run's id. */
  taskOf?(tasks: readonly T[], run: RecordedRun): T | undefined;
  /** Scores a recorded run with our data and our rules. */
  score(run: RecordedRun, played: PlayedTask<T>, options: ScoreOptions): RescoredRun | Promise<RescoredRun>;
  /** Variants of the reward: what each does, by its flag of `mua rescore`. */
  variants?: Readonly<Record<string, string>>;
  /** Writes episodes of any domain. */
  write?(trajectories: readonly Trajectory[], info: ResultsInfo): object;
}

export interface ScoreOptions {
  /** One of the benchmark's `variants`. */
  variant?: string;
  /** Judges assertions in natural language. Default: the judgements in the results. */
  judge?: Judge;
}

/** Tells for each assertion whether the conversation meets it; null if unknown. */
export type Judge = (assertions: readonly string[], conversation: Conversation) => Promise<(boolean | null)[]>;

/** What results need in addition to the trajectories. */
export interface ResultsInfo {
  domain: { name: string; policy: string };
  trials: number;
  seed: number;
  /** Names of the models. Null for the scripted user. */
  agent: string;
  user: string | null;
  temperature: number;
  /** Start of the episodes, in milliseconds since 1970. */
  startedAt: number;
  limits: { maxSteps: number; maxErrors: number };
}
