/** @file Reads rows with one conversation each: TRL's completions and rollouts, verl's dumps, and chats. */
import { shown } from '../base/input-error.ts';
import { isObject } from '../base/json.ts';
import { readConversation } from '../agent/conversation.ts';
import { isPreference, listOf } from '../agent/conversation-row.ts';
import { TERMINATIONS } from '../exchange/trajectory-schema.ts';
import { REWARD_TERMS, type RewardTerms } from '../records/rewards.ts';
import type { ChatMessage } from '../records/conversation.ts';
import type { TerminationReason } from '../records/trajectory.ts';
import { messagesOfText } from './chat-text.ts';
import type { ForeignRollout, ForeignTokens } from './foreign-rollout.ts';
import { ENDING_COLUMNS, flatRow, otherColumns } from './reward-columns.ts';
import { numberOf, type Row, RowFields } from './row-fields.ts';

/** The tool that wrote the row. */
export type RowKind = 'trl' | 'verl' | 'chat';

export function kindOf(row: Row): RowKind | null {
  if ((listOf(row.messages)?.length ?? 0) > 0 || listOf(row.conversations)) return 'chat';
  if ('prompt' in row && 'completion' in row) return 'trl';
  if ('input' in row && 'output' in row) return 'verl';
  return 'messages' in row || isPreference(row) ? 'chat' : null;
}

export interface RowSource {
  file: string;
  where: string;
  /** The columns whose sum is the reward if the row has neither `reward` nor `score`. */
  rewards: readonly string[];
  /** The columns that are parts of the row's `reward` or `score`. */
  parts: readonly string[];
  /** Is told of columns that are left out. */
  note: (line: string) => void;
}

/** Reads one row. @throws ImportError naming file, position and field if it has no conversation */
export function readRow(row: Row, kind: RowKind, { file, where, rewards, parts, note }: RowSource): ForeignRollout {
  const field = new RowFields(row, file, where, note);
  const flat = flatRow(row);
  const given = field.first(REWARDS[kind]);
  const ending = ENDING_COLUMNS.map((name) => field.text(name)).find((text) => text !== undefined && text !== '');
  const failure = failureOf(row.error) ?? (ending !== undefined && INFRASTRUCTURE.test(ending) ? ending : undefined);
  const messages = messagesOf(field, kind, note);
  const named = given === undefined ? rewards : parts;
  const terms = readRewardTerms(flat, isOwn(row.rewards) ? Object.keys(row.rewards) : named);
  const tokens = kind === 'trl' ? field.optional('tokens', () => readTokens(field)) : undefined;
  const scored = rewardOf(field, given, rewards);
  const unanswered = lacksAnswer(row, kind) && failure === undefined;
  const problem = scored.problem ?? (unanswered ? field.wrong(ANSWERS[kind]!, 'an answer').message : undefined);
  const error = failure ?? problem;
  return {
    id: field.text(kind === 'verl' ? 'request_id' : 'id'),
    ...placeOf(field, kind, messages),
    index: field.natural('index'),
    step: field.natural('step'),
    messages,
    ...(tokens && { tokens }),
    ...(terms && { rewards: terms }),
    // Tools write the reward 0 for a conversation that failed.
    reward: error !== undefined && !scored.reward ? null : scored.reward,
    advantage: field.number('advantage') ?? null,
    columns: otherColumns(flat, Object.keys(terms ?? {}), given, note),
    ...readEnding(ending, failure),
    turns: field.natural('num_turns'),
    ...(error !== undefined && { error }),
    ...(problem !== undefined && { problem }),
  };
}

/** The column of the answer. Absent: the row is one list of messages. */
const ANSWERS: Partial<Record<RowKind, string>> = { trl: 'completion', verl: 'output' };

function lacksAnswer(row: Row, kind: RowKind): boolean {
  const answer = ANSWERS[kind];
  return answer !== undefined && (row[answer] === null || row[answer] === undefined);
}

const asked = (kind: RowKind) => (kind === 'verl' ? 'input' : 'prompt');

