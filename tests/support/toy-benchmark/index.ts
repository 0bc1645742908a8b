/** A benchmark of one domain with one tool and one task: the agent switches lamps. It follows none of the rules of tau-bench. */
import { z } from 'zod';
import type { BenchmarkDefinition, BenchmarkDomain, PlayedTask } from '../../../src/benchmarks/definition.ts';
import { callsOf } from '../../../src/benchmarks/recorded-conversation.ts';
import { replay } from '../../../src/benchmarks/replay.ts';
import { Overlay } from '../../../src/environments/overlay.ts';
import { check } from '../../../src/exchange/import-error.ts';
import type { Json } from '../../../src/records/json.ts';
import { lampResults } from './results.ts';

export interface LampTask {
  id: string;
  wish: string;
  lamp: string;
  on: boolean;
}

const house: BenchmarkDomain = {
  name: 'house',
  tools: [
    {
      type: 'function',
      function: {
        name: 'switch_lamp',
        description: 'Switches a lamp on or off.',
        parameters: { type: 'object', properties: { lamp: { type: 'string' }, on: { type: 'boolean' } }, required: ['lamp', 'on'] },
      },
    },
  ],
  load: (database) => new Map([['lamps', new Map(Object.entries(database as Record<string, Json>))]]),
  execute(rows, { name, arguments: { lamp, on } }) {
    if (name !== 'switch_lamp' || rows.get('lamps', String(lamp)) === undefined) return { text: `no lamp ${String(lamp)}`, error: true };
    rows.put('lamps', String(lamp), { on: on! });
    return { text: 'done', error: false };
  },
};

/** The reward: the lamp is as wished. Each call beyond the first one costs a quarter of the progress. */
export function lampScore({ world, task, conversation }: PlayedTask<LampTask>) {
  const { rows, observations, differences } = replay(house, new Overlay(world), conversation);
  const isRight = (rows.get('lamps', task.lamp) as { on: boolean }).on === task.on;
  const progress = isRight ? Math.max(0, 1 - (callsOf(conversation).length - 1) / 4) : 0;
  return { reward: isRight ? (1 as const) : (0 as const), progress, observations, differences };
}

const file = z.object({
  lamps: z.record(z.string(), z.object({ on: z.boolean() })),
  tasks: z.array(z.object({ id: z.string(), wish: z.string(), lamp: z.string(), on: z.boolean() })),
  manual: z.string(),
});

export const lampbench: BenchmarkDefinition<LampTask> = {
  name: 'lamp',
  title: 'LampBench',
  version: '1.0',
  domains: [house],
  rules: {
    stopWords: ['GOOD NIGHT'],
    quotedStops: true,
    openingStop: 'ignored',
    failedToolEnds: false,
    greeting: 'Which lamp?',
    maxTurns: 4,
    maxSteps: Infinity,
    maxErrors: Infinity,
    callsPerTurn: 1,
    passUnknownTools: true,
    emptyTurnEnds: false,
    countsProse: false,
    requireDone: true,
    customerPrompt: (wish) => `You sit in the dark. ${wish} Say GOOD NIGHT at the end.`,
    ending: (termination) => (termination === 'user_stop' ? 'asleep' : 'awake'),
  },
  terminalTools: [],
  splits: { train: ['evening'], heldout: ['night'] },
  files: {
    help: 'one file, `lamps.json`.',
    expected: () => 'lamps.json',
    find: ({ files }) => (files.has('lamps.json') ? { domain: 'house', files } : null),
    async open({ files: named }, files) {
      const path = named.get('lamps.json')!;
      const { lamps } = check<z.infer<typeof file>>(file, await files.json(path), path);
      return { domain: 'house', database: lamps };
    },
    async read({ candidate: { files: named }, database }, files) {
      const { tasks, manual } = (await files.json(named.get('lamps.json')!)) as unknown as z.infer<typeof file>;
      return { tables: house.load(database), tasks, splits: { night: tasks.map(({ id }) => id) }, absent: {}, policy: manual };
    },
    fileOf: (part) => `${part} in lamps.json`,
  },
  tasks: {
    gold: ({ lamp, on }) => [{ name: 'switch_lamp', arguments: { lamp, on } }],
    instruction: ({ wish }) => wish,
    outputs: () => [],
    withoutOutputs: (task) => task,
    criteria: ({ lamp, on }) => ({ lamp, on }),
  },
  judge(played) {
    const { reward, progress } = lampScore(played);
    return { reward, progress };
  },
  results: lampResults,
};
