/** @file What a scenario's people know of a task: `UserScenario.facts.people`. */
import { escapeRegExp } from '../../base/escape-reg-exp.ts';
import { equalJson, isObject } from '../../base/json.ts';
import type { Json } from '../../records/json.ts';
import type { PersonFact, PlannedCall, ScenarioPeople } from '../../records/scenario.ts';
import type { UserScenario } from '../../records/task.ts';
import { inWords } from '../templates.ts';

/** Null: the scenario is only a text. @throws if the field has another form */
export function peopleOf({ facts }: Pick<UserScenario, 'facts'>): ScenarioPeople | null {
  const people = facts?.people;
  if (people === undefined) return null;
  const { wish, facts: known, reads, proposals, tell, tempts } = isObject(people) ? people : {};
  if (typeof wish !== 'string' || ![known, reads, proposals, tell, tempts].every(Array.isArray))
    throw new Error(
      'scenario.facts.people: expected wish, facts, reads, proposals, tell and tempts, as the tasks of a scenario file have them',
    );
  return people as unknown as ScenarioPeople;
}

/** The facts as the customer first believes them: with the value that they change later. */
export const factsBefore = ({ facts, change }: Pick<ScenarioPeople, 'facts' | 'change'>): readonly PersonFact[] =>
  change ? facts.map((fact) => (fact.name === change.name ? { ...fact, ...change.first } : fact)) : facts;

/** The calls of an agent, and how it says its writes. */
export interface Plan {
  reads: readonly PlannedCall[];
  actions: readonly PlannedCall[];
  proposals: readonly string[];
  /** Whether the calls are those that fit the facts. They are a guess if only a value was replaced in calls that depend on it. */
  fits: boolean;
}

/** The plan before the customer changes a fact. Without a change it is the plan of the gold actions. */
export function planBefore(people: ScenarioPeople, actions: readonly PlannedCall[]): Plan {
  const { reads, proposals, facts, change } = people;
  const fact = facts.find(({ name }) => name === change?.name);
  if (!fact || !change) return { reads, actions, proposals, fits: true };
  if (change.first.plan) return { ...change.first.plan, fits: true };
  /** Whether an argument has the later value. If two facts have the same value, the parameter's name decides. */
  const isLater = ([name, value]: [string, Json]) =>
    equalJson(value, fact.value) && (name === fact.name || !facts.some((other) => other !== fact && equalJson(other.value, fact.value)));
  const withFirst = (call: PlannedCall): PlannedCall => ({
    name: call.name,
    arguments: Object.fromEntries(Object.entries(call.arguments).map((entry) => (isLater(entry) ? [entry[0], change.first.value] : entry))),
  });
  const later = new RegExp(`(?<![\\p{L}\\d_])${escapeRegExp(inWords(fact.value))}(?![\\p{L}\\d_])`, 'gu');
  return {
    reads: reads.map(withFirst),
    actions: actions.map(withFirst),
    proposals: proposals.map((text) => text.replace(later, () => inWords(change.first.value))),
    fits: !reads.some((read) => Object.entries(read.arguments).some(isLater)),
  };
}
