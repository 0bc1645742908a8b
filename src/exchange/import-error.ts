/** @file The error for a file that cannot be imported. It says which file, where in the file, and why. */
import { InputError } from '../base/input-error.ts';
import { jsonPath } from '../base/schema-fault.ts';
import type { z } from 'zod';

/** `message` is one line: file, JSON path (if any) and reason. */
export class ImportError extends InputError {
  constructor(
    readonly file: string,
    readonly path: string,
    readonly reason: string,
  ) {
    super([file, path, reason].filter(Boolean).join(': '));
  }
}

/**
 * Checks a value and returns this same value, not zod's copy, which would lose keys such as `__proto__`.
 * @throws ImportError naming the first fault
 */
export function check<T>(schema: z.ZodType, value: unknown, file: string, base: readonly PropertyKey[] = []): T {
  const result = schema.safeParse(value);
  if (result.success) return value as T;
  const issue = result.error.issues[0]!;
  throw new ImportError(file, jsonPath([...base, ...issue.path]), issue.message);
}
