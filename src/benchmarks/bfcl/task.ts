/** @file A task of BFCL Multi Turn, as an import stores it, and its reader. */
import type { Dict } from '../../python/values.ts';
import type { Task, ToolCall, ToolSchema } from '../../records/task.ts';
import type { TaskReader } from '../definition.ts';
import type { BfclData, Entry } from './data.ts';
import { IMPORTED_LEVEL } from '../../domains/registry.ts';
import { compactPrompt, signatureOf } from '../../domains/multiturn/prompt.ts';
import { toolCallOf } from '../../domains/multiturn/tool-call.ts';
import { functionsOf, openaiTools } from './functions.ts';
import { portable } from '../../domains/multiturn/portable.ts';

export interface BfclTask {
  /** The id of the entry, such as `multi_turn_base_0`. */
  id: string;
  category: string;
  /** What the user says in each turn. */
  question: string[];
  /** The gold calls of each turn, as texts of Python source. */
  gold: string[][];
  tools: ToolSchema[];
  /** The tools that appear after a message of the user, by its number from 0. */
  later: Record<string, ToolSchema[]>;
}

/** The functions as tools of the playground. */
const toolsOf = (functions: readonly Dict[]): ToolSchema[] => openaiTools(functions).map((tool) => portable(tool) as unknown as ToolSchema);

export function bfclTask(data: BfclData, entry: Entry): BfclTask {
  const { first, later } = functionsOf(data, entry, data.prompts?.hint ?? '');
  const added = data.prompts?.added ?? '';
  return {
    id: entry.id,
    category: entry.category,
    question: entry.question.map((turn) => (turn.length > 0 ? turn.map(({ content }) => content).join('\n\n') : added)),
    gold: entry.gold,
    tools: toolsOf(first),
    later: Object.fromEntries([...later].map(([turn, functions]) => [String(turn), toolsOf(functions)])),
  };
}

const goldTurns = ({ gold }: BfclTask): ToolCall[][] => gold.map((calls) => calls.flatMap((text) => toolCallOf(text) ?? []));

export const bfclTaskReader: TaskReader<BfclTask> = {
  gold: (task) => goldTurns(task).flat(),
  goldTurns,
  instruction: ({ question }) => question.join('\n\n'),
  wants: ({ question }) => question[0] ?? null,
  outputs: () => [],
  withoutOutputs: (task) => task,
  criteria: () => ({}),
  // A number means an entry of the first category.
  find: (tasks, id) => tasks.find((task) => task.id === `multi_turn_${id}` || task.id === `multi_turn_base_${id}`),
};

/** The script of the customer, the tools, and the category, by which reports group the tasks. */
export function storedParts(task: BfclTask, level: string): Partial<Task> {
  const { category, tools } = task;
  const isCompact = level !== IMPORTED_LEVEL;
  const question = isCompact ? compactQuestion(task) : task.question;
  return {
    // In the compact form the functions are a part of the policy.
    ...(isCompact ? { tools: [], policy: compactPrompt(tools.map(signatureOf)) } : { tools }),
    scenario: {
      persona: 'upfront',
      identity: {},
      wishes: [{ intent: category, slots: {}, words: {}, impossible: false }],
      scripted: true,
      instruction: question.join('\n\n'),
      benchmark: 'bfcl',
      facts: { turns: question },
    },
  };
}

/** What the user says, with the functions that appear at a turn. */
const compactQuestion = ({ question, later }: BfclTask): string[] =>
  question.map((text, turn) => [text, ...(later[turn] ?? []).map(signatureOf)].join('\n'));
