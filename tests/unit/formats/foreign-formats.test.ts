/** Conversations of other tools: what we write is read back with equal values, their own forms are read, hostile files are refused. */
import { readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { strToU8, zipSync } from 'fflate';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { toMessages } from '../../../src/agent/trajectory.ts';
import { readRunBundle } from '../../../src/exchange/run-bundle.ts';
import { writeRunBundle } from '../../../src/exchange/write-run-bundle.ts';
import { readForeign } from '../../../src/formats/read-foreign.ts';
import { trajectoryLine } from '../../../src/formats/rollout-lines.ts';
import { type RunFormat, writeRun } from '../../../src/formats/write-run.ts';
import type { RunContent } from '../../../src/records/bundle.ts';
import { readOnlyRun } from '../../../src/trainer/read-only-run.ts';
import { conversationLines } from '../../support/conversation-lines.ts';
import { TAU2_RESULTS } from '../../support/benchmark-data.ts';
import { bundledTokenizer } from '../../support/tokenizers.ts';
import { hash32 } from '../../../src/base/random.ts';

let run: RunContent;
let rollouts: Map<string, RunContent['rollouts'][number]>;
beforeAll(async () => {
  run = await readRunBundle(new Uint8Array(await readFile('public/recorded/run.mua.zip')));
  rollouts = new Map(run.rollouts.map((rollout) => [rollout.id, rollout]));
});

const written = (format: RunFormat) => writeRun(format, { ...run, rollouts, tokenizer: bundledTokenizer(run.run.request.model) });
const read = (content: unknown, file = 'file.jsonl') =>
  readForeign(file, strToU8(typeof content === 'string' ? content : JSON.stringify(content)));
const asRun = async (bytes: Uint8Array, file = 'file') => {
  const { rollouts: found, source } = await readForeign(file, bytes);
  return readOnlyRun(found, { createdAt: 1, source });
};
/** Ids of calls are made from the place of a message. */
const withoutCallIds = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (name, child: unknown) =>
      name === 'tool_call_id' || (name === 'id' && /^call_/.test(String(child))) ? undefined : child,
    ),
  );

