/** Pairs for preference optimisation: read from files, and made from good and bad conversations of one task. */
import { describe, expect, test } from 'vitest';
import { readPreference } from '../../../src/agent/preference.ts';
import { parseConversations } from '../../../src/agent/conversation.ts';
import { convertDataset } from '../../../src/formats/convert-dataset.ts';
import { rowsOfFile } from '../../../src/formats/dataset-file.ts';
import type { DatasetFormat } from '../../../src/formats/write-dataset.ts';

type Row = Record<string, unknown>;
async function converted(rows: readonly Row[], format: DatasetFormat = 'preference') {
  const notes: string[] = [];
  const bytes = new TextEncoder().encode(rows.map((row) => JSON.stringify(row)).join('\n'));
  const { content } = await convertDataset(await rowsOfFile('rows', bytes), format, (line) => notes.push(line));
  return { rows: new TextDecoder().decode(content).trimEnd().split('\n').map((line) => JSON.parse(line) as Row), notes }; // prettier-ignore
}

const system = { role: 'system', content: 'Ask first.' };
const user = (content: string) => ({ role: 'user', content });
const agent = (content: string) => ({ role: 'assistant', content });
const call = (name: string, args: unknown = {}, id?: string) => ({
  role: 'assistant',
  content: '',
  tool_calls: [{ ...(id !== undefined && { id }), type: 'function', function: { name, arguments: args } }],
});
const result = (content: string, id?: string) => ({ role: 'tool', content, ...(id !== undefined && { tool_call_id: id }) });
const tools = [{ type: 'function', function: { name: 'cancel' } }];

const start = [system, user('Cancel 1.'), call('look', { order: 1 }, 'a'), result('pending', 'a')];
const good = { id: 'shop/1', messages: [...start, agent('Cancel 1. Yes?'), user('Yes.'), call('cancel'), result('ok'), agent('Done.')], tools, reward: 1 }; // prettier-ignore
/** The same start with other ids of calls and with arguments as texts. */
const other = [system, user('Cancel 1.'), call('look', '{"order": 1}', 'b'), result('pending', 'b')];
const unasked = { id: 'shop/1#1', messages: [...other, call('cancel'), result('ok'), agent('Done.')], tools, reward: 0, near_miss: { kind: 'unasked_write', first_wrong: 4, of: 'shop/1' } }; // prettier-ignore
const claimed = { id: 'shop/1#2', messages: [...good.messages.slice(0, 6), agent('Done.')], tools, reward: 0, near_miss: { kind: 'claimed_not_done', first_wrong: 6, of: 'shop/1' } }; // prettier-ignore

describe('near-misses', () => {
  test('the prompt ends before the wrong message, and each side has that message of the agent', async () => {
    const { rows, notes } = await converted([good, unasked, claimed]);
    expect(rows).toEqual([
      {
        prompt: start,
        chosen: [agent('Cancel 1. Yes?')],
        rejected: [call('cancel')],
        tools,
        id: 'shop/1#1',
        chosen_id: 'shop/1',
        rejected_kind: 'unasked_write',
      },
      { prompt: good.messages.slice(0, 6), chosen: [call('cancel')], rejected: [agent('Done.')], tools, id: 'shop/1#2', chosen_id: 'shop/1', rejected_kind: 'claimed_not_done' }, // prettier-ignore
    ]);
    expect(notes).toEqual([]);
  });

  test('those that cannot be paired are counted with the reason', async () => {
    const rows = [
      good,
      unasked,
      { ...unasked, id: 'again' },
      { ...unasked, id: 'lost', near_miss: { ...unasked.near_miss, of: 'shop/9' } },
      { ...unasked, id: 'labelled at the wrong message', near_miss: { ...unasked.near_miss, first_wrong: 6 } },
      { ...unasked, id: 'another customer', messages: [system, user('Cancel 2.'), call('cancel')] },
      { ...unasked, id: 'other tools', tools: [] },
    ];
    const found = await converted(rows);
    expect(found.rows).toHaveLength(1);
    expect(found.notes).toEqual([
      '1 conversation without a pair: each makes a pair that another one makes too',
      '1 conversation without a pair: each names a success in near_miss.of that the file does not have',
      '1 conversation without a pair: each differs from its success before or after the message near_miss.first_wrong',
      '1 conversation without a pair: each does not differ from its success in a message of the agent first',
      '1 conversation without a pair: each has other tools than its success',
    ]);
  });

  test('formats without a column for the label do not get them', async () => {
    const { rows, notes } = await converted([good, unasked], 'mua-rl');
    expect(rows.map(({ id }) => id)).toEqual(['shop/1']);
    expect(notes[0]).toBe('near-misses are left out (1 of 2), as the format has no column for their label');
    await expect(converted([unasked], 'parquet')).rejects.toThrow('all conversations are near-misses');
    const chat = await converted([good, unasked], 'chat');
    expect(chat.rows[1]!.near_miss).toEqual(unasked.near_miss);
    expect(chat.notes[0]).toContain('1 of 2 conversations are near-misses');
  });
});

