/** @file Checks a value against a schema. The error says in one line what is wrong. */
import type * as z from 'zod/mini';
import { shown } from '../base/input-error.ts';
import { ImportError, jsonPath } from './import-error.ts';

/** Checks the value, and returns it without the fields that the schema does not name. @throws ImportError naming the first fault */
export function checked<T>(schema: z.ZodMiniType, value: unknown, file: string, where = ''): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data as T;
  const issue = deepest(result.error.issues[0]!);
  throw new ImportError(file, located(where, jsonPath(issue.path)), `is ${shown(at(value, issue.path))}: expected ${expectation(issue)}`);
}

type Issue = z.core.$ZodIssue;
/** A position in a file, e.g. `line 3, nodes[0].text`. */
export const located = (where: string, path: string) => [where, path].filter(Boolean).join(', ');
const at = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key], value);

/** The fault to report. For a union, it is the fault of the alternative that matched the most fields. */
function deepest(issue: Issue): Issue {
  if (issue.code !== 'invalid_union') return issue;
  const inner = issue.errors
    .map(([first]) => first)
    .filter((first) => first !== undefined && first.path.length > 0 && first.code !== 'invalid_value');
  return inner[0] ? deepest({ ...inner[0], path: [...issue.path, ...inner[0].path] }) : issue;
}

function expectation(issue: Issue): string {
  if (issue.code === 'invalid_type')
    return issue.expected === 'int' ? 'a whole number' : `a ${issue.expected}`.replace(/^a (?=[aeiou])/, 'an ');
  if (issue.code === 'invalid_value') return issue.values.map((value) => JSON.stringify(value)).join(', ');
  if (issue.code === 'too_small') return `at least ${issue.minimum}`;
  if (issue.code === 'too_big') return `at most ${issue.maximum}${issue.origin === 'string' ? ' characters' : ''}`;
  if (issue.code === 'invalid_union') return issue.errors.map(([first]) => (first ? expectation(first) : '')).join(' or ');
  return issue.message;
}
