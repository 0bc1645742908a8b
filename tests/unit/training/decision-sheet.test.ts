/** The settings of the decision sheet: their table, their presets, and the effect of each setting. */
import type { Tau1Task } from '../../../src/benchmarks/tau1/task.ts';
import { render } from 'svelte/server';
import { describe, expect, test } from 'vitest';
import DecisionSheet from '../../../src/app/setup/DecisionSheet.svelte';
import { runEpisode } from '../../../src/agent/episode.ts';
import { rulesFor } from '../../../src/benchmarks/rules.ts';
import type { Learner, TrainSequence } from '../../../src/engine/types.ts';
import type { Task } from '../../../src/records/task.ts';
import type { Domain, TaskQuery } from '../../../src/environments/types.ts';
import { configDiff } from '../../../src/app/run-data/config-diff.ts';
import { evaluationConfig, grpoConfig } from '../../../src/training/config.ts';
import { DECISIONS, valuesOf } from '../../../src/training/decision-sheet.ts';
import { grpoStep } from '../../../src/training/grpo.ts';
import { PAPER } from '../../../src/training/defaults.ts';
import { PRESETS } from '../../../src/training/presets.ts';
import { trainingTasks } from '../../../src/training/training-tasks.ts';
import { domain, OrderDesk, ReplayUser, stage, task } from '../../support/episodes.ts';

