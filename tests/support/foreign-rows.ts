/**
 * @file Kinds of rows that other programs write, and what the reader must make of them. The kinds come from public bug reports of other
 * tools; the rows were written by hand. The expected values follow from the text of the row. `npm run docs` writes the table of
 * docs/runs-and-files.md from this list.
 */

export interface ForeignRows {
  kind: string;
  does: string;
  /** The content of a file. */
  file: string | Uint8Array;
  /** For each conversation: the reward, then the messages, then the error if there is one. */
  read: string[][];
  /** Words that must be in a note. */
  note?: string;
}

const rows = (...values: unknown[]) => values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join('\n');
const chat = (messages: unknown[], more: object = {}) => ({ messages, reward: 1, ...more });
const user = { role: 'user', content: 'Hi' };
const agent = { role: 'assistant', content: 'Hello.' };
const HELLO = ['1', 'user: Hi', 'assistant: Hello.'];
const call = (args: unknown, more: object = {}) => ({ id: 'a', type: 'function', function: { name: 'ping', arguments: args }, ...more });
const calling = (args: unknown, more: object = {}) =>
  chat(
    [user, { role: 'assistant', content: null, tool_calls: [call(args)] }, { role: 'tool', tool_call_id: 'a', content: 'ok' }, agent],
    more,
  );
const CALLED = (args: string) => ['1', 'user: Hi', `assistant:  → ping ${args}`, 'tool: ping = ok', 'assistant: Hello.'];
const answered = (content: unknown) =>
  rows(chat([user, { role: 'assistant', tool_calls: [call({})] }, { role: 'tool', tool_call_id: 'a', content }, agent]));
const ANSWERED = (text: string) => [['1', 'user: Hi', 'assistant:  → ping {}', `tool: ping = ${text}`, 'assistant: Hello.']];
const tool = (properties: object) => ({
  tools: [{ type: 'function', function: { name: 'ping', parameters: { type: 'object', properties } } }],
});
const verl = (output: string, more: object = {}) => ({ input: 'user\nHi\nassistant\n', output, score: 1, step: 1, ...more });
const trl = (more: object) => ({ step: 5, prompt: 'user\nHi\nassistant\n', completion: 'Hello.', ...more });
const reads = (kind: string, file: string | Uint8Array, read: string[][] = [HELLO], does = 'reads it'): ForeignRows => ({
  kind,
  does,
  file,
  read,
});
const utf16 = (text: string) =>
  new Uint8Array([0xff, 0xfe, ...[...text].flatMap((letter) => [letter.charCodeAt(0) & 255, letter.charCodeAt(0) >> 8])]);
const bytes = (...parts: (string | number[])[]) =>
  new Uint8Array(parts.flatMap((part) => (typeof part === 'string' ? [...new TextEncoder().encode(part)] : part)));

const asError = (kind: string, file: string | Uint8Array, read: string[][], note: string): ForeignRows => ({
  kind,
  does: 'the row becomes a conversation with an error, and is counted',
  file,
  read,
  note,
});

