/** @file The tasks of the chat, and the rule that scores an answer. */
import type { DomainDefinition } from '../../environments/domain.ts';
import { trainingPlace } from '../../environments/task-order.ts';
import type { Task } from '../../records/task.ts';
import { permutation } from '../../base/random.ts';
import { HELDOUT_PROMPTS } from './heldout-prompts.ts';
import { TRAIN_PROMPTS } from './train-prompts.ts';

const PROMPTS: Record<string, readonly string[]> = { train: TRAIN_PROMPTS.map(([prompt]) => prompt), heldout: HELDOUT_PROMPTS };

/**
 * The task at an index. Its prompt comes from a shuffled list: training plays each prompt once before it plays one again, and an
 * evaluation of at most 48 tasks plays no prompt twice.
 */
function taskOf(split: string, seed: number, index: number): Task {
  const prompts = PROMPTS[split]!;
  const place = split === 'train' ? trainingPlace(index) : index;
  const order = permutation(prompts.length, seed, split === 'train' ? Math.floor(place / prompts.length) : 0);
  return {
    id: `chat/question/${split}/${seed}/${index}`,
    domain: 'chat',
    level: 'question',
    split,
    world: 'chat',
    scenario: {
      persona: 'upfront',
      identity: {},
      wishes: [],
      instruction: prompts[order[place % prompts.length]!]!,
      scripted: true,
    },
    actions: [],
    noop: true,
  };
}

/**
 * The rule: the last sentence has at least three words and ends with a question mark. Quotation marks, brackets and asterisks
 * may follow.
 */
export function endsWithQuestion(answer: string): boolean {
  const text = answer.replace(/[\s"'”’»)\]*_]+$/u, '');
  if (!text.endsWith('?')) return false;
  const last = text
    .slice(0, -1)
    .split(/[.!?:\n]/)
    .at(-1)!;
  return (last.match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu) ?? []).length >= 3;
}

export const world: DomainDefinition = {
  name: 'chat',
  levels: ['question'],
  version: 1,
  domain: (level) => ({
    name: 'chat',
    level,
    policy: 'You are a friendly assistant. Answer in one or two short sentences.',
    tools: [],
    terminalTools: [],
  }),
  tasks: ({ split, seed, count, from = 0 }) => Array.from({ length: count }, (_, i) => taskOf(split, seed, from + i)),
  world: () => new Map(),
  worlds: { tasks: 64, id: () => 'chat' },
  execute: () => ({ text: 'Error: there are no tools', error: true }),
  judge({ said }) {
    const reward = endsWithQuestion(said.at(-1) ?? '') ? 1 : 0;
    return { reward, progress: reward };
  },
};
