/** Conversations in the formats of other programs. The expected rows are written by hand after each program's documentation. */
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { parseConversations } from '../../../src/agent/conversation.ts';
import { convertDataset } from '../../../src/formats/convert-dataset.ts';
import { rowsOfFile } from '../../../src/formats/dataset-file.ts';
import { readParquet } from '../../../src/formats/parquet.ts';
import type { DatasetFormat } from '../../../src/formats/write-dataset.ts';

type Row = Record<string, unknown>;
const bytesOf = (rows: readonly Row[]) => new TextEncoder().encode(rows.map((row) => JSON.stringify(row)).join('\n'));

/** The bytes and the notes. */
async function convert(from: readonly Row[] | Uint8Array, format: DatasetFormat) {
  const notes: string[] = [];
  const rows = await rowsOfFile('rows', from instanceof Uint8Array ? from : bytesOf(from));
  const { content } = await convertDataset(rows, format, (line) => notes.push(line));
  return { content, notes };
}
/** The rows and the notes. */
async function converted(from: readonly Row[] | Uint8Array, format: DatasetFormat) {
  const { content, notes } = await convert(from, format);
  const lines = new TextDecoder().decode(content).trimEnd().split('\n');
  return { rows: lines.map((line) => JSON.parse(line) as Row), notes };
}

const parameters = (name: string, type: string) => ({ type: 'object', properties: { [name]: { type } } });
const FIND = { name: 'find', description: 'Finds.', parameters: parameters('title', 'string') };
const RENEW = { name: 'renew', parameters: parameters('loan', 'integer') };
const TOOLS = [FIND, RENEW].map((own) => ({ type: 'function', function: own }));

/** A conversation with thoughts, two calls at once, an own id and more columns. */
const openAi = (args: (given: Row) => unknown) => ({
  messages: [
    { role: 'system', content: 'Renew loans.' },
    { role: 'user', content: 'Renew “Été”.' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'find', arguments: args({ title: 'Été' }) } },
        { id: 'b', type: 'function', function: { name: 'renew', arguments: args({ loan: 7 }) } },
      ],
      reasoning_content: 'I look.',
    },
    { role: 'tool', content: '{"id": 1}', tool_call_id: 'a' },
    { role: 'tool', content: 'ok', tool_call_id: 'b' },
    { role: 'assistant', content: 'Done.' },
  ],
  tools: TOOLS,
  id: 'x/1',
  reward: 1,
});
const CHAT = openAi((given) => JSON.stringify(given).replaceAll(':', ': '));
const TRL = openAi((given) => given);
const SHAREGPT = {
  conversations: [
    { from: 'human', value: 'Renew “Été”.' },
    {
      from: 'function_call',
      value: '<think>\nI look.\n</think>\n\n[{"name": "find", "arguments": {"title": "Été"}}, {"name": "renew", "arguments": {"loan": 7}}]',
    },
    { from: 'observation', value: '{"id": 1}\n</tool_response>\n<tool_response>\nok' },
    { from: 'gpt', value: 'Done.' },
  ],
  system: 'Renew loans.',
  tools: JSON.stringify([FIND, RENEW]).replaceAll(':', ': ').replaceAll(',', ', '),
  id: 'x/1',
  reward: 1,
};