describe('round trips', () => {
  it.each(['rollouts', 'parquet'] as const)('%s: messages, tokens, mask, log-probs, rewards, advantages, places', async (format) => {
    const again = await asRun(await written(format));
    const byId = new Map(again.rollouts.map((rollout) => [rollout.id, rollout]));
    expect(again.trajectories.map(({ id }) => id)).toEqual(run.trajectories.map(({ id }) => id));
    expect(run.trajectories.length).toBeGreaterThan(50);
    let withTokens = 0;
    for (const [i, trajectory] of again.trajectories.entries()) {
      const own = trajectoryLine(run.trajectories[i]!, rollouts.get(trajectory.id));
      const other = trajectoryLine(trajectory, byId.get(trajectory.id));
      expect(withoutCallIds(other)).toEqual(withoutCallIds(own));
      if ((own.completion_ids as number[]).length > 0 && (other.completion_ids as number[]).length > 0) withTokens++;
    }
    expect(withTokens).toBe(run.trajectories.length);
  });

  it('parquet has lists of whole numbers and real numbers as columns', async () => {
    const { parquetMetadata, parquetReadObjects } = await import('hyparquet');
    const { buffer } = await written('parquet');
    const types = Object.fromEntries(
      parquetMetadata(buffer).schema.map(({ name, type, converted_type }) => [name, converted_type ?? type]),
    );
    expect(types).toMatchObject({
      prompt: 'JSON',
      task: 'UTF8',
      step: 'INT32',
      advantage: 'DOUBLE',
      completion_ids: 'LIST',
      logprobs: 'LIST',
    });
    const rows = await parquetReadObjects({ file: buffer });
    expect(rows[0]!.logprobs).toEqual(trajectoryLine(run.trajectories[0]!, rollouts.get(run.trajectories[0]!.id)).logprobs);
  });

  it('inspect: messages, reward, advantage, step, group, ending', async () => {
    const again = await asRun(await written('inspect'));
    const steps = new Map(again.rollouts.map((rollout) => [rollout.id, rollout]));
    expect(again.trajectories).toHaveLength(run.trajectories.length);
    for (const [i, trajectory] of again.trajectories.entries()) {
      const own = run.trajectories[i]!;
      const { advantage, step } = rollouts.get(own.id)!;
      expect(withoutCallIds(toMessages(trajectory))).toEqual(withoutCallIds(toMessages(own)));
      expect(trajectory).toMatchObject({ reward: own.reward, termination: own.termination, turns: own.turns });
      expect(steps.get(trajectory.id)).toMatchObject({ advantage, step, task: own.task.id });
    }
    const groups = (of: RunContent) =>
      of.trajectories.map(({ group }, i) => of.trajectories.findIndex((first) => first.group === group) - i);
    expect(groups(again)).toEqual(groups(run));
  });

  it('chat: the messages', async () => {
    const { rollouts: found, source } = await readForeign('x.jsonl', await written('chat'));
    expect(source).toBe('Chat messages');
    for (const [i, { trajectory }] of found.entries())
      expect(withoutCallIds(toMessages(trajectory))).toEqual(withoutCallIds(toMessages(run.trajectories[i]!)));
  });

  it('verl: roles, spoken texts, calls, scores and steps, cut from text without special tokens', async () => {
    const { rollouts: found, source } = await readForeign('x.jsonl', await written('verl'));
    expect(source).toBe('verl');
    for (const [i, { trajectory, step }] of found.entries()) {
      const own = run.trajectories[i]!;
      expect(step).toBe(rollouts.get(own.id)!.step);
      expect(trajectory.reward).toBe(own.reward);
      const plain = (of: typeof own) => of.nodes.filter(({ role }) => role !== 'template');
      expect(plain(trajectory).map(({ role }) => role)).toEqual(plain(own).map(({ role }) => role));
      const ran = (of: typeof own) =>
        of.nodes.flatMap(({ toolCall, parseError }) => (toolCall && parseError === undefined ? [toolCall] : []));
      expect(ran(trajectory)).toEqual(ran(own));
    }
  });

  it('a run of foreign conversations is a bundle that the page reads', async () => {
    const again = await asRun(await written('verl'));
    const bundle = await readRunBundle(await writeRunBundle(again, { appVersion: 'test' }));
    expect(bundle.run).toMatchObject({ status: 'done', config: { domain: 'imported' }, request: { model: 'verl' } });
    expect(bundle.trajectories).toEqual(again.trajectories);
    const steps = new Set(run.trajectories.map(({ id }) => rollouts.get(id)!.step));
    expect(bundle.metrics.map(({ step }) => step)).toEqual([...steps].sort((a, b) => a - b));
    for (const { step, 'critic/score/mean': mean } of bundle.metrics) {
      const rewards = bundle.rollouts.filter((own) => own.step === step).map(({ reward }) => reward!);
      expect(mean).toBeCloseTo(rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length, 12);
    }
  });
});

describe('Parquet of other programs', () => {
  it.each([
    ['GZIP', (bytes: Uint8Array) => gzipSync(bytes)],
    ['BROTLI', (bytes: Uint8Array) => brotliCompressSync(bytes)],
    // A frame of Zstandard with one block that is not packed (RFC 8878), and LZ4 with literals only.
    [
      'ZSTD',
      (bytes: Uint8Array) =>
        Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0, 0x58, ((bytes.length << 3) | 1) & 255, bytes.length >> 5, 0, ...bytes),
    ],
    ['LZ4_RAW', (bytes: Uint8Array) => Uint8Array.of(...lz4Literals(bytes.length), ...bytes)],
  ] as const)('%s', async (codec, pack) => {
    const columnData = Object.entries({ prompt: ['user\nHi\nassistant\n'], completion: ['Hello.'], reward: [0.5] }).map(([name, data]) => ({
      name,
      data,
    }));
    const compressors = { [codec]: (bytes: Uint8Array) => new Uint8Array(pack(bytes)) };
    const { rollouts: found } = await readForeign('x', new Uint8Array(parquetWriteBuffer({ columnData, codec, compressors })));
    expect(found.map(({ trajectory }) => conversationLines(trajectory))).toEqual([['0.5', 'user: Hi', 'assistant: Hello.']]);
  });
});

/** The token and the further bytes for a number of literals (LZ4 block format). */
const lz4Literals = (count: number): number[] =>
  count < 15 ? [count << 4] : [0xf0, ...Array<number>(Math.floor((count - 15) / 255)).fill(255), (count - 15) % 255];

