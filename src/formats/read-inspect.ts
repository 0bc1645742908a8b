/** @file Reads the conversations of Inspect's evaluation log (`inspect_ai.log.EvalLog`, version 2). */
import { InputError, shown } from '../base/input-error.ts';
import { isObject, mapJson } from '../base/json.ts';
import type { JsonRow } from '../base/json-rows.ts';
import { type Note, readConversation } from '../agent/conversation.ts';
import { ImportError } from '../exchange/import-error.ts';
import { TERMINATIONS } from '../exchange/trajectory-schema.ts';
import type { ChatMessage } from '../records/conversation.ts';
import type { TerminationReason } from '../records/trajectory.ts';
import type { ForeignRollout } from './foreign-rollout.ts';
import { failureOf } from './read-rows.ts';
import { flatRow, otherColumns } from './reward-columns.ts';
import { numberOf } from './row-fields.ts';

/** Whether a JSON value has the fields of Inspect's log. */
export const isInspectLog = (value: unknown): value is Record<string, unknown> =>
  isObject(value) && isObject(value.eval) && typeof value.version === 'number';

/** @throws ImportError if the log has no samples */
export function samplesOf({ samples }: Record<string, unknown>, file: string): JsonRow[] {
  if (!Array.isArray(samples) || samples.length === 0)
    throw new ImportError(
      file,
      'samples',
      `is ${shown(samples)}: expected a list of at least one sample (a log may be written without samples)`,
    );
  return samples.map((value: unknown, i) => ({ where: `samples[${i}]`, value }));
}

/** @throws ImportError if the value has no conversation, naming file, sample and field. RangeError if the value is nested too deeply */
export function readSample(value: unknown, { file, where, note }: { file: string; where: string; note: Note }): ForeignRollout {
  const fail = (field: string, found: unknown, expected: string): never => {
    throw new ImportError(file, field === '' ? where : `${where}.${field}`, `is ${shown(found)}: expected ${expected}`);
  };
  if (!isObject(value)) return fail('', value, 'a sample');
  const { id, epoch, metadata, attachments, scores } = value;
  if (!['string', 'number', 'bigint'].includes(typeof id)) fail('id', id, 'a text or a number');
  const error = failureOf(value.error);
  const stored = isObject(attachments) ? attachments : {};
  const given =
    Array.isArray(value.messages) && value.messages.length > 0 ? value.messages : error === undefined ? [] : inputOf(value.input);
  if (given.length === 0) fail('messages', value.messages, 'a list of at least one message');
  let messages: ChatMessage[];
  try {
    const own = given.map((message: unknown) => chatMessage(message, stored));
    // Inspect joins the texts of a content in this way.
    messages = readConversation({ messages: own }, where, { note, keepMalformed: true, separator: '\n' }).messages;
  } catch (cause) {
    if (!(cause instanceof InputError)) throw cause;
    throw new ImportError(file, '', cause.message);
  }
  const extra = isObject(metadata) ? metadata : {};
  const limit = isObject(value.limit) && typeof value.limit.type === 'string' ? value.limit.type : undefined;
  const [step, turns] = [natural(extra.step), natural(extra.num_turns)];
  return {
    task: String(id),
    group: typeof extra.group === 'string' ? extra.group : String(id),
    index: natural(extra.index) ?? Math.max(0, (natural(epoch) ?? 1) - 1),
    ...(step !== undefined && { step }),
    messages,
    failed: new Set(messages.filter((_, i) => isObject(given[i]) && isObject((given[i] as Record<string, unknown>).error))),
    reward: scoreOf(scores),
    columns: otherColumns({ ...flatRow(extra), ...scoreColumns(scores) }, [], undefined, note),
    advantage: numberOf(extra.advantage) ?? null,
    ...endingOf(extra.termination, limit),
    ...(turns !== undefined && { turns }),
    ...(error !== undefined && { error }),
  };
}

const natural = (value: unknown): number | undefined => {
  const number = numberOf(value);
  return number !== undefined && Number.isInteger(number) && number >= 0 ? number : undefined;
};

/** The messages of a sample that failed before its first message. */
const inputOf = (input: unknown): unknown[] =>
  typeof input === 'string' ? [{ role: 'user', content: input }] : Array.isArray(input) ? input : [];

/** Turns Inspect's message into OpenAI's format. Long texts are stored beside the messages. */
function chatMessage(value: unknown, attachments: Record<string, unknown>): unknown {
  if (!isObject(value)) return value;
  const { role, content, tool_calls, tool_call_id, function: name } = value;
  const resolved = (text: string) =>
    text.replace(/attachment:\/\/([0-9a-f]{32})/g, (own, key: string) => (typeof attachments[key] === 'string' ? attachments[key] : own));
  return {
    role,
    content: mapJson(content, (part) => (typeof part === 'string' ? resolved(part) : part)),
    ...(role === 'assistant' &&
      Array.isArray(tool_calls) && {
        tool_calls: tool_calls.map((call: unknown) =>
          isObject(call)
            ? {
                id: call.id,
                type: 'function',
                function: { name: call.function, arguments: call.arguments },
                parse_error: call.parse_error,
              }
            : call,
        ),
      }),
    ...(role === 'tool' && { ...(typeof name === 'string' && { name }), ...(typeof tool_call_id === 'string' && { tool_call_id }) }),
  };
}

/**
 * The first scorer's value as a number, as in Inspect's `value_to_float`: C is 1, P is 0.5, I and N are 0, yes and true are 1, no and false
 * are 0, other texts are their number. Null for lists, objects and NaN.
 */
function scoreOf(scores: unknown): number | null {
  const first = isObject(scores) ? Object.values(scores)[0] : undefined;
  return numberOfScore(isObject(first) ? first.value : undefined);
}

/** The scores of a sample by name. A score that is a dictionary gives `scorer.key`. Empty if the only score is the reward. */
function scoreColumns(scores: unknown): Record<string, number> {
  if (!isObject(scores)) return {};
  const found = Object.entries(scores).flatMap(([scorer, own]) => {
    const value = isObject(own) ? own.value : undefined;
    const named = isObject(value)
      ? Object.entries(value).map(([key, inner]) => [`${scorer}.${key}`, inner] as const)
      : [[scorer, value] as const];
    return named.flatMap(([name, inner]) => {
      const number = numberOfScore(inner);
      return number === null ? [] : [[name, number] as const];
    });
  });
  return found.length === 1 && scoreOf(scores) !== null ? {} : Object.fromEntries(found);
}

function numberOfScore(value: unknown): number | null {
  const letters = { C: 1, P: 0.5, I: 0, N: 0 };
  const words = new Map(Object.entries({ ...letters, yes: 1, true: 1, no: 0, false: 0 }));
  if (typeof value !== 'string') return numberOf(value) ?? null;
  const word = Object.hasOwn(letters, value) ? value : value.toLowerCase();
  return words.get(word) ?? numberOf(value) ?? null;
}

/** The endings of Inspect's limits that we have too. */
const LIMITS: Record<string, TerminationReason> = { context: 'context_full', turn: 'max_turns', message: 'max_turns' };

function endingOf(named: unknown, limit: string | undefined): Pick<ForeignRollout, 'termination' | 'ending'> {
  if (typeof named === 'string' && Object.hasOwn(TERMINATIONS, named)) return { termination: named as TerminationReason };
  const ending = typeof named === 'string' ? named.slice(0, 200) : limit && `${limit} limit`;
  return { termination: LIMITS[limit ?? ''] ?? 'unknown', ...(ending !== undefined && { ending }) };
}
