/** The folders that `mua export --format trl|verifiers|verl|skyrl` writes: their Python runs against the server. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINES } from '../../../src/formats/engines.ts';
import { exportAdapter, openStage, type ServedPlace } from '../../../src/serve/index.ts';
import { type EnvServer, startEnvServer } from '../../../src/serve/server.ts';
import { PRESETS } from '../../../src/training/presets.ts';
import { SERVER_OPTIONS } from '../../support/env-server.ts';

const run = promisify(execFile);
const PYTHON = '/usr/bin/python3';
const noPython = spawnSync(PYTHON, ['--version']).status !== 0;
if (noPython) console.warn(`SKIPPED: adapters in Python: ${PYTHON} does not run`);

const KINDS = [...ENGINES, 'trl-text'] as const;
const PLACE: ServedPlace = { domain: 'retail', level: 'nano', settings: {}, seed: 1, user: { mode: 'scripted' } };
let folder: string;
let server: EnvServer;
const rows = async (path: string) =>
  (await readFile(join(folder, path), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, never>);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mua-adapters-'));
  const { stage, tasks } = await openStage(PLACE);
  server = await startEnvServer(stage, tasks, SERVER_OPTIONS);
  for (const kind of KINDS) {
    const engine = kind === 'trl-text' ? 'trl' : kind;
    const form = kind === 'trl-text' ? 'text' : 'calls';
    const options = { engine, form, count: 6, model: 'Qwen/Qwen3-0.6B', url: 'http://env:8019', command: './mua env-serve' } as const;
    for (const [name, text] of Object.entries(await exportAdapter({ ...PLACE, preset: 'lora' }, options))) {
      await mkdir(dirname(join(folder, kind, name)), { recursive: true });
      await writeFile(join(folder, kind, name), text);
    }
  }
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

const TASK = 'retail/nano/train/1/3';
const play = async (kind: (typeof KINDS)[number], ...more: 'dead'[]) =>
  JSON.parse((await run(PYTHON, ['tests/reference/adapters.py', kind, join(folder, kind), server.url, TASK, ...more])).stdout) as Record<
    string,
    never
  >;

describe.skipIf(noPython)('the adapter', () => {
  it.each(KINDS)('of %s is Python', async (kind) => {
    await run(PYTHON, ['-m', 'compileall', '-q', join(folder, kind)]);
  });

  it('of TRL: tools as methods with types and documentation, the customer, the reward at the end', async () => {
    const { tools, heard, rewards, again } = await play('trl');
    expect(tools).toMatchObject({ respond: ['message'], find_user_id_by_email: ['email'], cancel_pending_order: ['order_id', 'reason'] });
    expect(heard).toEqual([expect.any(String), expect.any(String), 'Error: user not found', 'The conversation is over.']);
    expect(rewards).toEqual([0, 0]);
    expect(again).toBe(heard[0]);
  });

  it('of TRL: a lost server gives no reward, and never a batch without any; a reset that fails names the server', async () => {
    const { heard, rewards, batch, reset } = await play('trl', 'dead');
    expect(heard).toEqual([expect.any(String), expect.any(String), 'The conversation is over.', 'The conversation is over.']);
    expect(rewards).toEqual([null, null]);
    expect(batch).toEqual([
      'ConnectionError',
      expect.stringMatching(/^no conversation of this batch has a reward: http:\/\/127\.0\.0\.1:\d+: /),
    ]);
    expect(reset).toEqual(['ConnectionError', expect.stringContaining('does not begin the episode retail/nano/train/1/3')]);
  });

  it('of TRL in plain text: the prompt of the playground, sampled tokens with mask 1, and the token limits', async () => {
    const { prompt, given, as_said, reward, done, error, cut, full, blind } = await play('trl-text');
    expect(as_said).toBe(true);
    expect(prompt).toMatch(/^<tools>[^]*<system>[^]*<user>[^]*¶\n<assistant>$/);
    // The agent has ended its first turn. A tool call ends the second one, so its end is given.
    expect(given).toMatch(/^\n<user>[^]*¶\n<assistant>¶\n<tool>Error: user not found¶\n<assistant>$/);
    expect([reward, done, error]).toEqual([0, true, null]);
    expect(cut).toEqual([0, true, 5]);
    expect(blind).toEqual(['ValueError', expect.stringContaining('the chat template of the model leaves out the tools')]);
    expect(full).toEqual([0, true, 12, 12]);
  });

  it('of verl: sampled tokens as they are with mask 1, all else with mask 0, and the reward of the server', async () => {
    const { prompt, given, as_said, response_ids, response_mask, response_logprobs, reward_score, num_turns, limits, cut } =
      await play('verl');
    expect(as_said).toBe(true);
    expect(prompt).toMatch(/^tools: [^]*cancel_pending_order[^]*\nsystem: [^]*\nuser: /);
    expect(given).toMatch(/^user: [^]*\ntool: Error: user not found\n$/);
    const { length } = response_ids as number[];
    expect([(response_mask as number[]).length, (response_logprobs as number[]).length]).toEqual([length, length]);
    expect([reward_score, num_turns]).toEqual([0, 6]);
    const { response_length_one_turn, max_model_len } = PRESETS.lora!.config;
    expect(limits).toEqual([response_length_one_turn, max_model_len]);
    expect(cut).toEqual([0, 5]);
  });

  it('of verl: a lost server, a cut prompt and a template without tools end the training with an error', async () => {
    const { dead, short, blind } = await play('verl');
    expect(dead).toEqual(['ConnectionError', expect.stringContaining(`does not finish the episode ${TASK}`)]);
    expect(short).toContain('data.max_prompt_length is 20: expected more');
    expect(blind).toEqual(['ValueError', expect.stringContaining('the chat template of the model leaves out the tools')]);
  });

  it('of SkyRL: the server’s prompt, words, reward; a lost server is an error', async () => {
    const { messages, steps } = await play('skyrl');
    expect((messages as { role: string }[]).map(({ role }) => role)).toEqual(['system', 'user']);
    expect(steps).toMatchObject([
      { observations: [{ role: 'user' }], reward: 0, done: false },
      { observations: [], reward: 0, done: true },
    ]);
    const { steps: dead } = await play('skyrl', 'dead');
    expect((dead as never[])[1]).toEqual([
      'ConnectionError',
      expect.stringContaining(`the episode ${TASK} ended without a score: http://127`),
    ]);
  });
});

describe('settings and rows', () => {
  it('have TRL’s names', async () => {
    const { args, lora, model } = JSON.parse(await readFile(join(folder, 'trl/config.json'), 'utf8'));
    const { config } = PRESETS.lora!;
    expect(model).toBe('Qwen/Qwen3-0.6B');
    expect(lora).toEqual({ r: 16, lora_alpha: 32, target_modules: 'all-linear' });
    expect(args).toMatchObject({
      learning_rate: config.lr,
      num_generations: config.n,
      generation_batch_size: config.n * config.train_batch_size,
      epsilon: config.clip_ratio_low,
      epsilon_high: config.clip_ratio_high,
      beta: config.use_kl_loss ? config.kl_loss_coef : 0,
      chat_template_kwargs: { enable_thinking: false },
    });
    const [first, ...others] = await rows('trl/rows.jsonl');
    expect(others).toHaveLength(5);
    expect(first).toMatchObject({ task_id: expect.stringMatching(/^retail\/nano\/train\/1/), seed: 0 });
    expect((first!.prompt as { role: string }[]).map(({ role }) => role)).toEqual(['system', 'user']);
  });

  it('have verl’s paths, and rows with the agent’s name', async () => {
    const script = await readFile(join(folder, 'verl/train.sh'), 'utf8');
    expect(script).toContain("actor_rollout_ref.rollout.n='8'");
    expect(script).toContain("actor_rollout_ref.model.lora_rank='16'");
    await run('sh', ['-n', join(folder, 'verl/train.sh')]);
    const training = await rows('verl/rows.jsonl');
    expect(training[0]).toMatchObject({ agent_name: 'mua_agent', extra_info: { seed: 0 } });
    const tasks = (list: Record<string, never>[]) => list.map(({ extra_info }) => (extra_info as { task_id: string }).task_id);
    const validation = tasks(await rows('verl/validation.jsonl'));
    expect(validation).toHaveLength(PRESETS.lora!.config.val_tasks);
    expect(validation.filter((task) => tasks(training).includes(task))).toEqual([]);
    expect(script).toContain('data.val_files=validation.parquet');
    expect(script).toContain('actor_rollout_ref.actor.use_dynamic_bsz=True');
    expect(Number(/data\.max_prompt_length=(\d+)/.exec(script)![1])).toBeGreaterThan(512);
  });

  it('what has no counterpart is listed, and what has one is not', async () => {
    const text = await readFile(join(folder, 'trl/README.md'), 'utf8');
    expect(text).toContain('- `filter_groups`: true');
    expect(text).toContain('- `clip_ratio_c`:');
    for (const name of ['lr', 'n', 'max_turns', 'customers.pushy']) expect(text).not.toContain(`- \`${name}\`:`);
    expect((await rows('verifiers/mua_environment/rows.jsonl'))[5]).toEqual({ task_id: expect.any(String), seed: 5 });
  });
});
