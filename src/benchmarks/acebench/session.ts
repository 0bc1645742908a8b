/** @file An episode of ACEBench Agent: the messages run on the objects, and at the end the final state is compared. */
import type { WorldSession } from '../../environments/domain.ts';
import { argumentsOf } from '../../domains/multiturn/tool-call.ts';
import { repr } from '../../python/text.ts';
import type { Dict, Value } from '../../python/values.ts';
import type { Json } from '../../records/json.ts';
import type { RowChange, ToolCall, Verdict } from '../../records/task.ts';
import { verdictOf } from './check.ts';
import type { Entry } from './data.ts';
import { decode } from './decode.ts';
import { Instances, type States } from './instances.ts';
import { toJson } from './plain.ts';
import { messageOf } from './task.ts';

/** The compared attributes with their texts, by which they are compared. */
type State = { table: string; key: string; value: Json; text: string }[];

export class AceSession implements WorldSession {
  readonly #objects: Instances;
  readonly #start: State;
  #state: State;
  #executed = false;
  /** The messages to the execution. A number stands for a text that the agent said to the user before message `n` of the user. */
  readonly #events: (string | number)[] = [];
  /** The results of the calls of the last message that have no answer yet. */
  #results: readonly { text: string; error: boolean }[] = [];

  constructor(
    private readonly entry: Entry,
    states: States,
  ) {
    this.#objects = new Instances(entry, states);
    this.#start = this.#state = stateOf(this.#objects.saved());
  }

  /** The first call of a message runs the whole message, because an error can end it. The other calls get their results. */
  async call(call: ToolCall) {
    if (call.message === '' && this.#results.length > 0) {
      const [next, ...others] = this.#results;
      this.#results = others;
      return next!;
    }
    const message = call.message || messageOf([{ name: call.name, args: argumentsOf(call) }]);
    this.#events.push(message);
    const [first = { text: '[]', error: false }, ...others] = this.#run(decode(message));
    this.#results = others;
    const before = this.#state;
    this.#state = stateOf(this.#objects.saved());
    return { ...first, changes: changesOf(before, this.#state) };
  }

  #run(calls: readonly string[]): { text: string; error: boolean }[] {
    const { results, failed } = this.#objects.run(calls);
    if (failed) return calls.map(() => ({ text: repr(results), error: true }));
    this.#executed = true;
    return results.map((value) => ({ text: typeof value === 'string' ? value : repr(value), error: isError(value) }));
  }

  /** In a multi-step task, the user only answers messages that cannot be executed. */
  async turn(n: number) {
    if (n > 0 && this.entry.kind === 'multi_step') this.#events.push(n - 1);
    return null;
  }

  async verify(said: readonly string[]): Promise<Verdict> {
    const process = this.#events.flatMap((event) => (typeof event === 'string' ? [event] : (said[event] ?? [])));
    const {
      end_to_end,
      process: progress,
      error_type,
      error,
    } = verdictOf(this.entry, this.#executed ? this.#objects.saved() : [], process);
    return {
      reward: end_to_end,
      changes: changesOf(this.#start, this.#state),
      goal: changesOf(this.#start, goalOf(this.#start, this.entry)),
      progress,
      reward_info: {
        reward: end_to_end,
        db_check: { db_match: end_to_end === 1, db_reward: end_to_end },
        env_assertions: null,
        action_checks: null,
        nl_assertions: null,
        communicate_checks: null,
        reward_basis: ['DB'],
        reward_breakdown: { DB: end_to_end },
        info: { process: progress, ...(error_type && { error_type, error: error! }) },
      },
    };
  }

  async close() {}
}

const isError = (value: Value): boolean => typeof value === 'string' && value.startsWith('Error during execution: ');

const stateOf = (saved: readonly Dict[]): State =>
  saved.flatMap((one) =>
    one.entries().flatMap(([table, attributes]) =>
      (attributes as Dict).entries().map(([key, own]) => {
        const value = toJson(own);
        return { table: String(table), key: String(key), value, text: JSON.stringify(value) };
      }),
    ),
  );

/** The state that is expected: classes that the ground truth does not name stay as they are. */
function goalOf(start: State, { truth }: Entry): State {
  const wanted = stateOf(truth);
  return start.map((own) => wanted.find(({ table, key }) => table === own.table && key === own.key) ?? own);
}

/** The attributes that differ, as rows: the class is the table. */
const changesOf = (before: State, after: State): RowChange[] =>
  after.flatMap(({ table, key, value, text }, i) =>
    text === before[i]!.text ? [] : [{ table, key, before: before[i]!.value, after: value, call: 0 }],
  );
