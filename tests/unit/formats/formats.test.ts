/** Runs in the formats of other tools: what is written is read back with equal values. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConversations } from '../../../src/agent/conversation.ts';
import { renderConversation } from '../../../src/agent/chat-template.ts';
import { loadTokenizer } from '../../support/tokenizers.ts';
import { flatten } from '../../../src/agent/trajectory.ts';
import { readRunBundle } from '../../../src/exchange/run-bundle.ts';
import { metricsCsv } from '../../../src/formats/metrics-csv.ts';
import { verlLine } from '../../../src/formats/rollout-lines.ts';
import { crc32c, tensorBoardEvents } from '../../../src/formats/tensorboard.ts';
import type { RunContent } from '../../../src/records/bundle.ts';
import type { Tokenizer } from '../../../src/agent/types.ts';
import type { MessageNode } from '../../../src/records/trajectory.ts';
import { mua } from '../../support/mua.ts';
import { smallLlama, writeSmallLlama } from '../../support/small-llama.ts';
import { bundledTokenizer } from '../../support/tokenizers.ts';

const BUNDLE = 'public/recorded/run.mua.zip';
let run: RunContent;
let folder: string;
/** The tokenizer of the run's model. */
let tokenizer: Tokenizer;
beforeAll(async () => {
  run = await readRunBundle(new Uint8Array(await readFile(BUNDLE)));
  tokenizer = bundledTokenizer(run.run.request.model);
  folder = await mkdtemp(join(tmpdir(), 'mua-formats-'));
});
afterAll(() => rm(folder, { recursive: true }));

interface Scalar {
  step: number;
  wallTime: number;
  values: Record<string, number>;
}

/** Reads an event file, and checks both sums of each record. */
function readEvents(file: Uint8Array): { version: string; scalars: Scalar[] } {
  const view = new DataView(file.buffer, file.byteOffset, file.length);
  const unmasked = (at: number) => {
    const value = (view.getUint32(at, true) - 0xa282ead8) >>> 0;
    return ((value << 15) | (value >>> 17)) >>> 0;
  };
  let version = '';
  const scalars: Scalar[] = [];
  for (let at = 0; at < file.length;) {
    const length = Number(view.getBigUint64(at, true));
    expect(unmasked(at + 8)).toBe(crc32c(file.subarray(at, at + 8)));
    const data = file.subarray(at + 12, at + 12 + length);
    expect(unmasked(at + 12 + length)).toBe(crc32c(data));
    at += 16 + length;
    const scalar: Scalar = { step: 0, wallTime: 0, values: {} };
    const event = new BinaryReader(data);
    while (event.pos < event.len) {
      const [field] = event.tag();
      if (field === 1) scalar.wallTime = event.double();
      else if (field === 2) scalar.step = Number(event.int64());
      else if (field === 3) version = event.string();
      else {
        const summary = new BinaryReader(event.bytes());
        while (summary.pos < summary.len) {
          summary.tag();
          const value = new BinaryReader(summary.bytes());
          value.tag();
          const tag = value.string();
          value.tag();
          scalar.values[tag] = value.float();
        }
      }
    }
    if (Object.keys(scalar.values).length > 0) scalars.push(scalar);
  }
  return { version, scalars };
}

describe('metrics', () => {
  it('as a TensorBoard event file: version, steps, times, every finite value as a float', () => {
    const start = Date.UTC(2026, 0, 1);
    const { version, scalars } = readEvents(tensorBoardEvents(run.metrics, start));
    expect(version).toBe('brain.Event:2');
    expect(scalars.map(({ step }) => step)).toEqual(run.metrics.map(({ step }) => step));
    let seconds = start / 1000;
    for (const [i, { step: _, ...values }] of run.metrics.entries()) {
      seconds += values['timing_s/step'] ?? 0;
      expect(scalars[i]!.wallTime).toBeCloseTo(seconds, 3);
      expect(scalars[i]!.values).toEqual(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Math.fround(value)])));
    }
  });

  it('CRC-32C has the check values of RFC 3720', () => {
    expect(crc32c(new TextEncoder().encode('123456789'))).toBe(0xe3069283);
    expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
  });

  it('as CSV', () => {
    const [head, ...rows] = metricsCsv([
      { step: 1, 'a/b': 0.5 },
      { step: 2, c: 3, 'a/b': 1e-9 },
    ])
      .trim()
      .split('\r\n');
    expect([head, ...rows]).toEqual(['step,a/b,c', '1,0.5,', '2,1e-9,3']);
  });
});

