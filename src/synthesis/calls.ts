/** @file Whether the calls of a conversation fit the schemas of its tools. */
import * as z from 'zod';
import { shown } from '../base/input-error.ts';
import { isObject, mapJson } from '../base/json.ts';
import type { GradedRow } from './types.ts';

export interface CallProblems {
  /** The first call that does not fit. */
  wrong: { why: string; message: number } | null;
  /** Why some calls cannot be checked. */
  unread: string | null;
}

export function callProblems({ messages, tools }: GradedRow): CallProblems {
  const calls = messages.flatMap(({ tool_calls: made = [] }, message) => made.map((call) => ({ ...call.function, message })));
  if (calls.length === 0) return { wrong: null, unread: null };
  if (!tools) return { wrong: null, unread: 'the row has calls and no tools' };
  const known = new Map(tools.map(functionOf).map((tool) => [tool.name, tool.parameters]));
  let unread: string | null = null;
  for (const { name, arguments: given, message } of calls) {
    if (!known.has(name)) return { wrong: { why: `the tools have no ${shown(name)}`, message }, unread };
    const args = parsed(given);
    if (!isObject(args)) return { wrong: { why: `the arguments of ${name} are ${shown(given)}: expected an object`, message }, unread };
    const checked = check(schemaOf(known.get(name)), args);
    if (!checked) unread ??= `the schema of ${shown(name)} cannot be read`;
    const issue = checked?.error?.issues[0];
    if (issue) return { wrong: { why: `${name}: ${issue.path.join('.') || 'arguments'}: ${issue.message}`, message }, unread };
  }
  return { wrong: null, unread };
}

function functionOf(tool: unknown): { name: unknown; parameters: unknown } {
  const own = isObject(tool) && isObject(tool.function) ? tool.function : tool;
  return isObject(own) ? { name: own.name, parameters: own.parameters ?? {} } : { name: undefined, parameters: {} };
}

function parsed(args: unknown): unknown {
  if (typeof args !== 'string') return args;
  if (args.trim() === '') return {};
  try {
    return JSON.parse(args);
  } catch {
    return args;
  }
}

/** Regular expressions of strangers can take for ever, so they are not checked. */
const isExpression = (key: string, value: unknown) =>
  key === 'patternProperties' || (['pattern', 'format'].includes(key) && typeof value === 'string');

/** Null without a schema, or if the schema refers to itself without end. */
function check(schema: z.ZodType | null, args: unknown) {
  try {
    return schema?.safeParse(args) ?? null;
  } catch {
    return null;
  }
}

/** The schemas that were read, by their JSON. Most rows of a file have the same tools. */
const READ = new Map<string, z.ZodType | null>();
const MOST_READ = 1000;

/** Null if the schema is not one that can be checked. */
function schemaOf(parameters: unknown): z.ZodType | null {
  const key = JSON.stringify(parameters);
  if (!READ.has(key)) {
    if (READ.size >= MOST_READ) READ.clear();
    READ.set(key, compiled(parameters));
  }
  return READ.get(key)!;
}

function compiled(parameters: unknown): z.ZodType | null {
  const checked = mapJson(parameters, (value) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).filter(([key, one]) => !isExpression(key, one))) : value,
  );
  try {
    return z.fromJSONSchema(checked as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return null;
  }
}