describe('Inspect’s log', () => {
  it('is valid by the schema of inspect_ai, which refuses logs with a wrong or a missing field', async () => {
    const schema = JSON.parse(await readFile('tests/reference/fixtures/inspect-log-schema.json', 'utf8')) as Parameters<
      typeof z.fromJSONSchema
    >[0];
    const valid = (log: unknown) => z.fromJSONSchema(schema).safeParse(log).success;
    const log = () => written('inspect').then((bytes) => JSON.parse(new TextDecoder().decode(bytes)));
    expect(valid(await log())).toBe(true);
    const wrong = await log();
    wrong.samples[0].messages[0].role = 'customer';
    expect(valid(wrong)).toBe(false);
    const missing = await log();
    delete missing.samples[0].output.choices;
    expect(valid(missing)).toBe(false);
    const { samples } = await log();
    // Inspect finds a sample by its id and epoch.
    expect(new Set(samples.map(({ id, epoch }: { id: string; epoch: number }) => `${id} ${epoch}`)).size).toBe(samples.length);
  });

  it('.eval and .json: parts of contents, attachments, calls, scores as letters, epochs', async () => {
    const key = 'a'.repeat(32);
    const sample = (id: number, value: unknown) => ({
      id,
      epoch: 2,
      input: 'x',
      target: '',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: `see attachment://${key}` },
            { type: 'image', image: 'data:…' },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', reasoning: 'hm' },
            { type: 'text', text: 'I look.' },
          ],
          tool_calls: [{ id: 'c1', function: 'look', arguments: { at: 1 }, type: 'function' }],
        },
        { role: 'tool', content: 'seen', tool_call_id: 'c1', function: 'look' },
        { role: 'assistant', content: 'Done.' },
      ],
      scores: { match: { value } },
      attachments: { [key]: 'this' },
      limit: { type: 'context', limit: 10 },
    });
    const zip = zipSync({
      'header.json': strToU8('{}'),
      'samples/10_epoch_2.json': strToU8(JSON.stringify(sample(10, 'P'))),
      'samples/9_epoch_2.json': strToU8(JSON.stringify(sample(9, 'C'))),
    });
    const { rollouts: found, source } = await readForeign('x.eval', zip);
    expect(source).toBe('Inspect');
    expect(found.map(({ trajectory: { task, reward, index } }) => [task.id, reward, index])).toEqual([
      ['9', 1, 1],
      ['10', 0.5, 1],
    ]);
    const [first] = found;
    expect(toMessages(first!.trajectory).messages).toEqual([
      { role: 'user', content: 'see this\n[image]' },
      {
        role: 'assistant',
        content: 'I look.',
        reasoning_content: 'hm',
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: { at: 1 } } }],
      },
      { role: 'tool', content: 'seen', name: 'look', tool_call_id: 'call_1' },
      { role: 'assistant', content: 'Done.' },
    ]);
    expect(first!.trajectory).toMatchObject({ termination: 'context_full', toolCalls: { look: 1 }, turns: 1 });
    const crashed = await readForeign(
      'x.eval',
      zipSync({ '_journal/start.json': strToU8('{}'), 'samples/1_epoch_1.json': strToU8(JSON.stringify(sample(1, 'C'))) }),
    );
    const image = 'a part of type image is not text and becomes [image] (first in samples/1_epoch_1.json)';
    expect([crashed.rollouts.length, crashed.notes]).toEqual([
      1,
      ['the log has no header.json, because the evaluation did not end', image],
    ]);
    const json = await read({ version: 2, eval: {}, samples: [sample(1, { a: 1 })] }, 'x.json');
    expect(json.rollouts[0]!.trajectory.reward).toBeNull();
  });

  it('keeps contents that are other JSON, and notes the nulls that it removes', async () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: '', tool_calls: [{ id: 'c', function: 'look', arguments: { reason: null, x: 1 } }] },
      { role: 'tool', content: { price: 3 }, tool_call_id: 'c', function: 'look' },
      { role: 'assistant', content: [1, 2] },
    ];
    const { rollouts, notes } = await read({ version: 2, eval: {}, samples: [{ id: 1, messages }] }, 'x.json');
    const [, called, result, said] = toMessages(rollouts[0]!.trajectory).messages;
    expect(called!.tool_calls![0]!.function.arguments).toEqual({ x: 1 });
    expect(notes).toEqual([expect.stringContaining('nulls')]);
    expect([result!.content, said!.content]).toEqual(['{"price": 3}', '[1, 2]']);
  });

  it('names a sample that is nested too deeply', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const sample = (id: number, content: string) => `{"id": ${id}, "messages": [{"role": "user", "content": ${content}}]}`;
    const log = `{"version": 2, "eval": {}, "samples": [${sample(1, '"Hi"')}, ${sample(2, deep)}]}`;
    const { notes } = await readForeign('x.json', strToU8(log));
    expect(notes).toEqual(['1 of 2 rows have an error: samples[1]: it is nested too deeply, or too large']);
  });
});

