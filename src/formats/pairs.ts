/**
 * @file Makes pairs for preference optimisation from good and bad conversations of one task. The prompt is what both have before the agent's
 * first different message. The answers are the agent's messages from there until the next message of someone else.
 */
import { isNearMiss } from '../agent/conversation.ts';
import { commonMessages } from '../agent/preference.ts';
import { toPythonJson } from '../agent/python-json.ts';
import { groupBy } from '../base/group-by.ts';
import { isObject } from '../base/json.ts';
import type { ChatMessage, Conversation, Preference } from '../records/conversation.ts';
import type { NearMiss } from '../records/scenario.ts';
import type { DatasetRecord } from './dataset-file.ts';
import type { Row } from './row-fields.ts';

export interface Pairs {
  records: DatasetRecord[];
  /** How many conversations give no pair, and why. */
  notes: string[];
}

type Goods = ReadonlyMap<unknown, readonly Talk[]>;
type Talk = { columns: Row; conversation: Conversation };

/**
 * A conversation with `near_miss` is paired with the success of that id. Without near-misses, each conversation with `reward` below 1 is
 * paired with the conversation of reward 1 of the same `task` (or else the same `id`) that has the most messages in common with it. Pairs of
 * the file stay as they are. The same pair is made once.
 */
export function pairsOf(records: readonly DatasetRecord[]): Pairs {
  const given = records.filter(({ pair }) => pair);
  const talks = records.filter((record): record is Talk => !record.pair);
  const reasons = new Map<string, number>();
  const because = (reason: string) => void reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  const good = talks.filter(({ columns }) => !isNearMiss(columns));
  const byId = groupBy(good, ({ columns }) => String(columns.id));
  const byTask = groupBy(
    good.filter(({ columns }) => columns.reward === 1),
    ({ columns }) => taskOf(columns),
  );
  const known = new Set<string>();
  const made = talks.flatMap((talk): DatasetRecord[] => {
    const pair = pairOf(talk, byId, byTask);
    if (pair === null) return [];
    if (typeof pair === 'string') return (because(pair), []);
    const key = toPythonJson(pair.pair);
    if (known.has(key)) return (because('makes a pair that another one makes too'), []);
    known.add(key);
    return [pair];
  });
  return {
    records: [...given, ...made],
    notes: [...reasons].map(
      ([reason, count]) => `${count} ${count === 1 ? 'conversation' : 'conversations'} without a pair: each ${reason}`,
    ),
  };
}

/** The pair of a bad conversation, or why it has none. Null for a good conversation. */
function pairOf(bad: Talk, byId: Goods, byTask: Goods): (DatasetRecord & { pair: Preference }) | string | null {
  const { id, task, source, reward } = bad.columns;
  const nearMiss = nearMissOf(bad.columns);
  const about = { ...(id !== undefined && { id }), ...(task !== undefined && { task }), ...(source !== undefined && { source }) };
  if (isNearMiss(bad.columns) && !nearMiss) return 'has a near_miss without kind, first_wrong and of';
  if (nearMiss) {
    const good = byId.get(nearMiss.of)?.[0];
    if (!good) return 'names a success in near_miss.of that the file does not have';
    const made = contrast(good, bad);
    if (typeof made === 'string') return made;
    if (made.prompt.length !== nearMiss.first_wrong) return 'differs from its success before or after the message near_miss.first_wrong';
    return { pair: made, columns: { ...about, chosen_id: nearMiss.of, rejected_kind: nearMiss.kind } };
  }
  if (typeof reward !== 'number') return task === undefined ? 'has neither near_miss nor reward' : 'has no reward';
  if (reward >= 1) return null;
  const own = taskOf(bad.columns);
  if (own === undefined || own === null) return 'has neither task nor id';
  const goods = byTask.get(own) ?? [];
  if (goods.length === 0) return 'has a task that no conversation of the file solves';
  const common = (good: Talk) => commonMessages(good.conversation.messages, bad.conversation.messages);
  const good = goods.reduce((best, other) => (common(other) > common(best) ? other : best));
  const made = contrast(good, bad);
  return typeof made === 'string'
    ? made
    : { pair: made, columns: { ...about, ...(good.columns.id !== undefined && { chosen_id: good.columns.id }) } };
}

const taskOf = ({ task, id }: Row) => task ?? id;

function nearMissOf({ near_miss: value }: Row): NearMiss | undefined {
  return isObject(value) && typeof value.of === 'string' && typeof value.first_wrong === 'number'
    ? (value as unknown as NearMiss)
    : undefined;
}

/** The pair of two conversations, or why they give none. */
function contrast(good: Talk, bad: Talk): Preference | string {
  const [chosen, rejected] = [good.conversation, bad.conversation];
  if (toPythonJson(chosen.tools ?? null) !== toPythonJson(rejected.tools ?? null)) return 'has other tools than its success';
  const first = commonMessages(chosen.messages, rejected.messages);
  const answers = [chosen, rejected].map(({ messages }) => answerFrom(messages, first));
  if (answers.some((answer) => answer.length === 0)) return 'does not differ from its success in a message of the agent first';
  return {
    prompt: chosen.messages.slice(0, first),
    chosen: answers[0]!,
    rejected: answers[1]!,
    ...(chosen.tools && { tools: chosen.tools }),
  };
}

/** The messages of the agent from `start` until someone else speaks. */
function answerFrom(messages: readonly ChatMessage[], start: number): ChatMessage[] {
  const end = messages.findIndex(({ role }, i) => i >= start && role !== 'assistant');
  return messages.slice(start, end < 0 ? undefined : end);
}
