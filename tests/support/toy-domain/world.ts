/** The toy's world: one lamp a task, its tool, and tasks that depend on split, seed and index only. */
import type { DomainDefinition } from '../../../src/environments/domain.ts';
import type { Task } from '../../../src/records/task.ts';

function taskOf(split: string, seed: number, index: number): Task {
  const state = (seed + index) % 2 ? 'on' : 'off';
  return {
    id: `toy/one/${split}/${seed}/${index}`,
    domain: 'toy',
    level: 'one',
    split,
    world: `toy/${split}/${seed}/${index}/${state === 'on' ? 'off' : 'on'}`,
    scenario: {
      persona: 'upfront',
      identity: {},
      wishes: [{ intent: 'switch', slots: { state }, words: {}, impossible: false }],
      instruction: `You want the lamp to be ${state}.`,
      facts: { state },
    },
    actions: [{ name: 'switch_lamp', arguments: { state } }],
    noop: false,
  };
}

export const world: DomainDefinition = {
  name: 'toy',
  levels: ['one'],
  version: 1,
  domain: (level) => ({
    name: 'toy',
    level,
    policy: 'Ask before you switch the lamp.',
    terminalTools: [],
    tools: [
      {
        type: 'function',
        function: {
          name: 'switch_lamp',
          description: 'Switch the lamp.',
          parameters: { type: 'object', properties: { state: { type: 'string', enum: ['on', 'off'] } }, required: ['state'] },
        },
      },
    ],
  }),
  tasks: ({ split, seed, count, from = 0 }) => Array.from({ length: count }, (_, i) => taskOf(split, seed, from + i)),
  world: (id) => new Map([['lamps', new Map([['lamp', { owner: 'ada', state: id.split('/').at(-1)! }]])]]),
  worlds: { tasks: 1, id: (_, { split, seed, number }) => taskOf(split, seed, number).world },
  execute(rows, { name, arguments: { state } }) {
    if (name !== 'switch_lamp' || (state !== 'on' && state !== 'off')) return { text: 'Error: expected a state, on or off', error: true };
    rows.put('lamps', 'lamp', { owner: 'ada', state });
    return { text: `The lamp is ${state}.`, error: false };
  },
};
