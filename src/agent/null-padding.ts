/**
 * @file Removes the nulls with which Arrow pads JSON. In a column of Arrow all objects have the same keys, so an object has a null for each
 * key that only other rows have.
 */
import { isObject } from '../base/json.ts';

type Schema = Record<string, unknown>;

/** A tool's schema without its nulls. A default of null stays where null is a value. */
export function withoutNulls<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item: unknown) => (item === null ? item : withoutNulls(item))) as T;
  if (!isObject(value)) return value;
  const schema = value as Schema;
  const kept = Object.entries(schema).filter(([key, child]) => child !== null || (key === 'default' && allowsNull(schema, schema)));
  return Object.fromEntries(kept.map(([key, child]) => [key, withoutNulls(child)])) as T;
}

/**
 * The arguments of a call without nulls for keys that the schema does not have, or whose schema does not allow null. Without a schema, all
 * nulls of objects are removed.
 * @returns the same object if nothing is removed
 */
export function withoutPadding(args: Record<string, unknown>, schema: unknown): Record<string, unknown> {
  const root = isObject(schema) ? schema : {};
  return pruned(args, root, root) as Record<string, unknown>;
}

function pruned(value: unknown, schema: Schema, root: Schema): unknown {
  const branches = branchesOf(schema, root);
  if (Array.isArray(value)) {
    const items = branches.map((branch) => branch.items).find(isObject) ?? {};
    const kept = value.map((item) => pruned(item, items, root));
    return kept.some((item, i) => item !== value[i]) ? kept : value;
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(value);
  const kept = entries.flatMap(([key, child]): [string, unknown][] => {
    const own = branches.map(({ properties, additionalProperties }) =>
      isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : additionalProperties,
    );
    const known = own.filter(isObject);
    if (child === null) return known.some((one) => allowsNull(one, root)) ? [[key, child]] : [];
    return [[key, pruned(child, known[0] ?? {}, root)]];
  });
  return kept.length === entries.length && kept.every(([key, child]) => child === value[key]) ? value : Object.fromEntries(kept);
}

const ALTERNATIVES = ['anyOf', 'oneOf', 'allOf'] as const;
/** A schema that refers to itself must end. */
const MOST_DEPTH = 8;

/** The schema with those it refers to, and its alternatives. */
function branchesOf(schema: Schema, root: Schema, depth = 0): Schema[] {
  if (depth > MOST_DEPTH) return [];
  const lists = ALTERNATIVES.flatMap((name) => (Array.isArray(schema[name]) ? schema[name] : []));
  const target = typeof schema.$ref === 'string' ? resolved(schema.$ref, root) : undefined;
  return [schema, ...[...lists, target].filter(isObject).flatMap((inner) => branchesOf(inner, root, depth + 1))];
}

function resolved(reference: string, root: Schema): unknown {
  if (!reference.startsWith('#/')) return undefined;
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((at, key) => (isObject(at) ? at[key.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined), root);
}

const CONSTRAINTS = ['type', 'enum', 'const', 'properties', 'items', '$ref', ...ALTERNATIVES];

function allowsNull(schema: Schema, root: Schema): boolean {
  if (!CONSTRAINTS.some((name) => schema[name] !== undefined && schema[name] !== null)) return true;
  return branchesOf(schema, root).some(
    ({ type, nullable, enum: values, const: only }) =>
      type === 'null' ||
      nullable === true ||
      only === null ||
      (Array.isArray(type) && type.includes('null')) ||
      (Array.isArray(values) && values.includes(null)),
  );
}
