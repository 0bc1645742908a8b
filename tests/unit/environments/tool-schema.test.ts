/** The parameters of tools, read from their JSON schemas. */
import { describe, expect, test } from 'vitest';
import { type Field, fieldsOf, innerFields } from '../../../src/app/labels/tool-parameters.ts';
import { exactDomain } from '../../support/exact-domains.ts';
import { toolSchemas } from '../../../src/domains/retail/tool-schemas.ts';
import type { Json } from '../../../src/records/json.ts';
import type { ToolSchema } from '../../../src/records/task.ts';

const tool = (properties: Record<string, Json>, required: string[] = [], more: object = {}): ToolSchema => ({
  type: 'function',
  function: { name: 't', description: '', parameters: { type: 'object', properties, required, ...more } },
});
const form = (...args: Parameters<typeof tool>) => fieldsOf(tool(...args));
const named = (tools: readonly ToolSchema[], name: string) => tools.find((schema) => schema.function.name === name)!;

describe('fields', () => {
  test('of our own tools: texts, choices and lists, all required', () => {
    const fields = fieldsOf(named(toolSchemas('full'), 'cancel_pending_order'));
    expect(fields.map(({ name, kind, required }) => [name, kind, required])).toEqual([
      ['order_id', 'text', true],
      ['reason', 'choice', true],
    ]);
    expect(fieldsOf(named(toolSchemas('small'), 'return_delivered_order_items'))[1]).toMatchObject({
      name: 'item_ids',
      kind: 'list',
      item: { kind: 'text' },
    });
  });

  test.each(['tau1', 'tau2'] as const)('of records in %s’s airline, through references and variants', (benchmark) => {
    const fields = fieldsOf(named(exactDomain('airline', benchmark).tools, 'book_reservation'));
    const flights = fields.find(({ name }) => name === 'flights') as Extract<Field, { kind: 'list' }>;
    expect(flights.kind).toBe('list');
    expect(flights.item).toMatchObject({
      kind: 'object',
      fields: [
        { name: 'flight_number', kind: 'text' },
        { name: 'date', kind: 'text' },
      ],
    });
    expect(fields.find(({ name }) => name === 'total_baggages')!.kind).toBe('integer');
  });

  test('of optional values, of types that may be null, and of types that no form can show', () => {
    const fields = form(
      {
        a: { anyOf: [{ type: 'string' }, { type: 'null' }], description: 'why' },
        b: { type: ['integer', 'null'] },
        c: {},
        d: { type: 'object' },
        e: { enum: ['x', 2, null] },
      },
      ['b'],
    );
    expect(fields.map(({ name, kind, required, description }) => [name, kind, required, description])).toEqual([
      ['a', 'text', false, 'why'],
      ['b', 'integer', true, ''],
      ['c', 'json', false, ''],
      ['d', 'json', false, ''],
      ['e', 'choice', false, ''],
    ]);
    const loop = form({ next: { $ref: '#/$defs/Node' } }, [], {
      $defs: { Node: { type: 'object', properties: { next: { $ref: '#/$defs/Node' } } } },
    });
    expect(JSON.stringify(loop)).toContain('"kind":"json"');
    expect(form({ a: { $ref: '#/$defs/__proto__' } })[0]!.kind).toBe('json');
  });
});

test('types have names, and the fields of objects and of objects in lists are found', () => {
  interface Read extends Pick<Field, 'name' | 'type' | 'required' | 'description'> {
    fields: Read[];
  }
  const read = (field: Field): Read => {
    const { name, type, required, description } = field;
    return { name, type, required, description, fields: innerFields(field).map(read) };
  };
  const list = (properties: Record<string, Json>, required: string[] = [], defs: Record<string, Json> = {}) =>
    fieldsOf(tool(properties, required, { $defs: defs })).map(read);
  expect(list({ a: { type: 'string', description: 'An id.' }, n: { type: 'integer' } }, ['a'])).toEqual([
    { name: 'a', type: 'text', required: true, description: 'An id.', fields: [] },
    { name: 'n', type: 'whole number', required: false, description: '', fields: [] },
  ]);
  expect(list({ c: { type: 'string', enum: ['x', 'y'] } })[0]!.type).toBe('one of x, y');
  expect(list({ l: { type: 'array', items: { type: 'string' } } })[0]!.type).toBe('list of texts');
  const [records] = list({ r: { type: 'array', items: { anyOf: [{ $ref: '#/$defs/Leg' }, { type: 'object' }] } } }, [], {
    Leg: { type: 'object', properties: { date: { type: 'string' } }, required: ['date'] },
  });
  expect(records).toMatchObject({ type: 'list of objects', fields: [{ name: 'date', type: 'text', required: true }] });
  expect(list({ o: { anyOf: [{ type: 'string' }, { type: 'null' }] } })[0]!.type).toBe('text or nothing');
  const loop = { type: 'object', properties: { next: { $ref: '#/$defs/Loop' } } };
  expect(list({ x: { $ref: '#/$defs/Loop' } }, [], { Loop: loop })[0]!.fields).toHaveLength(1);
  expect(list({ x: { $ref: '#/$defs/None' } })[0]!.type).toBe('anything');
});
