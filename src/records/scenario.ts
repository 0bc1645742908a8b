/**
 * @file A scenario file: a small world as data, with its tables, tools, policy and kinds of tasks. `src/scenarios/` runs it.
 * Conditions and values are expressions of the Common Expression Language (CEL, cel.dev), which cannot loop without end and cannot
 * reach the program.
 */
import type { Json } from './json.ts';

/** An expression of CEL. */
export type Cel = string;

/** A text with `{name}` for the value of that name. */
export type Template = string;

/** How a value is drawn. The same seed draws the same values. */
export type Draw =
  /** A free key with a random number, such as `room_12`. */
  | { id: string }
  | { from: readonly Json[] }
  /** A whole number from `min` to `max`, in steps of `step` (default 1). */
  | { min: number; max: number; step?: number }
  /** `least` to `most` different entries of the list, in its order. */
  | { some: readonly Json[]; least: number; most: number }
  /** The key of a random row of a table that stands earlier in the file. */
  | { row: string }
  | { person: 'first' | 'last' | 'full' }
  /** Computed from `row` (the fields so far) and `tables`; in a blueprint also from its picks and values. */
  | { cel: Cel };

export interface ScenarioField {
  type: 'string' | 'integer' | 'number' | 'boolean' | 'strings';
  /** Absent: only writes and fixed rows set this field; a generated row has null. */
  draw?: Draw;
  /** The table whose keys the field holds. Null or an empty string refers to no row. */
  ref?: string;
  /** True if the field may differ between two equal ends, for example a time of the server's clock. */
  volatile?: true;
  /** True if the order of a list of texts says nothing. Its rows are compared with sorted lists. */
  unordered?: true;
  /** True if the host does not hold the field, which only helps to draw others and to pick rows. */
  unread?: true;
}

/** A condition that all rows keep. CEL may use `row` and `tables`. */
export interface Invariant {
  check: Cel;
  /** What the condition demands, for error messages. */
  text: string;
}

export interface ScenarioTable {
  /** The field with the key of a row. */
  key: string;
  /** In the order in which they are drawn. */
  fields: Readonly<Record<string, ScenarioField>>;
  /** The number of generated rows by level. Default: 0. */
  count?: Readonly<Record<string, number>>;
  /** Rows of every world. */
  rows?: readonly Readonly<Record<string, Json>>[];
  invariants?: readonly Invariant[];
}

/**
 * One change of a table. `set` has a value for each written field. CEL may use `args`, `tables` and the tool's `values`. `each` runs the
 * write for all values of a list, which are named `it`.
 */
export type ScenarioWrite = { table: string; each?: Cel } & (
  { insert: Readonly<Record<string, Cel>> } | { update: Cel; set: Readonly<Record<string, Cel>> } | { delete: Cel }
);

/** A parameter of a tool. All are flat, so that small models can write them. */
export interface ScenarioParameter {
  type: 'string' | 'integer' | 'number' | 'boolean' | 'strings';
  description: string;
  enum?: readonly string[];
  optional?: true;
}

/**
 * A tool. What it does is written as data: it checks `requires` in order, computes `values`, makes its `writes`, and answers `result`. The
 * first condition that is false gives an error result.
 */
export interface ScenarioTool {
  name: string;
  description: string;
  /** A read makes no writes. */
  kind: 'read' | 'write' | 'transfer';
  /** The first level that has the tool. Default: all levels. */
  from?: string;
  parameters: Readonly<Record<string, ScenarioParameter>>;
  /** CEL may use `args` and `tables`. An optional argument that is not given is null. */
  requires?: readonly { check: Cel; error: Template }[];
  /** Computed in order, before the writes, if all of `requires` are true. Later expressions use them by their names. */
  values?: Readonly<Record<string, Cel>>;
  writes?: readonly ScenarioWrite[];
  /** Computed after the writes, or the server's answer. The observation is its JSON, or the text. Absent: the text of the server. */
  result?: Cel;
  /** The server's tool that runs this one. Only in a scenario with a host, in which each write has it. */
  server?: ServerTool;
  /**
   * The JSON Schema of a good result. Simulated tools are checked with it. Three more words tie it to the tables: `x-row` (the table whose
   * row a value shows), `x-text` (CEL with `args` and `row`: the text that the value must be) and `x-sorted` (the field that sorts a list).
   */
  returns?: Json;
  /** How people say what a write does, for proposals: “book {room} on {day}”. The names are those of the parameters. Each write has it. */
  says?: Template;
}

