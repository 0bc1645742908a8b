/** @file Reads the attributes of new objects, from JSON or from the literals of ACEBench's Python source. */
import { itemOf } from '../../python/operations.ts';
import { Dict, type Value } from '../../python/values.ts';
import { literalIn, type Source } from '../python-copy.ts';
import type { Language } from './classes/api.ts';
import { CLASSES } from './classes/index.ts';
import type { States } from './instances.ts';
import { CLASS_SOURCES } from './source-files.ts';

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

/** @param source returns the source file with that name @throws {ImportError} */
export const statesFromSource = (source: (name: string) => Source): States =>
  statesFrom((className, name) => literalIn(source(CLASS_SOURCES[className]!), `self.${name}`));

const statesFrom = (value: (className: string, name: string) => Value): States =>
  Object.fromEntries(
    Object.entries(CLASSES).map(([className, { attributes }]) => [
      className,
      Object.fromEntries(attributes.map((name) => [name, value(className, name)])),
    ]),
  );
