/** @file Checks a value against a schema. The error says in one line what is wrong. */
import type * as z from 'zod/mini';
import { schemaFault } from '../base/schema-fault.ts';
import { ImportError } from './import-error.ts';

/** Checks the value, and returns it without the fields that the schema does not name. @throws ImportError naming the first fault */
export function checked<T>(schema: z.ZodMiniType, value: unknown, file: string, where = ''): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data as T;
  const { path, reason } = schemaFault(result.error, value);
  throw new ImportError(file, located(where, path), reason);
}

/** A position in a file, e.g. `line 3, nodes[0].text`. */
export const located = (where: string, path: string) => [where, path].filter(Boolean).join(', ');
