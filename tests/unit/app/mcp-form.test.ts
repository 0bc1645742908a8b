/** Forms of the tools of MCP servers, and what a call changed. The schemas of two servers come from their processes. */
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { formOf, readJson } from '../../../src/app/mcp/form.ts';
import { changedLines, changeOf, resultText, toolChanges } from '../../../src/app/mcp/lines.ts';
import { type Field } from '../../../src/app/labels/tool-parameters.ts';
import { type Drafts, emptyDrafts, readDrafts } from '../../../src/app/labels/tool-form.ts';
import type { Answer } from '../../../src/mcp/desk.ts';
import { connect } from '../../../src/mcp/node/index.ts';
import type { McpResult, McpTool } from '../../../src/mcp/types.ts';
import type { Json } from '../../../src/records/json.ts';

const fill = (fields: readonly Field[], drafts: Drafts) => readDrafts(fields, { ...emptyDrafts(fields), ...drafts }, true);
const form = (properties: Record<string, Json>, more: object = {}) =>
  formOf({ inputSchema: { type: 'object', properties, ...more } as Json })!;
const kinds = (fields: readonly Field[] | null) => fields?.map(({ name, kind, required }) => `${name}${required ? '' : '?'}: ${kind}`);

describe('schemas of real servers', () => {
  const listed = async (name: string, args: string[] = []) => {
    const command = {
      kind: 'command' as const,
      command: process.execPath,
      args: [resolve(`node_modules/@modelcontextprotocol/${name}/dist/index.js`), ...args],
    };
    const { server, close } = await connect(command, { timeout: 20 });
    await close();
    return new Map(server.tools.map((tool) => [tool.name, tool]));
  };

  test('server-memory: a list of objects', async () => {
    const tools = await listed('server-memory');
    const fields = formOf(tools.get('create_entities')!)!;
    expect(kinds(fields)).toEqual(['entities: list']);
    const entity = { name: 'Ana', entityType: 'person', observations: ['lives in Lisbon'] };
    expect(fill(fields, { entities: [entity] })).toEqual({ arguments: { entities: [entity] } });
    expect(fill(fields, { entities: [{ ...entity, name: '' }] })).toHaveProperty(['problems', 'entities.0.name']);
    expect(formOf(tools.get('read_graph')!)).toEqual([]);
  });

  test('server-filesystem: texts keep their lines and spaces', async () => {
    const tools = await listed('server-filesystem', ['{folder}']);
    expect(kinds(formOf(tools.get('write_file')!))).toEqual(['path: text', 'content: text']);
    expect(fill(formOf(tools.get('write_file')!)!, { path: '/a', content: '  a\n\nb \n' })).toEqual({
      arguments: { path: '/a', content: '  a\n\nb \n' },
    });
    const edit = formOf(tools.get('edit_file')!)!;
    expect(kinds(edit)).toEqual(['path: text', 'edits: list', 'dryRun?: boolean']);
    expect(edit[2]).toHaveProperty('default', false);
    expect(kinds(formOf(tools.get('read_text_file')!))).toEqual(['path: text', 'tail?: number', 'head?: number']);
  });

  // The lists of the servers' own sources: server-everything 2026.8, mcp-taskmanager 1.1.1, and FastMCP's optional values.
  test('server-everything: numbers with a default, choices', () => {
    const fields = form({
      duration: { type: 'number', default: 10, description: 'Duration of the operation in seconds' },
      messageType: { type: 'string', enum: ['error', 'success', 'debug'] },
      includeImage: { type: 'boolean', default: false },
    });
    expect(kinds(fields)).toEqual(['duration?: number', 'messageType?: choice', 'includeImage?: boolean']);
    expect(fill(fields, { duration: '2.5', messageType: 'debug' })).toEqual({ arguments: { duration: 2.5, messageType: 'debug' } });
  });

  test('mcp-taskmanager: nested lists', () => {
    const task = { type: 'object', properties: { title: { type: 'string' }, description: { type: 'string' } }, required: ['title'] };
    const fields = form(
      { originalRequest: { type: 'string' }, tasks: { type: 'array', items: task }, splitDetails: { type: 'string' } },
      { required: ['originalRequest', 'tasks'] },
    );
    expect(fill(fields, { originalRequest: 'Move', tasks: [{ title: 'Pack', description: '' }] })).toEqual({
      arguments: { originalRequest: 'Move', tasks: [{ title: 'Pack' }] },
    });
  });

  test('FastMCP: optional values and definitions', () => {
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
