/** @file What a domain is to the rest of the program: docs/domains.md has the contract, and `index.ts` lists the domains. */
import type { CreateExpert } from '../agent/acts.ts';
import type { DomainDefinition } from '../environments/domain.ts';
import type { AuditRules } from '../environments/types.ts';
import type { CustomerShares } from '../records/conditions.ts';
import type { CustomerLanguage, CustomerScripts } from '../users/types.ts';

export interface DomainLevel {
  name: string;
  /** Who the customers are in runs and evaluations that choose no others. Absent: nobody can choose the customers of this level. */
  customers?: CustomerShares;
  /** Who the customers are in a task whose id names no conditions. Default: `customers`. */
  uncoded?: CustomerShares;
}

/**
 * A domain with its people. This object is small, because the page reads it when it opens: names, levels and rules. The world,
 * the customers and the demonstrator are code, which is loaded when it is first needed.
 */
export interface DomainModule {
  /** Begins the ids of its tasks. No hyphen: the name of an imported domain is `<benchmark>-<name>`. */
  name: string;
  title: string;
  /** In the order of lists; empty if all tasks are imported. */
  levels: readonly DomainLevel[];
  /** Tools that hand the customer over to a human. They end an episode under MUA-RL's rules. */
  transfers: readonly string[];
  /** The rules of the agent's audit. Absent: nothing is audited. */
  audit?: AuditRules;
  /** How messages of this domain are understood, for the audit of customers and the metrics of behaviour. */
  language?: CustomerLanguage;
  /** Generated tasks and their worlds. Absent: all tasks are imported. */
  world?: () => Promise<DomainDefinition>;
  /** The scripted customers. */
  customers: () => Promise<CustomerScripts>;
  /** These customers also play scenarios of unknown domains: those of a plain text, or those of a customer with tools. */
  stranger?: 'text' | 'tools';
  /** The expert whose conversations a model first learns from. */
  demonstrator?: () => Promise<CreateExpert>;
}