describe('columns beside the messages', () => {
  const talk = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
  ];
  const turns = [
    { from: 'system', value: 'Inner.' },
    { from: 'human', value: 'a' },
    { from: 'gpt', value: 'b' },
  ];

  // LLaMA-Factory too takes the first turn, and not the column.
  test('a column system beside a first message of the system', async () => {
    const { rows, notes } = await converted([{ conversations: turns, system: 'Outer.' }], 'chat');
    expect(rows[0]!.messages).toEqual([{ role: 'system', content: 'Inner.' }, ...talk]);
    expect(notes).toEqual(['the column system is left out, because the messages begin with one of the system (1 ×, first in line 1)']);
    expect((await converted([{ conversations: turns, system: 'Inner.' }], 'chat')).notes).toEqual([]);
    expect((await converted([{ conversations: turns.slice(1), system: 'Outer.' }], 'chat')).notes).toEqual([]);
  });

  test('tools in the column functions, which OpenAI had before', async () => {
    expect((await converted([{ messages: talk, functions: [FIND] }], 'chat')).rows).toEqual([{ messages: talk, tools: [TOOLS[0]] }]);
    expect((await converted([{ messages: talk, functions: JSON.stringify([FIND]) }], 'chat')).rows[0]!.tools).toEqual([TOOLS[0]]);
    await expect(converted([{ messages: talk, functions: [7] }], 'chat')).rejects.toThrow('functions[0] is 7: expected an object');
    await expect(converted([{ messages: talk, functions: 7 }], 'chat')).rejects.toThrow('functions is 7: expected a list of function');
  });

  test('a column functions beside tools is no second list of tools, and stays', async () => {
    const { rows } = await converted([{ messages: talk, tools: [TOOLS[0]], functions: [FIND] }], 'chat');
    expect(rows).toEqual([{ messages: talk, tools: [TOOLS[0]], functions: [FIND] }]);
  });
});

