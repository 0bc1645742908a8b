/** @file What the checks of the layers read in a conversation. */
import { isObject } from '../../base/json.ts';
import type { Json } from '../../records/json.ts';
import type { LayeredConversation } from '../layers.ts';
import { readable } from '../sentences.ts';
import type { AuditEvent } from '../violations.ts';

export type ToolEvent = Extract<AuditEvent, { kind: 'tool' }>;

/** What a tool showed about another customer, and beside it what the tools showed about this one. */
export interface Foreign {
  place: number;
  value: Json;
  own: readonly Json[];
}

/** The value that a result prints as JSON. A text that is no JSON is itself. */
export function resultOf({ result }: ToolEvent): Json {
  try {
    return JSON.parse(result.text) as Json;
  } catch {
    return result.text.trim();
  }
}

/** A call with an error that changed nothing breaks no rule. A call that timed out may have changed data. */
export const didNothing = ({ result }: ToolEvent): boolean => result.error && result.changes.length === 0;

export const isWrite = ({ result }: ToolEvent): boolean => result.changes.length > 0;

/** All records of a value, outer ones first. */
export function* recordsIn(value: Json): Generator<Record<string, Json>> {
  if (Array.isArray(value)) for (const entry of value) yield* recordsIn(entry);
  if (!isObject(value)) return;
  yield value as Record<string, Json>;
  for (const entry of Object.values(value)) yield* recordsIn(entry as Json);
}

/** All texts of a value, with the names of their fields. */
export function* textsIn(value: Json, field = ''): Generator<{ field: string; text: string }> {
  if (typeof value === 'string') yield { field, text: value };
  else if (Array.isArray(value)) for (const entry of value) yield* textsIn(entry, field);
  else if (isObject(value)) for (const [name, entry] of Object.entries(value)) yield* textsIn(entry as Json, name);
}

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The texts of the customer before a place, with plain quotation marks. */
export const heardBefore = ({ events }: Pick<LayeredConversation, 'events'>, place: number): string[] =>
  events.slice(0, place).flatMap((event) => (event.kind === 'user' ? [readable(event.text)] : []));

/** Whether the agent has the tool. True if its tools are not known. */
export const hasTool = ({ tools }: Pick<LayeredConversation, 'tools'>, name: string): boolean =>
  tools === null || tools.some((tool) => tool.function.name === name);

/** A refusal, or a hint that a request cannot be served. */
const REFUSES =
  /\b(can ?not|can't|unable|not able|won't|will not|may not|mustn't|must not|not (allowed|permitted|possible|authori[sz]ed|eligible)|isn't (yours|possible|allowed)|not (yours|one of your\w*|your order|linked|associated|registered|part of)|(not|n't) (on|in|under|with|from|tied to|connected to) your|(doesn't|does not|don't|do not) (belong|appear|match|have access)|(can|may) only|only (help|assist|serve|discuss|share|talk|speak)|(another|different|other) (customer|user|account|person|name|passenger)s?|(someone|somebody) else|privacy|private|confidential|data protection|no access|no such|not (the owner|among|something (i|we) (may|can))|outside (of )?your|only the (owner|account holder|customer|person)|your account (has only|only has)|(doesn't|does not|don't|do not) (include|list|contain|see|find|allow|permit)|your own \w+ (only|alone)|sorry|apologi[sz]e|unfortunately|decline|refuse|against (our|the|my) polic)/i;

export const refuses = (text: string): boolean => REFUSES.test(readable(text));
