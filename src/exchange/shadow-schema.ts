/** @file Reads the file of a shadow (`records/shadow.ts`). Files come from strangers too. */
import * as z from 'zod/mini';
import { parserReason } from '../base/input-error.ts';
import type { Precision } from '../records/model.ts';
import { AGENT_FORMATS } from '../records/agent-server.ts';
import {
  type OtherArgument,
  SHADOW_KINDS,
  type ShadowAct,
  type ShadowConversation,
  type ShadowHead,
  type ShadowLine,
  type ShadowMessage,
  type ShadowModelRef,
  type ShadowTurn,
} from '../records/shadow.ts';
import { checked } from './checked.ts';
import { ImportError } from './import-error.ts';
import { serverLimits } from './run-schema.ts';
import { type Fields, json, jsonObject, name, natural, number, oneOf, text } from './schema-fields.ts';
import { MOST_MESSAGES, toolCall, userRequest } from './trajectory-schema.ts';

const reference = z.union([name, z.int()]);
const kind = z.enum(SHADOW_KINDS);
const act = z.object({ content: text, calls: z.array(toolCall), error: z.optional(text) } satisfies Fields<ShadowAct>);
const ROLES: Record<ShadowMessage['role'], true> = { system: true, user: true, assistant: true, tool: true };
const message = z.object({
  message: natural,
  role: oneOf(ROLES),
  text,
  calls: z.optional(z.array(toolCall)),
  tool: z.optional(text),
  failed: z.optional(z.boolean()),
} satisfies Fields<ShadowMessage>);
const other = z.object({
  tool: text,
  argument: text,
  recorded: z.optional(json),
  candidate: z.optional(json),
} satisfies Fields<OtherArgument>);

const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/, '64 hexadecimal digits'));
const server = z.object({
  baseUrl: name,
  model: name,
  format: z.optional(z.enum(AGENT_FORMATS)),
  ...serverLimits,
  extraBody: z.optional(jsonObject<Record<string, unknown>>()),
} satisfies Fields<Exclude<ShadowHead['agent'], ShadowModelRef>>);
const PRECISIONS: Record<Precision, true> = { f32: true, bf16: true, int8: true, int4: true };
const model = z.object({ model: name, model_sha256: sha256, precision: oneOf(PRECISIONS) } satisfies Fields<ShadowModelRef>);

const head = z.object({
  version: z.literal(1),
  domain: name,
  agent: z.union([server, model]),
  temperature: number,
  seed: natural,
  conversations_sha256: sha256,
  data: z.optional(name),
  turns: natural,
} satisfies Fields<ShadowHead>);

const conversation = z.object({
  id: reference,
  messages: z.array(message).check(z.maxLength(MOST_MESSAGES)),
} satisfies Fields<ShadowConversation>);

const turn = z.object({
  conversation: reference,
  message: natural,
  kind,
  recorded: act,
  candidate: z.nullable(act),
  reads: z.optional(z.array(toolCall)),
  arguments: z.optional(z.array(other)),
  writes: z.array(z.object({ tool: text, why: z.nullable(text) })),
  requests: z.array(userRequest),
  error: z.optional(text),
} satisfies Fields<ShadowTurn>);

/** The content of a shadow’s file. */
export interface ShadowFile {
  head: ShadowHead;
  conversations: ShadowConversation[];
  /** The newest answer for each turn, in the order of the conversations. */
  turns: ShadowTurn[];
}

const LINES = { shadow: z.object({ shadow: head }), conversation: z.object({ conversation }), turn: z.object({ turn }) };

/**
 * A last line without an end is left out: a process that was killed may have left it.
 * @throws ImportError naming the line, the field, its value and what is expected
 */
export function readShadow(file: string, content: string): ShadowFile {
  const lines = content.slice(0, content.lastIndexOf('\n') + 1).split('\n');
  let found: ShadowHead | undefined;
  const conversations = new Map<string, ShadowConversation>();
  const turns = new Map<string, ShadowTurn>();
  for (const [i, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const where = `line ${i + 1}`;
    const value = parsed(line.replace(/^\uFEFF/, ''), file, where);
    const kindOfLine = (['shadow', 'conversation', 'turn'] as const).find((one) => Object.hasOwn(value, one));
    const expected = found ? 'expected a conversation or a turn' : 'expected the head of a shadow, as mua shadow writes it';
    if (!kindOfLine || (kindOfLine === 'shadow') !== (found === undefined)) throw new ImportError(file, where, expected);
    const row = checked<ShadowLine>(LINES[kindOfLine], value, file, where);
    if ('shadow' in row) found = row.shadow;
    else if ('conversation' in row) conversations.set(JSON.stringify(row.conversation.id), row.conversation);
    else {
      const own = conversations.get(JSON.stringify(row.turn.conversation));
      if (!own?.messages.some((one) => one.message === row.turn.message && one.role === 'assistant'))
        throw new ImportError(file, where, 'the turn is of no message of the agent in a conversation before it');
      if ((row.turn.candidate === null) !== (row.turn.kind === 'failed'))
        throw new ImportError(file, `${where}, turn.candidate`, 'is wrong: expected null exactly if the kind is "failed"');
      turns.set(JSON.stringify([row.turn.conversation, row.turn.message]), row.turn);
    }
  }
  if (!found) throw new ImportError(file, '', 'it has no line: expected the file of mua shadow');
  const order = new Map([...conversations.keys()].map((key, i) => [key, i]));
  const place = (one: ShadowTurn) => order.get(JSON.stringify(one.conversation))!;
  const sorted = [...turns.values()].map((one) => ({ one, at: place(one) })).sort((a, b) => a.at - b.at || a.one.message - b.one.message);
  return { head: found, conversations: [...conversations.values()], turns: sorted.map(({ one }) => one) };
}

function parsed(line: string, file: string, where: string): object {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null) return value;
  } catch (error) {
    throw new ImportError(file, where, `is not JSON (${parserReason(error)})`);
  }
  throw new ImportError(file, where, 'expected an object');
}
