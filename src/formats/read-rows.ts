/** @file Reads rows with one conversation each: TRL's completions and rollouts, verl's dumps, and chats. */
import { isObject } from '../base/json.ts';
import { shown } from '../base/input-error.ts';
import { readConversation } from '../agent/conversation.ts';
import { located } from '../exchange/checked.ts';
import { ImportError } from '../exchange/import-error.ts';
import { TERMINATIONS } from '../exchange/trajectory-schema.ts';
import { type RewardTerms, REWARD_TERMS } from '../records/rewards.ts';
import type { ChatMessage } from '../records/conversation.ts';
import type { TerminationReason } from '../records/trajectory.ts';
import { messagesOfText } from './chat-text.ts';
import type { ForeignRollout, ForeignTokens } from './foreign-rollout.ts';

type Row = Record<string, unknown>;

/** The tool that wrote the row. */
export type RowKind = 'trl' | 'verl' | 'chat';

export function kindOf(row: Row): RowKind | null {
  if ('messages' in row) return 'chat';
  if ('prompt' in row && 'completion' in row) return 'trl';
  if ('input' in row && 'output' in row) return 'verl';
  return null;
}

/** Reads one row. @throws ImportError naming file, position and field */
export function readRow(row: Row, kind: RowKind, file: string, where: string): ForeignRollout {
  const field = new RowFields(row, file, where);
  switch (kind) {
    case 'chat': {
      const { messages } = field.read(() => readConversation(row, where));
      return {
        ...common(field),
        ...taskOf(field, messages),
        messages,
        reward: field.reward(['reward', 'score']),
      };
    }
    case 'verl': {
      const [input, output] = [field.text('input'), field.text('output')];
      const messages = messagesOfText(input, output);
      return {
        ...common(field),
        ...taskOf(field, messages),
        group: field.optionalText('uid') ?? input,
        id: field.optionalText('request_id'),
        messages,
        markup: true,
        reward: field.reward(['score', 'reward']),
      };
    }
    case 'trl': {
      const { prompt, completion } = row;
      const texts = typeof prompt === 'string' && typeof completion === 'string';
      const lists = Array.isArray(prompt) && Array.isArray(completion);
      if (!texts && !lists) throw field.wrong('prompt', 'prompt and completion as two texts or as two lists of messages');
      const messages = texts
        ? messagesOfText(prompt, completion)
        : field.read(() => readConversation({ messages: [...(prompt as unknown[]), ...(completion as unknown[])] }, where)).messages;
      const key = texts ? prompt : JSON.stringify(prompt);
      const tokens = readTokens(field);
      const rewards = readRewardTerms(row.rewards);
      return {
        ...common(field),
        ...taskOf(field, messages),
        group: field.optionalText('group') ?? key,
        messages,
        markup: texts,
        ...(tokens && { tokens }),
        ...(rewards && { rewards }),
        reward: field.reward(['reward', 'score']),
        advantage: field.optionalNumber('advantage') ?? null,
      };
    }
  }
}

const common = (field: RowFields): Pick<ForeignRollout, 'id' | 'group' | 'index' | 'step' | 'termination' | 'turns'> => ({
  id: field.optionalText('id'),
  group: field.optionalText('group') ?? field.optionalText('task'),
  index: field.optionalNatural('index'),
  step: field.optionalNatural('step'),
  termination: readTermination(field.optionalText('termination')),
  turns: field.optionalNatural('num_turns'),
});

/** The name of the task. If the row has no name, the first message of the user, cut to 120 characters. */
function taskOf(field: RowFields, messages: readonly ChatMessage[]): Pick<ForeignRollout, 'task'> {
  const said = messages.find(({ role }) => role === 'user') ?? messages[0];
  return { task: field.optionalText('task') ?? (said?.content.trim().slice(0, 120) || 'unknown') };
}

const readTermination = (name: string | undefined): TerminationReason =>
  name !== undefined && Object.hasOwn(TERMINATIONS, name) ? (name as TerminationReason) : 'unknown';

