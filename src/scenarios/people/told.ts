/** @file What a scenario's people know of a task: `UserScenario.facts.people`. */
import { isObject } from '../../base/json.ts';
import type { PersonFact, ScenarioPeople } from '../../records/scenario.ts';
import type { UserScenario } from '../../records/task.ts';

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
