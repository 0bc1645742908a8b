/**
 * @file Generates the tasks of a scenario. A blueprint is drawn first; its rows, its gold actions and what the customer says follow from
 * it. A task depends only on the file, level, split, seed, conditions and index.
 */
import { InputError } from '../base/input-error.ts';
import { Dice } from '../base/dice.ts';
import { conditionsCode, isReliable, readConditionsCode, RELIABLE } from '../environments/conditions.ts';
import { World } from '../environments/overlay.ts';
import type { TaskQuery } from '../environments/types.ts';
import type { Conditions, Persona } from '../records/conditions.ts';
import type { Json } from '../records/json.ts';
import type { Blueprint, ScenarioPeople } from '../records/scenario.ts';
import type { Task, Wish } from '../records/task.ts';
import { changeOf, drawRows, factsOf, type Stage, wording } from './blueprint-draw.ts';
import { callOf, callsOf, proposalOf, tryGold } from './calls.ts';
import { instructionOf } from './instruction.ts';
import { reaches } from './levels.ts';
import type { ReadScenario } from './read.ts';
import { SCENARIO_CUSTOMERS } from './customer-mix.ts';
import { fill, inWords } from './templates.ts';
import { TASKS_PER_WORLD, worldId, type WorldKey } from './world.ts';

/** Customers with these personas want what the policy forbids. */
const REFUSED: readonly Persona[] = ['impossible', 'pushy'];
const CHANGING: readonly Persona[] = ['changes_mind', 'confused'];

export const blueprintsAt = ({ scenario: { levels, blueprints } }: ReadScenario, level: string): readonly Blueprint[] =>
  blueprints.filter(({ from }) => reaches(levels, from, level));

/** @param worldOf makes the world of a key  @throws if the query or the file is wrong */
export function makeTasks(
  own: ReadScenario,
  { level, split, seed, count, from = 0, conditions }: TaskQuery,
  worldOf: (key: WorldKey) => World,
): Task[] {
  const { domain, scenario } = own;
  const { levels } = scenario;
  if (!levels.includes(level)) throw new Error(`level: '${level}' is unknown; expected one of ${levels.join(', ')}`);
  if (split === 'attacks') throw new Error(`split: 'attacks' has no tasks in the domain ${domain}; expected train, heldout or unseen`);
  const usual: Conditions = { customers: SCENARIO_CUSTOMERS, tools: RELIABLE };
  const code = conditionsCode(conditions, usual);
  // Read the conditions back from the code in the id, so that equal ids always mean equal tasks.
  const { customers, tools, intents } = readConditionsCode(code) ?? usual;
  const blueprints = wanted(own, level, intents);
  return Array.from({ length: count }, (_, i): Task => {
    const index = from + i;
    const key: WorldKey = { level, split, seed, number: Math.floor(index / TASKS_PER_WORLD) };
    const dice = new Dice('scenario-task', scenario.name, level, split, seed, index);
    return {
      id: `${domain}/${level}/${split}/${seed}${code && `~${code}`}/${index}`,
      domain,
      level,
      split,
      world: worldId(domain, key),
      ...makeTask({ own, world: worldOf(key), dice, split }, level, blueprints, dice.weighted<Persona>(customers)),
      ...(!isReliable(tools) && { faults: tools }),
    };
  });
}

function wanted(own: ReadScenario, level: string, intents?: readonly string[]): readonly Blueprint[] {
  const all = blueprintsAt(own, level);
  const unknown = intents?.find((intent) => !all.some(({ name }) => name === intent));
  if (unknown !== undefined)
    throw new Error(`intents: '${unknown}' is unknown at level ${level}; expected some of ${all.map(({ name }) => name).join(', ')}`);
  return intents ? all.filter(({ name }) => intents.includes(name)) : all;
}

/** The blueprints of a persona. If the scenario has none, another persona takes its place. */
function fitting(blueprints: readonly Blueprint[], persona: Persona): { persona: Persona; from: readonly Blueprint[] } {
  const refused = blueprints.filter(({ refuse }) => refuse !== undefined);
  const granted = blueprints.filter(({ refuse }) => refuse === undefined);
  if (refused.length > 0 && (REFUSED.includes(persona) || granted.length === 0))
    return { persona: REFUSED.includes(persona) ? persona : 'impossible', from: refused };
  const changing = granted.filter(({ change }) => change);
  if (CHANGING.includes(persona) && changing.length > 0) return { persona, from: changing };
  // A reserved customer has two wishes, and a blueprint has one.
  return { persona: persona === 'on_request' || persona === 'reserved' ? 'on_request' : 'upfront', from: granted };
}

