/** @file Finds domains. Every list of domains in the page, the command line and the settings comes from this file. */
import { didYouMean } from '../base/did-you-mean.ts';
import { groupBy } from '../base/group-by.ts';
import type { CreateExpert, NearMisses } from '../agent/acts.ts';
import type { DomainSource } from '../environments/domain.ts';
import { ANYONE, conditionSettings, RELIABLE } from '../environments/conditions.ts';
import type { Conditions } from '../records/conditions.ts';
import { type Split, SPLITS, type UserScenario } from '../records/task.ts';
import type { CustomerScripts } from '../users/types.ts';
import * as all from './index.ts';
import type { DomainModule } from './types.ts';

const DOMAINS: DomainModule[] = Object.values(all);
const generated = DOMAINS.filter(({ world }) => world);
const sourceOf = ({ name, world }: DomainModule): DomainSource => ({ name, load: world! });
const sources = generated.map(sourceOf);

/** The domains with generated tasks. */
export const GENERATED: readonly DomainModule[] = generated;

/** The worlds of `GENERATED`, for `createEnvironments`. */
export const GENERATED_DOMAINS: readonly DomainSource[] = sources;

/**
 * Adds a visitor's own domain for this process, such as `clinic@3fa2b1c0`. Adding it again does nothing. Lists of names for help texts
 * do not have it.
 */
export function addDomain(domain: DomainModule): void {
  if (domainNamed(domain.name)) return;
  DOMAINS.push(domain);
  generated.push(domain);
  sources.push(sourceOf(domain));
}

/**
 * Gives a generated domain another world for this process, such as one with simulated tools. Environments that were created before keep
 * the old one.
 * @throws if there is no such domain
 */
export function replaceWorld(name: string, load: DomainSource['load']): void {
  const at = sources.findIndex((source) => source.name === name);
  if (at < 0) throw new Error(`domain: '${name}' has no generated tasks`);
  sources[at] = { name, load };
}

/** Removes a visitor's own domain from this process. */
export function removeDomain(name: string): void {
  const drop = (list: { name: string }[]) => {
    const at = list.findIndex((one) => one.name === name);
    if (at >= 0) list.splice(at, 1);
  };
  if (isOwn(name)) [DOMAINS, generated, sources].forEach(drop);
}

/** Whether one of our domains has the name that the visitor chose: the part before the `@`. */
export const isTaken = (name: string): boolean => domainNamed(name.split('@')[0]!) !== undefined;

const domainNamed = (name: string) => DOMAINS.find((domain) => domain.name === name);

/** Whether the name is that of a visitor's own domain, known or not. */
export const isOwn = (name: string): boolean => /^[^/@]+@[0-9a-f]{8}$/.test(name);

/** The visitor's own domain that the id of a task names, known or not. */
export const ownOfTask = (id: string): string | undefined => [id.split('/')[0]!].find(isOwn);

/** The worlds of the domain, if it is known. */
export function sourceNamed(name: string): DomainSource | undefined {
  return sources.find((source) => source.name === name);
}

/**
 * The domain of a task, by the name in the task. This is `retail`, or for example `tau1-retail` if the task is imported. Tasks of
 * scenarios are never imported.
 */
export const domainOf = (name: string): DomainModule | undefined =>
  DOMAINS.find((domain) => name === domain.name || (!domain.scenario && name.endsWith(`-${domain.name}`)));

/** The level of a generated domain that is used if no level is named: the first one. */
export const usualLevel = (name: string): string | undefined => GENERATED.find((domain) => domain.name === name)?.levels[0]?.name;

/** The generated domains that have a demonstrator. */
export const demonstrated = (): readonly DomainModule[] => GENERATED.filter(({ demonstrator }) => demonstrator);

/** Whether tasks of the level are generated and have a demonstrator. */
export const isDemonstrated = (domain: string, level: string): boolean =>
  GENERATED.some(({ name, levels, demonstrator }) => demonstrator && name === domain && levels.some((one) => one.name === level));

