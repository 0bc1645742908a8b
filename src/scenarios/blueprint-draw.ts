/** @file Draws the rows, values and texts of one task from a blueprint. */
import type { Dice } from '../base/dice.ts';
import { canonicalJson } from '../base/json.ts';
import type { World } from '../environments/overlay.ts';
import type { Json } from '../records/json.ts';
import type { Blueprint, BlueprintSlot, Cel, PersonFact, ScenarioPeople, Template } from '../records/scenario.ts';
import type { Split } from '../records/task.ts';
import { callsOf, proposalOf, tryGold } from './calls.ts';
import type { Scope } from './cel.ts';
import { drawValue } from './draw.ts';
import { type Native, toNative } from './native.ts';
import type { ReadScenario } from './read.ts';
import { nativeRow, type Row, tablesOf } from './state.ts';
import { fill, inWords } from './templates.ts';

const MOST_DRAWN = 60;

export interface Stage {
  own: ReadScenario;
  world: World;
  dice: Dice;
  split: Split;
  blueprint: Blueprint;
  /** Where the blueprint stands in the file. */
  path: string;
}

/** The rows and values of a task: for expressions, and for texts. */
export interface Drawn {
  scope: Scope;
  values: Readonly<Record<string, Json>>;
}

/** Draws until the conditions are true. Null if they are not after many attempts: the world has nothing that fits. */
export function drawRows(stage: Stage): Drawn | null {
  for (let attempt = 0; attempt < MOST_DRAWN; attempt++) {
    const drawn = drawOnce(stage);
    if (drawn === 'never') return null;
    if (drawn) return drawn;
  }
  return null;
}

function drawOnce({ own, world, dice, split, blueprint, path }: Stage): Drawn | null | 'never' {
  const { cel, scenario } = own;
  const values: Record<string, Json> = {};
  let scope: Scope = { tables: tablesOf(scenario, world) };
  let picks = 0;
  for (const [name, { table, where }] of Object.entries(blueprint.pick ?? {})) {
    const definition = scenario.tables[table]!;
    const rows = world.keys(table).map((key) => world.get(table, key) as Row);
    const fits = (row: Row) =>
      where === undefined || cel.true(where, { ...scope, row: nativeRow(definition, row) }, `${path}.pick.${name}.where`);
    // Conditions cost time, so the rows are tried in a random order, and the first one that fits is taken.
    const row = dice.sample(rows, rows.length).find(fits);
    // No other draw changes what the first pick finds.
    if (!row) return picks === 0 ? 'never' : null;
    picks++;
    values[name] = row as Json;
    scope = { ...scope, [name]: nativeRow(definition, row) };
  }
  for (const [name, draw] of Object.entries(blueprint.values ?? {})) {
    values[name] = drawValue(draw, { cel, dice, split, scope, keys: (table) => world.keys(table), path: `${path}.values.${name}` });
    scope = { ...scope, [name]: 'cel' in draw ? cel.native(draw.cel, scope, `${path}.values.${name}.cel`) : toNative(values[name]) };
  }
  return blueprint.where === undefined || cel.true(blueprint.where, scope, `${path}.where`) ? { scope, values } : null;
}

/** One of several wordings. The last third of a list belongs to the split `unseen`. */
export function wording(dice: Dice, split: Split, list: readonly Template[]): Template {
  const kept = Math.floor(list.length / 3);
  return dice.pick(kept === 0 ? list : split === 'unseen' ? list.slice(-kept) : list.slice(0, -kept));
}

/** The facts that the customer knows. Who the customer is comes first. */
export function factsOf(
  { own, dice, split, blueprint, path }: Stage,
  { scope, values }: Drawn,
): { facts: PersonFact[]; told: Record<string, Json> } {
  const slots: [string, BlueprintSlot, 'identity' | 'slots'][] = (['identity', 'slots'] as const).flatMap((part) =>
    Object.entries(blueprint[part]).map(([name, slot]): [string, BlueprintSlot, typeof part] => [name, slot, part]),
  );
  const told: Record<string, Json> = { ...values };
  for (const [name, { value }, part] of slots) told[name] = own.cel.json(value, scope, `${path}.${part}.${name}.value`);
  const facts = slots.map(([name, { value, says, ask }, part]): PersonFact => ({
    name,
    value: told[name]!,
    says: fill(wording(dice, split, says), { ...told, value: told[name]! }),
    ask,
    ...(part === 'identity' && { identifies: true as const }),
    ...othersOf(blueprint, value, told[name]!),
  }));
  return { facts, told };
}

/** The other values of a fact that is drawn from a list. */
function othersOf({ values = {} }: Blueprint, cel: Cel, own: Json): Pick<PersonFact, 'others'> {
  const draw = values[cel];
  return draw && 'from' in draw ? { others: draw.from.map(inWords).filter((word) => word !== inWords(own)) } : {};
}

/** Draws the value that the customer says first. Null if no draw is another value that the world allows. */
export function changeOf(stage: Stage, drawn: Drawn, told: Readonly<Record<string, Json>>, level: string): ScenarioPeople['change'] | null {
  const { own, world, dice, split, blueprint, path } = stage;
  const { slot: name, first, says } = blueprint.change!;
  const final = told[name]!;
  for (let attempt = 0; attempt < MOST_DRAWN; attempt++) {
    const keys = (table: string) => world.keys(table);
    const value = drawValue(first, { cel: own.cel, dice, split, scope: drawn.scope, keys, path: `${path}.change.first` });
    if (canonicalJson(value) === canonicalJson(final)) continue;
    const plan = planOfFirst(stage, drawn, value, level);
    if (plan === null) continue;
    const words = fill(wording(dice, split, blueprint.slots[name]!.says), { ...told, [name]: value, value });
    return {
      name,
      first: { value, says: words, ...(plan && { plan }) },
      says: fill(wording(dice, split, says), { ...told, value: final, first: value }),
    };
  }
  return null;
}

/** The calls of an agent that believes the first value. Undefined if they cannot be computed, null if the world does not allow them. */
function planOfFirst({ own, world, blueprint, path }: Stage, { scope }: Drawn, value: Json, level: string) {
  const { pick = {}, values = {}, where } = blueprint;
  const [, name = '', field] = /^([a-z][a-z0-9_]*)(?:\.([a-z][a-z0-9_]*))?$/.exec(blueprint.slots[blueprint.change!.slot]!.value) ?? [];
  const believed: Record<string, Native> = { ...scope };
  if (field === undefined ? Object.hasOwn(values, name) : field === own.scenario.tables[pick[name]?.table ?? '']?.key) {
    const row = field === undefined ? undefined : world.get(pick[name]!.table, String(value));
    if (field !== undefined && row === undefined) return null;
    believed[name] = row === undefined ? toNative(value) : nativeRow(own.scenario.tables[pick[name]!.table]!, row as Row);
  } else return undefined;
  for (const [other, draw] of Object.entries(values))
    if ('cel' in draw && other !== name) believed[other] = own.cel.native(draw.cel, believed, `${path}.values.${other}.cel`);
  if (where !== undefined && !own.cel.true(where, believed, `${path}.where`)) return null;
  const gold = tryGold(own, world, level, blueprint.gold, believed, `${path}.gold`);
  if (!('actions' in gold)) return null;
  const { actions } = gold;
  return {
    reads: callsOf(own, blueprint.reads, believed, `${path}.reads`),
    actions,
    proposals: actions.map((call) => proposalOf(own, call)),
  };
}
