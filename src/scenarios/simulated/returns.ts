/**
 * @file What a tool declares of its result: `returns`, a JSON Schema with three more words. `x-row` names the table of a row; `x-text` is
 * an expression (CEL) with the text of that row, or of the arguments; `x-sorted` is the field by which a list is sorted, from small to
 * large. An object with `x-row` and without `properties` has all fields of the table.
 */
import * as z from 'zod';
import { InputError, shown } from '../../base/input-error.ts';
import { equalJson, isObject, mapJson } from '../../base/json.ts';
import { schemaFault } from '../../base/schema-fault.ts';
import type { Overlay } from '../../environments/overlay.ts';
import type { Json } from '../../records/json.ts';
import type { Scenario, ScenarioTool } from '../../records/scenario.ts';
import type { Scope } from '../cel.ts';
import { argumentsOf } from '../execute.ts';
import type { ReadScenario } from '../read.ts';
import { nativeRow, type Row, tablesOf } from '../state.ts';
import type { Asked } from './types.ts';

/** A part of a result that shows a row, or that has a text of its own. */
export interface Shown {
  path: string;
  value: Json;
  table?: string;
  /** Undefined: the value names no row of the table. */
  key?: string;
  /** Computes the text that the part must be, as the rows are. */
  text?: () => string;
}

/** A list that must be sorted. Entries without a row are left out. */
export interface SortedList {
  path: string;
  field: string;
  rows: readonly Row[];
}

const schemas = new WeakMap<ScenarioTool, z.ZodType>();

const TYPES = { string: { type: 'string' }, strings: { type: 'array', items: { type: 'string' } } } as const;

/** The schema with the fields of rows. */
const withFields = ({ tables }: Scenario, returns: Json): unknown =>
  mapJson(returns, (value) => {
    if (!isObject(value) || typeof value['x-row'] !== 'string' || value.type !== 'object' || value.properties !== undefined) return value;
    const { fields, key } = tables[value['x-row']]!;
    const properties = Object.fromEntries(
      Object.entries(fields).map(([name, { type }]) => {
        const own = type === 'string' || type === 'strings' ? TYPES[type] : { type };
        return [name, name === key ? own : { anyOf: [own, { type: 'null' }] }];
      }),
    );
    return { type: 'object', properties, required: Object.keys(fields), additionalProperties: false };
  });

function schemaOf(tool: ScenarioTool, { scenario, file }: ReadScenario): z.ZodType {
  let schema = schemas.get(tool);
  if (!schema) {
    z.config({ jitless: true });
    try {
      schema = z.fromJSONSchema(withFields(scenario, tool.returns!) as Parameters<typeof z.fromJSONSchema>[0]);
    } catch (cause) {
      throw new InputError(`${file}: the tool ${tool.name}: returns is no JSON Schema: ${(cause as Error).message}`);
    }
    schemas.set(tool, schema);
  }
  return schema;
}

/** What is wrong with the form of a result, or undefined. @throws InputError if `returns` is no JSON Schema */
export function wrongForm({ own, tool }: Pick<Asked, 'own' | 'tool'>, result: Json): string | undefined {
  if (tool.returns === undefined) return undefined;
  const read = schemaOf(tool, own).safeParse(result);
  if (read.success) return undefined;
  const { path, reason } = schemaFault(read.error, result);
  return `${path ? `result ${path}` : 'the result'} ${reason}`;
}

/** The parts of a result that show rows or have texts, and its sorted lists. @param rows the rows after the call */
export function partsOf({ own, tool, call }: Pick<Asked, 'own' | 'tool' | 'call'>, rows: Overlay, result: Json) {
  const parts: Shown[] = [];
  const lists: SortedList[] = [];
  const args = argumentsOf(tool, call);
  if (tool.returns !== undefined) visit(tool.returns, result, 'the result');
  return { parts, lists };

  function visit(schema: Json, value: Json, path: string): Shown | undefined {
    if (!isObject(schema)) return undefined;
    const { 'x-row': table, 'x-text': cel, 'x-sorted': field } = schema as Record<string, Json | undefined>;
    let part: Shown | undefined;
    if (typeof table === 'string' || typeof cel === 'string')
      parts.push((part = shownPart(value, path, table as string | undefined, cel as string | undefined)));
    if (Array.isArray(value)) {
      const entries = value.map((one, i) => visit(schema.items as Json, one, `${path}[${i}]`));
      if (typeof field === 'string') lists.push({ path, field, rows: entries.map(rowOf).filter((row) => row !== undefined) });
    } else if (isObject(value) && isObject(schema.properties))
      for (const [name, child] of Object.entries(schema.properties))
        if (Object.hasOwn(value, name)) visit(child as Json, value[name] as Json, `${path}.${name}`);
    return part;
  }

  function rowOf(part: Shown | undefined): Row | undefined {
    return part?.table !== undefined && part.key !== undefined ? (rows.get(part.table, part.key) as Row) : undefined;
  }

  function shownPart(value: Json, path: string, table: string | undefined, cel: string | undefined): Shown {
    const part: Shown = { path, value };
    if (table !== undefined) {
      part.table = table;
      const key = isObject(value) ? value[own.scenario.tables[table]!.key] : undefined;
      if (typeof value === 'string') part.key = keyIn(value, rows.keys(table));
      else if (typeof key === 'string' && rows.get(table, key) !== undefined) part.key = key;
    }
    if (cel !== undefined && (table === undefined || part.key !== undefined)) {
      const scope: Scope = {
        args,
        tables: tablesOf(own.scenario, rows),
        ...(part.key !== undefined && { row: nativeRow(own.scenario.tables[table!]!, rowOf(part)!) }),
      };
      part.text = () => String(own.cel.native(cel, scope, `the tool ${tool.name}: returns: x-text`));
    }
    return part;
  }
}

/** The key that stands in a text as a word of its own, the first of several. */
function keyIn(text: string, keys: readonly string[]): string | undefined {
  const words = new Set(text.split(/[^\p{L}\p{N}_-]+/u));
  return keys.filter((key) => words.has(key)).sort((a, b) => text.indexOf(a) - text.indexOf(b))[0];
}

/** The first field of a part that differs from the row, in words. */
export function disagreement(own: Asked['own'], rows: Overlay, { path, value, table, key, text: right }: Shown): string | undefined {
  const text = right?.();
  if (text !== undefined && value !== text) return `${path} is ${shown(value)}: expected ${shown(text)}, as the tables say`;
  if (!isObject(value) || table === undefined || key === undefined) return undefined;
  const row = rows.get(table, key) as Row;
  const field = Object.keys(own.scenario.tables[table]!.fields).find(
    (name) => Object.hasOwn(value, name) && !equalJson(value[name] as Json, row[name]),
  );
  return field === undefined
    ? undefined
    : `${path}.${field} is ${shown(value[field])}: expected ${shown(row[field])}, as the row ${key} says`;
}

/** Whether a list is not sorted. Texts and numbers are compared as expressions compare them. */
export const isUnsorted = ({ field, rows }: SortedList): boolean =>
  rows.some((row, i) => i > 0 && (rows[i - 1]![field] as string | number) > (row[field] as string | number));
