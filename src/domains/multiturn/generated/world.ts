/** @file The generated tasks of the eight classes as a domain, and their demonstrator. */
import { callOf, type CreateExpert } from '../../../agent/acts.ts';
import type { DomainDefinition } from '../../../environments/domain.ts';
import type { Task } from '../../../records/task.ts';
import { compactPrompt } from '../prompt.ts';
import { MultiTurnSession } from '../session.ts';
import { TOPICS } from './more-topics.ts';
import { callsAsked, generatedTask, NO_TABLES } from './tasks.ts';

export const world: DomainDefinition = {
  name: 'multiturn',
  levels: Object.keys(TOPICS),
  promises: { replays: true },
  domain: (level) => ({
    name: 'multiturn',
    level,
    policy: compactPrompt(TOPICS[level]!.signatures),
    tools: [],
    terminalTools: [],
    benchmark: 'bfcl',
  }),
  tasks: ({ level, split, seed, count, from = 0 }) => Array.from({ length: count }, (_, i) => taskOf(level, split, seed, from + i)),
  async start({ id }) {
    const [, level, split, seed, index] = id.split('/');
    const { solved } = generatedTask(level!, split!, Number(seed), Number(index));
    return new MultiTurnSession({ tables: NO_TABLES }, solved);
  },
};

function taskOf(level: string, split: string, seed: number, index: number): Task {
  const { instruction, calls } = generatedTask(level, split, seed, index);
  const id = `multiturn/${level}/${split}/${seed}/${index}`;
  return {
    id,
    domain: 'multiturn',
    level,
    split,
    world: id,
    scenario: {
      persona: 'upfront',
      identity: {},
      wishes: [{ intent: `${calls.length} ${calls.length === 1 ? 'call' : 'calls'}`, slots: {}, words: {}, impossible: false }],
      scripted: true,
      instruction,
    },
    actions: calls,
    noop: false,
  };
}

/** Makes the calls that the customer asks for, one in each message, and then says so. */
export const createExpert: CreateExpert = ({ level }) => ({
  act(messages) {
    const asked = callsAsked(level, messages[0]?.content ?? '') ?? [];
    const call = asked[messages.filter((message) => callOf(message)).length];
    return call ? { call } : { say: 'Done.' };
  },
});