describe('a conversation', () => {
  test.each([
    ['chat', 'trl', CHAT, TRL],
    ['trl', 'chat', TRL, CHAT],
    ['chat', 'sharegpt', CHAT, SHAREGPT],
    ['trl', 'sharegpt', TRL, SHAREGPT],
    ['trl', 'trl', TRL, TRL],
  ] as const)('from %s to %s', async (_, to, from, expected) => {
    const { rows, notes } = await converted([from], to);
    expect(rows).toEqual([expected]);
    expect(notes).toEqual(to === 'sharegpt' ? ['the ids of calls are left out (3 ×, first in row 1)'] : []);
  });

  test('from ShareGPT to chat: calls get ids, which their results name', async () => {
    const { rows, notes } = await converted([SHAREGPT], 'chat');
    const text = JSON.stringify(CHAT).replaceAll('"a"', '"call_2_0"').replaceAll('"b"', '"call_2_1"');
    expect(rows).toEqual([JSON.parse(text)]);
    expect(notes).toEqual([]);
  });

  test('to and from the rows of MUA-RL’s dataset, whose tools stand in one object', async () => {
    for (const from of [CHAT, TRL]) {
      const { rows, notes } = await converted([from], 'mua-rl');
      const [{ messages, tools, ...others }] = rows as [{ messages: string; tools: string }];
      expect(others).toEqual({ id: 'x/1', source: 'x' });
      expect(JSON.parse(messages)).toEqual(CHAT.messages);
      expect(JSON.parse(tools)).toEqual({ type: 'function', function: [FIND, RENEW] });
      expect(notes).toEqual(['columns are left out, as the format has only id, source, messages and tools: reward (1 ×, first in row 1)']);
      const { reward: _, ...kept } = { ...TRL, source: 'x' };
      expect((await converted(rows, 'trl')).rows).toEqual([kept]);
    }
  });

  test('to Parquet and back, also without tools', async () => {
    const bare = { messages: [{ role: 'user', content: 'Hi' }, { role: 'assistant', content: 'Hello' }], id: 'y/2', source: 's' }; // prettier-ignore
    const { content } = await convert([CHAT, bare], 'parquet');
    const rows = await readParquet(content, 'file');
    expect(rows.map((row) => [row.id, row.source, typeof row.messages, typeof row.tools])).toEqual([
      ['x/1', 'x', 'string', 'string'],
      ['y/2', 's', 'string', 'object'],
    ]);
    const { reward: _, ...kept } = CHAT;
    expect((await converted(content, 'chat')).rows).toEqual([{ ...kept, source: 'x' }, bare]);
  });

  test.each<[DatasetFormat, Row]>([
    ['chat', { prompt: [{ role: 'user', content: 'a' }], completion: [{ role: 'assistant', content: 'b' }], messages: null }],
    ['trl', { messages: null, traj: [{ role: 'user', content: 'a' }, { role: 'assistant', content: 'b' }] }],
    ['sharegpt', { messages: [{ role: 'user', content: 'a' }, { role: 'assistant', content: 'b' }], conversations: [] }],
  ])('to %s from a row with another column of messages, which is empty', async (format, row) => {
    const { rows } = await converted([row], format);
    expect(rows[0]!.messages ?? rows[0]!.conversations).toHaveLength(2);
  }); // prettier-ignore

  test('integers of any size keep their digits', async () => {
    const big = '12345678901234567890';
    const line = (args: string) =>
      `{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": ${args}}}]}]}`;
    for (const args of [`{"n": ${big}}`, JSON.stringify(`{"n": ${big}}`)])
      for (const format of ['chat', 'trl', 'sharegpt', 'mua-rl'] as const) {
        const { content } = await convert(new TextEncoder().encode(line(args)), format);
        expect(new TextDecoder().decode(content)).toContain(big);
      }
  });

  test('a file that pyarrow wrote has row groups, dictionaries, Snappy and nulls', async () => {
    // tests/reference/mua_rl_parquet.py has the same rows in Python.
    const { rows, notes } = await converted(new Uint8Array(await readFile('tests/reference/fixtures/mua-rl.parquet')), 'chat');
    expect(rows).toHaveLength(7);
    expect(notes).toEqual([]);
    for (const [i, row] of rows.entries()) {
      const call = (id: string, name: string, args: string) => ({ id: id + i, type: 'function', function: { name, arguments: args } });
      expect(row.messages).toEqual([
        { role: 'system', content: 'Renew loans.' },
        { role: 'user', content: `Renew “Été ${i}”, please.\n图书馆` },
        {
          role: 'assistant',
          content: '',
          tool_calls: [call('a', 'find_book', `{"title": "Été ${i}"}`), call('b', 'renew', `{"loan": ${2n ** 60n + BigInt(i)}}`)],
        },
        { role: 'tool', content: '{"id": 1}', tool_call_id: `a${i}` },
        { role: 'tool', content: 'ok', tool_call_id: `b${i}` },
        { role: 'assistant', content: 'Done.' },
        { role: 'user', content: '###STOP###' },
      ]);
      const find = { name: 'find_book', description: 'Finds a book.', parameters: parameters('title', 'string') };
      expect(row.tools).toEqual(i === 4 ? undefined : [find, RENEW].map((own) => ({ type: 'function', function: own })));
      expect([row.id, row.source]).toEqual([`00000000-0000-4000-8000-00000000000${i}`, i % 2 ? 'library_borrowing_en' : 'travel_plan_zh']);
    }
  });
});

