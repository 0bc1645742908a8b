/** @file The function documents that a model is shown, and their form as tools of OpenAI's interface. */
import { dictFor, itemOf } from '../../python/operations.ts';
import { deepCopy, Dict, dict, type Value } from '../../python/values.ts';
import type { BfclData, Entry } from './data.ts';

export interface Functions {
  /** The functions from the start. */
  first: Dict[];
  /** The functions that appear at each turn. */
  later: ReadonlyMap<number, Dict[]>;
}

/**
 * @param hint added to the descriptions. Upstream adds the hint after it has removed the withheld functions, so these functions lack the
 * hint.
 */
export function functionsOf({ documents }: Pick<BfclData, 'documents'>, { involved, missed }: Entry, hint: string): Functions {
  const all = involved.flatMap((className) => documents.get(className) ?? []);
  const later = new Map<number, Dict[]>();
  for (const [turn, names] of missed) {
    const withheld = names.flatMap((name) => {
      const at = all.findIndex((one) => one.get('name') === name);
      return at < 0 ? [] : all.splice(at, 1);
    });
    later.set(turn, withheld);
  }
  const first = all.map((one) => one.copy().set('description', `${String(itemOf(one, 'description'))}${hint}`));
  return { first, later };
}

const OPENAPI: Record<string, string> = {
  integer: 'integer',
  number: 'number',
  float: 'number',
  string: 'string',
  boolean: 'boolean',
  bool: 'boolean',
  array: 'array',
  list: 'array',
  dict: 'object',
  object: 'object',
  tuple: 'array',
};
/** Upstream takes all other types for texts. */
const openapi = (type: Value | undefined) => OPENAPI[String(type)] ?? 'string';

/** The functions as tools of a chat-completions request. */
export function openaiTools(functions: readonly Dict[]): Dict[] {
  return functions.map((one) => {
    const own = deepCopy(one);
    own.set('name', String(itemOf(own, 'name')).replaceAll('.', '_'));
    const parameters = dictFor('items', itemOf(own, 'parameters'));
    parameters.set('type', 'object');
    castProperties(dictFor('items', itemOf(parameters, 'properties')));
    return dict({ type: 'function', function: own });
  });
}

function castProperties(properties: Dict): void {
  for (const value of properties.values()) {
    const property = dictFor('items', value);
    const type = property.get('type');
    if (type === 'float') {
      property.set('format', 'float');
      property.set('description', `${String(itemOf(property, 'description'))} This is a float type value.`);
    }
    property.set('type', openapi(type));
    const [inner, items] = [property.get('properties'), property.get('items')];
    if (!['array', 'object'].includes(String(property.get('type')))) continue;
    if (inner instanceof Dict) castProperties(inner);
    else if (items instanceof Dict) castItems(items);
  }
}

/** Upstream casts two levels of lists. */
function castItems(items: Dict): void {
  items.set('type', openapi(items.get('type')));
  const [inner, properties] = [items.get('items'), items.get('properties')];
  if (items.get('type') === 'array' && inner instanceof Dict) inner.set('type', openapi(inner.get('type')));
  else if (items.get('type') === 'object' && properties instanceof Dict) castProperties(properties);
}
