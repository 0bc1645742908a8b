/** @file What the audit of the agent must know of a domain. The rules themselves are in `violations.ts` and `consent.ts`. */
import type { Json } from '../records/json.ts';
import type { ToolCall } from '../records/task.ts';

export interface AuditRules {
  /** Tools whose successful result is the id of the customer. If there is no such tool, only writes without a yes are violations. */
  authenticate: readonly string[];
  /** Tools that show a customer's data. */
  details: readonly string[];
  /** Field of arguments, results and rows that holds the customer's id. */
  owner: string;
  /** Argument that holds the id of a customer's thing. The audit learns from results which customer a thing belongs to. */
  thing: string;
  /** The tools that change data. The audit needs the list where it does not see the changed rows. */
  writes: readonly string[];
  /**
   * How people name a write of this domain. Default: by the tool's name and every text argument.
   * @param results what the tools showed in the whole conversation, parsed; texts that are no JSON are null
   */
  describe?(results: readonly Json[]): (call: ToolCall) => WriteWords;
}

/** How a text names one write: what the write does, its thing, and its arguments. */
export interface WriteWords {
  /** The parts of a text that can concern the write. A text that lists several things has parts about the other things too. */
  about(text: string): string;
  /** What the write does. */
  act: Detail;
  /** The verb of an offer of the write, if this verb usually offers something that changes no data: `send`. */
  verb?: string;
  /** The thing and the arguments. */
  details: readonly Detail[];
}

/**
 * - `named`: the text names the detail
 * - `absent`: the text does not name the detail, or offers a choice
 * - `other`: the text names another value
 */
export type Heard = 'named' | 'absent' | 'other';

export interface Detail {
  /** The detail for a message: `the order #W1`. */
  name: string;
  heard(text: string): Heard;
  /** Whether a customer's answer changes the detail. Default: the answer names another value. */
  changed?(answer: string): boolean;
}
