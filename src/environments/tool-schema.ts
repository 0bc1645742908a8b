/** @file Makes the schemas of the exact domains' tools, in the form that each benchmark gives to its model. */
import type { Json } from '../records/json.ts';
import type { ToolSchema } from '../records/task.ts';

/** The type of a parameter. `records` is a list of objects; it has the name of the record and its fields. */
export type ParameterType =
  'string' | 'integer' | 'number' | 'strings' | { choice: readonly string[] } | { records: string; fields: readonly Parameter[] };

export interface Parameter {
  name: string;
  type: ParameterType;
  /** Absent if the choices explain themselves. */
  description?: string;
  optional?: boolean;
}

export interface ToolText {
  name: string;
  description: string;
  parameters: readonly Parameter[];
}

export function tau1Schema({ name, description, parameters }: ToolText): ToolSchema {
  return { type: 'function', function: { name, description, parameters: tau1Object(parameters) } };
}

function tau1Object(parameters: readonly Parameter[]) {
  return {
    type: 'object' as const,
    properties: Object.fromEntries(parameters.map((parameter) => [parameter.name, tau1Property(parameter)])),
    required: parameters.filter(({ optional }) => !optional).map(({ name }) => name),
  };
}

function tau1Property({ type, description }: Parameter): Json {
  const about: Record<string, Json> = description === undefined ? {} : { description };
  if (type === 'strings') return { type: 'array', items: { type: 'string' }, ...about };
  if (typeof type === 'string') return { type, ...about };
  if ('choice' in type) return { type: 'string', enum: [...type.choice], ...about };
  return { type: 'array', ...about, items: tau1Object(type.fields) };
}

/** Writes the parameters of a function as pydantic does: with titles everywhere, and with records under `$defs`. */
export function tau2Schema({ name, description, parameters }: ToolText): ToolSchema {
  const records = parameters.flatMap(({ type }) => (typeof type === 'object' && 'records' in type ? [type] : []));
  const required = parameters.filter(({ optional }) => !optional).map((parameter) => parameter.name);
  const definitions = records.length
    ? {
        $defs: Object.fromEntries(
          records.map((type) => [type.records, { ...tau2Fields(type.fields), title: type.records, type: 'object' }]),
        ),
      }
    : {};
  // Upstream omits `required` if nothing is required. An empty list means the same.
  const object = { ...definitions, properties: tau2Fields(parameters).properties, required, title: 'parameters', type: 'object' as const };
  return { type: 'function', function: { name, description, parameters: object } };
}

function tau2Fields(parameters: readonly Parameter[]) {
  return {
    properties: Object.fromEntries(parameters.map((parameter) => [parameter.name, tau2Property(parameter)])) as Record<string, Json>,
    required: parameters.map(({ name }) => name),
  };
}

function tau2Property({ name, type, description, optional }: Parameter): Json {
  const title = name
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ');
  const about: Record<string, Json> = { ...(optional && { default: null }), ...(description !== undefined && { description }) };
  if (type === 'strings') return { ...about, items: { type: 'string' }, title, type: 'array' };
  if (typeof type === 'string') return { ...about, title, type };
  if ('choice' in type) return { ...about, enum: [...type.choice], title, type: 'string' };
  return {
    ...about,
    items: { anyOf: [{ $ref: `#/$defs/${type.records}` }, { additionalProperties: true, type: 'object' }] },
    title,
    type: 'array',
  };
}