export const FOREIGN_ROWS: ForeignRows[] = [
  reads('a byte order mark, CRLF', `\uFEFF${rows(chat([user, agent]))}\r\n\r\n${rows(chat([user, agent]))}\r\n`, [HELLO, HELLO]),
  reads('UTF-16', utf16(rows(chat([user, agent])))),
  reads('one list, also indented', JSON.stringify([chat([user, agent])], null, 2)),
  reads('U+2028 in a text', rows(chat([{ role: 'user', content: 'a\u2028b' }, agent])), [['1', 'user: a\u2028b', 'assistant: Hello.']]),
  reads(
    "`None`, `True`, quotes `'`",
    `{'messages': [{'role': 'user', 'content': 'Hi', 'name': None}, {'role': 'assistant', 'content': "Hello."}], 'reward': True}`,
  ),
  reads('role `developer`', rows(chat([{ role: 'developer', content: 'Be brief.' }, user, agent])), [
    ['1', 'system: Be brief.', ...HELLO.slice(1)],
  ]),
  reads('`content: null`', rows(chat([user, { role: 'assistant', content: null, reasoning_content: 'Hm.' }])), [
    ['1', 'user: Hi', 'assistant: (Hm.) '],
  ]),
  reads(
    'text parts',
    rows(
      chat([
        {
          role: 'user',
          content: [
            { type: 'text', text: 'H', image_url: null },
            { type: 'input_text', text: 'i' },
          ],
        },
        agent,
      ]),
    ),
  ),
  reads(
    'parts with thoughts',
    rows(
      chat([
        user,
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'greet' },
            { type: 'text', text: 'Hello.' },
          ],
        },
      ]),
    ),
    [['1', 'user: Hi', 'assistant: (greet) Hello.']],
  ),
  reads(
    'a call as a text',
    rows(
      chat([
        user,
        { role: 'assistant', content: '', tool_calls: ['{"id": "a", "name": "ping", "arguments": "{\\"x\\": 1}"}'] },
        { role: 'tool', tool_call_id: 'a', content: 'ok' },
        agent,
      ]),
    ),
    [CALLED('{"x":1}')],
  ),
  reads(
    'all calls as one text',
    rows(
      chat([
        user,
        { role: 'assistant', content: '', tool_calls: JSON.stringify([call({ x: 1 })]) },
        { role: 'tool', tool_call_id: 'a', content: 'ok' },
        agent,
      ]),
    ),
    [CALLED('{"x":1}')],
  ),
  reads('`arguments: ""`', rows(calling('')), [CALLED('{}')]),
  reads('`arguments: null`', rows(calling(null)), [CALLED('{}')]),
  reads('a tool’s result without content', answered(null), ANSWERED('')),
  reads(
    'a tool’s result of rows with a text',
    answered([{ text: 'a', price: 3 }, { text: 'b' }]),
    ANSWERED('[{"text": "a", "price": 3}, {"text": "b"}]'),
  ),
  reads(
    'a tool’s result that is an object with `type`',
    answered({ type: 'visa', last4: '4242' }),
    ANSWERED('{"type": "visa", "last4": "4242"}'),
  ),
  reads('`messages: null` beside `prompt`', rows({ prompt: [user], completion: [agent], reward: 1, messages: null })),
  reads('`prompt` as messages, `completion` as text', rows({ prompt: [user], completion: 'Hello.', reward: 1 })),
  reads('tools as a text', rows(calling({ x: null }, { tools: JSON.stringify(tool({ x: { type: ['string', 'null'] } }).tools) })), [
    CALLED('{"x":null}'),
  ]),
  reads('`step` and rewards as texts', rows(trl({ step: '5', reward: '1.0' }))),
  reads('a reward as boolean', rows(verl('Hello.', { score: true }))),
  reads('a reward in `{"score": …}`', rows(verl('Hello.', { score: { score: 1, acc: true } }))),
  reads(
    'two calls in a turn, as text',
    rows(
      verl(
        '<tool_call>\n{"name": "a", "arguments": {}}\n</tool_call>\n<tool_call>\n{"name": "b", "arguments": {}}\n</tool_call>\nuser\n<tool_response>\n1\n</tool_response>\n<tool_response>\n2\n</tool_response>\nassistant\nHello.',
      ),
    ),
    [['1', 'user: Hi', 'assistant:  → a {} → b {}', 'tool: a = 1', 'tool: b = 2', 'assistant: Hello.']],
  ),
  reads('`</tool_call>` in an argument', rows(verl('<tool_call>\n{"name": "a", "arguments": {"t": "x </tool_call> y"}}\n</tool_call>')), [
    ['1', 'user: Hi', 'assistant:  → a {"t":"x </tool_call> y"}'],
  ]),
  reads(
    '`<tool_response>` in a result',
    rows(
      verl(
        '<tool_call>\n{"name": "a", "arguments": {}}\n</tool_call>\nuser\n<tool_response>\nA <tool_response>\nX\n</tool_response> B\n</tool_response>\nassistant\nHello.',
      ),
    ),
    [['1', 'user: Hi', 'assistant:  → a {}', 'tool: a = A <tool_response>\nX\n</tool_response> B', 'assistant: Hello.']],
  ),
  reads(
    'NaN as reward',
    rows('{"input": "user\\nHi\\nassistant\\n", "output": "Hello.", "score": NaN, "step": 1}', verl('Hello.')),
    [['null', ...HELLO.slice(1)], HELLO],
    'no reward',
  ),
  reads(
    'an integer above 2⁵³ in arguments',
    '{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": [{"function": {"name": "ping", "arguments": {"x": 9007199254740993}}}]}], "reward": 1}',
    [['1', 'user: Hi', 'assistant:  → ping {"x":"9007199254740993"}']],
    'keeps its digits',
  ),
  {
    ...reads(
      'nulls for keys that the tool’s schema lacks',
      rows(calling({ x: '1', other: null }, tool({ x: { type: 'string' }, other: null }))),
      [CALLED('{"x":"1"}')],
      'leaves them out, and notes it',
    ),
    note: 'nulls that pad',
  },
  {
    ...reads(
      'an image',
      rows(
        chat([
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Hi' },
              { type: 'image_url', image_url: {} },
            ],
          },
          agent,
        ]),
      ),
      [['1', 'user: Hi\n[image]', 'assistant: Hello.']],
      'becomes `[image]`, and is noted',
    ),
    note: '[image]',
  },
  {
    ...reads('an optional column of another type', rows(trl({ reward: 1, index: 'train-17' })), [HELLO], 'leaves it out, and notes it'),
    note: 'column index',
  },
  {
    ...reads(
      'tokens that do not fit their mask',
      rows(trl({ reward: 1, prompt_ids: [1], completion_ids: [1, 2], completion_mask: [1] })),
      [HELLO],
      'leaves it out, and notes it',
    ),
    note: 'completion_mask',
  },
  {
    ...reads(
      'rewards named `correctness`, `format_ok`',
      rows(trl({ correctness: 1, format_ok: 0.5, advantage: 0.7 }), trl({ correctness: null, format_ok: 0.5, advantage: 0 })),
      [
        ['1.5', ...HELLO.slice(1)],
        ['0.5', ...HELLO.slice(1)],
      ],
      'adds the columns before `advantage`, and notes it',
    ),
    note: 'correctness + format_ok',
  },
  {
    ...reads(
      '`error` of verifiers',
      rows(
        { example_id: 0, prompt: [user], completion: [agent], reward: 1, error: null },
        {
          example_id: 1,
          prompt: [user],
          completion: null,
          reward: 0,
          error: { error: 'ModelError', error_chain_str: 'ModelError -> ConnectionError' },
        },
      ),
      [HELLO, ['null', 'user: Hi', '! ModelError -> ConnectionError']],
      'shows the error, has no reward',
    ),
    note: '1 of 2 conversations failed',
  },
  asError(
    'half a line at the end',
    `${rows(chat([user, agent]))}\n{"messages": [{"ro`,
    [HELLO, ['null', 'system: {"messages": [{"ro', '! file: line 2: it is not JSON']],
    '1 of 2 rows',
  ),
  asError(
    'a list that breaks off',
    `[${rows(chat([user, agent]))}, {"messages": [{"ro`,
    [HELLO, ['null', 'system: {"messages": [{"ro', '! file: entry 2: it is not JSON']],
    '1 of 2 rows',
  ),
  asError(
    'a line that breaks off within a character',
    bytes(rows(chat([user, agent])), '\n{"messages": "', [0xf0, 0x9f]),
    [HELLO, ['null', 'system: ', '! file: line 2: it is not UTF-8']],
    '1 of 2 rows',
  ),
  asError(
    'an unknown role',
    rows(chat([user, agent]), chat([{ role: 'boss', content: 'x' }])),
    [HELLO, ['null', 'system: {"messages":[{"role":"boss","content":"x"}],"reward":1}', '! file: line 2: messages[0].role is "boss"']],
    'messages[0].role',
  ),
  asError(
    'a reward that is no number',
    rows(verl('Hello.'), verl('Hello.', { score: 'good' })),
    [HELLO, ['null', ...HELLO.slice(1), '! file: line 2, score: is "good"']],
    'score',
  ),
];

/** What each kind becomes: the kinds, and what is done with them. */
export const foreignRowKinds = (): string[][] =>
  [...new Set(FOREIGN_ROWS.map(({ does }) => does))].map((does) => [
    FOREIGN_ROWS.filter((row) => row.does === does)
      .map(({ kind }) => kind)
      .join('; '),
    does,
  ]);