type Scene = Omit<Stage, 'blueprint' | 'path'>;

function makeTask(
  scene: Scene,
  level: string,
  blueprints: readonly Blueprint[],
  drawn: Persona,
): Pick<Task, 'scenario' | 'actions' | 'noop'> {
  const { own, dice } = scene;
  const { persona, from } = fitting(blueprints, drawn);
  for (const blueprint of dice.sample(from, from.length)) {
    const stage: Stage = { ...scene, blueprint, path: `blueprints[${own.scenario.blueprints.indexOf(blueprint)}]` };
    const task = draftTask(stage, level, persona);
    if (task) return task;
  }
  throw new InputError(
    `${own.file}: blueprints: none of ${from.map(({ name }) => name).join(', ')} fits a world of level ${level}: expected rows that fit pick, where and change`,
  );
}

/** The task, or null if nothing in the world fits the blueprint. @throws InputError if a gold call fails */
export function draftTask(stage: Stage, level: string, persona: Persona) {
  const { own, world, dice, split, blueprint, path } = stage;
  const rows = drawRows(stage);
  if (!rows) return null;
  const { scope } = rows;
  const { facts, told } = factsOf(stage, rows);
  const gold = tryGold(own, world, level, blueprint.gold, scope, `${path}.gold`);
  if ('fault' in gold) throw new InputError(`${gold.fault}: expected success. Let where of the blueprint refuse such a draw`);
  const change = CHANGING.includes(persona) && blueprint.change ? changeOf(stage, rows, told, level) : undefined;
  if (change === null) return null;
  const { actions, rows: goal } = gold;
  const plan = {
    wish: fill(wording(dice, split, blueprint.wish), told),
    facts,
    ...(change && { change }),
    ...(blueprint.refuse !== undefined && { refuse: fill(blueprint.refuse, told) }),
  };
  const people: ScenarioPeople = {
    ...plan,
    reads: callsOf(own, blueprint.reads, scope, `${path}.reads`),
    proposals: actions.map((action) => proposalOf(own, action)),
    tell: (blueprint.tell ?? []).map((cel, i) => inWords(own.cel.json(cel, scope, `${path}.tell[${i}]`))),
    tempts: (blueprint.tempts ?? []).flatMap((tempt, i) => {
      const call = callOf(own, tempt, scope, `${path}.tempts[${i}]`);
      return call ? { kind: tempt.kind, ...call, says: proposalOf(own, call) } : [];
    }),
  };
  return {
    scenario: {
      persona,
      identity: Object.fromEntries(facts.filter(({ identifies }) => identifies).map(({ name, value }) => [name, inWords(value)])),
      wishes: [wishOf(blueprint, facts, change)],
      instruction: instructionOf(own.scenario.title, persona, plan),
      facts: { people: people as unknown as Json },
    },
    actions,
    // `mua scenario check` finds writes that change nothing on a server.
    noop: own.scenario.host ? !actions.some(({ name }) => isWrite(own, name)) : goal.changes().length === 0,
  };
}

const isWrite = ({ scenario: { tools } }: ReadScenario, name: string): boolean =>
  tools.some((tool) => tool.name === name && tool.kind === 'write');

function wishOf({ name, refuse }: Blueprint, facts: ScenarioPeople['facts'], change: ScenarioPeople['change']): Wish {
  const own = facts.filter(({ identifies }) => !identifies);
  const slot = (value: Json) => (Array.isArray(value) ? value.map(inWords) : inWords(value));
  const intent = {
    intent: name,
    slots: Object.fromEntries(own.map((fact) => [fact.name, slot(fact.value)])),
    words: Object.fromEntries(own.map((fact) => [fact.name, [fact.says]])),
  };
  return {
    ...intent,
    impossible: refuse !== undefined,
    ...(change && {
      insteadOf: {
        intent: name,
        slots: { ...intent.slots, [change.name]: slot(change.first.value) },
        words: { ...intent.words, [change.name]: [change.first.says] },
      },
    }),
  };
}
