/** Commands that are killed while they train or evaluate, and then continued. */
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSafetensors } from '../../../src/exchange/safetensors.ts';
import type { Trajectory } from '../../../src/records/trajectory.ts';
import { reportFaults } from '../../support/faults.ts';
import { startMua } from '../../support/mua.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mua-killed-'));
});
afterAll(() => rm(folder, { recursive: true }));

const start = (args: string[]) => startMua(args, { MUA_ON: 'node', LP_NUM_THREADS: '2' });
const run = (...args: string[]) => start(args).done;
const at = (name: string) => join(folder, name);
const read = async (name: string) => JSON.parse(await readFile(at(name), 'utf8'));
const hash = (value: string) => createHash('sha256').update(value).digest('hex');
const expectDone = ({ code, stderr }: { code: number | null; stderr: string }) => expect(code, stderr).toBe(0);
const POLL = { interval: 20, timeout: 60_000 };

test('a killed training goes on from its checkpoint and ends with the bits of a run that was never stopped', async () => {
  const sizes = [
    'val_tasks=4',
    'train_batch_size=2',
    'ppo_mini_batch_size=2',
    'n=4',
    'total_training_steps=4',
    'test_freq=2',
    'save_freq=1',
    'inspect=false',
  ];
  const flags = [
    '--preset',
    'glimpse',
    '--seed',
    '60',
    ...[...sizes, 'use_kl_loss=true', 'kl_loss_coef=0.01'].flatMap((set) => ['--set', set]),
  ];
  const whole = await run('train', '--json', ...flags, '--out', at('whole'));
  expectDone(whole);
  const text = (name: string) => readFile(at(name), 'utf8');
  const untimed = (lines: string) =>
    lines
      .trim()
      .split('\n')
      .map((line) => Object.entries(JSON.parse(line) as Record<string, number>).filter(([name]) => !/^(timing_s|perf)\//.test(name)));
  const sampled = async (name: string) =>
    (await text(name))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Trajectory)
      .map(({ id, reward, nodes }) => hash(`${id} ${reward} ${nodes.map(({ tokens, logprobs }) => [tokens, logprobs].join()).join()}`));
  const outcome = ({ stdout }: { stdout: string }) => {
    const {
      before,
      after,
      steps: count,
    } = JSON.parse(stdout) as { before: { pass_hat: unknown }; after: { pass_hat: unknown }; steps: number };
    return { before: before.pass_hat, after: after.pass_hat, count };
  };
  for (const [signal, code] of [
    ['SIGKILL', null],
    ['SIGINT', 130],
  ] as const) {
    const out = signal.toLowerCase();
    const { child, done } = start(['train', ...flags, '--out', at(out)]);
    const steps = async () => ((await read(`${out}/status.json`).catch(() => ({}))) as { step?: number }).step ?? 0;
    await expect.poll(steps, POLL).toBeGreaterThanOrEqual(2);
    child.kill(signal);
    expect((await done).code).toBe(code);
    const refused = await run('train', ...flags, '--out', at(out));
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('the folder is not empty')]);
    const resumed = await run('train', '--json', '--resume', at(out));
    expectDone(resumed);
    expect(await readFile(at(`${out}/model.safetensors`))).toEqual(await readFile(at('whole/model.safetensors')));
    expect(untimed(await text(`${out}/metrics.jsonl`))).toEqual(untimed(await text('whole/metrics.jsonl')));
    expect(await sampled(`${out}/trajectories.jsonl`)).toEqual(await sampled('whole/trajectories.jsonl'));
    expect(outcome(resumed)).toEqual(outcome(whole));
    expect((await readdir(at(out))).filter((name) => name.startsWith('checkpoint'))).toEqual([]);
  }
  reportFaults({
    fault: 'mua train is killed, or stopped with Ctrl-C',
    how: 'SIGKILL and SIGINT during training',
    times: 2,
    lost: 'the current step; weights and tokens have the same bits as in a run that was never stopped',
    test: 'tests/gpu-node/lavapipe/killed-commands.test.ts',
  });
});

test('a killed evaluation goes on, and ends with the conversations of one that was never stopped', async () => {
  const flags = ['--model', 'models/glimpse-retail', '--level', 'glimpse', '--tasks', '40', '--seed', '9'];
  const customers = ['--user', 'scripted', '--user', 'scripted'];
  const whole = await run('evaluate', '--json', ...flags, ...customers, '--out', at('evaluated'));
  expectDone(whole);
  const { child, done } = start(['evaluate', ...flags, ...customers, '--out', at('evaluating')]);
  const lines = async (name: string) => (await readFile(at(name), 'utf8').catch(() => '')).split('\n').filter(Boolean);
  await expect.poll(async () => (await lines('evaluating/trajectories-1.jsonl')).length, POLL).toBeGreaterThan(5);
  child.kill('SIGKILL');
  await done;
  const before = (await lines('evaluating/trajectories-1.jsonl')).length;
  expect(before).toBeLessThan(40);
  const resumed = await run('evaluate', '--json', '--resume', at('evaluating'));
  expectDone(resumed);
  const sampled = async (name: string) =>
    (await lines(name))
      .map((line) => JSON.parse(line) as Trajectory)
      .map(
        ({ group, index, reward, nodes }) =>
          `${group}/${index} ${reward} ${nodes.map(({ tokens, logprobs }) => [tokens, logprobs].join()).join()}`,
      )
      .sort();
  for (const log of ['trajectories-1.jsonl', 'trajectories-2.jsonl']) {
    const all = await sampled(`evaluating/${log}`);
    expect(all).toHaveLength(40);
    expect(all.map(hash)).toEqual((await sampled(`evaluated/${log}`)).map(hash));
  }
  const outcome = ({ stdout }: { stdout: string }) => {
    const { customers: reports, differences } = JSON.parse(stdout) as { customers: { pass_hat: unknown }[]; differences: unknown[] };
    return { passed: reports.map(({ pass_hat }) => pass_hat), differences };
  };
  expect(outcome(resumed)).toEqual(outcome(whole));
  expect(outcome(whole).differences).toMatchObject([{ tasks: 40, difference: 0 }]);
  reportFaults({
    fault: 'mua evaluate is killed',
    how: 'SIGKILL during the evaluation',
    times: 1,
    lost: 'the current trials; all conversations have the same tokens and log-probabilities, bit for bit',
    test: 'tests/gpu-node/lavapipe/killed-commands.test.ts',
  });
});

