/** @file Says in one line what a schema refuses. */
import type * as z from 'zod/mini';
import { shown } from './input-error.ts';

type Issue = z.core.$ZodIssue;

/** The text of a JSON path, e.g. `tasks[3].actions[0].name`. */
export const jsonPath = (parts: readonly PropertyKey[]): string =>
  parts.map((part, i) => (typeof part === 'number' ? `[${part}]` : `${i ? '.' : ''}${String(part)}`)).join('');

/** The first fault of a value: where it is, and its value with what was expected. */
export function schemaFault({ issues }: Pick<z.core.$ZodError, 'issues'>, value: unknown): { path: string; reason: string } {
  const issue = deepest(issues[0]!);
  const path = jsonPath(issue.path);
  if (issue.code === 'unrecognized_keys') return { path, reason: issue.message };
  if (issue.code === 'invalid_key')
    return { path, reason: `has a wrong name: expected ${issue.issues.map((own) => expectation(own as Issue)).join(' or ')}` };
  return { path, reason: `is ${shown(at(value, issue.path))}: expected ${expectation(issue)}` };
}

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
    return issue.expected === 'int'
      ? 'a whole number'
      : `a ${issue.expected === 'record' ? 'object' : issue.expected}`.replace(/^a (?=[aeiou])/, 'an ');
  if (issue.code === 'invalid_value') return issue.values.map((value) => JSON.stringify(value)).join(', ');
  if (issue.code === 'too_small') return `at least ${issue.minimum}${unit(issue.origin)}`;
  if (issue.code === 'too_big') return `at most ${issue.maximum}${unit(issue.origin)}`;
  if (issue.code === 'invalid_union') return issue.errors.map(([first]) => (first ? expectation(first) : '')).join(' or ');
  return issue.message.replace(/^expected /, '');
}

const unit = (origin: string): string => (origin === 'string' ? ' characters' : origin === 'array' ? ' entries' : '');