function readRewardTerms(value: unknown): RewardTerms | undefined {
  if (!isObject(value)) return undefined;
  const terms = Object.entries(value).filter(([name, term]) => REWARD_TERMS.some((known) => known === name) && typeof term === 'number');
  return terms.length > 0 ? Object.fromEntries(terms) : undefined;
}

/** @throws ImportError if the columns have different lengths, or have values that are not token ids */
function readTokens(field: RowFields): ForeignTokens | undefined {
  const [prompt, completion] = [field.numbers('prompt_ids'), field.numbers('completion_ids')];
  if (!prompt || !completion) return undefined;
  const mask = field.numbers('completion_mask') ?? completion.map(() => 1);
  const logprobs = field.numbers('logprobs');
  for (const [name, list] of Object.entries({ completion_mask: mask, logprobs }))
    if (list && list.length !== completion.length) throw field.wrong(name, `${completion.length} values, one for each of completion_ids`);
  const bad = [...prompt, ...completion].find((id) => id === null || !Number.isInteger(id) || id < 0 || id >= 2 ** 31);
  if (bad !== undefined) throw field.wrong('completion_ids', `token ids, and not ${bad}`);
  if (mask.some((value) => value !== 0 && value !== 1)) throw field.wrong('completion_mask', 'a list of 0 and 1');
  return {
    ids: [...prompt, ...completion] as number[],
    mask: [...prompt.map(() => 0), ...(mask as number[])],
    logprobs: [...prompt.map(() => null), ...(logprobs ?? completion.map(() => null))],
  };
}

/** Reads the fields of one row. Its errors name the field. */
class RowFields {
  constructor(
    readonly row: Row,
    readonly file: string,
    readonly where: string,
  ) {}

  wrong(name: string, expected: string): ImportError {
    return new ImportError(this.file, located(this.where, name), `is ${shown(this.row[name])}: expected ${expected}`);
  }

  /** Runs `work`, and adds the file's name to its errors. */
  read<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw new ImportError(this.file, '', (error as Error).message);
    }
  }

  text(name: string): string {
    const value = this.row[name];
    if (typeof value !== 'string') throw this.wrong(name, 'a text');
    return value;
  }

  optionalText(name: string): string | undefined {
    const value = this.row[name];
    if (value === undefined || value === null) return undefined;
    if (typeof value === 'number') return String(value);
    return typeof value === 'string' ? value : undefined;
  }

  optionalNumber(name: string): number | undefined {
    const value = this.row[name];
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'number' || !Number.isFinite(value)) throw this.wrong(name, 'a finite number');
    return value;
  }

  optionalNatural(name: string): number | undefined {
    const value = this.optionalNumber(name);
    if (value !== undefined && (!Number.isInteger(value) || value < 0)) throw this.wrong(name, 'a whole number of at least 0');
    return value;
  }

  numbers(name: string): (number | null)[] | undefined {
    const value = this.row[name];
    if (value === undefined || value === null) return undefined;
    if (!Array.isArray(value) || !value.every((item) => item === null || (typeof item === 'number' && Number.isFinite(item))))
      throw this.wrong(name, 'a list of numbers');
    return value;
  }

  /**
   * The reward of the row: the first of the columns `names` that the row has. If it has none of them, the sum of all columns whose names
   * contain "reward", because TRL has one column for each reward function, and by default all have the weight 1.
   */
  reward(names: readonly string[]): number | null {
    const own = names.find((name) => this.row[name] !== undefined);
    if (own !== undefined) {
      const value = this.row[own];
      return typeof value === 'boolean' ? Number(value) : (this.optionalNumber(own) ?? null);
    }
    const columns = Object.entries(this.row).filter(
      (column): column is [string, number] => /reward/i.test(column[0]) && typeof column[1] === 'number' && Number.isFinite(column[1]),
    );
    return columns.length === 0 ? null : columns.reduce((sum, [, value]) => sum + value, 0);
  }
}
