/** @file Reads rows to grade. Unlike a training set, a row may have calls that are not valid: that is a finding, not an error. */
import { z } from 'zod';
import { readConversation } from '../agent/conversation.ts';
import { InputError, shown } from '../base/input-error.ts';
import { isObject } from '../base/json.ts';
import { withNumbers } from '../base/tolerant-json.ts';
import { domainOf, ownOfTask } from '../domains/registry.ts';
import type { Grades } from '../records/grades.ts';
import { NEAR_MISSES } from '../records/scenario.ts';
import type { HeldOut } from './contamination.ts';
import { gradesSchema, nearMissSchema } from './grades-schema.ts';
import type { GradedRow } from './types.ts';

const text = z.string();
const FACTS = {
  domain: text,
  instruction: text,
  intent: text,
  persona: text,
  demonstrator: text,
  reward: z.number(),
  near_miss: nearMissSchema,
} as const;
const EXPECTED: Partial<Record<keyof typeof FACTS, string>> = {
  reward: 'a number',
  near_miss: `kind (one of ${NEAR_MISSES.join(', ')}), first_wrong (the index of a message) and of (an id)`,
};

/**
 * @param domain the domain of rows that do not name theirs
 * @throws InputError naming the line, the field, its value and what is expected
 */
export function readGradedRow(value: unknown, where: string, domain?: string): GradedRow {
  const { messages, tools } = readConversation(value, where, { keepMalformed: true });
  const row = value as Record<string, unknown>;
  const id = typeof row.id === 'string' || typeof row.id === 'number' ? String(row.id) : where;
  const facts = Object.entries(FACTS).flatMap(([name, schema]) => {
    const own = name === 'reward' && typeof row[name] === 'boolean' ? Number(row[name]) : row[name];
    if (own === undefined || own === null) return [];
    const read = schema.safeParse(own);
    if (!read.success)
      throw new InputError(`${where}: ${name} is ${shown(own)}: expected ${EXPECTED[name as keyof typeof FACTS] ?? 'a text'}`);
    return [[name, read.data]];
  });
  const { near_miss: label } = Object.fromEntries(facts) as Partial<GradedRow>;
  if (label && label.first_wrong >= messages.length)
    throw new InputError(
      `${where}: near_miss.first_wrong is ${label.first_wrong}: expected the index of one of ${messages.length} messages`,
    );
  const [first = ''] = id.split('/');
  const named = { domain: domainOf(first) ? first : (ownOfTask(id) ?? domain) };
  return {
    id,
    messages,
    ...(tools && { tools: withNumbers(tools) as object[] }),
    ...named,
    ...(Object.fromEntries(facts) as Partial<GradedRow>),
  };
}

/** The grades of a row that was graded. @throws InputError */
export function readGrades(value: unknown, where: string): Grades | undefined {
  const { grades } = value as { grades?: unknown };
  if (grades === undefined || grades === null) return undefined;
  const read = gradesSchema.safeParse(grades);
  if (read.success) return read.data;
  const { path } = read.error.issues[0]!;
  throw new InputError(
    `${where}: grades${path.map((key) => `.${String(key)}`).join('')} has another form: expected grades as mua grade writes them`,
  );
}

/** What a held-out task or conversation says to an agent: the customer's words, or the instruction. @throws InputError */
export function readHeldOut(value: unknown, where: string): HeldOut {
  const row = isObject(value) ? value : {};
  const scenario = isObject(row.scenario) ? row.scenario : row;
  const said = Array.isArray(row.messages)
    ? row.messages.filter(isObject).flatMap(({ role, content }) => (role === 'user' && typeof content === 'string' ? [content] : []))
    : [scenario.instruction, row.prompt, row.text].filter((text) => typeof text === 'string');
  if (said.length === 0) throw new InputError(`${where}: it has no words of a customer: expected messages, instruction, prompt or text`);
  return { id: typeof row.id === 'string' ? row.id : null, texts: said };
}

/** The fields that grading adds. */
export const GRADE_FIELDS = ['grades', 'keep', 'keep_reasons'];

/** The fields of a row without its grades. */
export const ungraded = (value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).filter(([name]) => !GRADE_FIELDS.includes(name))) : value;
