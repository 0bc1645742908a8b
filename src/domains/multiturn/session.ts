/** @file An episode with objects of the eight classes: the calls run on the objects, and at the end the checkers judge them. */
import type { WorldSession } from '../../environments/domain.ts';
import type { ProcessMeasures, RewardInfo } from '../../records/benchmark-task.ts';
import type { Json } from '../../records/json.ts';
import type { RowChange, ToolCall, ToolSchema, Verdict } from '../../records/task.ts';
import { type Check, type CheckData, checkResponse, settingOf, type Solved } from './check.ts';
import { Instances } from './instances.ts';
import { portableState } from './portable.ts';
import { argumentsOf, callText, toolCallOf } from './tool-call.ts';

/** The attributes with their texts, by which they are compared. */
type State = { table: string; key: string; value: Json; text: string }[];

export class MultiTurnSession implements WorldSession {
  readonly #objects: Instances;
  readonly #start: State;
  #state: State;
  /** The calls of each turn so far. */
  readonly #turns: string[][] = [];

  constructor(
    private readonly data: CheckData,
    private readonly entry: Solved,
    /** The tools that appear after a message of the user, by its number. */
    private readonly later: Readonly<Record<string, ToolSchema[]>> = {},
  ) {
    this.#objects = new Instances(settingOf(entry), data.tables);
    this.#start = this.#state = stateOf(this.#objects);
  }

  async call(call: ToolCall) {
    const text = callText(call.name, argumentsOf(call));
    this.#turns.at(-1)?.push(text);
    const result = this.#objects.run(text);
    const before = this.#state;
    this.#state = stateOf(this.#objects);
    return { ...result, changes: changesOf(before, this.#state) };
  }

  /** A message of the user begins a turn. */
  async turn(n: number) {
    this.#turns[n] = [];
    const tools = this.later[String(n)];
    return tools ? { tools } : null;
  }

  async verify(): Promise<Verdict> {
    const response = this.#turns.map((calls) => (calls.length > 0 ? [calls] : []));
    const check = checkResponse(this.data, this.entry, response);
    const gold = new Instances(settingOf(this.entry), this.data.tables);
    for (const call of this.entry.gold.flat()) gold.run(call);
    const { valid } = check.verdict;
    const progress = check.passed / this.entry.gold.length;
    return {
      reward: valid ? 1 : 0,
      changes: changesOf(this.#start, this.#state),
      goal: changesOf(this.#start, stateOf(gold)),
      progress,
      reward_info: rewardInfo(this.entry, check, progress),
    };
  }

  async close() {}
}

const stateOf = (objects: Instances): State =>
  Object.entries(portableState(objects.state())).flatMap(([table, attributes]) =>
    Object.entries(attributes).map(([key, value]) => ({ table, key, value, text: JSON.stringify(value) })),
  );

/** The attributes that differ, as rows: the class is the table. */
const changesOf = (before: State, after: State): RowChange[] =>
  after.flatMap(({ table, key, value, text }, i) =>
    text === before[i]!.text ? [] : [{ table, key, before: before[i]!.value, after: value, call: 0 }],
  );

/** Says which state or which result decided: the gold calls of the turn at which the check stopped, and whether their results were met. */
function rewardInfo({ gold }: Solved, { verdict, turns, passed }: Check, process: number): RewardInfo {
  const { valid, error_type, error_message, attributes = [], missing_items = [] } = verdict;
  const reward = valid ? 1 : 0;
  const turn = Math.min(passed, gold.length - 1);
  const missesResult = error_type === 'multi_turn:execution_response_mismatch';
  const sameState = valid || missesResult;
  const measures: ProcessMeasures = { process, turns_passed: passed };
  return {
    reward,
    db_check: { db_match: sameState, db_reward: Number(sameState) },
    env_assertions: null,
    action_checks: missesResult ? metCalls(gold[turn]!, turns[turn]!.gold, missing_items) : null,
    nl_assertions: null,
    communicate_checks: null,
    reward_basis: missesResult ? ['DB', 'ACTION'] : ['DB'],
    reward_breakdown: { DB: Number(sameState), ...(missesResult && { ACTION: 0 }) },
    info: {
      ...measures,
      turn,
      ...(error_type !== undefined && { error_type, error_message: error_message ?? '' }),
      ...(attributes.length > 0 && { attributes }),
      ...(missing_items.length > 0 && { missing_items }),
    },
  };
}

/** Which gold calls of a turn had their results among the results of the model. */
function metCalls(calls: readonly string[], results: readonly string[], missing: readonly string[]): RewardInfo['action_checks'] {
  const left = [...missing];
  return calls.map((text, i) => {
    const at = left.indexOf(results[i]!);
    if (at >= 0) left.splice(at, 1);
    const { name, arguments: args } = toolCallOf(text) ?? { name: text, arguments: {} };
    return { action: { name, arguments: args }, action_match: at < 0, action_reward: Number(at < 0) };
  });
}
