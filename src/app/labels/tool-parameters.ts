/** @file Reads the JSON schema of a tool's parameters. */
import type { Json } from '../../records/json.ts';
import type { ToolSchema } from '../../records/task.ts';

interface Named {
  name: string;
  description: string;
  required: boolean;
  /** The type in words: `text`, `list of objects`, `one of a, b`. */
  type: string;
  /** The value that the tool takes if the argument is left out. Absent: the schema names none. */
  default?: Json;
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
/** The nested fields of one form. A short schema can describe millions. Further fields get the kind `json`. */
const MOST_NESTED = 200;
const MOST_CHOICES = 500;
/** The most parts of the words of one type. */
const MOST_TYPES = 100;

export const fieldsOf = ({ function: { parameters } }: ToolSchema): Field[] => fieldsOfSchema(parameters as unknown as Json);

/** The fields of a JSON schema. None if it describes no object. */
export const fieldsOfSchema = (schema: Json): Field[] => (isSchema(schema) ? new Reader(schema).propertiesOf(schema, 0) : []);

/** The fields of an object, or of the objects in a list. */
export function innerFields(field: Field): Field[] {
  const of = field.kind === 'list' ? field.item : field;
  return of.kind === 'object' ? of.fields : [];
}

export const choiceText = (value: Json) => (typeof value === 'string' ? value : JSON.stringify(value));

const WORDS: Record<string, string> = {
  string: 'text',
  integer: 'whole number',
  boolean: 'true or false',
  null: 'nothing',
};
const plural = (type: string) => (['text', 'whole number', 'number', 'object'].includes(type) ? `${type}s` : type);

class Reader {
  #nested = 0;
  #types = 0;

  constructor(private readonly root: Schema) {}

  propertiesOf(schema: Schema, depth: number): Field[] {
    const required = Array.isArray(schema.required) ? schema.required : [];
    return Object.entries(isSchema(schema.properties) ? schema.properties : {}).map(([name, property]) =>
      this.#fieldOf(name, isSchema(property) ? property : {}, required.includes(name), depth),
    );
  }

  #fieldOf(name: string, given: Schema, required: boolean, depth: number): Field {
    const schema = this.#mostTelling(given);
    const description = [given.description, schema.description].find((text) => typeof text === 'string') ?? '';
    this.#types = 0;
    const type = this.#typeText(this.#resolve(given), depth);
    const byDefault = given.default ?? schema.default;
    const named: Named = {
      name,
      description: description as string,
      required,
      type,
      ...(byDefault !== undefined && byDefault !== null && { default: byDefault }),
    };
    if (depth > DEPTH || (depth > 0 && ++this.#nested > MOST_NESTED)) return { ...named, kind: 'json' };
    const choices = choicesOf(schema);
    if (choices) return { ...named, ...choiceOf(choices) };
    const kind = Array.isArray(schema.type) ? schema.type.find((name) => name !== 'null') : schema.type;
    switch (kind) {
      case 'string':
        return { ...named, kind: 'text' };
      case 'integer':
      case 'number':
      case 'boolean':
        return { ...named, kind };
      case 'array':
        return { ...named, kind: 'list', item: this.#fieldOf('', isSchema(schema.items) ? schema.items : {}, true, depth + 1) };
      case 'object':
        return isSchema(schema.properties)
          ? { ...named, kind: 'object', fields: this.propertiesOf(schema, depth + 1) }
          : { ...named, kind: 'json' };
      default:
        return { ...named, kind: 'json' };
    }
  }

  /** Follows a reference of the form `#/$defs/Name` or `#/definitions/Name`. */
  #resolve(schema: Schema): Schema {
    const [, group, name] = (typeof schema.$ref === 'string' && /^#\/(\$defs|definitions)\/(.+)$/.exec(schema.$ref)) || [];
    const held = group === undefined ? undefined : this.root[group];
    const target = isSchema(held) && Object.hasOwn(held, name!) ? held[name!] : undefined;
    return isSchema(target) ? { ...target, ...schema } : schema;
  }

  #variantsOf(schema: Schema): Schema[] | undefined {
    return [schema.anyOf, schema.oneOf]
      .find(Array.isArray)
      ?.filter(isSchema)
      .map((variant) => this.#resolve(variant));
  }

  #mostTelling(given: Schema): Schema {
    const schema = this.#resolve(given);
    const variants = this.#variantsOf(schema)?.filter(({ type }) => type !== 'null');
    return variants?.find(({ properties }) => isSchema(properties)) ?? variants?.[0] ?? schema;
  }

  #typeText(schema: Schema, depth: number): string {
    if (depth > DEPTH || ++this.#types > MOST_TYPES) return 'object';
    const choices = choicesOf(schema);
    if (choices) return `one of ${choices.slice(0, MOST_CHOICES).map(choiceText).join(', ')}${choices.length > MOST_CHOICES ? ', …' : ''}`;
    const texts = (this.#variantsOf(schema) ?? [schema]).map((variant) => {
      if (variant.type === 'array')
        return isSchema(variant.items) ? `list of ${plural(this.#typeText(this.#resolve(variant.items), depth + 1))}` : 'list';
      const types = (Array.isArray(variant.type) ? variant.type : [variant.type]).filter((type) => typeof type === 'string');
      return types.map((type) => WORDS[type] ?? type).join(' or ') || 'anything';
    });
    return [...new Set(texts)].join(' or ');
  }
}

/** A choice among texts that differ. Other values are typed as JSON. */
function choiceOf(given: readonly Json[]): { kind: 'choice'; choices: Json[] } | { kind: 'json' } {
  const choices = [...new Map(given.map((choice) => [JSON.stringify(choice), choice])).values()].filter((choice) => choice !== null);
  const isClear = choices.length <= MOST_CHOICES && new Set(choices.map(choiceText)).size === choices.length;
  return isClear ? { kind: 'choice', choices } : { kind: 'json' };
}

const choicesOf = (schema: Schema): Json[] | null =>
  Array.isArray(schema.enum) ? schema.enum : schema.const !== undefined ? [schema.const] : null;