/** The messages of a row. They end with the question if the row has no answer. */
function messagesOf(field: RowFields, kind: RowKind, note: (line: string) => void): ChatMessage[] {
  const { row, where } = field;
  const read = (own: unknown) => field.read(() => readConversation(own, where, { note, keepMalformed: true }).messages);
  const answer = ANSWERS[kind];
  if (answer === undefined) return read(row);
  const [before, after] = [row[asked(kind)], row[answer] ?? ''];
  const [listed, continued] = [chatOf(before), chatOf(after)];
  const texts = { before: typeof before === 'string', after: typeof after === 'string' };
  if (!(listed || texts.before) || !(continued || texts.after))
    throw field.wrong(listed || texts.before ? answer : asked(kind), `${asked(kind)} and ${answer} as texts or as lists of messages`);
  if (!listed && !continued) {
    const messages = messagesOfText(before as string, after as string);
    return lacksAnswer(row, kind) ? spoken(messages) : messages;
  }
  const said = spoken(messagesOfText(texts.before ? (before as string) : '', texts.after ? (after as string) : ''));
  return read({ messages: [...(listed ?? said), ...(continued ?? said)], tools: row.tools });
}

const chatOf = (value: unknown): unknown[] | undefined => {
  const list = listOf(value);
  return list?.every(isObject) ? list : undefined;
};
const spoken = (messages: readonly ChatMessage[]) => messages.filter(({ content }) => content !== '');

/** The columns of the reward, the more usual one first. */
export const REWARDS: Record<RowKind, readonly string[]> = {
  trl: ['reward', 'score'],
  verl: ['score', 'reward'],
  chat: ['reward', 'score'],
};

/** The reward of a row (`RowFields.reward`), or why it has none. */
export function rewardOf(
  field: RowFields,
  given: string | undefined,
  terms: readonly string[],
): { reward: number | null; problem?: string } {
  try {
    return { reward: field.reward(given, terms) };
  } catch (error) {
    return { reward: null, problem: (error as Error).message };
  }
}

/**
 * The task and the group. If the row has no name of a task, it is the first message of the user, cut to 120 characters. verifiers names the
 * environment in `task`, and the task in `example_id`.
 */
function placeOf(field: RowFields, kind: RowKind, messages: readonly ChatMessage[]): Pick<ForeignRollout, 'task' | 'group'> {
  const example = field.text('example_id');
  const named = field.text('task');
  const said = messages.find(({ role }) => role === 'user') ?? messages[0];
  const task = (example !== undefined && named !== undefined ? `${named} ${example}` : named) ?? said?.content.trim().slice(0, 120);
  const own = field.text('group') ?? (kind === 'verl' ? field.text('uid') : undefined);
  const group = own ?? (kind === 'chat' ? named : (example ?? promptKey(field.row[asked(kind)])));
  return { task: task || 'unknown', ...(group !== undefined && { group }) };
}

const promptKey = (prompt: unknown): string =>
  typeof prompt === 'string' ? prompt : JSON.stringify(prompt, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));

/** Why the recording of a conversation failed. Undefined if it did not. */
export function failureOf(error: unknown): string | undefined {
  if (typeof error === 'string') return error || undefined;
  if (error === true) return 'the file says only that it failed';
  if (!isObject(error) || Object.keys(error).length === 0) return undefined;
  const said = [error.error_chain_str, error.message, error.error].find((text) => typeof text === 'string' && text !== '');
  return (said as string | undefined) ?? shown(error, 500);
}

/** Endings for which the agent is not responsible. Tools leave such conversations out of their metrics. */
const INFRASTRUCTURE = /infra(?:structure)?_?error|(?:api|server|connection|rate_?limit)_?error/i;
/** What the endings of other tools mean, as far as we have the same. */
const MEANINGS: [RegExp, TerminationReason][] = [
  [/max_?(?:turns|steps)/i, 'max_turns'],
  [/context|prompt_too_long/i, 'context_full'],
  [/^length$/i, 'turn_length'],
];

function readEnding(name: string | undefined, failure: string | undefined): Pick<ForeignRollout, 'termination' | 'ending'> {
  if (name !== undefined && Object.hasOwn(TERMINATIONS, name)) return { termination: name as TerminationReason };
  const meaning = MEANINGS.find(([words]) => name !== undefined && words.test(name))?.[1] ?? 'unknown';
  return { termination: failure === undefined ? meaning : 'aborted', ...(name !== undefined && { ending: name.slice(0, 200) }) };
}

/** Whether the value has the terms of our own training reward. They are not parts of the outcome, which is the `reward` of our rows. */
const isOwn = (value: unknown): value is Row =>
  isObject(value) && Object.keys(value).length > 0 && Object.keys(value).every((name) => REWARD_TERMS.some((known) => known === name));

function readRewardTerms(flat: Row, names: readonly string[]): RewardTerms | undefined {
  const terms = names.flatMap((name) => {
    const value = numberOf(flat[name]);
    return value === undefined ? [] : [[name, value] as const];
  });
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
