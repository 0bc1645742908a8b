/** Forms of the tools of MCP servers, and what a call changed. The schemas of five servers are as `./mua mcp list --json` shows them. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { formOf, readJson } from '../../../src/app/mcp/form.ts';
import { changedLines, changeOf, resultText, toolChanges } from '../../../src/app/mcp/lines.ts';
import type { Field } from '../../../src/app/labels/tool-parameters.ts';
import { type Drafts, emptyDrafts, readDrafts } from '../../../src/app/labels/tool-form.ts';
import type { Answer } from '../../../src/mcp/desk.ts';
import type { McpResult, McpTool } from '../../../src/mcp/types.ts';
import type { Json } from '../../../src/records/json.ts';

const SCHEMAS = JSON.parse(readFileSync('tests/reference/fixtures/mcp-schemas.json', 'utf8')) as Record<string, Record<string, Json>>;

const fill = (fields: readonly Field[], drafts: Drafts) => readDrafts(fields, { ...emptyDrafts(fields), ...drafts }, true);
const form = (properties: Record<string, Json>, more: object = {}) =>
  formOf({ inputSchema: { type: 'object', properties, ...more } as Json })!;
const kinds = (fields: readonly Field[] | null) => fields?.map(({ name, kind, required }) => `${name}${required ? '' : '?'}: ${kind}`);

describe('schemas of real servers', () => {
  const server = (name: string) => (tool: string) =>
    formOf({ inputSchema: SCHEMAS[Object.keys(SCHEMAS).find((full) => full.includes(name))!]![tool]! })!;

  test('server-memory: a list of objects', () => {
    const schema = server('server-memory');
    const fields = schema('create_entities');
    expect(kinds(fields)).toEqual(['entities: list']);
    const entity = { name: 'Ana', entityType: 'person', observations: ['lives in Lisbon'] };
    expect(fill(fields, { entities: [entity] })).toEqual({ arguments: { entities: [entity] } });
    expect(fill(fields, { entities: [{ ...entity, name: '' }] })).toHaveProperty(['problems', 'entities.0.name']);
    expect(schema('read_graph')).toEqual([]);
  });

  test('server-filesystem: texts keep their lines and spaces', () => {
    const schema = server('server-filesystem');
    expect(kinds(schema('write_file'))).toEqual(['path: text', 'content: text']);
    const file = { path: '/a', content: '  a\n\nb \n' };
    expect(fill(schema('write_file'), file)).toEqual({ arguments: file });
    expect(kinds(schema('edit_file'))).toEqual(['path: text', 'edits: list', 'dryRun?: boolean']);
    expect(schema('edit_file')[2]).toHaveProperty('default', false);
    expect(kinds(schema('read_text_file'))).toEqual(['path: text', 'tail?: number', 'head?: number']);
  });

  test('server-everything: numbers with a default, choices', () => {
    const schema = server('server-everything');
    expect(kinds(schema('get-annotated-message'))).toEqual(['messageType: choice', 'includeImage?: boolean']);
    expect(fill(schema('get-annotated-message'), { messageType: 'debug' })).toEqual({ arguments: { messageType: 'debug' } });
    const fields = schema('trigger-long-running-operation');
    expect(fields.map((field) => field.default)).toEqual([10, 5]);
    expect(fill(fields, { duration: '2.5' })).toEqual({ arguments: { duration: 2.5 } });
    expect(schema('get-env')).toEqual([]);
  });

  test('mcp-taskmanager: nested lists', () => {
    const args = { originalRequest: 'Move', tasks: [{ title: 'Pack', description: 'Books' }] };
    expect(fill(server('taskmanager')('request_planning'), args)).toEqual({ arguments: args });
  });

  test('howtocook-mcp: whole numbers, lists of texts, choices that are not ASCII', () => {
    const schema = server('howtocook');
    const fields = schema('mcp_howtocook_recommendMeals');
    expect(kinds(fields)).toEqual(['allergies?: list', 'avoidItems?: list', 'peopleCount: integer']);
    expect(fill(fields, { peopleCount: '3', allergies: ['虾'] })).toEqual({ arguments: { peopleCount: 3, allergies: ['虾'] } });
    expect(fill(schema('mcp_howtocook_getRecipesByCategory'), { category: '汤' })).toEqual({ arguments: { category: '汤' } });
  });

  test('optional values and definitions, as libraries of Python write them', () => {
    const fields = form(
      { limit: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null }, unit: { $ref: '#/definitions/Unit' } },
      { required: ['unit'], definitions: { Unit: { enum: ['m', 'km'], type: 'string' } } },
    );
    expect(kinds(fields)).toEqual(['limit?: integer', 'unit: choice']);
  });
});

describe('hostile schemas', () => {
  test('a short schema that describes millions of fields', () => {
    const letters = 'abcdefghijklmnopqrstuvwxyz'.split('');
    const node = { type: 'object', properties: Object.fromEntries(letters.map((letter) => [letter, { $ref: '#/$defs/node' }])) };
    const start = performance.now();
    const fields = form({ root: { $ref: '#/$defs/node' } }, { $defs: { node } });
    const size = (field: Field): number => 1 + (field.kind === 'object' ? field.fields.reduce((sum, inner) => sum + size(inner), 0) : 0);
    expect(size(fields[0]!)).toBeLessThan(10_000);
    expect(performance.now() - start).toBeLessThan(1000);
  });

  test('arguments named as parts of objects are neither lost nor filled in', () => {
    const named = JSON.parse('{"__proto__": {"type": "string"}, "constructor": {"type": "string"}}') as Record<string, Json>;
    const fields = form(named, { required: ['__proto__'] });
    expect(fill(fields, {})).toHaveProperty('problems');
    const reading = fill(fields, JSON.parse('{"__proto__": "x", "constructor": ""}') as Drafts);
    expect(JSON.stringify(reading)).toBe('{"arguments":{"__proto__":"x"}}');
  });

  test('equal choices are one, and choices with the same text are typed as JSON', () => {
    expect(form({ a: { enum: ['x', 'x', null] } })[0]).toMatchObject({ kind: 'choice', choices: ['x'] });
    expect(form({ a: { enum: ['1', 1] } })[0]).toMatchObject({ kind: 'json' });
    expect(form({ a: { enum: Array.from({ length: 100_000 }, (_, i) => i) } })[0]).toMatchObject({ kind: 'json' });
    expect(form({ a: { const: 'v1' } })[0]).toMatchObject({ kind: 'choice', choices: ['v1'] });
  });

  test.each<[string, Json]>([
    ['no object', []],
    ['many properties', { type: 'object', properties: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`p${i}`, {}])) }],
    ['only a choice of schemas', { oneOf: [{ type: 'object' }] }],
    ['a loop', { $ref: '#' }],
    ['required arguments without a schema', { type: 'object', properties: {}, required: ['a'] }],
    ['any names', { type: 'object', additionalProperties: { type: 'string' } }],
  ])('%s: the arguments are written as JSON', (_, inputSchema) => {
    expect(formOf({ inputSchema })).toBeNull();
  });

  test.each<[string, Json]>([
    ['wrong parts', { type: 'object', properties: { a: 1, b: null, c: { type: 7, enum: 'x' }, d: true }, required: 'a' }],
    ['no properties', { type: 'object' }],
  ])('%s: a form all the same', (_, inputSchema) => {
    expect(formOf({ inputSchema })).not.toBeNull();
  });
});

test('arguments as JSON', () => {
  expect(readJson(' ')).toEqual({});
  expect(readJson('{"a": [1]}')).toEqual({ a: [1] });
  expect(readJson('[1]')).toBe('The arguments are not an object, such as {"name": "Ana"}.');
  expect(readJson('{a}')).toMatch(/^The arguments are not JSON: /);
});

describe('what changed', () => {
  const shows = (value: Partial<McpResult>): Answer<McpResult> => ({ value: { text: '', error: false, seconds: 0, ...value } });

  test('a row is added to JSON in a text', () => {
    const change = changeOf(shows({ text: '{"notes":["a"]}' }), shows({ text: '{"notes":["a","b"]}' }));
    expect(change).toMatchObject({ kind: 'differs', says: 'It shows a difference.' });
    expect('lines' in change && change.lines.filter(({ kind }) => kind !== 'same')).toEqual([
      { kind: 'removed', text: '    "a"' },
      { kind: 'added', text: '    "a",' },
      { kind: 'added', text: '    "b"' },
    ]);
  });

  test('equal, failed, cut and stopped reads say so', () => {
    expect(changeOf(shows({ structured: { a: 1 } }), shows({ structured: { a: 1 } })).says).toBe('It shows the same as before.');
    expect(changeOf(shows({ text: 'a', cut: 5 }), shows({ text: 'a', cut: 5 })).says).toContain('were cut');
    expect(changeOf(shows({}), { failure: { kind: 'timeout', message: 'late' } }).says).toBe('It could not be read after the call: late.');
    expect(changeOf({ failure: { kind: 'stopped', message: 'It was stopped.' } }, shows({})).says).toMatch(/: It was stopped\.$/);
    expect(changeOf(shows({}), undefined).says).toContain('you stopped');
    expect(changeOf(shows({ error: true }), shows({ error: true })).says).toContain('failed');
  });

  test('far lines are left out, and texts that differ everywhere are not compared', () => {
    const numbers = Array.from({ length: 100 }, (_, i) => String(i));
    const lines = changedLines(numbers.join('\n'), numbers.map((n) => (n === '5' || n === '90' ? `${n}!` : n)).join('\n'))!;
    expect(lines.filter(({ kind }) => kind === 'gap')).toHaveLength(1);
    expect(lines).toHaveLength(2 * (2 + 2 + 2) + 1);
    const many = (word: string) => Array.from({ length: 5000 }, (_, i) => `${word}${i}`).join('\n');
    expect(changedLines(many('a'), many('b'))).toBeNull();
    expect(resultText({ text: 'plain' })).toBe('plain');
  });

  test('many tools that differ everywhere are compared in little time', () => {
    const list = (word: string): McpTool[] =>
      Array.from({ length: 30 }, (_, i) => {
        const description = Array.from({ length: 1200 }, (_, line) => `${word}${line}`).join('\n');
        return { name: `tool${i}`, description, inputSchema: {}, warnings: [] };
      });
    const start = performance.now();
    const changes = toolChanges(list('a'), list('b'));
    expect(performance.now() - start).toBeLessThan(3000);
    expect(changes.map(({ says, lines }) => [says, lines])).toEqual(Array.from({ length: 30 }, () => ['has changed', null]));
  });

  test('tools that are new, gone and described in another way', () => {
    const tool = (name: string, description: string): McpTool => ({ name, description, inputSchema: { type: 'object' }, warnings: [] });
    const changes = toolChanges([tool('a', 'Adds.'), tool('b', '')], [tool('a', 'Adds, and tells everyone.'), tool('c', '')]);
    expect(changes.map(({ name, says }) => `${name} ${says}`)).toEqual(['a has changed', 'b is gone', 'c is new']);
    expect(changes[0]!.lines!.slice(0, 2)).toEqual([
      { kind: 'removed', text: 'Adds.' },
      { kind: 'added', text: 'Adds, and tells everyone.' },
    ]);
  });
});