/** Whether the next call after the right conversation can be measured, for scripted tasks. */
export const teaches = (domain: string): boolean => domainOf(domain)?.sameCall !== undefined;

/** What results at this level are called, if the model is shown something else than the original benchmark shows. */
export const derivedName = (domain: string, level: string): string | undefined => domainOf(domain)?.derived?.[level];

/** The level of imported tasks that are shown as in the original. */
export const IMPORTED_LEVEL = 'full';

/** The levels of an imported domain. */
export function importedLevels(domain: string): readonly string[] {
  const { derived = {}, levels = [] } = domainOf(domain) ?? {};
  return [IMPORTED_LEVEL, ...Object.keys(derived).filter((name) => !levels.some((generated) => generated.name === name))];
}

/** The levels of imported tasks, of all domains. */
export const IMPORTED_LEVELS: readonly string[] = [...new Set(DOMAINS.flatMap(({ name }) => importedLevels(name)))];

/** The names of the levels of a generated domain. */
export const levelsOf = (domain: string): readonly string[] =>
  GENERATED.find(({ name }) => name === domain)?.levels.map(({ name }) => name) ?? [];

/** The names of the levels of all generated domains. */
export const LEVELS: readonly string[] = [...new Set(GENERATED.flatMap(({ levels }) => levels.map(({ name }) => name)))];

/** The names of all levels, for help texts. Levels that only some domains have stand together, with the names of these domains. */
export const LEVELS_IN_WORDS = [
  ...groupBy(LEVELS, (level) =>
    GENERATED.filter(({ levels }) => levels.some(({ name }) => name === level))
      .map(({ name }) => name)
      .join(', '),
  ),
]
  .map(([having, levels]) => `${levels.join(', ')} (${having} only)`)
  .join('; ');

/** The domains in which the shares of customers and tool faults can be chosen, in words. If only some levels have the choice, these follow. */
export const CHOOSABLE: readonly string[] = GENERATED.flatMap(({ name, levels }) => {
  const having = levels.filter(({ customers }) => customers).map((level) => level.name);
  return having.length === levels.length ? name : having.length > 0 ? `${name} ${having.join(', ')}` : [];
});

const levelOf = (domain: string, level: string) => GENERATED.find(({ name }) => name === domain)?.levels.find(({ name }) => name === level);

/** Whether the shares of customers and tool faults can be chosen. */
export const hasConditions = (domain: string, level: string): boolean => levelOf(domain, level)?.customers !== undefined;

/** The customers and tool faults of runs and evaluations that do not choose others. A level without this choice ignores them. */
export const levelConditions = (domain: string, level: string): Conditions => ({
  customers: levelOf(domain, level)?.customers ?? ANYONE,
  tools: RELIABLE,
});

/** The same as settings of a run, for its training and its evaluations. */
export const levelSettings = (domain: string, level: string) => conditionSettings(levelConditions(domain, level));

/** The customers and tool faults of tasks whose ids have no code for them. Undefined if the domain has no choice of customers. */
export function uncodedConditions(domain: string, level: string): Conditions | undefined {
  const { customers, uncoded = customers } = levelOf(domain, level) ?? {};
  return uncoded && { customers: uncoded, tools: RELIABLE };
}

/** The splits of a level. A domain without generated tasks has `train` and `heldout`. */
export const taskSplits = (domain: string, level: string): readonly Split[] => {
  const { unseen, attacks = [] } = GENERATED.find(({ name }) => name === domain) ?? {};
  return SPLITS.filter((split) => (split === 'attacks' ? attacks.includes(level) : split !== 'unseen' || unseen));
};

/** What customers of the level can want. Empty if the tasks cannot be restricted. */
export const intentsOf = (domain: string, level: string): readonly string[] => levelOf(domain, level)?.intents ?? [];

