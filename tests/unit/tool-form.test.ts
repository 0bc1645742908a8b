/** Forms of tool schemas: what they hold, and the arguments they make. */
import { describe, expect, test } from 'vitest';
import { type Drafts, emptyDrafts, type Field, formOf, readDrafts } from '../../src/app/play/tool-form.ts';
import { exactDomain } from '../../src/environments/exact/domains.ts';
import { toolSchemas } from '../../src/environments/retail/tool-schemas.ts';
import type { Json, ToolSchema } from '../../src/environments/types.ts';

const tool = (properties: Record<string, Json>, required: string[] = [], more: object = {}): ToolSchema => ({
  type: 'function', function: { name: 't', description: '', parameters: { type: 'object', properties, required, ...more } },
});
const form = (...args: Parameters<typeof tool>) => formOf(tool(...args));
const named = (tools: readonly ToolSchema[], name: string) => tools.find((schema) => schema.function.name === name)!;

describe('fields', () => {
  test('of our own tools: texts, choices and lists, all required', () => {
    const fields = formOf(named(toolSchemas('full'), 'cancel_pending_order'));
    expect(fields.map(({ name, kind, required }) => [name, kind, required])).toEqual([['order_id', 'text', true], ['reason', 'choice', true]]);
    expect(formOf(named(toolSchemas('small'), 'return_delivered_order_items'))[1]).toMatchObject({ name: 'item_ids', kind: 'list', item: { kind: 'text' } });
  });

  test.each(['tau1', 'tau2'] as const)('of records in %s’s airline, through references and variants', (benchmark) => {
    const fields = formOf(named(exactDomain('airline', benchmark).tools, 'book_reservation'));
    const flights = fields.find(({ name }) => name === 'flights') as Extract<Field, { kind: 'list' }>;
    expect(flights.kind).toBe('list');
    expect(flights.item).toMatchObject({ kind: 'object', fields: [{ name: 'flight_number', kind: 'text' }, { name: 'date', kind: 'text' }] });
    expect(fields.find(({ name }) => name === 'total_baggages')!.kind).toBe('integer');
  });

  test('of what may be left out, of types that may be null, and of what no form can show', () => {
    const fields = form({ a: { anyOf: [{ type: 'string' }, { type: 'null' }], description: 'why' }, b: { type: ['integer', 'null'] }, c: {}, d: { type: 'object' }, e: { enum: ['x', 2, null] } }, ['b']);
    expect(fields.map(({ name, kind, required, description }) => [name, kind, required, description])).toEqual([
      ['a', 'text', false, 'why'], ['b', 'integer', true, ''], ['c', 'json', false, ''], ['d', 'json', false, ''], ['e', 'choice', false, ''],
    ]);
    const loop = form({ next: { $ref: '#/$defs/Node' } }, [], { $defs: { Node: { type: 'object', properties: { next: { $ref: '#/$defs/Node' } } } } });
    expect(JSON.stringify(loop)).toContain('"kind":"json"');
    expect(form({ a: { $ref: '#/$defs/__proto__' } })[0]!.kind).toBe('json');
  });
});

describe('arguments', () => {
  const read = (fields: Field[], drafts: Drafts) => readDrafts(fields, { ...emptyDrafts(fields), ...drafts });

  test('have the types of the schema', () => {
    const fields = form({ s: { type: 'string' }, i: { type: 'integer' }, n: { type: 'number' }, b: { type: 'boolean' }, e: { enum: ['x', 2] }, l: { type: 'array', items: { type: 'string' } }, j: {} }, ['s']);
    expect(read(fields, { s: ' #W1 ', i: '3', n: '-2.5', b: 'false', e: '2', l: ['a', 'b'], j: '{"k": [1]}' })).toEqual({ arguments: { s: '#W1', i: 3, n: -2.5, b: false, e: 2, l: ['a', 'b'], j: { k: [1] } } });
    expect(read(fields, { s: 'x' })).toEqual({ arguments: { s: 'x' } });
    expect(read(fields, { s: '""' })).toEqual({ arguments: { s: '' } });
  });

  test('are not made of what does not fit; every fault is named by its path', () => {
    const fields = form({ s: { type: 'string' }, i: { type: 'integer' }, n: { type: 'number' }, b: { type: 'boolean' }, e: { enum: ['x'] }, j: {}, r: { type: 'array', items: { type: 'object', properties: { d: { type: 'string' } }, required: ['d'] } } }, ['s', 'r']);
    const found = read(fields, { i: '3.5', n: 'many', b: 'yes', e: 'y', j: '{', r: [{ d: 'ok' }, { d: '' }] });
    expect('problems' in found && Object.keys(found.problems)).toEqual(['s', 'i', 'n', 'b', 'e', 'j', 'r.1.d']);
    expect(read(fields, { s: 'x', i: '9007199254740993', r: [] })).toHaveProperty('problems.i');
  });

  test('an empty form of optional objects makes no arguments', () => {
    const fields = form({ o: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, l: { type: 'array', items: {} } });
    expect(read(fields, {})).toEqual({ arguments: {} });
    expect(read(fields, { o: { a: '' }, l: [] })).toEqual({ arguments: {} });
  });

  test('go through the form of every tool there is', () => {
    const text = (field: Field): Json => {
      if (field.kind === 'list') return [text(field.item)];
      if (field.kind === 'object') return Object.fromEntries(field.fields.map((inner) => [inner.name, text(inner)]));
      return field.kind === 'choice' ? String(field.choices[0]) : field.kind === 'boolean' ? 'true' : '1';
    };
    const tools = [...toolSchemas('full'), ...(['tau1', 'tau2'] as const).flatMap((benchmark) => exactDomain('airline', benchmark).tools), ...exactDomain('telecom', 'tau2').tools, ...exactDomain('mock', 'tau2').tools];
    for (const schema of tools) {
      const fields = formOf(schema);
      expect(fields.map(({ name }) => name)).toEqual(Object.keys(schema.function.parameters.properties));
      const reading = readDrafts(fields, Object.fromEntries(fields.map((field) => [field.name, text(field)])) as Drafts);
      expect([schema.function.name, reading]).toEqual([schema.function.name, { arguments: expect.anything() as object }]);
    }
  });
});
