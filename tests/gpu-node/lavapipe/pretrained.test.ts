/**
 * One cold-start step and one step of GRPO with 2 × 4 conversations, by the commands with which SmolLM2 is trained: a GGUF file, a
 * tokenizer without tool tags, an adapter. The model is small and random.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { renderConversation } from '../../../src/agent/chat-template.ts';
import { openTokenizer } from '../../../src/agent/tokenizer.ts';
import { flatten } from '../../../src/agent/trajectory.ts';
import type { Conversation } from '../../../src/records/conversation.ts';
import { float64Decoder } from '../../../src/engine/float64-decoder.ts';
import { loadModel } from '../../../src/exchange/model-folder.ts';
import { readSafetensors } from '../../../src/exchange/safetensors.ts';
import type { Trajectory } from '../../../src/records/trajectory.ts';
import { type Outcome, startMua } from '../../support/mua.ts';
import { logProbs } from '../../support/onnx.ts';
import { smallLlama, smallLlamaGguf } from '../../support/small-llama.ts';

const LORA = ['--set', 'lora_rank=4', '--set', 'lora_alpha=8'];
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mua-pretrained-'));
  await writeFile(at('small.gguf'), smallLlamaGguf());
});
afterAll(() => rm(folder, { recursive: true }));

const at = (...names: string[]) => join(folder, ...names);
const start = (...args: string[]) => startMua(args, { MUA_ON: 'node', LP_NUM_THREADS: '2' });
const done = ({ code, stderr }: Outcome) => expect(code, stderr).toBe(0);
const sha256 = async (path: string) =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
const adapterOf = async (run: string) => readSafetensors(new Uint8Array(await readFile(at(run, 'adapter_model.safetensors'))));

test('a cold start: the loss of float64, which falls on a repeated batch, and only the adapter is trained', async () => {
  const conversation = JSON.parse(await readFile('tests/reference/fixtures/glimpse-conversation.json', 'utf8')) as Conversation;
  await writeFile(at('data.jsonl'), `${JSON.stringify(conversation)}\n`.repeat(2));
  const settings = [...LORA, '--set', 'train_batch_size=2', '--set', 'lr=1e-2', '--set', 'lr_scheduler_type=constant'];
  const files = ['--model', at('small.gguf'), '--data', at('data.jsonl'), '--out', at('sft')];
  done(await start('sft', ...files, ...settings, '--steps', '3', '--seed', '1').done);

  // A new adapter changes nothing, so the first loss is that of the model.
  const { tokens, lossMask } = renderConversation(await openTokenizer(smallLlama()), conversation);
  const { config, weights } = loadModel(smallLlama());
  const decode = float64Decoder(config, weights);
  const own = logProbs(tokens.map(decode), tokens).filter((_, t) => lossMask[t + 1] === 1);
  const { losses } = JSON.parse(await readFile(at('sft', 'result.json'), 'utf8')) as { losses: number[] };
  expect(losses).toHaveLength(3);
  expect(losses[0]).toBeCloseTo(-own.reduce((sum, value) => sum + value, 0) / own.length, 4);
  expect(losses[1]).toBeLessThan(losses[0]!);
  expect(losses[2]).toBeLessThan(losses[1]!);

  const adapter = await adapterOf('sft');
  expect([...adapter.keys()].every((name) => /\.lora_[AB]\.weight$/.test(name))).toBe(true);
  expect(adapter.size).toBe(2 * 7 * config.num_hidden_layers);
  for (const [name, { data }] of adapter)
    expect([data.every(Number.isFinite), data.some((value) => value !== 0)], name).toEqual([true, true]);
  expect((await readdir(at('sft'))).filter((name) => /safetensors|gguf/.test(name))).toEqual(['adapter_model.safetensors']);
});

test('a step of GRPO: every try ends and has its tokens, the adapter changes, and an interrupted run continues to the same weights', async () => {
  const before = await sha256(at('small.gguf'));
  // Random turns solve nothing. The price on length gives the tries of a group different rewards.
  const rewards = ['--set', 'filter_groups=false', '--set', 'reward.length=1'];
  const sizes = ['train_batch_size=2', 'ppo_mini_batch_size=2', 'n=4', 'val_tasks=0', 'save_freq=1'].flatMap((pair) => ['--set', pair]);
  const train = (out: string) =>
    start('train', '--preset', 'smollm2', '--model', at('small.gguf'), '--lora', at('sft'), '--out', at(out), '--steps', '2', '--seed', '1', ...LORA, ...rewards, ...sizes); // prettier-ignore
  done(await train('whole').done);

  const rows = (await readFile(at('whole', 'trajectories.jsonl'), 'utf8')).trim().split('\n').map((line) => JSON.parse(line) as Trajectory); // prettier-ignore
  expect(rows.map(({ group }) => group).sort()).toEqual(['1-0', '1-1', '2-0', '2-1'].flatMap((group) => [group, group, group, group]));
  for (const trajectory of rows) {
    expect(trajectory.termination).toMatch(/^(user_stop|terminal_tool|max_turns|turn_length|context_full)$/);
    expect(trajectory.reward).toBe(0);
    const { tokens, lossMask, logprobs } = flatten(trajectory);
    expect(tokens.length).toBeLessThanOrEqual(768);
    expect(lossMask).toContain(1);
    expect(lossMask.every((sampled, t) => (sampled ? logprobs[t]! < 0 && Number.isFinite(logprobs[t]) : logprobs[t] === 0))).toBe(true);
    for (const { role, tokens: turn } of trajectory.nodes) if (role === 'assistant') expect(turn.length).toBeLessThanOrEqual(96);
  }
  const [first, second] = [await adapterOf('sft'), await adapterOf('whole')];
  for (const [name, { data }] of second) expect(data, name).not.toEqual(first.get(name)!.data);
  expect(await sha256(at('small.gguf'))).toBe(before);

  const { child, done: ended } = train('halves');
  while (child.exitCode === null && !existsSync(at('halves', 'checkpoint-1.safetensors')))
    await new Promise((wait) => setTimeout(wait, 20));
  child.kill('SIGINT');
  expect((await ended).code).toBe(130);
  done(await start('train', '--resume', at('halves')).done);
  expect(await sha256(at('halves', 'adapter_model.safetensors'))).toBe(await sha256(at('whole', 'adapter_model.safetensors')));
});
