/** Forms of tool schemas: their fields, and the arguments that they make. */
import { describe, expect, test } from 'vitest';
import { type Field, fieldsOf } from '../../../src/app/labels/tool-parameters.ts';
import { type Drafts, emptyDrafts, readDrafts } from '../../../src/app/labels/tool-form.ts';
import { exactDomain } from '../../support/exact-domains.ts';
import { toolSchemas } from '../../../src/domains/retail/tool-schemas.ts';
import type { Json } from '../../../src/records/json.ts';
import type { ToolSchema } from '../../../src/records/task.ts';

const tool = (properties: Record<string, Json>, required: string[] = [], more: object = {}): ToolSchema => ({
  type: 'function',
  function: { name: 't', description: '', parameters: { type: 'object', properties, required, ...more } },
});
const form = (...args: Parameters<typeof tool>) => fieldsOf(tool(...args));

describe('arguments', () => {
  const read = (fields: Field[], drafts: Drafts) => readDrafts(fields, { ...emptyDrafts(fields), ...drafts });

  test('have the types of the schema', () => {
    const fields = form(
      {
        s: { type: 'string' },
        i: { type: 'integer' },
        n: { type: 'number' },
        b: { type: 'boolean' },
        e: { enum: ['x', 2] },
        l: { type: 'array', items: { type: 'string' } },
        j: {},
      },
      ['s'],
    );
    expect(read(fields, { s: ' #W1 ', i: '3', n: '-2.5', b: 'false', e: '2', l: ['a', 'b'], j: '{"k": [1]}' })).toEqual({
      arguments: { s: '#W1', i: 3, n: -2.5, b: false, e: 2, l: ['a', 'b'], j: { k: [1] } },
    });
    expect(read(fields, { s: 'x' })).toEqual({ arguments: { s: 'x' } });
    expect(read(fields, { s: '""' })).toEqual({ arguments: { s: '' } });
  });

  test('are not made from invalid values; every error names its path', () => {
    const fields = form(
      {
        s: { type: 'string' },
        i: { type: 'integer' },
        n: { type: 'number' },
        b: { type: 'boolean' },
        e: { enum: ['x'] },
        j: {},
        r: { type: 'array', items: { type: 'object', properties: { d: { type: 'string' } }, required: ['d'] } },
      },
      ['s', 'r'],
    );
    const found = read(fields, { i: '3.5', n: 'many', b: 'yes', e: 'y', j: '{', r: [{ d: 'ok' }, { d: '' }] });
    expect('problems' in found && Object.keys(found.problems)).toEqual(['s', 'i', 'n', 'b', 'e', 'j', 'r.1.d']);
    expect(read(fields, { s: 'x', i: '9007199254740993', r: [] })).toHaveProperty('problems.i');
  });

  test('an empty form of optional objects makes no arguments', () => {
    const fields = form({ o: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, l: { type: 'array', items: {} } });
    expect(read(fields, {})).toEqual({ arguments: {} });
    expect(read(fields, { o: { a: '' }, l: [] })).toEqual({ arguments: {} });
  });

  test('of every tool are kept by its form', () => {
    const text = (field: Field): Json => {
      if (field.kind === 'list') return [text(field.item)];
      if (field.kind === 'object') return Object.fromEntries(field.fields.map((inner) => [inner.name, text(inner)]));
      return field.kind === 'choice' ? String(field.choices[0]) : field.kind === 'boolean' ? 'true' : '1';
    };
    const tools = [
      ...toolSchemas('full'),
      ...(['tau1', 'tau2'] as const).flatMap((benchmark) => exactDomain('airline', benchmark).tools),
      ...exactDomain('telecom', 'tau2').tools,
      ...exactDomain('mock', 'tau2').tools,
    ];
    for (const schema of tools) {
      const fields = fieldsOf(schema);
      expect(fields.map(({ name }) => name)).toEqual(Object.keys(schema.function.parameters.properties));
      const reading = readDrafts(fields, Object.fromEntries(fields.map((field) => [field.name, text(field)])) as Drafts);
      expect([schema.function.name, reading]).toEqual([schema.function.name, { arguments: expect.anything() as object }]);
    }
  });
});