/** The names of the domains whose tasks can be restricted to intents, at some level. */
export const WITH_INTENTS: readonly string[] = GENERATED.filter(({ levels }) => levels.some(({ intents }) => intents)).map(
  ({ name }) => name,
);

/** The names of the domains with tasks of the split `unseen`. */
export const WITH_UNSEEN: readonly string[] = GENERATED.filter(({ unseen }) => unseen).map(({ name }) => name);

/** The names of the domains with tasks of the split `attacks`. */
export const WITH_ATTACKS: readonly string[] = GENERATED.filter(({ attacks }) => attacks).map(({ name }) => name);

/** What a judge wants of the answers of a level. Undefined if a judge cannot compare conversations of this level. */
export const wishOf = (domain: string, level: string): string | undefined => levelOf(domain, level)?.wish;

/** The levels with a wish, in words. */
export const JUDGED: readonly string[] = GENERATED.flatMap(({ name, levels }) =>
  levels.filter(({ wish }) => wish !== undefined).map((level) => `${name} ${level.name}`),
);

/** Whether the agent's conversations in this domain are audited. False for an unknown domain, which a stored conversation can have. */
export const isAudited = (domain: string): boolean => domainOf(domain)?.audit !== undefined;

/** The names of the audited domains, for messages. */
export const AUDITED: readonly string[] = DOMAINS.filter(({ audit }) => audit).map(({ name }) => name);

/** The names of the domains whose conversations `mua audit` can check. */
export const CHECKED: readonly string[] = DOMAINS.filter(({ audit, layers }) => audit ?? layers).map(({ name }) => name);

/** The names of the domains in which turns of the agent can be rewarded. */
export const TURN_REWARDED: readonly string[] = DOMAINS.filter(({ rewardsTurns }) => rewardsTurns).map(({ name }) => name);

export const rewardsTurns = (domain: string): boolean => domainOf(domain)?.rewardsTurns === true;

/** The names of the domains whose demonstrators can lack habits. */
export const WITH_HABITS: readonly string[] = DOMAINS.filter(({ habits }) => habits).map(({ name }) => name);

export const hasHabits = (domain: string): boolean => domainOf(domain)?.habits === true;

/** The tools that transfer the customer to a human. For an unknown domain: those of all domains. */
export const transfersOf = (domain: string): readonly string[] =>
  domainOf(domain)?.transfers ?? [...new Set(DOMAINS.flatMap(({ transfers }) => transfers))];

/** The scripted customers of a domain. For an unknown domain: those that play scenarios of unknown domains (`stranger`). */
export async function customerScripts(domain: string | undefined, hasTools: boolean): Promise<CustomerScripts> {
  const known = domain === undefined ? undefined : domainOf(domain);
  return (known ?? DOMAINS.find(({ stranger }) => stranger === (hasTools ? 'tools' : 'text')))!.customers();
}

/** Gives customers of a domain other words. Undefined if its customers have no other words. */
export const reworderOf = async (domain: string): Promise<((scenario: UserScenario) => UserScenario) | undefined> =>
  domainOf(domain)?.reworded?.();

/** @throws if the domain has no demonstrator */
export function demonstratorOf(domain: string): Promise<CreateExpert> {
  const { demonstrator } = domainOf(domain) ?? {};
  if (!demonstrator) {
    const known = DOMAINS.filter((one) => one.demonstrator).map(({ name }) => name);
    throw new Error(`domain: '${domain}' has no demonstrator${didYouMean(domain, known)}; expected one of ${known.join(', ')}`);
  }
  return demonstrator();
}

/** @throws if the domain has no near-misses */
export function nearMissesOf(domain: string): Promise<NearMisses> {
  const { nearMisses } = domainOf(domain) ?? {};
  if (!nearMisses) {
    const known = DOMAINS.filter((one) => one.nearMisses).map(({ name }) => name);
    throw new Error(`near_misses: '${domain}' has none${didYouMean(domain, known)}; expected 0, or a domain of ${known.join(', ')}`);
  }
  return nearMisses();
}