describe('ShareGPT', () => {
  const talk = (...turns: [string, unknown][]) => ({ conversations: turns.map(([from, value]) => ({ from, value })) });

  test.each<[string, Row, Row[]]>([
    ['a turn of the system', talk(['system', 'S'], ['human', 'a'], ['gpt', 'b']), [{ role: 'system', content: 'S' }, { role: 'user', content: 'a' }, { role: 'assistant', content: 'b' }]],
    ['roles of OpenAI', { conversations: [{ role: 'user', content: 'a' }, { role: 'assistant', content: 'b' }], system: 'S' }, [{ role: 'system', content: 'S' }, { role: 'user', content: 'a' }, { role: 'assistant', content: 'b' }]],
    ['other names', talk(['user', 'a'], ['assistant', 'b']), [{ role: 'user', content: 'a' }, { role: 'assistant', content: 'b' }]],
    ['a text in JSON', { conversations: JSON.stringify(talk(['human', 'a'], ['gpt', 'b']).conversations) }, [{ role: 'user', content: 'a' }, { role: 'assistant', content: 'b' }]],
    ['a call without arguments', talk(['human', 'a'], ['function_call', '{"name": "f"}']), [{ role: 'user', content: 'a' }, { role: 'assistant', content: '', tool_calls: [{ type: 'function', function: { name: 'f', arguments: {} } }] }]],
  ])('%s is read', (_, row, messages) => {
    expect(parseConversations(JSON.stringify(row))).toEqual([{ messages }]);
  }); // prettier-ignore

  test.each([
    [talk(['robot', 'a']), 'line 1: conversations[0].from is "robot": expected human, gpt, function_call, observation or system'],
    [talk(['human', 'a'], ['function_call', 'f(1)']), 'line 1: conversations[1].value is "f(1)": expected a call {"name": …'],
    [talk(['gpt', 3]), 'line 1: conversations[0].value is 3: expected a text'],
    [{ conversations: [] }, 'line 1: conversations is []: expected a list of at least one message'],
  ])('an error names the field: %j', (row, message) => {
    expect(() => parseConversations(JSON.stringify(row))).toThrow(message);
  });

  test('results that came in another order stand in the order of their calls, as ShareGPT has no ids', async () => {
    const [system, user, calls, first, second, answer] = CHAT.messages;
    const { rows } = await converted([{ ...CHAT, messages: [system, user, calls, second, first, answer] }], 'sharegpt');
    expect(rows).toEqual([SHAREGPT]);
  });

  test('says what it cannot hold', async () => {
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'I look.', tool_calls: [{ type: 'function', function: { name: 'f', arguments: '{}' } }] },
      { role: 'tool', name: 'f', content: 'x' },
      { role: 'system', content: 'Later.' },
      { role: 'assistant', content: 'b' },
      { role: 'user', content: 'Bye.' },
    ];
    const { rows, notes } = await converted([{ messages }, { messages: messages.slice(4, 5) }], 'sharegpt');
    expect((rows[0]!.conversations as Row[]).map(({ from }) => from)).toEqual(['human', 'function_call', 'observation', 'gpt']);
    expect(notes.map((note) => note.replace(/ \(.*/, ''))).toEqual([
      'the words beside a call are left out',
      'the names in messages of role tool are left out',
      'a later message of the system is left out',
      'the last message, after the agent’s last, is left out, as LLaMA-Factory wants the agent’s last',
      'the speakers do not take turns, so LLaMA-Factory will skip the row',
    ]);
  });

  test('a row of the system alone is written, and LLaMA-Factory will skip it', async () => {
    const system = [{ role: 'system', content: 'S' }];
    const pair = { prompt: system, chosen: [{ role: 'assistant', content: 'a' }], rejected: [{ role: 'assistant', content: 'b' }] };
    const { rows, notes } = await converted([{ messages: system }, pair], 'sharegpt');
    expect(rows.map(({ conversations }) => conversations)).toEqual([[], []]);
    expect(notes).toEqual(['the speakers do not take turns, so LLaMA-Factory will skip the row (2 ×, first in row 1)']);
  });
});

test('fields of messages that are not read are named', () => {
  const notes: string[] = [];
  const messages = [{ role: 'user', content: 'a' }, { role: 'assistant', content: 'b', weight: 0, refusal: null }]; // prettier-ignore
  parseConversations(JSON.stringify({ messages }), (line) => notes.push(line));
  expect(notes).toEqual(['the field weight of messages is left out (1 ×, first in line 1)']);
});

test('a tool message without a call is named, as OpenAI refuses it', async () => {
  const messages = [{ role: 'user', content: 'a' }, { role: 'assistant', content: 'b' }, { role: 'tool', content: 'c' }]; // prettier-ignore
  expect((await converted([{ messages }], 'chat')).notes).toEqual([
    'a tool message answers no call, which OpenAI refuses (1 ×, first in row 1)',
  ]);
});