describe('trials of a task with reward 1 and 0', () => {
  const trial = (id: string, task: string, reward: number, ...messages: Row[]) => ({ id, task, reward, messages: [system, ...messages] });

  test('a failure is paired with the success of its task that has most in common with it', async () => {
    const { rows, notes } = await converted([
      trial('1', 't', 1, user('a'), agent('Hello'), user('b'), agent('good')),
      trial('2', 't', 1, user('a'), agent('Hi'), user('b'), agent('fine')),
      trial('3', 't', 0, user('a'), agent('Hi'), user('b'), agent('bad'), agent('worse'), user('c'), agent('end')),
      trial('4', 'u', 0, user('a'), agent('Hi')),
      trial('5', 't', 0, user('z'), agent('Hi')),
      trial('6', 't', 0.5, user('a'), agent('Hi')),
    ]);
    expect(rows).toEqual([
      {
        prompt: [system, user('a'), agent('Hi'), user('b')],
        chosen: [agent('fine')],
        rejected: [agent('bad'), agent('worse')],
        id: '3',
        task: 't',
        chosen_id: '2',
      },
    ]);
    expect(notes).toEqual([
      '1 conversation without a pair: each has a task that no conversation of the file solves',
      '2 conversations without a pair: each does not differ from its success in a message of the agent first',
    ]);
  });

  test('conversations without task and id are not of one task', async () => {
    const untold = (reward: number, said: string) => ({ reward, messages: [system, user('a'), agent(said)] });
    await expect(converted([untold(1, 'Yes.'), untold(0, 'No.')])).rejects.toThrow(
      '1 conversation without a pair: each has neither task nor id',
    );
  });

  test('an integer of any size in a tool is the same in both', async () => {
    const big = { type: 'function', function: { name: 'f', parameters: { maximum: 'BIG' } } };
    const lines = [1, 0].map((reward) => JSON.stringify({ ...trial('1', 't', reward, user('a'), agent(`${reward}`)), tools: [big] }));
    const file = new TextEncoder().encode(lines.join('\n').replaceAll('"BIG"', '9007199254740993'));
    const { content, rows } = await convertDataset(await rowsOfFile('rows', file), 'preference', () => {});
    expect(rows).toBe(1);
    expect(new TextDecoder().decode(content)).toContain('"maximum": 9007199254740993');
  });

  test('a file without pairs is an error that says what is expected', async () => {
    await expect(converted([trial('1', 't', 1, user('a'), agent('b'))])).rejects.toThrow('no pair can be made: expected rows with chosen and rejected, near-misses'); // prettier-ignore
  });
});

describe('rows with chosen and rejected', () => {
  const pair = { prompt: [system, user('a')], chosen: [agent('b')], rejected: [agent('c')] };

  test.each<[string, Row]>([
    ['of TRL', pair],
    ['without a prompt', { chosen: [system, user('a'), agent('b')], rejected: [system, user('a'), agent('c')] }],
    ['with whole conversations beside a prompt as text', { prompt: 'a', chosen: [system, user('a'), agent('b')], rejected: [system, user('a'), agent('c')] }],
    ['with one message a side', { ...pair, chosen: agent('b'), rejected: agent('c') }],
    ['as texts in JSON', { prompt: JSON.stringify(pair.prompt), chosen: JSON.stringify(pair.chosen), rejected: JSON.stringify(pair.rejected) }],
    ['of LLaMA-Factory', { system: 'Ask first.', conversations: [{ from: 'human', value: 'a' }], chosen: { from: 'gpt', value: 'b' }, rejected: { from: 'gpt', value: 'c' } }],
  ])('%s are read', (_, row) => {
    expect(readPreference(row)).toEqual(pair);
  }); // prettier-ignore

  test('a prompt that is given stays, also if both answers begin alike', () => {
    const long = { prompt: [user('a')], chosen: [agent('b'), user('c'), agent('d')], rejected: [agent('b'), user('c'), agent('e')] };
    expect(readPreference(long)).toEqual(long);
  });

  test.each<[Row, string]>([
    [{ ...pair, rejected: pair.chosen }, 'pair: rejected is [{"role":"assistant","content":"b"}]: expected another answer than chosen'],
    [{ ...pair, rejected: [user('c')] }, 'pair: rejected[0] is {"role":"user","content":"c"}: expected a message of role "assistant"'],
    [{ prompt: 'a', chosen: 'b', rejected: 'c' }, 'pair: chosen is "b": expected a message, or a list of messages'],
    [{ prompt: 'a', chosen: [agent('b')], rejected: [agent('c')] }, 'pair: prompt is "a": expected a list of at least one message'],
    [{ messages: [user('a'), agent('b')] }, 'pair: chosen is missing: expected a message, or a list of messages'],
  ])('%j is refused', (row, message) => {
    expect(() => readPreference(row)).toThrow(message);
  });

  test('they stay as they are, and keep their columns', async () => {
    const row = { ...pair, tools, score: 0.25 };
    expect(await converted([row])).toEqual({ rows: [row], notes: [] });
  });

  test('as ShareGPT they have LLaMA-Factory’s ranking columns', async () => {
    expect((await converted([pair], 'sharegpt')).rows).toEqual([
      { conversations: [{ from: 'human', value: 'a' }], chosen: { from: 'gpt', value: 'b' }, rejected: { from: 'gpt', value: 'c' }, system: 'Ask first.' }, // prettier-ignore
    ]);
  });

  test('to learn by imitation, the chosen answer follows the prompt', async () => {
    const whole = [...pair.prompt, ...pair.chosen];
    const notes: string[] = [];
    expect(parseConversations(JSON.stringify(pair), (line) => notes.push(line))).toEqual([{ messages: whole }]);
    expect(notes).toEqual(['the rejected answers of pairs are left out (1 ×, first in line 1)']);
    const chat = await converted([pair], 'chat');
    expect(chat).toEqual({ rows: [{ messages: whole }], notes: ['the rejected answer is left out (1 ×, first in row 1)'] });
  });
});
