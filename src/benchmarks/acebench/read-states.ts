/** @file Reads the attributes of new objects, from JSON or from the literals of ACEBench's Python source. */
import { assigned } from '../../python/literal.ts';
import { itemOf } from '../../python/operations.ts';
import { Dict, type Value } from '../../python/values.ts';
import { ImportError } from '../../exchange/import-error.ts';
import type { Language } from './classes/api.ts';
import { CLASSES } from './classes/index.ts';
import type { States } from './instances.ts';
import { CLASS_SOURCES } from './source-files.ts';

export interface Source {
  path: string;
  text: string;
}

/** These attributes have ints as keys. JSON made texts of them. */
const WITH_INTS = ['inbox', 'reminder_list'];

function intKeys(value: Value): Value {
  if (!(value instanceof Dict)) return value;
  return new Dict(value.entries().map(([key, child]) => [typeof key === 'string' && /^\d+$/.test(key) ? BigInt(key) : key, child]));
}

/** @param states the content of `initial_states.json` */
export const statesFromJson = (states: Value, language: Language): States =>
  statesFrom((className, name) => {
    const value = itemOf(itemOf(itemOf(states, language), className), name);
    return WITH_INTS.includes(name) ? intKeys(value) : value;
  });

/** The literal that is assigned to a name. @throws {ImportError} if there is none */
export function literal({ path, text }: Source, name: string): Value {
  let value: Value;
  try {
    value = assigned(text, name.replaceAll('.', '\\.'));
  } catch (cause) {
    throw new ImportError(path, name, `it is no literal of Python: ${(cause as Error).message}`);
  }
  if (value === null) throw new ImportError(path, name, 'it is missing: expected a name with a literal of Python');
  return value;
}

/** @param source returns the source file with that name @throws {ImportError} */
export const statesFromSource = (source: (name: string) => Source): States =>
  statesFrom((className, name) => literal(source(CLASS_SOURCES[className]!), `self.${name}`));

const statesFrom = (value: (className: string, name: string) => Value): States =>
  Object.fromEntries(
    Object.entries(CLASSES).map(([className, { attributes }]) => [
      className,
      Object.fromEntries(attributes.map((name) => [name, value(className, name)])),
    ]),
  );