/**
 * How one of the scenario's flat tools becomes a call of the server. CEL may use `args`, `tables` and the tool's `values`; an argument that
 * is null is left out. `result` may also use the `text` and `structured` of the answer: its structured content, or else its text as JSON, or null.
 */
export interface ServerTool {
  tool: string;
  arguments: Readonly<Record<string, Cel>>;
  /** A longer observation is cut, with a note. Default: 4000. */
  characters?: number;
}

/** A value that shows the server's state: the content of a JSON file, the lines of a JSONL file, all files (`path`, `text`), or the answer of a read. */
export type HostState =
  | { json: string }
  | { jsonl: string }
  | { files: true }
  /** The structured content of the answer, or else its text, which may be JSON. */
  | { call: string; arguments: Readonly<Record<string, Json>> };

/**
 * An MCP server that holds the state. The tables say how the start is drawn and which form the rows have. Each episode has a server of its
 * own, in a folder of its own.
 */
export interface ScenarioHost {
  /** Where the server is; at least one. A server of the name `here` runs in the tab or process, and is preferred. */
  here?: string;
  /** The program and its arguments, only for the command line. `{folder}` is the folder of the episode. */
  command?: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** An address. Each connection must begin with the same state, because nothing can be seeded. */
  url?: string;
  /** The pin of the server's tools, as `mua mcp list` shows it. A server with other tools is refused. */
  tools_sha256: string;
  /** The files of the start. CEL may use `tables` and `it`, an entry of `each`. The content is a `text`, or a list of `lines` of JSON. */
  files?: readonly ({ each?: Cel; path: Cel } & ({ text: Cel } | { lines: Cel }))[];
  state: Readonly<Record<string, HostState>>;
  /** The rows of each table: a list of maps. CEL may use the names of `state`. */
  rows: Readonly<Record<string, Cel>>;
  /** True if an answer says that the call failed, where the server does not mark it. CEL may use `text` and `structured`. */
  failed?: Cel;
}

/** A call whose arguments are computed from the picks and values of a blueprint. */
export interface BlueprintCall {
  tool: string;
  arguments: Readonly<Record<string, Cel>>;
  /** The call belongs to the plan only if this is true. */
  if?: Cel;
}

/** A fact that the customer knows and the agent must learn. */
export interface BlueprintSlot {
  value: Cel;
  /** How the customer says the fact, for example “for {value} people”. Several wordings; the seed chooses. */
  says: readonly Template[];
  /** Words of an agent's question that ask for this fact. */
  ask: readonly string[];
}

/** A kind of task: what a customer wants, and the calls that give it. */
export interface Blueprint {
  /** The name of the wish, such as `move_booking`. */
  name: string;
  /** The first level that has it. Default: all levels. */
  from?: string;
  /** Rows that the task is about, drawn in order. CEL may use `row`, `tables` and what was drawn so far. */
  pick?: Readonly<Record<string, { table: string; where?: Cel }>>;
  /** Further values, drawn in order. */
  values?: Readonly<Record<string, Draw>>;
  /** Rows and values are drawn again until this is true. */
  where?: Cel;
  /** Facts that say who the customer is. */
  identity: Readonly<Record<string, BlueprintSlot>>;
  slots: Readonly<Record<string, BlueprintSlot>>;
  /** The customer's first sentence without details, for customers who wait to be asked. Several wordings. */
  wish: readonly Template[];
  /** Some customers (`conditions`) first give another value for a slot, and change it when the agent asks for the yes. */
  change?: { slot: string; first: Draw; says: readonly Template[] };
  /** Calls that a careful agent makes before it asks for the yes. */
  reads: readonly BlueprintCall[];
  /** The gold actions: the calls that change rows, or a transfer. */
  gold: readonly BlueprintCall[];
  /** Present if the policy or the world forbids the wish: the sentence that the agent says. `gold` then changes no row. */
  refuse?: Template;
  /** Facts that the agent must say to the customer, such as a fee. */
  tell?: readonly Cel[];
  /** What an agent must not call here, with the near-miss that it would be, for example a write that the policy forbids. */
  tempts?: readonly (BlueprintCall & { kind: NearMissKind })[];
}

