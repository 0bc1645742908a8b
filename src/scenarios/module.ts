/** @file A domain from a bundled scenario file. The file and the code that runs it are loaded when they are first needed. */
import { SCENARIO_CUSTOMERS } from './customer-mix.ts';
import { reaches } from './levels.ts';
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

/** A domain module of a bundled scenario: tasks, customers, demonstrator and audit. */
export function scenarioModule({ name, title, levels, transfers, load }: BundledScenario) {
  let reading: Promise<ReadScenario> | undefined;
  const read = () =>
    (reading ??= (async () => {
      const [{ checkScenario }, value] = await Promise.all([import('./read.ts'), load()]);
      return checkScenario(value, `${name}/scenario.json`);
    })());
  return moduleOf({ name, title, levels, transfers }, read);
}

/** A domain module of a scenario that was read. */
export function ownModule(own: ReadScenario) {
  const { name, title, levels, blueprints, tools } = own.scenario;
  const intents = (level: string) => blueprints.filter(({ from }) => reaches(levels, from, level)).map((blueprint) => blueprint.name);
  const transfers = tools.filter(({ kind }) => kind === 'transfer').map((tool) => tool.name);
  return moduleOf({ name, title, levels: levels.map((level) => ({ name: level, intents: intents(level) })), transfers }, async () => own);
}

const moduleOf = ({ name, title, levels, transfers }: Omit<BundledScenario, 'load'>, read: () => Promise<ReadScenario>) => ({
  name,
  title,
  levels: levels.map((level) => ({ ...level, customers: SCENARIO_CUSTOMERS })),
  transfers,
  unseen: true as const,
  scenario: read,
  audit: async () => (await import('./audit.ts')).auditOf((await read()).scenario),
  world: async () => (await import('./hosted/world-of.ts')).worldOf(await read()),
  customers: async () => (await import('./people/customer.ts')).customers,
  demonstrator: async () => (await import('./people/expert.ts')).createExpert,
  nearMisses: async () => (await import('./people/near-miss.ts')).nearMisses,
  habits: true as const,
});
