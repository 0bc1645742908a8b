/** @file Reads the JSON schema of a tool's parameters. */
import type { Json } from '../../records/json.ts';
import type { ToolSchema } from '../../records/task.ts';

interface Named {
  name: string;
  description: string;
  required: boolean;
  /** The type in words: `text`, `list of objects`, `one of a, b`. */
  type: string;
}

/** One parameter. If the schema allows several types, `kind` is the type with properties, or else the first type that is not null. */
export type Field = Named &
  (
    | { kind: 'text' | 'integer' | 'number' | 'boolean' | 'json' }
    | { kind: 'choice'; choices: Json[] }
    | { kind: 'list'; item: Field }
    | { kind: 'object'; fields: Field[] }
  );

type Schema = Record<string, Json>;
const isSchema = (value: Json | undefined): value is Schema => value !== null && typeof value === 'object' && !Array.isArray(value);
/** A schema can refer to itself without end. Fields that are nested deeper than this get the kind `json`: their value is typed as JSON. */
const DEPTH = 5;

export function fieldsOf({ function: { parameters } }: ToolSchema): Field[] {
  const root = parameters as unknown as Schema;
  return propertiesOf(root, root, 0);
}

/** The fields of an object, or of the objects in a list. */
export function innerFields(field: Field): Field[] {
  const of = field.kind === 'list' ? field.item : field;
  return of.kind === 'object' ? of.fields : [];
}

export const choiceText = (value: Json) => (typeof value === 'string' ? value : JSON.stringify(value));

function propertiesOf(schema: Schema, root: Schema, depth: number): Field[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(isSchema(schema.properties) ? schema.properties : {}).map(([name, property]) =>
    fieldOf(name, isSchema(property) ? property : {}, required.includes(name), root, depth),
  );
}

function fieldOf(name: string, given: Schema, required: boolean, root: Schema, depth: number): Field {
  const schema = mostTelling(given, root);
  const description = [given.description, schema.description].find((text) => typeof text === 'string') ?? '';
  const named: Named = { name, description: description as string, required, type: typeText(resolve(given, root), root, depth) };
  if (depth > DEPTH) return { ...named, kind: 'json' };
  if (Array.isArray(schema.enum)) return { ...named, kind: 'choice', choices: schema.enum.filter((choice) => choice !== null) };
  const type = Array.isArray(schema.type) ? schema.type.find((name) => name !== 'null') : schema.type;
  switch (type) {
    case 'string':
      return { ...named, kind: 'text' };
    case 'integer':
    case 'number':
    case 'boolean':
      return { ...named, kind: type };
    case 'array':
      return { ...named, kind: 'list', item: fieldOf('', isSchema(schema.items) ? schema.items : {}, true, root, depth + 1) };
    case 'object':
      return isSchema(schema.properties)
        ? { ...named, kind: 'object', fields: propertiesOf(schema, root, depth + 1) }
        : { ...named, kind: 'json' };
    default:
      return { ...named, kind: 'json' };
  }
}

/** Follows a reference of the form `#/$defs/Name`. */
function resolve(schema: Schema, root: Schema): Schema {
  const name = typeof schema.$ref === 'string' ? /^#\/\$defs\/(.+)$/.exec(schema.$ref)?.[1] : undefined;
  const target = name !== undefined && isSchema(root.$defs) && Object.hasOwn(root.$defs, name) ? root.$defs[name] : undefined;
  return isSchema(target) ? { ...target, ...schema } : schema;
}

const variantsOf = (schema: Schema, root: Schema): Schema[] | undefined =>
  [schema.anyOf, schema.oneOf]
    .find(Array.isArray)
    ?.filter(isSchema)
    .map((variant) => resolve(variant, root));

function mostTelling(given: Schema, root: Schema): Schema {
  const schema = resolve(given, root);
  const variants = variantsOf(schema, root)?.filter(({ type }) => type !== 'null');
  return variants?.find(({ properties }) => isSchema(properties)) ?? variants?.[0] ?? schema;
}

const WORDS: Record<string, string> = {
  string: 'text',
  integer: 'whole number',
  boolean: 'true or false',
  null: 'nothing',
};
const plural = (type: string) => (['text', 'whole number', 'number', 'object'].includes(type) ? `${type}s` : type);

function typeText(schema: Schema, root: Schema, depth: number): string {
  if (depth > DEPTH) return 'object';
  if (Array.isArray(schema.enum)) return `one of ${schema.enum.map(choiceText).join(', ')}`;
  const texts = (variantsOf(schema, root) ?? [schema]).map((variant) => {
    if (variant.type === 'array')
      return isSchema(variant.items) ? `list of ${plural(typeText(resolve(variant.items, root), root, depth + 1))}` : 'list';
    const types = (Array.isArray(variant.type) ? variant.type : [variant.type]).filter((type) => typeof type === 'string');
    return types.map((type) => WORDS[type] ?? type).join(' or ') || 'anything';
  });
  return [...new Set(texts)].join(' or ');
}
