/**
 * @file Generates the tasks of level `glimpse`. The customers have wishes and personas like those of the shop, and the conditions
 * choose their shares. A task depends only on split, seed, conditions and index.
 */
import { Dice } from '../../../base/dice.ts';
import { conditionsCode, isReliable, readConditionsCode, RELIABLE } from '../../../environments/conditions.ts';
import type { TaskQuery } from '../../../environments/types.ts';
import type { Conditions, CustomerShares, Persona } from '../../../records/conditions.ts';
import type { Task } from '../../../records/task.ts';
import { GLIMPSE_CUSTOMERS } from '../../retail/levels.ts';
import { instructionFor } from '../../retail/scenario.ts';
import { TASKS_PER_PROVIDER } from '../generator.ts';
import { makeProvider, providerId, type Provider } from '../records.ts';
import type { Customer, Line } from '../schema.ts';
import {
  goldCall,
  LINE_INTENTS,
  type LineIntent,
  type LineRequest,
  type LineWish,
  requestFor,
  requestText,
  withOtherAmount,
} from './requests.ts';

const UNCODED: Conditions = { customers: GLIMPSE_CUSTOMERS, tools: RELIABLE };

/** The lines of a customer: the active ones can be changed. */
interface Lines {
  active: string[];
  suspended: string[];
}

/** @throws error that names the condition that these tasks cannot have */
export function makeGlimpseTasks({ split, seed, count, from = 0, conditions }: TaskQuery): Task[] {
  const code = conditionsCode(conditions, UNCODED);
  // Read the conditions back from the code in the id, so that equal ids always mean equal tasks.
  const { customers, tools, intents = LINE_INTENTS } = readConditionsCode(code) ?? UNCODED;
  if (tools.timeouts > 0)
    throw new Error(`tools.timeouts is ${tools.timeouts}: expected 0 at telecom glimpse, as a second call would add the data twice`);
  const unknown = intents.find((intent) => !(LINE_INTENTS as readonly string[]).includes(intent));
  if (unknown !== undefined)
    throw new Error(`intents: '${unknown}' is unknown at level glimpse; expected some of ${LINE_INTENTS.join(', ')}`);
  return Array.from({ length: count }, (_, i): Task => {
    const index = from + i;
    const key = { split, seed, number: Math.floor(index / TASKS_PER_PROVIDER), glimpse: true };
    return {
      id: `telecom/glimpse/${split}/${seed}${code && `~${code}`}/${index}`,
      domain: 'telecom',
      level: 'glimpse',
      split,
      world: providerId(key),
      ...makeTask(new Dice('telecom-glimpse-task', split, seed, index), makeProvider(key), customers, intents as readonly LineIntent[]),
      ...(!isReliable(tools) && { faults: tools }),
    };
  });
}

function makeTask(
  dice: Dice,
  provider: Provider,
  shares: CustomerShares,
  intents: readonly LineIntent[],
): Pick<Task, 'scenario' | 'actions' | 'noop'> {
  const persona = dice.weighted<Persona>(shares);
  const customer = dice.pick(provider.customers);
  const wishes = makeWishes(dice, provider, persona, linesOf(provider, customer), intents);
  const [first_name, last_name] = customer.full_name.split(' ') as [string, string];
  const told = { persona, identity: { first_name, last_name }, wishes, ...(persona !== 'on_request' && { tellsAll: true }) };
  return {
    scenario: { ...told, instruction: instructionFor(told, requestText, 'line') },
    actions: wishes.filter(({ impossible }) => !impossible).map(goldCall),
    noop: wishes.every(({ impossible }) => impossible),
  };
}

function linesOf({ lines }: Provider, { line_ids }: Customer): Lines {
  const own = (wanted: (line: Line) => boolean) => lines.filter((line) => line_ids.includes(line.line_id) && wanted(line)).map(({ line_id }) => line_id); // prettier-ignore
  return { active: own(({ status }) => status === 'Active'), suspended: own(({ status }) => status !== 'Active') };
}

/** A pushy customer has a forbidden wish and then another one. A reserved customer has two wishes. */
function makeWishes(dice: Dice, provider: Provider, persona: Persona, lines: Lines, intents: readonly LineIntent[]): LineWish[] {
  const [line, other] = dice.sample(lines.active, 2) as [string, string];
  const granted = requestFor(dice, dice.pick(intents), line);
  const forbidden = (): LineWish => ({ ...requestFor(dice, dice.pick(intents), refusedLine(dice, provider, lines)), impossible: true });
  switch (persona) {
    case 'impossible':
      return [forbidden()];
    case 'pushy':
      return [forbidden(), { ...granted, impossible: false }];
    case 'reserved':
      return [
        { ...granted, impossible: false },
        { ...requestFor(dice, dice.pick(intents), other), impossible: false },
      ];
    case 'changes_mind':
      return [{ ...granted, impossible: false, insteadOf: changedFrom(dice, granted, other, intents) }];
    case 'confused': {
      const line_id = dice.chance(0.5) ? other : unknownLine(dice, provider);
      return [{ ...granted, impossible: false, insteadOf: { ...granted, slots: { ...granted.slots, line_id } } }];
    }
    default:
      return [{ ...granted, impossible: false }];
  }
}

/** The customer's first request before a change of mind: another amount, another kind of change, or the same change of another line. */
function changedFrom(dice: Dice, wish: LineRequest, other: string, intents: readonly LineIntent[]): LineRequest {
  const { line_id } = wish.slots;
  return dice.pick([
    { ...wish, slots: { ...wish.slots, line_id: other } },
    ...(wish.intent === 'add_data' ? [withOtherAmount(dice, wish)] : []),
    ...intents.filter((intent) => intent !== wish.intent).map((intent) => requestFor(dice, intent, line_id)),
  ]);
}

/** A line that no tool changes: a suspended one, or one that the provider does not have. */
const refusedLine = (dice: Dice, provider: Provider, { suspended }: Lines): string =>
  suspended.length > 0 && dice.chance(0.5) ? dice.pick(suspended) : unknownLine(dice, provider);

function unknownLine(dice: Dice, { lines }: Provider): string {
  for (;;) {
    const id = `L${dice.int(1000, 9999)}`;
    if (!lines.some(({ line_id }) => line_id === id)) return id;
  }
}
