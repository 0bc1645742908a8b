/** @file A domain from a bundled scenario file. The file and the code that runs it are loaded when they are first needed. */
import { SCENARIO_CUSTOMERS } from './customer-mix.ts';
import type { ReadScenario } from './read.ts';

/** What lists of domains show before the file is loaded. It must agree with the file. */
export interface BundledScenario {
  name: string;
  title: string;
  /** The levels with their blueprints. */
  levels: readonly { name: string; intents: readonly string[] }[];
  /** The tools of the kind `transfer`. */
  transfers: readonly string[];
  /** Loads the value of the file. */
  load(): Promise<unknown>;
}

/** A domain module: tasks, customers, demonstrator and audit of a scenario. */
export function scenarioModule({ name, title, levels, transfers, load }: BundledScenario) {
  let reading: Promise<ReadScenario> | undefined;
  const read = () =>
    (reading ??= (async () => {
      const [{ checkScenario }, value] = await Promise.all([import('./read.ts'), load()]);
      return checkScenario(value, `${name}/scenario.json`);
    })());
  return {
    name,
    title,
    levels: levels.map((level) => ({ ...level, customers: SCENARIO_CUSTOMERS })),
    transfers,
    unseen: true as const,
    audit: async () => (await import('./audit.ts')).auditOf((await read()).scenario),
    world: async () => (await import('./table-domain.ts')).tableDomain(await read()),
    customers: async () => (await import('./people/customer.ts')).customers,
    demonstrator: async () => (await import('./people/expert.ts')).createExpert,
    nearMisses: async () => (await import('./people/near-miss.ts')).nearMisses,
    habits: true as const,
  };
}