const LORA = ['lora_rank=4', 'lora_alpha=32', 'target_modules=q_proj,v_proj,down_proj', 'precision=bf16'].flatMap((set) => ['--set', set]);

test('a killed fine-tuning goes on and ends with the same bits; an adapter that it trained is trained on by GRPO', async () => {
  const base = 'models/glimpse-retail';
  expectDone(await run('synthesize', '--level', 'glimpse', '--count', '24', '--out', at('few.jsonl')));
  for (const [kind, settings, made] of [
    ['sft', [], ['model.safetensors']],
    ['lora', LORA, ['adapter_model.safetensors', 'adapter_config.json']],
  ] as const) {
    const flags = ['--model', base, '--data', at('few.jsonl'), '--steps', '12', '--set', 'train_batch_size=8', ...settings];
    const whole = await run('sft', '--json', ...flags, '--out', at(`${kind}-whole`));
    expectDone(whole);
    const killed = at(`${kind}-killed`);
    const { child, done } = start(['sft', ...flags, '--out', killed]);
    const steps = async () => ((await read(`${kind}-killed/status.json`).catch(() => ({}))) as { step?: number }).step ?? 0;
    await expect.poll(steps, POLL).toBeGreaterThanOrEqual(3);
    child.kill('SIGKILL');
    await done;
    const resumed = await run('sft', '--json', '--resume', killed);
    expectDone(resumed);
    for (const name of made) expect(await readFile(join(killed, name)), name).toEqual(await readFile(at(`${kind}-whole/${name}`)));
    const { losses } = JSON.parse(whole.stdout) as { losses: number[] };
    expect(losses).toHaveLength(12);
    expect(new Set(losses).size).toBe(12);
    expect(JSON.parse(resumed.stdout)).toMatchObject({ losses });
  }
  reportFaults({
    fault: 'mua sft is killed',
    how: 'SIGKILL during training, once with LoRA',
    times: 2,
    lost: 'the current step; the weights have the same bits as without the kill',
    test: 'tests/gpu-node/lavapipe/killed-commands.test.ts',
  });
  const adapter = at('lora-whole');
  expect(await readdir(adapter)).not.toContain('model.safetensors');
  expect(await read('lora-whole/adapter_config.json')).toMatchObject({
    ...{ peft_type: 'LORA', r: 4, lora_alpha: 32, target_modules: ['q_proj', 'v_proj', 'down_proj'] },
    base_model_name_or_path: base,
  });
  const sizes = [
    'val_tasks=4',
    'train_batch_size=2',
    'n=4',
    'total_training_steps=1',
    'inspect=false',
    'use_kl_loss=true',
    'precision=bf16',
  ];
  const train = ['train', '--preset', 'glimpse', '--seed', '60', '--lora', adapter, ...sizes.flatMap((set) => ['--set', set])];
  expectDone(await run(...train, '--out', at('lora-grpo')));
  const [before, after] = await Promise.all(
    [adapter, at('lora-grpo')].map(async (folder) =>
      readSafetensors(new Uint8Array(await readFile(join(folder, 'adapter_model.safetensors')))),
    ),
  );
  expect([...after!.keys()]).toEqual([...before!.keys()]);
  expect(after).not.toEqual(before);
  const [step] = (await readFile(at('lora-grpo/metrics.jsonl'), 'utf8')).trim().split('\n').slice(1);
  // The reference is the adapter that the run began with, not the model without it.
  expect((JSON.parse(step!) as Record<string, number>)['actor/kl_loss']).toBe(0);
  const other = await run(...train, '--set', 'lora_rank=8', '--out', at('lora-other'));
  expect([other.code, other.stderr]).toEqual([
    2,
    expect.stringContaining('setting "lora_rank" is 8: expected 4, the rank of the model\'s adapter'),
  ]);
  const rounded = await run('train', '--preset', 'glimpse', '--set', 'precision=int8', '--out', at('lora-other'));
  expect([rounded.code, rounded.stderr]).toEqual([
    2,
    expect.stringContaining('setting "precision" is "int8": expected f32, as all weights'),
  ]);
  const alone = await run('score', '--model', adapter, '--input', at('few.jsonl'), '--output', at('lora-other'));
  expect([alone.code, alone.stderr]).toEqual([
    2,
    expect.stringContaining('it has only an adapter: expected its base model here, and the adapter as --lora'),
  ]);
});
