/**
 * @file Generates telecom tasks in tau2-bench's form. A task depends only on level, split, seed, number of faults and index.
 * Each set of two or more faults belongs to one split, so held-out tasks have combinations that never occur in training.
 */
import { Dice } from '../../base/dice.ts';
import type { InitialState, Requestor } from '../../records/benchmark-task.ts';
import type { Json } from '../../records/json.ts';
import type { Split } from '../../records/task.ts';
import type { TaskQuery } from '../../environments/types.ts';
import { FAULTS, GROUPS, type Case, type Fault, type FaultName, type Intent, type Step } from './faults.ts';
import { callers, makeProvider, Numbers, providerId, type Provider } from './records.ts';
import { DESTINATIONS, knownInfo, PERSONAS, reasonForCall, taskInstructions, ticket, type Story, type TelecomPersona } from './scenario.ts';

export const LEVELS = ['nano', 'small', 'full'] as const;
export type Level = (typeof LEVELS)[number];

export interface GoldAction {
  action_id: string;
  requestor: Requestor;
  name: string;
  arguments: Record<string, Json>;
  info: null;
  compare_args: string[] | null;
}
export interface EnvAssertion {
  env_type: Requestor;
  func_name: string;
  arguments: Record<string, Json>;
  assert_value: boolean;
  message: null;
}

/** A task with tau2-bench's fields, and with additional fields of the generator. */
export interface TelecomTask {
  id: string;
  domain: 'telecom';
  level: Level;
  split: Split;
  /** The id of the provider whose database the task uses. */
  world: string;
  intent: Intent;
  /** The faults, in the order in which they are caused and repaired. A task with more faults is harder. */
  issues: FaultName[];
  persona: TelecomPersona;
  /** The user's situation. The instructions are written from it. */
  story: Story;
  /** Whether tools can solve the task. If false, the agent must transfer the customer to a human. */
  solvable: boolean;
  description: { purpose: string; relevant_policies: null; notes: null };
  user_scenario: {
    persona: string | null;
    instructions: { domain: 'telecom'; reason_for_call: string; known_info: string; unknown_info: null; task_instructions: string };
  };
  ticket: string;
  initial_state: InitialState;
  evaluation_criteria: {
    actions: GoldAction[];
    env_assertions: EnvAssertion[];
    communicate_info: null;
    nl_assertions: null;
    reward_basis: ('ENV_ASSERTION' | 'ACTION')[];
  };
}

export interface TelecomQuery extends Omit<TaskQuery, 'domain'> {
  /** The number of faults in every task. Default: drawn with the weights of the level. */
  faults?: number;
}

export const TASKS_PER_PROVIDER = 32;
/** The weights with which the number of faults is drawn. */
const FAULT_COUNTS: Record<Level, Record<string, number>> = {
  nano: { 1: 100 },
  small: { 1: 50, 2: 50 },
  full: { 1: 15, 2: 25, 3: 25, 4: 20, 5: 15 },
};
const INTENTS: Record<Intent, number> = { service_issue: 30, mobile_data_issue: 35, mms_issue: 35 };
/** The share of tasks with a fault that no tool can repair. */
const UNSOLVABLE = 0.1;
/** One in HELD_OUT sets of faults is held out. */
const HELD_OUT = 4;

/** @throws error that names the wrong field */
export function makeTelecomTasks({ level, split, seed, count, from = 0, faults }: TelecomQuery): TelecomTask[] {
  if (!LEVELS.includes(level as Level)) throw new Error(`level: '${level}' is unknown; expected one of ${LEVELS.join(', ')}`);
  if (faults !== undefined && !(Number.isInteger(faults) && faults >= 1 && faults <= GROUPS.mms_issue.length))
    throw new Error(`faults: ${faults} is not an integer from 1 to ${GROUPS.mms_issue.length}`);
  const tasks: TelecomTask[] = [];
  let provider: Provider | undefined;
  for (let index = from; index < from + count; index++) {
    const key = { split, seed, number: Math.floor(index / TASKS_PER_PROVIDER) };
    if (!provider || index % TASKS_PER_PROVIDER === 0) provider = makeProvider(key);
    const dice = new Dice('telecom-task', level, split, seed, faults ?? 'level', index);
    const size = faults ?? Number(dice.weighted(FAULT_COUNTS[level as Level]));
    tasks.push(
      makeTask(
        dice,
        {
          id: `telecom/${level}/${split}/${seed}/${faults === undefined ? '' : `f${faults}-`}${index}`,
          level: level as Level,
          split,
          world: providerId(key),
        },
        provider,
        size,
      ),
    );
  }
  return tasks;
}

type Frame = Pick<TelecomTask, 'id' | 'level' | 'split' | 'world'>;