const call = (name: string, args: object) => `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;
const CANCEL = call('cancel_pending_order', { order_id: '#W1234567' });

/**
 * The values of MUA-RL, copied by hand from its script and configuration (github.com/zzwkk/MUA-RL at 289b623:
 * examples/sglang_multiturn/mua_grpo.sh, config/mua_multiturn_grpo.yaml, verl/trainer/config/ppo_trainer.yaml).
 */
const UPSTREAM = {
  // data.*
  train_batch_size: 32,
  // actor_rollout_ref.rollout.*
  n: 8,
  temperature: 1,
  top_p: 1,
  top_k: 0, // -1 in MUA-RL: no limit
  max_turns: 30,
  response_length_one_turn: 1024,
  max_model_len: 32768,
  'val_kwargs.do_sample': false, // greedy, n = 1
  // actor_rollout_ref.actor.*
  ppo_mini_batch_size: 32,
  ppo_micro_batch_size_per_gpu: 8,
  ppo_epochs: 1,
  clip_ratio_low: 0.2,
  clip_ratio_high: 0.2,
  clip_ratio_c: 3,
  use_kl_loss: true,
  kl_loss_coef: 0.001,
  kl_loss_type: 'low_var_kl',
  entropy_coeff: 0,
  loss_agg_mode: 'token-mean',
  grad_clip: 1,
  lr: 1e-6,
  lr_scheduler_type: 'constant',
  lr_warmup_steps: 0,
  weight_decay: 0.01,
  decay_all_parameters: true, // torch AdamW over all parameters, without groups
  beta1: 0.9,
  beta2: 0.999,
  // algorithm.*
  algorithm: 'grpo', // adv_estimator
  adv_estimator: 'grpo',
  norm_adv_by_std_in_grpo: true,
  gamma: 1,
  filter_groups: false,
  // trainer.*: 165 rows and drop_last make 5 steps an epoch
  total_training_steps: 30 * 5,
  test_freq: 5,
  save_freq: 10,
  // Behaviour of the code that has no setting
  train_split: 'heldout',
  val_tasks: 165,
  filter_noop_tasks: false,
  check_outputs: false,
  require_done: false,
  enable_thinking: false,
  malformed_policy: 'end',
  mask_truncated: false,
  init_weights: 'model',
  // verl's defaults, which the script does not change
  lora_rank: 0,
  lora_alpha: 16,
  target_modules: 'all-linear',
  conversation_rules: 'mua_rl',
};

/** The customers of generated tasks, and the parts of the reward. Upstream has neither. */
const OWN_GROUPS = /^((val_)?(customers|tools)|reward)\./;

describe('the sheet', () => {
  test('the paper’s settings are those of MUA-RL’s script', () => {
    expect(PAPER).toMatchObject(UPSTREAM);
    // Other settings are ours: domain and level, the seed, and settings that upstream does not have.
    const ours = Object.keys(PAPER).filter((name) => !Object.hasOwn(UPSTREAM, name) && !OWN_GROUPS.test(name));
    expect(ours.sort()).toEqual([
      ...[
        'adam_eps',
        'answer',
        'answer.seed',
        'answer.unchecked',
        'demonstrators.brisk.calls_again',
        'demonstrators.brisk.offers_more',
        'demonstrators.careful.calls_again',
        'demonstrators.careful.offers_more',
        'domain',
        'filter_groups.max_num_gen_batches',
        'inspect',
        'intents',
        'judge.orders',
        'judge.original',
        'judge.wish',
        'kv_cache_dtype',
        'kv_cache_tokens',
        'level',
        'loss_mode',
      ],
      ...[
        'loss_scale_factor',
        'outcome_advantage_coef',
        'overlong_buffer.enable',
        'overlong_buffer.len',
        'overlong_buffer.penalty_factor',
        'precision',
        'rft_epochs',
        'seed',
      ],
      ...[
        'sft_conditions',
        'sft_mini_batch_size',
        'sft_styles',
        'stop_on_alarm',
        'user_faults',
        'val_agent',
        'val_before_train',
        'val_domains',
        'val_greedy',
        'val_intents',
        'val_split',
      ],
    ]);
    expect(PAPER).toMatchObject({ loss_mode: 'vanilla', 'overlong_buffer.enable': false });
    expect(PAPER['filter_groups.max_num_gen_batches']).toBe(1);
  });

  test('one line for each setting that differs, with MUA-RL’s value and ours', () => {
    const settings = DECISIONS.flatMap(({ setting }) => setting ?? []);
    expect(new Set(settings).size).toBe(settings.length);
    expect(new Set(DECISIONS.map(({ topic }) => topic)).size).toBe(DECISIONS.length);
    const values = Object.fromEntries(
      DECISIONS.flatMap((decision) => (decision.setting ? [[decision.setting, Object.values(valuesOf(decision)!)]] : [])),
    );
    expect(values).toEqual({
      train_split: ['heldout', 'train'],
      total_training_steps: [150, 40],
      filter_noop_tasks: [false, false],
      check_outputs: [false, true],
      conversation_rules: ['mua_rl', 'domain'],
      require_done: [false, true],
      'reward.judge': [0, 0],
      malformed_policy: ['end', 'feedback'],
      mask_truncated: [false, false],
      'reward.partial': [0, 0],
      'reward.turn': [0, 0],
      ppo_mini_batch_size: [32, 8],
      ppo_micro_batch_size_per_gpu: [8, 0],
      adv_estimator: ['grpo', 'grpo'],
      norm_adv_by_std_in_grpo: [true, true],
      loss_mode: ['vanilla', 'vanilla'],
      'overlong_buffer.enable': [false, false],
      decay_all_parameters: [true, false],
      'val_kwargs.do_sample': [false, true],
      filter_groups: [false, true],
      'filter_groups.max_num_gen_batches': [1, 1],
      max_turns: [30, 24],
    });
    expect(valuesOf({ topic: 'x', upstream: '', ours: '' })).toBeNull();
  });

  test('shows both lengths of training, and what is not implemented', () => {
    const topics = Object.fromEntries(DECISIONS.map((decision) => [decision.topic, decision]));
    expect(topics['length of training']!.upstream).toMatch(/30 epochs.*paper.*25/);
    for (const topic of ['mixture of domains', 'first message of the user', 'history'])
      expect(topics[topic], topic).toMatchObject({ upstream: expect.any(String), ours: expect.any(String) });
    for (const topic of ['mixture of domains', 'first message of the user', 'history']) expect(topics[topic]!.setting).toBeUndefined();
  });

  test('Setup shows every line, with the setting and both values', () => {
    const { body } = render(DecisionSheet);
    expect(body.match(/scope="row"/g)).toHaveLength(DECISIONS.length);
    for (const { topic, upstream, ours } of DECISIONS) for (const text of [topic, upstream, ours]) expect(body).toContain(text);
    expect(body).toMatch(/<code[^>]*>val_kwargs\.do_sample<\/code>[^]*?MUA-RL false, here true/);
  });

  test('the faithful preset equals the paper’s settings, except for settings that depend on the size of the model', () => {
    expect(
      configDiff(PAPER, PRESETS.faithful!.config)
        .map(({ name }) => name)
        .filter((name) => !OWN_GROUPS.test(name))
        .sort(),
    ).toEqual(['level', 'lr', 'max_model_len', 'response_length_one_turn']);
    expect(grpoConfig('faithful', { train_batch_size: '8' })).toMatchObject({ ppo_mini_batch_size: 8, conversation_rules: 'mua_rl' });
  });

  test('settings can be given by name, in training and in evaluation', () => {
    expect(
      grpoConfig('nano', {
        train_split: 'heldout',
        filter_noop_tasks: 'true',
        check_outputs: 'false',
        conversation_rules: 'mua_rl',
        mask_truncated: 'true',
      }),
    ).toMatchObject({
      train_split: 'heldout',
      filter_noop_tasks: true,
      check_outputs: false,
      conversation_rules: 'mua_rl',
      mask_truncated: true,
    });
    expect(() => grpoConfig('nano', { conversation_rules: 'tau3' })).toThrow('setting "conversation_rules" is "tau3"');
    expect(() => grpoConfig('nano', { train_split: 'test' })).toThrow('setting "train_split" is "test"');
    const place = { domain: 'tau1-retail', level: 'full' };
    expect(evaluationConfig({ ...place, settings: { max_model_len: '16384', malformed_policy: 'end' } })).toMatchObject({
      ...place,
      max_model_len: 16384,
      malformed_policy: 'end',
      conversation_rules: 'domain',
    });
    expect(evaluationConfig({ ...place, preset: 'faithful' })).toMatchObject({
      ...place,
      conversation_rules: 'mua_rl',
      require_done: false,
      malformed_policy: 'end',
    });
    expect(evaluationConfig({ domain: 'retail', level: 'nano' })).toEqual(PRESETS.nano!.config);
    expect(() => evaluationConfig({ ...place, preset: 'none' })).toThrow('unknown preset "none"');
    expect(() => evaluationConfig({ ...place, settings: { speed: '1' } })).toThrow('unknown setting "speed"');
  });
});

describe('training tasks', () => {
  const queries: TaskQuery[] = [];
  /** Seven tasks, or `count` tasks. Every third task is a no-op. */
  const environments = (end: number) =>
    Object.assign(new OrderDesk(), {
      tasks: async (query: TaskQuery): Promise<Task[]> => {
        queries.push(query);
        const { from = 0, count } = query;
        return Array.from({ length: Math.min(count, Math.max(0, end - from)) }, (_, i) => ({
          ...task,
          id: String(from + i),
          noop: (from + i) % 3 === 0,
          scenario: { ...task.scenario, benchmark: 'tau1' },
          benchmark: { id: String(from + i), user_id: 'u', instruction: 'i', actions: [], outputs: ['10'] },
        }));
      },
    });
  const config = { ...PRESETS.nano!.config, train_batch_size: 4, val_tasks: 3 };
  const ids = async (of: { finite?: true }, end: number, changes: object, step: number) =>
    (await trainingTasks({ domain: { ...domain, ...of }, environments: environments(end) }, { ...config, ...changes }, step)).map(
      ({ id }) => id,
    );

  test('generated tasks never end, never repeat, and those of a step come from several worlds', async () => {
    expect(await ids({}, Infinity, {}, 1)).toEqual(['0', '64', '128', '192']);
    expect(await ids({}, Infinity, {}, 3)).toEqual(['1', '65', '129', '193']);
    const seen = (await Promise.all(Array.from({ length: 300 }, (_, i) => ids({}, Infinity, {}, i + 1)))).flat().map(Number);
    expect(new Set(seen).size).toBe(1200);
    expect(seen.slice(0, 1024).sort((a, b) => a - b)).toEqual(Array.from({ length: 1024 }, (_, i) => i));
    expect(queries.at(-1)).toMatchObject({ split: 'train' });
  });

  test('other generated tasks take the place of no-op tasks', async () => {
    const steps = await Promise.all([1, 2, 3].map((step) => ids({}, Infinity, { filter_noop_tasks: true }, step)));
    expect(steps[2]!.slice(0, 3)).toEqual(['1', '65', '193']);
    expect(steps.map((step) => step.length)).toEqual([4, 4, 4]);
    expect(new Set(steps.flat()).size).toBe(12);
    expect(steps.flat().filter((id) => Number(id) % 3 === 0)).toEqual([]);
    const onlyNoops = Object.assign(environments(Infinity), {
      tasks: async ({ count }: TaskQuery) => Array.from({ length: count }, () => ({ ...task, noop: true })),
    });
    await expect(trainingTasks({ domain, environments: onlyNoops }, { ...config, filter_noop_tasks: true }, 1)).rejects.toThrow(
      'filter_noop_tasks is true: retail has too few tasks that change something',
    );
  });

  test('a further batch of a step has other tasks', async () => {
    const batch = async (genBatch: number, of: { finite?: true }, end: number) =>
      (await trainingTasks({ domain: { ...domain, ...of }, environments: environments(end) }, config, 2, genBatch)).map(({ id }) => id);
    const generated = (await Promise.all([0, 1, 2].map((genBatch) => batch(genBatch, {}, Infinity)))).flat();
    expect(generated.slice(0, 4)).toEqual(['256', '320', '384', '448']);
    expect(new Set(generated).size).toBe(12);
    expect(await batch(1, { finite: true }, 7)).toHaveLength(4);
  });

  test('tasks of a fixed set repeat, each task once per epoch', async () => {
    const seen = (await Promise.all([1, 2, 3, 4, 5, 6, 7].map((step) => ids({ finite: true }, 7, {}, step)))).flat();
    for (let epoch = 0; epoch < 4; epoch++)
      expect(seen.slice(7 * epoch, 7 * epoch + 7).sort()).toEqual(['0', '1', '2', '3', '4', '5', '6']);
    expect(seen.slice(0, 7)).not.toEqual(seen.slice(7, 14));
    expect(await ids({ finite: true }, 7, {}, 2)).toEqual(seen.slice(4, 8));
    expect((await ids({ finite: true }, 7, { filter_noop_tasks: true }, 1)).sort()).toEqual(['1', '2', '4', '5']);
    await expect(ids({ finite: true }, 0, {}, 1)).rejects.toThrow(
      'setting "train_split" is "train": retail has no such tasks; expected heldout',
    );
  });

  test('on the held-out split they are the tasks of the evaluation', async () => {
    const seen = (await Promise.all([1, 2, 3].map((step) => ids({}, Infinity, { train_split: 'heldout' }, step)))).flat();
    expect(new Set(seen)).toEqual(new Set(['0', '67', '134']));
    expect(queries.at(-1)).toMatchObject({ split: 'heldout' });
  });

  test('their outputs can be emptied', async () => {
    const outputs = async (check_outputs: boolean) =>
      (await trainingTasks({ domain, environments: environments(Infinity) }, { ...config, check_outputs }, 1)).map(
        ({ benchmark }) => (benchmark as Tau1Task).outputs,
      );
    expect([await outputs(true), await outputs(false)]).toEqual([Array(4).fill(['10']), Array(4).fill([])]);
  });
});

test('MUA-RL’s rules on a benchmark’s domain: no proper end is required, and the run’s limit applies', async () => {
  const tau1: Domain = { ...domain, name: 'tau1-retail', benchmark: 'tau1' };
  const play = async (rules: 'domain' | 'mua_rl') =>
    runEpisode(
      stage({ domain: tau1, agent: [CANCEL, CANCEL], user: ['Cancel it.'], limits: { max_turns: 2 }, rules: rulesFor(tau1, rules) })
        .options,
    );
  expect(await play('mua_rl')).toMatchObject({ termination: 'max_turns', turns: 2, reward: 1 });
  await expect(play('domain')).rejects.toThrow('the script is at its end'); // tau-bench allows thirty turns
  expect(rulesFor(tau1, 'mua_rl').terminalTools).toEqual(['transfer_to_human_agents']);
  // Results in tau2-bench's format need tau2-bench's word for the ending, also under MUA-RL's rules.
  expect(rulesFor({ ...tau1, benchmark: 'tau2' }, 'mua_rl').ending?.('terminal_tool', false)).toBe('agent_stop');
});

test('episodes that were cut off can be excluded from the update', async () => {
  const update = async (mask_truncated: boolean) => {
    const trained: TrainSequence[] = [];
    const scores = (sequences: readonly TrainSequence[]) => ({
      logprobs: sequences.map(({ tokens }) => new Float32Array(tokens.length)),
      entropies: sequences.map(({ tokens }) => new Float32Array(tokens.length)),
      top: sequences.map(() => ({ k: 0, ids: [], logprobs: [] })),
    });
    const learner = {
      score: async (sequences: readonly TrainSequence[]) => scores(sequences),
      accumulate: async (sequences: readonly TrainSequence[]) => (trained.push(...sequences), scores(sequences)),
      step: async () => ({ gradNorm: 1 }),
    } as unknown as Learner;
    const { options } = stage({ agent: [CANCEL, 'I '.repeat(400), 'Done.<|im_end|>'], user: [] });
    const users = new ReplayUser(['Cancel it.', 'Cancel it.', '###STOP###']);
    // The two episodes run alternately.
    const config = grpoConfig('tiny', { train_batch_size: 1, n: 2, filter_groups: false, use_kl_loss: false, mask_truncated });
    const { domain: place, environments, sampler, tokenizer, rules } = options;
    environments.tasks = async () => [task];
    const { trajectories } = await grpoStep(
      { domain: place, environments, users, sampler: sampler!, tokenizer, rules },
      learner,
      { ...config, response_length_one_turn: 200, max_model_len: 4096 },
      1,
    );
    expect(trajectories.map(({ termination }) => termination).sort()).toEqual(['turn_length', 'user_stop']);
    return trained.length;
  };
  expect(await update(false)).toBe(2);
  expect(await update(true)).toBe(1);
});
