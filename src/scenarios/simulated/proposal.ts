/** @file Reads a proposal of an answerer, and turns it into rows and into the text that the agent sees. */
import * as z from 'zod/mini';
import { unknownName } from '../../base/did-you-mean.ts';
import { shown } from '../../base/input-error.ts';
import { isObject } from '../../base/json.ts';
import { schemaFault } from '../../base/schema-fault.ts';
import { Overlay } from '../../environments/overlay.ts';
import { checkDepth } from '../../mcp/limits.ts';
import type { Json } from '../../records/json.ts';
import type { Scenario } from '../../records/scenario.ts';
import { errorText, resultText } from '../execute.ts';
import { readable } from '../native.ts';
import type { Row } from '../state.ts';
import type { Finding, Proposal } from './types.ts';

const MOST_DEPTH = 12;
const MOST_WRITES = 100;
const MOST_ERROR = 500;

const NAME = z.string().check(z.minLength(1), z.maxLength(100));
const PROPOSAL = z.strictObject({
  result: z.unknown(),
  error: z.nullable(z.string().check(z.minLength(1), z.maxLength(MOST_ERROR))),
  writes: z
    .array(
      z
        .strictObject({
          table: NAME,
          key: NAME,
          set: z.optional(z.record(z.string(), z.unknown())),
          delete: z.optional(z.literal(true)),
        })
        .check(z.refine((write) => (write.set === undefined) !== (write.delete === undefined), 'expected exactly one of set and delete')),
    )
    .check(z.maxLength(MOST_WRITES)),
});

/** The form of a proposal in words. */
export const FORM =
  '{"result": …, "error": null or a sentence, "writes": [{"table": …, "key": …, "set": {…}} or {"table": …, "key": …, "delete": true}]}';

/** The same as a JSON schema, for servers that hold models to one. */
export const FORM_SCHEMA = {
  type: 'object',
  properties: {
    result: {},
    error: { type: ['string', 'null'] },
    writes: {
      type: 'array',
      items: {
        type: 'object',
        properties: { table: { type: 'string' }, key: { type: 'string' }, set: { type: 'object' }, delete: { const: true } },
        required: ['table', 'key'],
      },
    },
  },
  required: ['result', 'error', 'writes'],
};

/** A proposal that can be applied to the tables, or what is wrong with its form. */
export function readProposal({ tables }: Scenario, value: unknown): Proposal | Finding {
  const wrong = (text: string): Finding => ({ check: 'schema', text });
  if (typeof value === 'string') return wrong(`the answer is no JSON: expected ${FORM}`);
  try {
    checkDepth('the answer', value, MOST_DEPTH);
  } catch (cause) {
    return wrong((cause as Error).message);
  }
  const large = readable(value);
  if (large) return wrong(large.replace('the value', 'the answer'));
  const read = PROPOSAL.safeParse(value);
  if (!read.success) {
    const { path, reason } = schemaFault(read.error, value);
    return wrong(`${path || 'the answer'} ${reason}`);
  }
  const { error, writes } = read.data;
  for (const [i, { table, key, set = {} }] of writes.entries()) {
    if (!Object.hasOwn(tables, table)) return wrong(`writes[${i}].table: ${unknownName('table', table, Object.keys(tables))}`);
    const { fields: own, key: id } = tables[table]!;
    const fields = Object.keys(own);
    const unknown = Object.keys(set).find((field) => !fields.includes(field));
    if (unknown !== undefined) return wrong(`writes[${i}].set: ${unknownName('field', unknown, fields)}`);
    if (Object.hasOwn(set, id) && set[id] !== key)
      return wrong(`writes[${i}].set.${id} is ${shown(set[id])}: expected the key ${shown(key)}`);
  }
  return { result: error === null ? ((read.data.result ?? null) as Json) : null, error, writes: writes as Proposal['writes'] };
}

/** What the agent sees. */
export const textOf = ({ result, error }: Proposal): string => (error !== null ? errorText(error) : resultText(result));

/** The rows after the writes. Rows that cannot be deleted, because they do not exist, are passed over. */
export function applied({ tables }: Scenario, rows: Overlay, { writes }: Pick<Proposal, 'writes'>): Overlay {
  const after = new Overlay(rows);
  for (const write of writes) {
    const { table, key } = write;
    const old = after.get(table, key);
    if ('delete' in write) {
      if (old !== undefined) after.delete(table, key);
      continue;
    }
    const { fields, key: id } = tables[table]!;
    const empty = Object.fromEntries(Object.keys(fields).map((field) => [field, null]));
    after.put(table, key, { ...(isObject(old) ? (old as Row) : empty), ...write.set, [id]: key });
  }
  return after;
}