describe('TRL and verl', () => {
  it('TRL’s completions: text with and without special tokens, one column for each reward function', async () => {
    // The columns of GRPOTrainer.log; pandas writes the texts of batch_decode.
    const columns = {
      step: [3n, 3n],
      prompt: ['system\nBe kind.\nuser\nHi\nassistant\n', '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n'],
      completion: [
        'Let me look.\n<tool_call>\n{"name": "find", "arguments": {"id": 7}}\n</tool_call>\nuser\n<tool_response>\n{"a": 1}\n</tool_response>\nassistant\nHere.',
        'user of the list<|im_end|>',
      ],
      outcome_reward_func: [1, 0],
      format_reward: [0.25, 0],
      response_length: [12, 4],
      advantage: [0.7, -0.7],
    };
    const file = new Uint8Array(parquetWriteBuffer({ columnData: Object.entries(columns).map(([name, data]) => ({ name, data })) }));
    const { rollouts: found, source } = await readForeign('completions_00003.parquet', file);
    expect(source).toBe('TRL');
    expect(found.map(({ step, advantage, trajectory: { reward } }) => [step, advantage, reward])).toEqual([
      [3, 0.7, 1.25],
      [3, -0.7, 0],
    ]);
    expect(
      found[0]!.trajectory.nodes.map(({ role, text, content, toolCall, toolResult }) => [
        role,
        content ?? text,
        toolCall?.arguments,
        toolResult?.name,
      ]),
    ).toEqual([
      ['system', 'Be kind.', undefined, undefined],
      ['user', 'Hi', undefined, undefined],
      ['assistant', 'Let me look.', { id: 7 }, undefined],
      ['tool', '{"a": 1}', undefined, 'find'],
      ['assistant', 'Here.', undefined, undefined],
    ]);
    expect(found[1]!.trajectory.nodes.map(({ role, text }) => [role, text])).toEqual([
      ['user', 'Hi'],
      ['assistant', 'user of the list'],
    ]);
  });

  it('conversations of one prompt and step are a group; steps stay apart; files may repeat ids', async () => {
    const row = (step: number, input: string, score: number) => JSON.stringify({ input, output: 'ok', gts: null, score, step });
    const first = await read([row(1, 'a', 1), row(1, 'b', 0), row(1, 'a', 0)].join('\n'));
    const second = await read(row(2, 'a', 1));
    const made = readOnlyRun([...first.rollouts, ...second.rollouts], { createdAt: 5, source: 'verl' });
    expect(made.rollouts.map(({ id, group, step }) => [id, group, step])).toEqual([
      ['1-0-0', '1-0', 1],
      ['1-1-0', '1-1', 1],
      ['1-0-1', '1-0', 1],
      ['2-0-0', '2-0', 2],
    ]);
    expect(made.metrics.map((values) => values['critic/score/mean'])).toEqual([1 / 3, 1]);
    expect(made.run).toMatchObject({ step: 2, config: { total_training_steps: 2 } });
  });

  it('several calls of one message keep their results', async () => {
    const call = (id: string, name: string) => ({ id, type: 'function', function: { name, arguments: '{}' } });
    const { rollouts: found } = await read({
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: null, tool_calls: [call('x', 'one'), call('y', 'two')] },
        { role: 'tool', tool_call_id: 'y', content: '2' },
        { role: 'tool', tool_call_id: 'x', content: '1' },
      ],
    });
    const { nodes, toolCalls } = found[0]!.trajectory;
    expect(nodes.flatMap(({ toolResult, text }) => (toolResult ? [[toolResult.name, text]] : []))).toEqual([
      ['one', '1'],
      ['two', '2'],
    ]);
    expect(
      toMessages(found[0]!.trajectory).messages.map(({ tool_call_id, tool_calls }) => tool_call_id ?? tool_calls?.map(({ id }) => id)),
    ).toEqual([undefined, ['call_1_0', 'call_1_1'], 'call_1_0', 'call_1_1']);
    expect(toolCalls).toEqual({ one: 1, two: 1 });
  });
});

const recorded = '../shared/data/recorded/tau1_airline_gpt-4o.json';
describe.skipIf(!existsSync(recorded))('results of tau-bench (skipped without the reference data)', () => {
  it('all recorded conversations with their rewards', async () => {
    const bytes = new Uint8Array(await readFile(recorded));
    const { rollouts: found, source } = await readForeign('results.json', bytes);
    const entries = JSON.parse(new TextDecoder().decode(bytes)) as {
      task_id: number;
      trial: number;
      reward: number;
      traj: { role: string }[];
    }[];
    expect(source).toBe('tau-bench');
    expect(found.map(({ trajectory: { task, index, reward } }) => [task.id, index, reward])).toEqual(
      entries.map(({ task_id, trial, reward }) => [String(task_id), trial, reward]),
    );
    const said = (roles: string[]) => roles.filter((role) => role === 'user').length;
    expect(found.map(({ trajectory }) => said(trajectory.nodes.map(({ role }) => role)))).toEqual(
      entries.map(({ traj }) => said(traj.map(({ role }) => role))),
    );
  });
});