/** What a scenario file contains. */
export interface Scenario {
  format: 'mua-scenario';
  version: 1;
  /** Lower-case letters and digits. It is the domain's name. */
  name: string;
  title: string;
  licence?: string;
  /** From easy to hard. */
  levels: readonly string[];
  /** One rule in each entry. The prompt shows them as a list. */
  policy: readonly string[];
  /**
   * Words of the policy (`says`) as conditions: a call of `tools` that makes `when` true must change nothing. CEL may use `args` and `shown`,
   * the list of earlier `{tool, args, result}` that no later write can have changed. Only graders read it: they see the transcript, not the rows.
   */
  forbids?: readonly { tools: readonly string[]; when: Cel; says: string }[];
  tables: Readonly<Record<string, ScenarioTable>>;
  /** Absent: the tables hold the state, and the tools are code. */
  host?: ScenarioHost;
  tools: readonly ScenarioTool[];
  /**
   * Facts that several blueprints have. In a file, a blueprint names such a fact instead of repeating it: `"identity": {"name": "name"}`.
   * The reader puts the fact in its place.
   */
  facts?: Readonly<Record<string, BlueprintSlot>>;
  blueprints: readonly Blueprint[];
}

/** How one wrong decision spoils a good conversation. */
export const NEAR_MISSES = [
  'unasked_write',
  'wrong_record',
  'stale_value',
  'missing_last_write',
  'extra_write',
  'claimed_not_done',
  'wrong_argument',
  'forbidden_write',
  'ignored_error',
] as const;
export type NearMissKind = (typeof NEAR_MISSES)[number];

/** The label of a conversation that was spoilt on purpose. */
export interface NearMiss {
  kind: NearMissKind;
  /** The index of the agent's first wrong message. */
  first_wrong: number;
  /** The id of the good conversation. */
  of: string;
}

/** A fact that the customer knows. */
export interface PersonFact {
  name: string;
  value: Json;
  /** The customer's words for the fact, without a full stop. */
  says: string;
  /** Words that ask for the fact. The first entry is also how the demonstrator asks: “how many people”, or “the day”. */
  ask: readonly string[];
  identifies?: true;
  /** Other values that the fact could have. The customer hears them as wrong. */
  others?: readonly string[];
}

/** A call of a plan. */
export interface PlannedCall {
  name: string;
  arguments: Readonly<Record<string, Json>>;
}

/**
 * What the scripted customer and the demonstrator of a scenario know of a task, in `UserScenario.facts.people`. The demonstrator knows
 * the calls, but says no fact that neither the customer nor a tool has told.
 */
export interface ScenarioPeople {
  /** The customer's first sentence without details. */
  wish: string;
  /** Each fact with the customer's words for it and the words that ask for it. Who the customer is comes first. */
  facts: readonly PersonFact[];
  /** The value that the customer says first, and the sentence with which they change it. */
  change?: {
    name: string;
    first: {
      value: Json;
      says: string;
      /**
       * The plan of an agent that believes the first value: its reads, its writes, and how it says these. Absent if the blueprint does not
       * show how the calls follow from the slot: the slot's value is neither an entry of `values` nor the key of a pick.
       */
      plan?: { reads: readonly PlannedCall[]; actions: readonly PlannedCall[]; proposals: readonly string[] };
    };
    says: string;
  };
  /** The calls of a careful demonstrator before the writes. The writes are `Task.actions`. */
  reads: readonly PlannedCall[];
  /** How the agent says each write in a proposal, in the order of `Task.actions`. */
  proposals: readonly string[];
  refuse?: string;
  tell: readonly string[];
  /** `says` is how an agent says the call in a proposal. */
  tempts: readonly ({ kind: NearMissKind; says?: string } & PlannedCall)[];
}
