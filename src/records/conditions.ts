/** @file The mix of simulated customers in generated tasks, and how often tools fail. */

export const PERSONAS = ['upfront', 'on_request', 'changes_mind', 'pushy', 'impossible', 'confused', 'reserved'] as const;
/**
 * How a simulated customer behaves. `upfront` tells everything at once. `on_request` withholds facts until the agent asks.
 * `changes_mind` changes the wish when the agent asks for confirmation or reports the write. `pushy` first insists on a forbidden wish.
 * `impossible` wants only things that the policy or the database forbids. `confused` first gives a wrong detail.
 * `reserved` tells a second wish only if the agent asks whether there is anything else.
 */
export type Persona = (typeof PERSONAS)[number];

/** The share of customers with each persona, 0 to 1. The shares sum to 1. */
export type CustomerShares = Record<Persona, number>;

export interface ToolFaults {
  /** The share of tool calls that fail with “try again”, 0 to 1. */
  outages: number;
  /** The share of reads that return the rows as they were when the conversation began, 0 to 1. */
  stale_reads: number;
  /**
   * The share of the calls 0, 2, 4, … that are answered by a timeout, 0 to 1. Half of these calls are carried out all the same, and half are
   * lost. No fault of this kind meets two calls in a row.
   */
  timeouts: number;
}

export interface Conditions {
  customers: CustomerShares;
  tools: ToolFaults;
  /** The only intents that tasks have, in alphabetical order. Absent: all intents of the level. */
  intents?: readonly string[];
}

/** The conditions of training as settings. The settings for a run's evaluations have the prefix `val_`. */
export type ConditionSettings = { [P in Persona as `customers.${P}`]: number } & { [F in keyof ToolFaults as `tools.${F}`]: number };
export type ValidationConditionSettings = { [N in keyof ConditionSettings as `val_${N}`]: number };
