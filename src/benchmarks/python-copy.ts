/** @file Reads files of benchmarks from a copy of their Python source. */
import { assigned } from '../python/literal.ts';
import { loadsLines } from '../python/json.ts';
import { PyError, type Value } from '../python/values.ts';
import { ImportError } from '../exchange/import-error.ts';

/** A file of Python source. */
export interface Source {
  path: string;
  text: string;
}

/** The literal that is assigned to a name. @param names the values of earlier names @throws {ImportError} if there is none */
export function literalIn({ path, text }: Source, name: string, names?: ReadonlyMap<string, Value>): Value {
  let value: Value;
  try {
    value = assigned(text, name, names);
  } catch (cause) {
    throw new ImportError(path, name, `it is no literal of Python: ${(cause as Error).message}`);
  }
  if (value === null) throw new ImportError(path, name, 'it is missing: expected a name with a literal of Python');
  return value;
}

/** The values of a file with one JSON value in each line. @throws {ImportError} that names the line */
export const jsonLines = (path: string, text: string) =>
  loadsLines(text, (line, reason) => new ImportError(path, `line ${line}`, `it is not JSON: ${reason}`));

/** Names the file in errors about its content. */
export function readIn<T>(file: string, path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof ImportError) throw cause;
    if (cause instanceof PyError) throw new ImportError(file, path, `a field is missing or has another type: ${cause.message}`);
    throw new ImportError(file, path, (cause as Error).message);
  }
}
