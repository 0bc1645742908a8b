/** The folders that `mua export --format trl|verifiers|verl` writes: their Python runs against the server. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINES, type EngineName } from '../../../src/formats/engines.ts';
import { exportAdapter, openStage, type ServedPlace } from '../../../src/serve/index.ts';
import { type EnvServer, startEnvServer } from '../../../src/serve/server.ts';
import { PRESETS } from '../../../src/training/presets.ts';

const run = promisify(execFile);
const PYTHON = '/usr/bin/python3';
const noPython = spawnSync(PYTHON, ['--version']).status !== 0;
if (noPython) console.warn(`SKIPPED: adapters in Python: ${PYTHON} does not run`);

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
  server = await startEnvServer(stage, tasks, {
    port: 0,
    host: '127.0.0.1',
    maxSessions: 8,
    maxFrameBytes: 1 << 20,
    sessionSeconds: 60,
    idleSeconds: 60,
    graceSeconds: 1,
    log: () => {},
  });
  for (const engine of ENGINES) {
    const options = { engine, count: 6, model: 'Qwen/Qwen3-0.6B', url: 'http://env:8019', command: './mua env-serve' };
    for (const [name, text] of Object.entries(await exportAdapter({ ...PLACE, preset: 'lora' }, options))) {
      await mkdir(dirname(join(folder, engine, name)), { recursive: true });
      await writeFile(join(folder, engine, name), text);
    }
  }
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

const play = async (engine: EngineName, task: string) =>
  JSON.parse((await run(PYTHON, ['tests/reference/adapters.py', engine, join(folder, engine), server.url, task])).stdout) as Record<
    string,
    never
  >;

describe.skipIf(noPython)('the adapter', () => {
  it.each(ENGINES)('of %s is Python', async (engine) => {
    await run(PYTHON, ['-m', 'compileall', '-q', join(folder, engine)]);
  });

  it('of TRL: tools as methods with types and documentation, the customer, the reward at the end', async () => {
    const { tools, heard, rewards, again } = await play('trl', 'retail/nano/train/1/3');
    expect(tools).toMatchObject({ respond: ['message'], find_user_id_by_email: ['email'], cancel_pending_order: ['order_id', 'reason'] });
    expect(heard).toEqual([expect.any(String), expect.any(String), 'Error: user not found', 'The conversation is over.']);
    expect(rewards).toEqual([0, 0]);
    expect(again).toBe(heard[0]);
  });

  it('of verl: sampled tokens as they are with mask 1, all else with mask 0, and the reward of the server', async () => {
    const { prompt, given, as_said, response_ids, response_mask, response_logprobs, reward_score, num_turns } = await play(
      'verl',
      'retail/nano/train/1/3',
    );
    expect(as_said).toBe(true);
    expect(prompt).toMatch(/^system: [^]*\nuser: /);
    expect(given).toMatch(/^user: [^]*\ntool: Error: user not found\n$/);
    const { length } = response_ids as number[];
    expect([(response_mask as number[]).length, (response_logprobs as number[]).length]).toEqual([length, length]);
    expect([reward_score, num_turns]).toEqual([0, 6]);
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
    expect((await rows('verl/rows.jsonl'))[0]).toMatchObject({ agent_name: 'mua_agent', extra_info: { seed: 0 } });
  });

  it('what has no counterpart is listed, and what has one is not', async () => {
    const text = await readFile(join(folder, 'trl/README.md'), 'utf8');
    expect(text).toContain('- `filter_groups`: true');
    expect(text).toContain('- `clip_ratio_c`:');
    for (const name of ['lr', 'n', 'max_turns', 'customers.pushy']) expect(text).not.toContain(`- \`${name}\`:`);
    expect((await rows('verifiers/mua_environment/rows.jsonl'))[5]).toEqual({ task_id: expect.any(String), seed: 5 });
  });
});
