/** @file What a scenario's people know of a task: `UserScenario.facts.people`. */
import { escapeRegExp } from '../../base/escape-reg-exp.ts';
import { equalJson, isObject } from '../../base/json.ts';
import type { Json } from '../../records/json.ts';
import type { PersonFact, ScenarioPeople } from '../../records/scenario.ts';
import type { ToolCall, UserScenario } from '../../records/task.ts';

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

/** Puts the first value of a changing fact where the later value stands. */
export class BeforeChange {
  readonly #fact: PersonFact | undefined;

  constructor(private readonly people: Pick<ScenarioPeople, 'facts' | 'change'>) {
    this.#fact = people.facts.find(({ name }) => name === people.change?.name);
  }

  /** Whether a call has the later value. If two facts have the same value, the parameter's name decides. */
  concerns({ arguments: args }: Call): boolean {
    return Object.entries(args).some(([name, value]) => this.#isLater(name, value));
  }

  call({ name, arguments: args }: Call): ToolCall {
    const changed = ([key, value]: [string, Json]): [string, Json] => [
      key,
      this.#isLater(key, value) ? this.people.change!.first.value : value,
    ];
    return { name, arguments: Object.fromEntries(Object.entries(args).map(changed)) };
  }

  text(said: string): string {
    if (!this.#fact) return said;
    const [later, first] = [this.#fact.value, this.people.change!.first.value].map((value) =>
      typeof value === 'string' ? value : JSON.stringify(value),
    );
    return said.replace(new RegExp(`(?<![\\p{L}\\d_])${escapeRegExp(later!)}(?![\\p{L}\\d_])`, 'gu'), () => first!);
  }

  #isLater(name: string, value: Json): boolean {
    const fact = this.#fact;
    if (!fact || !equalJson(value, fact.value)) return false;
    return name === fact.name || !this.people.facts.some((other) => other !== fact && equalJson(other.value, fact.value));
  }
}

type Call = ScenarioPeople['reads'][number];
