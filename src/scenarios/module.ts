/** @file A domain from a scenario file. The file and the code that runs it are loaded when they are first needed. */
import { SCENARIO_CUSTOMERS } from './customer-mix.ts';
import { reaches } from './levels.ts';
import type { ReadScenario } from './read.ts';

/** What lists of domains show before the file is loaded. It must agree with the file. */
export interface ScenarioSummary {
  /** The name of the domain. */
  name: string;
  title: string;
  /** The levels with their blueprints. */
  levels: readonly { name: string; intents: readonly string[] }[];
  /** The tools of the kind `transfer`. */
  transfers: readonly string[];
}

export interface BundledScenario extends ScenarioSummary {
  /** Loads the value of the file. */
  load(): Promise<unknown>;
}

/** A domain module of a bundled scenario: tasks, customers, demonstrator and audit. */
export function scenarioModule({ load, ...summary }: BundledScenario) {
  const read = async () => {
    const [{ checkScenario }, value] = await Promise.all([import('./read.ts'), load()]);
    return checkScenario(value, `${summary.name}/scenario.json`);
  };
  return moduleOf(summary, read);
}

/**
 * The visitor's own scenario as a domain: with the start of its hash in its name, so that two scenarios with the same name are two
 * domains, in task ids and in the settings of runs too.
 */
export const asOwn = (read: ReadScenario): ReadScenario => ({ ...read, domain: `${read.scenario.name}@${read.hash.slice(0, 8)}` });

/** The summary of a visitor's own scenario. */
export function summaryOf({ domain, scenario }: ReadScenario): ScenarioSummary {
  const { levels, blueprints, tools } = scenario;
  const intents = (level: string) => blueprints.filter(({ from }) => reaches(levels, from, level)).map(({ name }) => name);
  return {
    name: domain,
    title: `${scenario.title} (${domain})`,
    levels: levels.map((name) => ({ name, intents: intents(name) })),
    transfers: tools.filter(({ kind }) => kind === 'transfer').map(({ name }) => name),
  };
}

/** A domain module of a scenario file. The file is read when it is first needed. */
export function moduleOf({ name, title, levels, transfers }: ScenarioSummary, load: () => Promise<ReadScenario>) {
  let reading: Promise<ReadScenario> | undefined;
  const read = () => (reading ??= load());
  return {
    name,
    title,
    levels: levels.map((level) => ({ ...level, customers: SCENARIO_CUSTOMERS })),
    transfers,
    unseen: true as const,
    scenario: read,
    audit: async () => (await import('./audit.ts')).auditOf((await read()).scenario),
    layers: async () => (await import('./layers.ts')).layersOf(await read()),
    world: async () => (await import('./hosted/world-of.ts')).worldOf(await read()),
    customers: async () => (await import('./people/customer.ts')).customers,
    demonstrator: async () => (await import('./people/expert.ts')).createExpert,
    nearMisses: async () => (await import('./people/near-miss.ts')).nearMisses,
    habits: true as const,
  };
}
