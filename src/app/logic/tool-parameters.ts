/** @file The JSON schema of a tool's parameters as a list to read. */
import type { Json, ToolSchema } from '../../environments/types.ts';

export interface ParameterText {
  name: string;
  /** In words: `text`, `list of objects`, `one of a, b`. */
  type: string;
  required: boolean;
  description: string;
  /** Fields of an object, or of the objects in a list. */
  fields: ParameterText[];
}

type Schema = Record<string, Json>;
const isSchema = (value: Json | undefined): value is Schema => value !== null && typeof value === 'object' && !Array.isArray(value);
/** A schema may refer to itself. */
const DEPTH = 5;

export function parametersOf({ function: { parameters } }: ToolSchema): ParameterText[] {
  const root = parameters as unknown as Schema;
  return fieldsOf(root, root, 0);
}

function fieldsOf(schema: Schema, root: Schema, depth: number): ParameterText[] {
  if (depth > DEPTH || !isSchema(schema.properties)) return [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, property]) => {
    const field = resolve(isSchema(property) ? property : {}, root);
    const inner = isSchema(field.items) ? resolve(field.items, root) : field;
    return {
      name,
      type: typeText(field, root, depth),
      required: required.includes(name),
      description: typeof field.description === 'string' ? field.description : '',
      fields: fieldsOf(variants(inner, root).find(({ properties }) => isSchema(properties)) ?? inner, root, depth + 1),
    };
  });
}

/** What `#/$defs/Name` points to. */
function resolve(schema: Schema, root: Schema): Schema {
  const name = typeof schema.$ref === 'string' ? /^#\/\$defs\/(.+)$/.exec(schema.$ref)?.[1] : undefined;
  const target = name !== undefined && isSchema(root.$defs) && Object.hasOwn(root.$defs, name) ? root.$defs[name] : undefined;
  return isSchema(target) ? { ...target, ...schema } : schema;
}

const variants = (schema: Schema, root: Schema): Schema[] => (Array.isArray(schema.anyOf) ? schema.anyOf.filter(isSchema).map((variant) => resolve(variant, root)) : [schema]);

const WORDS: Record<string, string> = { string: 'text', integer: 'whole number', number: 'number', boolean: 'true or false', object: 'object', null: 'nothing' };

function typeText(schema: Schema, root: Schema, depth: number): string {
  if (depth > DEPTH) return 'object';
  if (Array.isArray(schema.enum)) return `one of ${schema.enum.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(', ')}`;
  const texts = variants(schema, root).map((variant) => {
    if (variant.type === 'array') return isSchema(variant.items) ? `list of ${plural(typeText(resolve(variant.items, root), root, depth + 1))}` : 'list';
    const types = (Array.isArray(variant.type) ? variant.type : [variant.type]).filter((type) => typeof type === 'string');
    return types.map((type) => WORDS[type] ?? type).join(' or ') || 'anything';
  });
  return [...new Set(texts)].join(' or ');
}

const plural = (type: string) => (['text', 'whole number', 'number', 'object'].includes(type) ? `${type}s` : type);
