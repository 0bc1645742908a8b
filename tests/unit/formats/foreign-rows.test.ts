/** Rows as other programs write them: each kind has one wanted result, for imports and for training. */
import { expect, it } from 'vitest';
import { readForeign } from '../../../src/formats/read-foreign.ts';
import { readDataset } from '../../../src/training/dataset.ts';
import { conversationLines } from '../../support/conversation-lines.ts';
import { FOREIGN_ROWS } from '../../support/foreign-rows.ts';

const content = (file: string | Uint8Array) => (typeof file === 'string' ? new TextEncoder().encode(file) : file);

it.each(FOREIGN_ROWS)('$kind', async ({ file, read, note }) => {
  const { rollouts, notes } = await readForeign('file', content(file));
  const found = rollouts.map(({ trajectory }) => conversationLines(trajectory));
  expect(
    found.map((lines) => lines.map((line) => (line.startsWith('! file') ? line.split(': expected')[0]!.split(': it ends')[0] : line))),
  ).toEqual(read);
  if (note === undefined) expect(notes).toEqual([]);
  else expect(notes.join('\n')).toContain(note);
});

it('rows of which none can be read are one error with the first reasons', async () => {
  const bad = ['{"messages": []}', '{"a": 1}', '7', '{'].join('\n');
  await expect(readForeign('x', content(bad))).rejects.toThrow(
    /^x: none of its 4 rows can be read: line 1: messages is \[\].*; line 2: has the fields a.*; line 3: is 7.*; …$/,
  );
});

it('a bad row stays at the step of the row before it', async () => {
  const row = { input: 'user\nHi\nassistant\n', output: 'Hello.', score: 1, step: 7 };
  const { rollouts } = await readForeign('x', content(`${JSON.stringify(row)}\n{"input`));
  expect(rollouts.map(({ step }) => step)).toEqual([7, 7]);
});

it('training leaves out the rows that cannot be read, and says so', () => {
  const notes: string[] = [];
  const good = {
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello.' },
    ],
    reward: NaN,
    id: 7,
    persona: 'grandmother',
  };
  const text = `\uFEFF${JSON.stringify(good).replace('"reward":null', '"reward":NaN')}\r\n{"messages": [{"role": "user", "content": "Hi"}]}\r\n{"messages": [{"ro`;
  expect(readDataset(text, (line) => notes.push(line))).toEqual([{ id: '7', messages: good.messages }]);
  expect(notes).toEqual([
    expect.stringMatching(
      /^2 of 3 rows cannot be read and are left out: line 2: messages has no message of role "assistant".*; line 3: it is not JSON/,
    ),
    'column persona has another form and is left out (1 ×, first in line 1)',
  ]);
});

it('training keeps the digits of a big integer in arguments', () => {
  const text =
    '{"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {"x": 9007199254740993, "y": "a"}}}]}]}';
  expect(readDataset(text)[0]!.messages[0]!.tool_calls![0]!.function.arguments).toBe('{"x": 9007199254740993, "y": "a"}');
});