describe('conversations', () => {
  it('as verl’s dump: input and output are the tokens that the model saw, without special tokens', () => {
    const trajectory = run.trajectories.find(({ reward }) => reward === 1)!;
    const { input, output, score, step, gts } = verlLine(trajectory, 7, undefined, tokenizer) as {
      input: string;
      output: string;
      [name: string]: unknown;
    };
    const { tokens, lossMask } = flatten(trajectory);
    const first = lossMask.indexOf(1);
    const text = (ids: number[]) => tokenizer.decode(ids).replace(/<\|[a-z_]+\|>/g, '');
    expect(input).toBe(text(tokens.slice(0, first)));
    expect(output).toBe(text(tokens.slice(first)));
    expect([score, step, gts]).toEqual([1, 7, trajectory.task.actions]);
  });

  it.each(['rollouts', 'verl', 'chat', 'csv', 'tensorboard'])('mua export-run --format %s', async (format) => {
    const out = join(folder, `events.out.tfevents.${format}`);
    const { code, stdout, stderr } = await mua('export-run', BUNDLE, '--format', format, '--out', out, '--json');
    expect(code, stderr).toBe(0);
    const { lines } = JSON.parse(stdout);
    const content = await readFile(out);
    if (format === 'tensorboard') return expect(readEvents(content).scalars).toHaveLength(run.metrics.length);
    const rows = content.toString('utf8').trim().split('\n');
    if (format === 'csv') return expect(rows).toHaveLength(run.metrics.length + 1);
    expect([lines, rows.length]).toEqual([run.trajectories.length, run.trajectories.length]);
    const parsed = rows.map((row) => JSON.parse(row));
    const flat = run.trajectories.map(flatten);
    if (format === 'rollouts')
      for (const [i, { prompt_ids, completion_ids, completion_mask, reward, advantage }] of parsed.entries()) {
        expect([...prompt_ids, ...completion_ids]).toEqual(flat[i]!.tokens);
        expect(completion_mask).toEqual(flat[i]!.lossMask.slice(prompt_ids.length));
        expect(reward).toBe(run.trajectories[i]!.reward);
        expect(advantage).toBe(run.rollouts.find(({ id }) => id === run.trajectories[i]!.id)!.advantage);
      }
    if (format === 'verl') expect(parsed.map(({ score }) => score)).toEqual(run.trajectories.map(({ reward }) => reward));
    if (format === 'chat') {
      // Our own reader takes the chats, and they give the tokens that the model saw, tools included.
      const chats = parseConversations(content.toString('utf8'));
      let equal = 0;
      for (const [i, chat] of chats.entries()) {
        const { tokens } = renderConversation(tokenizer, chat);
        if (JSON.stringify(tokens) === JSON.stringify(flat[i]!.tokens)) equal += 1;
      }
      // Some turns are not rendered to the same tokens: malformed or cut turns, and texts that the tokenizer would split otherwise.
      expect(equal / chats.length).toBeGreaterThan(0.8);
    }
  });

  it('mua export-run --format bundle: conversations of one domain as a run that the page imports', async () => {
    const audit = join(folder, 'conversations-1.jsonl');
    // `mua env-serve` writes conversations without tokens, and with ids that the client chose.
    const served = run.trajectories.slice(0, 4).map((trajectory) => ({
      ...trajectory,
      id: 'e-0',
      group: 'e',
      nodes: trajectory.nodes.map(({ annotations: _, ...node }) => ({ ...node, tokens: [], mask: [], logprobs: [] })),
    }));
    await writeFile(audit, served.map((trajectory) => `${JSON.stringify(trajectory)}\n`).join(''));
    const out = join(folder, 'served.mua.zip');
    const { code, stderr } = await mua('export-run', audit, '--format', 'bundle', '--out', out);
    expect(code, stderr).toBe(0);
    const { run: made, metrics, trajectories, rollouts } = await readRunBundle(new Uint8Array(await readFile(out)));
    expect(made).toMatchObject({ status: 'done', step: 1, request: { model: 'mua env-serve' } });
    expect(new Set(rollouts.map(({ id }) => id)).size).toBe(4);
    expect(trajectories.map(({ nodes }) => nodes)).toEqual(expect.arrayContaining(served.map(({ nodes }) => nodes)));
    const mean = served.reduce((sum, { reward }) => sum + reward!, 0) / 4;
    expect(metrics).toMatchObject([{ step: 1, 'critic/score/mean': mean, 'rollout/dropped': 0 }]);
    expect(metrics[0]).not.toHaveProperty('response_length/mean');
    const other = { ...served[0]!, task: { ...served[0]!.task, level: 'full' } };
    await writeFile(audit, [served[0], other].map((trajectory) => `${JSON.stringify(trajectory)}\n`).join(''));
    expect((await mua('export-run', audit, '--format', 'bundle', '--out', out)).stderr).toContain('expected one domain and level');
  });

  it('as verl’s dump of a model with another format: as its own chat template writes, or refused without its tokenizer', async () => {
    const files = join(folder, 'llama');
    await writeSmallLlama(files);
    const own = loadTokenizer(smallLlama());
    const [system, user, call, result, said] = ['Serve.', 'Cancel order 12.', '<tool_call>{"name": "cancel", "arguments": {"id": 12}}</tool_call>', 'Done.', 'It is cancelled.']; // prettier-ignore
    const node = (role: MessageNode['role'], text: string, before: string, after: string, fields: Partial<MessageNode> = {}) => {
      const tokens = own.encode(before + text + after);
      const sampled = role === 'assistant';
      return { role, text, tokens, mask: tokens.map(() => Number(sampled)), logprobs: tokens.map(() => (sampled ? -1 : null)), ...fields };
    };
    // The texts around the messages are those of SmolLM2's published template.
    const nodes = [
      node('system', system!, '<|im_start|>system\n', '<|im_end|>\n'),
      node('user', user!, '<|im_start|>user\n', '<|im_end|>\n'),
      node('template', '', '<|im_start|>assistant\n', ''),
      node('assistant', call!, '', '', { content: '', toolCall: { name: 'cancel', arguments: { id: 12 } } }),
      node('tool', result!, '<|im_end|>\n<|im_start|>user\n<tool_response>', '</tool_response><|im_end|>\n'),
      node('template', '', '<|im_start|>assistant\n', ''),
      node('assistant', `${said}<|im_end|>`, '', '', { content: said! }),
    ].map((part, id) => ({ ...part, id, parent: id === 0 ? null : id - 1 }));
    const trajectory = { ...run.trajectories[0]!, nodes, leaf: nodes.length - 1 };
    const path = join(folder, 'llama-run.jsonl');
    await writeFile(path, `${JSON.stringify(trajectory)}\n`);
    const out = join(folder, 'llama-verl.jsonl');
    const dump = (...args: string[]) => mua('export-run', path, '--format', 'verl', '--out', out, ...args);
    expect((await dump()).stderr).toMatch(/needs the tokenizer .*: expected --model DIR, or --model FILE\.gguf/);

    const { code, stderr } = await dump('--model', files);
    expect(code, stderr).toBe(0);
    const { input, output } = JSON.parse(await readFile(out, 'utf8'));
    expect(input).toBe(`system\n${system}\nuser\n${user}\nassistant\n`);
    expect(output).toBe(`${call}\nuser\n<tool_response>${result}</tool_response>\nassistant\n${said}`);

    // Another tokenizer would give other words.
    const wrong = await dump('--model', 'models/nano-retail');
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('as in the tokenizer of the model that played the agent')]);
  });

  it('wrong input is refused with a reason', async () => {
    const broken = join(folder, 'broken.jsonl');
    await writeFile(broken, '{"id": 1}\n');
    const refused = async (...args: string[]) => {
      const { code, stderr } = await mua('export-run', ...args);
      expect(code).toBe(2);
      return stderr;
    };
    const out = ['--out', join(folder, 'x')];
    expect(await refused(broken, '--format', 'chat', ...out)).toContain('line 1');
    expect(await refused(join(folder, 'nothing'), '--format', 'chat', ...out)).toContain('there is no such file');
    expect(await refused(BUNDLE, '--format', 'tensorboard', ...out)).toContain('expected a name with "tfevents"');
    await writeFile(broken, 'no json\n');
    expect(await refused(broken, '--format', 'verl', ...out)).toContain('broken.jsonl: line 1: it is not JSON');
    await writeFile(broken, '');
    expect(await refused(broken, '--format', 'csv', ...out)).toContain('it is empty');
  });
});
