/** @file A form of a tool's JSON schema: its fields, what a person has filled in, and the arguments that this makes. */
import type { Json, ToolSchema } from '../../environments/types.ts';

interface Named {
  name: string;
  description: string;
  required: boolean;
}

export type Field = Named &
  (
    | { kind: 'text' | 'integer' | 'number' | 'boolean' | 'json' }
    | { kind: 'choice'; choices: Json[] }
    | { kind: 'list'; item: Field }
    | { kind: 'object'; fields: Field[] }
  );

/** What stands in the form: texts as they were typed, lists and objects of them. */
export type Draft = string | Draft[] | { [name: string]: Draft };
export type Drafts = Record<string, Draft>;

type Schema = Record<string, Json>;
const isSchema = (value: Json | undefined): value is Schema => value !== null && typeof value === 'object' && !Array.isArray(value);
/** A schema may refer to itself: from here on the person writes JSON. */
const DEPTH = 5;

export function formOf({ function: { parameters } }: ToolSchema): Field[] {
  const root = parameters as unknown as Schema;
  return fieldsOf(root, root, 0);
}

function fieldsOf(schema: Schema, root: Schema, depth: number): Field[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(isSchema(schema.properties) ? schema.properties : {}).map(([name, property]) => fieldOf(name, isSchema(property) ? property : {}, required.includes(name), root, depth));
}

function fieldOf(name: string, given: Schema, required: boolean, root: Schema, depth: number): Field {
  const schema = concrete(given, root);
  const description = [given.description, schema.description].find((text) => typeof text === 'string') ?? '';
  const named: Named = { name, description: description as string, required };
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
      return isSchema(schema.properties) ? { ...named, kind: 'object', fields: fieldsOf(schema, root, depth + 1) } : { ...named, kind: 'json' };
    default:
      return { ...named, kind: 'json' };
  }
}

/** With references followed and the most telling of several variants chosen: one with properties, else the first that is not null. */
function concrete(schema: Schema, root: Schema): Schema {
  const name = typeof schema.$ref === 'string' ? /^#\/\$defs\/(.+)$/.exec(schema.$ref)?.[1] : undefined;
  const target = name !== undefined && isSchema(root.$defs) && Object.hasOwn(root.$defs, name) ? root.$defs[name] : undefined;
  if (isSchema(target)) return { ...target, ...schema };
  const variants = [schema.anyOf, schema.oneOf].find(Array.isArray)?.filter(isSchema).filter(({ type }) => type !== 'null');
  if (!variants?.length) return schema;
  const known = variants.map((variant) => (variant.$ref === undefined ? variant : concrete(variant, root)));
  return known.find(({ properties }) => isSchema(properties)) ?? known[0]!;
}

export function emptyDraft(field: Field): Draft {
  if (field.kind === 'list') return field.required ? [emptyDraft(field.item)] : [];
  return field.kind === 'object' ? emptyDrafts(field.fields) : '';
}

export function emptyDrafts(fields: readonly Field[]): Drafts {
  return Object.fromEntries(fields.map((field) => [field.name, emptyDraft(field)]));
}

export type Reading = { arguments: Record<string, Json> } | { problems: Record<string, string> };

/** The arguments of what was filled in, or what is wrong with it by the path of the field (`flights.0.date`). */
export function readDrafts(fields: readonly Field[], drafts: Drafts): Reading {
  const problems: Record<string, string> = {};
  const read = readObject(fields, drafts, '', problems);
  return Object.keys(problems).length > 0 ? { problems } : { arguments: read };
}

const MISSING = 'Fill this in. For an empty text write "".';

function readObject(fields: readonly Field[], drafts: Drafts, path: string, problems: Record<string, string>): Record<string, Json> {
  const read: Record<string, Json> = {};
  for (const field of fields) {
    const value = readField(field, Object.hasOwn(drafts, field.name) ? drafts[field.name]! : '', path ? `${path}.${field.name}` : field.name, problems);
    if (value !== undefined) read[field.name] = value;
  }
  return read;
}

/** Undefined: left out, or wrong. */
function readField(field: Field, draft: Draft, path: string, problems: Record<string, string>): Json | undefined {
  if (field.kind === 'list') {
    const entries = Array.isArray(draft) ? draft : [];
    if (entries.length === 0 && !field.required) return undefined;
    return entries.map((entry, i) => readField(field.item, entry, `${path}.${i}`, problems) ?? null);
  }
  if (field.kind === 'object') {
    const given = typeof draft === 'object' && !Array.isArray(draft) ? draft : {};
    if (!field.required && isBlank(given)) return undefined;
    return readObject(field.fields, given, path, problems);
  }
  const text = typeof draft === 'string' ? draft.trim() : '';
  if (text === '') {
    if (field.required) problems[path] = MISSING;
    return undefined;
  }
  const wrong = (expected: string): undefined => {
    problems[path] = `“${text.slice(0, 40)}” is not ${expected}.`;
    return undefined;
  };
  switch (field.kind) {
    case 'text':
      return text === '""' ? '' : text;
    case 'integer':
      return /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : wrong('a whole number');
    case 'number':
      return Number.isFinite(Number(text)) ? Number(text) : wrong('a number');
    case 'boolean':
      return text === 'true' || text === 'false' ? text === 'true' : wrong('true or false');
    case 'choice': {
      const choice = field.choices.find((value) => choiceText(value) === text);
      return choice === undefined ? wrong('one of the choices') : choice;
    }
    case 'json':
      try {
        return JSON.parse(text) as Json;
      } catch {
        return wrong('JSON');
      }
  }
}

/** How a choice stands in the form. */
export const choiceText = (value: Json) => (typeof value === 'string' ? value : JSON.stringify(value));

function isBlank(draft: Draft): boolean {
  return typeof draft === 'string' ? draft.trim() === '' : Object.values(draft).every(isBlank);
}