describe('tau2-bench’s results', () => {
  it('shows the calls of the customer beside the messages', async () => {
    const { rollouts: found, source } = await read(TAU2_RESULTS);
    expect(source).toBe('tau2-bench');
    const { trajectory } = found[0]!;
    expect(trajectory).toMatchObject({ reward: 1, task: { id: '5', actions: [{ name: 'fix', arguments: {} }] } });
    expect(trajectory.nodes.map(({ text }) => text)).toEqual(['Hi', 'It is on.']);
    expect(trajectory.userCalls).toMatchObject([{ after: 0, call: { name: 'look' }, text: 'on' }]);
  });
});

describe('hostile files', () => {
  const cases: [name: string, content: string | Uint8Array, reason: RegExp][] = [
    ['an empty file', '', /x: it is empty: expected rows of TRL/],
    ['a number', '7', /line 1: is 7: expected/],
    ['half a line', '{"mess', /x: line 1: it is not JSON/],
    ['other fields', '{"a": 1}', /line 1: has the fields a: expected/],
    ['a role that is none', '{"messages": [{"role": "boss", "content": "a"}]}', /messages\[0\]\.role is "boss"/],
    ['no message', '{"messages": []}', /messages is \[\]: expected/],
    ['a prompt that is a number', '{"prompt": 1, "completion": "a"}', /line 1, prompt: is 1: expected prompt and completion/],
    ['a score that is a text', '{"input": "a", "output": "b", "score": "good"}', /score: is "good": expected a finite number/],
    ['nesting without end', '['.repeat(200_000), /x/],
    ['a log without samples', '{"version": 2, "eval": {}}', /samples: is missing: expected a list/],
    ['a sample without messages', '{"version": 2, "eval": {}, "samples": [{"id": 1}]}', /samples\[0\]\.messages: is missing/],
    ['bytes that are no text', new Uint8Array([0xff, 0xfe, 0x00]), /it is neither text nor Parquet/],
    ['a zip of something else', zipSync({ 'a.txt': strToU8('a') }), /it is a zip without the samples/],
    ['a zip bomb', zipSync({ 'header.json': strToU8('{}'), 'samples/1.json': new Uint8Array(300 * 2 ** 20) }), /is larger than/],
    ['Parquet without an end', strToU8('PAR1 and no more'), /it is not a Parquet file that can be read/],
    ['results without a task', '{"simulations": [{}]}', /simulations\[0\]/],
  ];
  it.each(cases)('%s', async (_, content, reason) => {
    await expect(readForeign('x', typeof content === 'string' ? strToU8(content) : content)).rejects.toThrow(reason);
  });

  it.each([
    ['tokens that are texts', '"prompt_ids": ["x"], "completion_ids": []', 'prompt_ids'],
    ['a negative token', '"prompt_ids": [-1], "completion_ids": []', 'completion_ids'],
    ['a step of -1', '"step": -1', 'column step'],
  ])('%s: the column is left out with a note', async (_, columns, note) => {
    const { rollouts: found, notes } = await read(`{"prompt": "a", "completion": "b", ${columns}}`);
    expect(found[0]!.trajectory.nodes.map(({ text, tokens }) => [text, tokens])).toEqual([
      ['a', []],
      ['b', []],
    ]);
    expect(notes).toEqual([expect.stringContaining(note)]);
  });

  it('damaged Parquet gives an error of the import and ends', { timeout: 60_000 }, async () => {
    const whole = await written('parquet');
    for (let round = 0; round < 60; round++) {
      const broken = whole.slice();
      for (let i = 0; i < 8; i++) broken[4 + (hash32(round, i) % (broken.length - 8))] = hash32(i, round) % 256;
      await readForeign('x', broken).catch((error: Error) => expect(error.name).toBe('InputError'));
    }
  });

  it('keys like __proto__ stay data', async () => {
    const { rollouts: found } = await read(
      '{"messages": [{"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": "{\\"__proto__\\": {\\"polluted\\": 1}}"}}]}]}',
    );
    expect(found[0]!.trajectory.nodes[0]!.text).toContain('__proto__');
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});
