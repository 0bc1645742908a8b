/** @file The form of a tool of an MCP server, whose schema may be hostile. */
import { isObject } from '../../base/json.ts';
import type { McpTool } from '../../mcp/types.ts';
import type { Json } from '../../records/json.ts';
import { type Field, fieldsOfSchema } from '../labels/tool-parameters.ts';

const MOST_FIELDS = 100;
const UNIONS = ['$ref', 'anyOf', 'oneOf', 'allOf'];

/** The fields of the tool's form. Null if only JSON can say all arguments: many fields, or no plain list of properties. */
export function formOf({ inputSchema: schema }: Pick<McpTool, 'inputSchema'>): Field[] | null {
  if (!isObject(schema)) return null;
  const properties = isObject(schema.properties) ? Object.keys(schema.properties) : [];
  if (properties.length > MOST_FIELDS) return null;
  if (properties.length === 0 && (UNIONS.some((key) => key in schema) || isObject(schema.additionalProperties))) return null;
  const required = Array.isArray(schema.required) ? schema.required : [];
  if (required.some((name) => !properties.includes(String(name)))) return null;
  return fieldsOfSchema(schema as Json);
}

/** Reads arguments that were typed as JSON. Returns the problem as a text. */
export function readJson(text: string): Record<string, Json> | string {
  try {
    const value: unknown = JSON.parse(text.trim() || '{}');
    return isObject(value) ? (value as Record<string, Json>) : 'The arguments are not an object, such as {"name": "Ana"}.';
  } catch (error) {
    return `The arguments are not JSON: ${(error as Error).message}.`;
  }
}