function makeTask(dice: Dice, frame: Frame, provider: Provider, size: number): TelecomTask {
  const { intent, issues } = drawIssues(dice, frame.split, size);
  const { customer, line, plan } = dice.pick(callers(provider));
  const about: Case = {
    name: customer.full_name,
    phone_number: line.phone_number,
    customer_id: customer.customer_id,
    line_id: line.line_id,
    // This id is longer than the ids of bills in the database, so it is new.
    bill_id: `B${new Numbers(dice, frame.split).draw(7)}`,
    exceeding_gb: (plan.data_limit_gb * 10 + dice.int(1, 4)) / 10,
    refuel_gb: dice.pick([0.5, 1, 1.5, 2]),
  };
  const persona = dice.pick(Object.keys(PERSONAS) as TelecomPersona[]);
  const faults = issues.map((issue): Fault => FAULTS[issue]);
  const solvable = faults.every(({ mends }) => mends !== null);
  const place = intent === 'service_issue' ? null : faults.some(({ abroad }) => abroad) ? dice.pick(DESTINATIONS) : 'home';
  const refuel = issues.includes('data_usage_exceeded_no_refuel') ? null : about.refuel_gb;
  const story = { intent, about, place, refuel };
  return {
    ...frame,
    domain: 'telecom',
    intent,
    issues,
    persona,
    story,
    solvable,
    description: {
      purpose: `Mend ${issues.length === 1 ? 'a fault' : `${issues.length} faults`}: ${issues.join(', ')}.`,
      relevant_policies: null,
      notes: null,
    },
    user_scenario: {
      persona: PERSONAS[persona],
      instructions: {
        domain: 'telecom',
        reason_for_call: reasonForCall(story),
        known_info: knownInfo(story),
        unknown_info: null,
        task_instructions: taskInstructions(story),
      },
    },
    ticket: ticket(story),
    initial_state: { initialization_data: null, initialization_actions: initialActions(about, faults), message_history: null },
    evaluation_criteria: {
      actions: solvable ? goldActions(faults.flatMap(({ mends }) => mends!(about))) : [TRANSFER],
      env_assertions: assertionsFor(intent, issues, about, solvable),
      communicate_info: null,
      nl_assertions: null,
      reward_basis: solvable ? ['ENV_ASSERTION'] : ['ENV_ASSERTION', 'ACTION'],
    },
  };
}

/** Draws sets of faults until a set belongs to the split. */
function drawIssues(dice: Dice, split: Split, size: number): { intent: Intent; issues: FaultName[] } {
  const solvable = !dice.chance(UNSOLVABLE);
  for (let attempt = 0; attempt < 1000; attempt++) {
    const intent = dice.weighted(INTENTS);
    const groups = GROUPS[intent].map((group) => (solvable ? group.filter(isMendable) : group)).filter((group) => group.length);
    if (groups.length < size) continue;
    // Sorted by name, as in upstream. Faults are caused and repaired in this order.
    const issues = dice
      .sample(groups, size)
      .map((group) => dice.pick(group))
      .sort();
    if (issues.every(isMendable) === solvable && belongsTo(split, intent, issues)) return { intent, issues };
  }
  throw new Error(`no set of ${size} faults belongs to ${split}`);
}

const isMendable = (name: FaultName) => (FAULTS[name] as Fault).mends !== null;

/** Whether a set of faults may occur in a split. A single fault may occur in both splits. */
function belongsTo(split: Split, intent: Intent, issues: readonly FaultName[]): boolean {
  if (issues.length < 2) return true;
  const heldOut = new Dice('telecom-split', intent, ...issues).int(1, HELD_OUT) === 1;
  return heldOut === (split === 'heldout');
}

function initialActions({ name, phone_number, ...about }: Case, faults: Fault[]): InitialState['initialization_actions'] {
  const info: Step = { requestor: 'user', name: 'set_user_info', arguments: { name, phone_number } };
  return [info, ...faults.flatMap(({ breaks }) => breaks({ name, phone_number, ...about }))].map((step) => ({
    env_type: step.requestor,
    func_name: step.name,
    arguments: step.arguments,
  }));
}

function goldActions(steps: Step[]): GoldAction[] {
  return steps.map(({ requestor, name, arguments: args }, i) => ({
    action_id: `${name}_${i}`,
    requestor,
    name,
    arguments: args,
    info: null,
    compare_args: null,
  }));
}

/** Matches a transfer with any summary, because no argument is compared. */
const TRANSFER: GoldAction = {
  action_id: 'transfer_to_human_agents_0',
  requestor: 'assistant',
  name: 'transfer_to_human_agents',
  arguments: { summary: 'The fault cannot be mended with the tools at hand.' },
  info: null,
  compare_args: [],
};

function assertionsFor(intent: Intent, issues: FaultName[], about: Case, solvable: boolean): EnvAssertion[] {
  const that = (env_type: Requestor, func_name: string, args: Record<string, Json>): EnvAssertion => ({
    env_type,
    func_name,
    arguments: args,
    assert_value: true,
    message: null,
  });
  const goal = {
    service_issue: [that('user', 'assert_service_status', { expected_status: solvable ? 'connected' : 'no_service' })],
    mobile_data_issue: [
      that('user', 'assert_mobile_data_status', { expected_status: solvable }),
      ...(solvable ? [that('user', 'assert_internet_speed', { expected_speed: 200, expected_desc: 'excellent' })] : []),
    ],
    mms_issue: [that('user', 'assert_can_send_mms', { expected_status: solvable })],
  }[intent];
  if (!solvable) return goal;
  if (issues.includes('overdue_bill_suspension'))
    goal.push(that('assistant', 'assert_no_overdue_bill', { overdue_bill_id: about.bill_id }));
  if (issues.includes('data_usage_exceeded'))
    goal.push(
      that('assistant', 'assert_data_refueling_amount', {
        customer_id: about.customer_id,
        line_id: about.line_id,
        expected_amount: about.refuel_gb,
      }),
    );
  return goal;
}
