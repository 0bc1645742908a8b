/** @file Checks the arguments of a call before it is sent, so that the message names the argument. */
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/client/validators/cf-worker';
import { didYouMean } from '../base/did-you-mean.ts';
import { InputError, shown } from '../base/input-error.ts';
import { isObject } from '../base/json.ts';
import type { Json } from '../records/json.ts';
import type { McpTool } from './types.ts';

/** Parts of a schema that hold values, not schemas. */
const VALUES = new Set(['enum', 'const', 'default', 'examples']);

/** Each reference can double the work of the validator: 40 of them would never end. A long schema multiplies it. */
const MOST_REFS = 20;
const LONGEST_SCHEMA = 100_000;
/** So many faults of the alternatives of a choice are named. */
const MOST_LEAVES = 6;

/**
 * Checks arguments against the tool's input schema, except its patterns: a pattern of a stranger may take forever. A schema that
 * cannot be read, or takes long to check, refuses nothing, as the server checks too.
 * @throws InputError naming the argument
 */
export function checkArguments(
  { name, inputSchema: schema }: Pick<McpTool, 'name' | 'inputSchema'>,
  args: Readonly<Record<string, Json>>,
): void {
  if (!isObject(schema)) return;
  const properties = isObject(schema.properties) ? Object.keys(schema.properties) : [];
  const open = schema.additionalProperties !== undefined && schema.additionalProperties !== false;
  const known =
    properties.length > 0 &&
    !open &&
    !('patternProperties' in schema) &&
    !('$ref' in schema) &&
    !('allOf' in schema) &&
    !('anyOf' in schema) &&
    !('oneOf' in schema);
  for (const given of Object.keys(args))
    if (known && !properties.includes(given))
      throw new InputError(`${name} has no argument ${shown(given)}${didYouMean(given, properties)}: expected ${properties.join(', ')}`);
  for (const required of Array.isArray(schema.required) ? schema.required : [])
    if (!Object.hasOwn(args, String(required)))
      throw new InputError(`${name}: the argument ${shown(required)} is missing${expectation(schema, String(required))}`);
  const wrong = firstFault(schema, args);
  if (wrong) throw new InputError(`${name}: ${wrong}`);
}

function expectation(schema: Record<string, unknown>, argument: string): string {
  const property = isObject(schema.properties) ? schema.properties[argument] : undefined;
  return isObject(property) && typeof property.type === 'string' ? `: expected its type ${property.type}` : '';
}

/** The innermost fault that the validator finds, such as `items[0].count is "two": Instance type "string" is invalid. Expected "integer".` */
function firstFault(schema: Record<string, unknown>, args: Readonly<Record<string, Json>>): string | null {
  let message: string | undefined;
  const checked = withoutPatterns(schema) as Record<string, never>;
  if (isSlow(checked)) return null;
  try {
    const result = new CfWorkerJsonSchemaValidator().getValidator(checked)(args);
    if (result.valid) return null;
    message = result.errorMessage;
  } catch {
    return null;
  }
  const faults = message.split(/; (?=#)/);
  // What stands below a choice are the faults of its alternatives.
  const choice = faults.findIndex((fault) => /any subschemas|exactly one subschema/.test(fault));
  if (choice < 0) return faultOf(faults.at(-1)!, args);
  const leaves = faults.slice(choice + 1).filter((fault) => !/subschema/.test(fault));
  return [faultOf(faults[choice]!, args), ...leaves.slice(0, MOST_LEAVES).map((leaf) => faultOf(leaf, args))].join(' Or: ');
}

/** `items[0].count is "two": Instance type "string" is invalid.`, of a fault such as `#/items/0/count: Instance type …` */
function faultOf(given: string, args: Readonly<Record<string, Json>>): string {
  const [, pointer = '', fault = given] = /^#(\S*): (.*)$/s.exec(given) ?? [];
  const path = pointer
    .split('/')
    .slice(1)
    .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'));
  const value = path.reduce<unknown>((held, part) => (held as Record<string, unknown> | undefined)?.[part], args);
  const place = path.map((part, i) => (/^\d+$/.test(part) ? `[${part}]` : `${i > 0 ? '.' : ''}${part}`)).join('');
  const words = /false boolean schema/i.test(fault) ? 'expected no such field' : fault;
  return `${place ? `${place} is` : 'the arguments are'} ${shown(value)}: ${words}`;
}

function isSlow(schema: Record<string, unknown>): boolean {
  const text = JSON.stringify(schema);
  return text.length > LONGEST_SCHEMA || (text.match(/"\$\w*ref":/gi) ?? []).length > MOST_REFS;
}

function withoutPatterns(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutPatterns);
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => {
      if (key === 'patternProperties' || (key === 'pattern' && typeof value === 'string')) return [];
      return [[key, VALUES.has(key) ? value : withoutPatterns(value)]];
    }),
  );
}
