/** @file The type of a domain. docs/domains.md has the contract, and `index.ts` lists the domains. */
import type { CreateExpert, NearMisses } from '../agent/acts.ts';
import type { Proposal } from '../agent/players.ts';
import type { DomainDefinition } from '../environments/domain.ts';
import type { AuditRules } from '../agent/audit-rules.ts';
import type { DomainLayers } from '../agent/layers.ts';
import type { CustomerShares } from '../records/conditions.ts';
import type { ToolCall, UserScenario } from '../records/task.ts';
import type { ReadScenario } from '../scenarios/read.ts';
import type { CustomerScripts } from '../users/types.ts';

export interface DomainLevel {
  name: string;
  /** The mix of customers in runs and evaluations that do not choose another. Absent if the customers of this level cannot be chosen. */
  customers?: CustomerShares;
  /** What customers of this level can want, if the tasks of a run can be restricted to some of it. */
  intents?: readonly string[];
  /** The mix of customers of a task whose id has no code for customers. Default: `customers`. */
  uncoded?: CustomerShares;
  /**
   * A sentence that is true of a good answer. Present if a conversation of this level has one answer of the agent, so that a
   * judge can compare the answers of a group.
   */
  wish?: string;
}

/**
 * A domain with its customers and its demonstrator. This object is small, because the page reads it at its start: names
 * and levels. The world, the customers, the demonstrator and the audit are code, which is loaded when it is first needed.
 */
export interface DomainModule {
  /** The first part of the ids of its tasks. It must contain no hyphen, because the name of an imported domain is `<benchmark>-<name>`. */
  name: string;
  title: string;
  /** The levels in their order in lists. Empty if all tasks are imported. */
  levels: readonly DomainLevel[];
  /**
   * Levels of its imported tasks that show the model something else than the original does, with the names that their results
   * have everywhere.
   */
  derived?: Readonly<Record<string, string>>;
  /** Whether its world has tasks of the split `unseen`. */
  unseen?: true;
  /** The levels whose world has tasks of the split `attacks`. */
  attacks?: readonly string[];
  /** The tools that transfer the customer to a human. They end an episode under MUA-RL's rules. */
  transfers: readonly string[];
  /** The rules of the audit of the agent. Absent if the domain has no audit. */
  audit?: () => Promise<AuditRules>;
  /** The rules of `mua audit` and of the layers, where the domain has no audit in reports. */
  unreported?: () => Promise<AuditRules>;
  /** How the layers of an evaluation are checked. Absent if the domain has no such checks. */
  layers?: () => Promise<DomainLayers>;
  /**
   * True if the goal of each task is rows of the database that only the agent changes. Then each turn of the agent can be
   * rewarded for the rows that it changed.
   */
  rewardsTurns?: true;
  /**
   * Whether two calls are equal, by the rules of the world's checkers. Present if the right calls of a scripted task are all calls that it
   * needs, in order.
   */
  sameCall?: () => Promise<(a: ToolCall, b: ToolCall) => boolean>;
  /** The scenario file that the domain runs. Absent if the domain is code. */
  scenario?: () => Promise<ReadScenario>;
  /** The generated tasks and their worlds. Absent if all tasks are imported. */
  world?: () => Promise<DomainDefinition>;
  /** The scripted customers. */
  customers: () => Promise<CustomerScripts>;
  /** Gives a scenario's scripted customer other words for the same facts. Absent if the customers have no other words. */
  reworded?: () => Promise<(scenario: UserScenario) => UserScenario>;
  /** Present if these customers also play scenarios of unknown domains: those that are only a text, or those of customers with tools. */
  stranger?: 'text' | 'tools';
  /** The question that asks for a yes to a write, for the guard. Absent: the domain has no guard. */
  proposal?: () => Promise<Proposal>;
  /** The expert that plays the conversations from which a model first learns. */
  demonstrator?: () => Promise<CreateExpert>;
  /** Makes the same conversations with one wrong decision. */
  nearMisses?: () => Promise<NearMisses>;
  /** True if the demonstrator can lack habits (`ExpertOptions`). */
  habits?: true;
}
