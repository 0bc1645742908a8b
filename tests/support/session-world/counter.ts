/**
 * A world that is no table: a counter behind promises, as a tool server in another process would be. The tool `reset` appears at
 * the customer's second message. The counter has to end at the number that the scenario names.
 */
import type { SessionDomain, WorldSession } from '../../../src/environments/domain.ts';
import type { Task, ToolSchema } from '../../../src/records/task.ts';

const tool = (name: string, properties: Record<string, { type: string }> = {}): ToolSchema => ({
  type: 'function',
  function: { name, description: `${name} the counter.`, parameters: { type: 'object', properties, required: Object.keys(properties) } },
});

export const RESET = tool('reset');

export const counterTask = (goal: number): Task => ({
  id: `counter/one/train/0/${goal}`,
  domain: 'counter',
  level: 'one',
  split: 'train',
  world: 'counter',
  scenario: { persona: 'upfront', identity: {}, wishes: [], instruction: `The counter has to be ${goal}.`, facts: { goal } },
  actions: [],
  noop: false,
});

class Counter implements WorldSession {
  #value = 0;
  #running = 0;
  #closed = false;
  #resettable = false;

  constructor(private readonly goal: number) {}

  async call({ name, arguments: { by } }: Parameters<WorldSession['call']>[0]) {
    if (this.#closed) throw new Error('the counter is closed');
    this.#running += 1;
    // Two calls at a time would both read the old value.
    const before = this.#value;
    await new Promise((resolve) => setTimeout(resolve, 2));
    this.#running -= 1;
    if (this.#running > 0) throw new Error('two calls run at the same time');
    if (name === 'stop') return { text: `stopped at ${before}`, error: false };
    if (name === 'add' && typeof by === 'number') this.#value = before + by;
    else if (name === 'reset' && this.#resettable) this.#value = 0;
    else throw new RangeError(`no tool ${name} with these arguments`);
    const changes = [{ table: 'counter', key: 'value', before, after: this.#value, call: -1 }];
    return { text: String(this.#value), error: false, changes };
  }

  async turn(n: number) {
    if (n !== 1) return null;
    this.#resettable = true;
    return { tools: [RESET] };
  }

  async verify() {
    const right = this.#value === this.goal;
    return { reward: right ? (1 as const) : (0 as const), changes: [], goal: [], progress: Number(right) };
  }

  async close() {
    this.#closed = true;
  }
}

export const counterDomain = (replays = true): SessionDomain => ({
  name: 'counter',
  levels: ['one'],
  promises: { replays },
  domain: (level) => ({
    name: 'counter',
    level,
    policy: 'Count for the customer.',
    tools: [tool('add', { by: { type: 'number' } }), tool('stop')],
    terminalTools: ['stop'],
  }),
  tasks: ({ count, from = 0 }) => Array.from({ length: count }, (_, i) => counterTask(from + i)),
  start: async ({ scenario }) => new Counter(Number(scenario.facts!.goal)),
});
