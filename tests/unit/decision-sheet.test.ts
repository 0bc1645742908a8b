/** The switches of the decision sheet: their table, their presets, and that each of them does something. */
import { describe, expect, test } from 'vitest';
import { runEpisode } from '../../src/agent/episode.ts';
import { departures } from '../../src/agent/rules.ts';
import type { Learner, TrainSequence } from '../../src/engine/types.ts';
import type { Domain, Task, TaskQuery } from '../../src/environments/types.ts';
import { configDiff } from '../../src/app/logic/config-diff.ts';
import { evaluationConfig, grpoConfig } from '../../src/training/config.ts';
import { DECISIONS, valuesOf } from '../../src/training/decision-sheet.ts';
import { grpoStep } from '../../src/training/grpo.ts';
import { PAPER, PRESETS } from '../../src/training/presets.ts';
import { trainingTasks } from '../../src/training/training-tasks.ts';
import { domain, OrderDesk, ReplayUser, stage, task } from '../support/episodes.ts';

const call = (name: string, args: object) => `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;
const CANCEL = call('cancel_pending_order', { order_id: '#W1234567' });

describe('the sheet', () => {
  test('one line a setting, with the values of the presets', () => {
    const settings = DECISIONS.flatMap(({ setting }) => setting ?? []);
    expect(new Set(settings).size).toBe(settings.length);
    expect(new Set(DECISIONS.map(({ topic }) => topic)).size).toBe(DECISIONS.length);
    const values = Object.fromEntries(DECISIONS.flatMap((decision) => (decision.setting ? [[decision.setting, Object.values(valuesOf(decision)!)]] : [])));
    expect(values).toEqual({
      train_split: ['heldout', 'train'], filter_noop_tasks: [false, false], check_outputs: [false, true], conversation_rules: ['mua_rl', 'domain'],
      require_done: [false, true], malformed_policy: ['end', 'feedback'], mask_truncated: [false, false], ppo_mini_batch_size: [32, 8], loss_agg_mode: ['token-mean', 'token-mean'],
      norm_adv_by_std_in_grpo: [true, true], filter_groups: [false, true], max_turns: [30, 24],
    });
    expect(valuesOf({ topic: 'x', upstream: '', ours: '' })).toBeNull();
  });

  test('the faithful preset is the paper’s, but for what the size of the model asks for', () => {
    expect(configDiff(PAPER, PRESETS.faithful!.config).map(({ name }) => name).sort()).toEqual(['level', 'lr', 'max_model_len', 'response_length_one_turn']);
    expect(grpoConfig('faithful', { train_batch_size: '8' })).toMatchObject({ ppo_mini_batch_size: 8, conversation_rules: 'mua_rl' });
  });

  test('settings by name, in training and in evaluation', () => {
    expect(grpoConfig('nano', { train_split: 'heldout', filter_noop_tasks: 'true', check_outputs: 'false', conversation_rules: 'mua_rl', mask_truncated: 'true' }))
      .toMatchObject({ train_split: 'heldout', filter_noop_tasks: true, check_outputs: false, conversation_rules: 'mua_rl', mask_truncated: true });
    expect(() => grpoConfig('nano', { conversation_rules: 'tau3' })).toThrow('setting "conversation_rules" is "tau3"');
    expect(() => grpoConfig('nano', { train_split: 'test' })).toThrow('setting "train_split" is "test"');
    const place = { domain: 'tau1-retail', level: 'full' };
    expect(evaluationConfig({ ...place, settings: { max_model_len: '16384', malformed_policy: 'end' } })).toMatchObject({ ...place, max_model_len: 16384, malformed_policy: 'end', conversation_rules: 'domain' });
    expect(evaluationConfig({ ...place, preset: 'faithful' })).toMatchObject({ ...place, conversation_rules: 'mua_rl', require_done: false, malformed_policy: 'end' });
    expect(evaluationConfig({ domain: 'retail', level: 'nano' })).toEqual(PRESETS.nano!.config);
    expect(() => evaluationConfig({ ...place, preset: 'none' })).toThrow('unknown preset "none"');
    expect(() => evaluationConfig({ ...place, settings: { speed: '1' } })).toThrow('unknown setting "speed"');
  });
});

describe('training tasks', () => {
  const queries: TaskQuery[] = [];
  /** Seven tasks of which every third is a no-op, or as many as are asked for. */
  const environments = (end: number) => Object.assign(new OrderDesk(), {
    tasks: async (query: TaskQuery): Promise<Task[]> => {
      queries.push(query);
      const { from = 0, count } = query;
      return Array.from({ length: Math.min(count, Math.max(0, end - from)) }, (_, i) => ({
        ...task, id: String(from + i), noop: (from + i) % 3 === 0,
        benchmark: { id: String(from + i), user_id: 'u', instruction: 'i', actions: [], outputs: ['10'] },
      }));
    },
  });
  const config = { ...PRESETS.nano!.config, train_batch_size: 4, val_tasks: 3 };
  const ids = async (of: { finite?: true }, end: number, changes: object, step: number) =>
    (await trainingTasks({ domain: { ...domain, ...of }, environments: environments(end) }, { ...config, ...changes }, step)).map(({ id }) => id);

  test('generated ones go on without end', async () => {
    expect(await ids({}, Infinity, {}, 1)).toEqual(['0', '1', '2', '3']);
    expect(await ids({}, Infinity, {}, 3)).toEqual(['8', '9', '10', '11']);
    expect(await ids({}, Infinity, { filter_noop_tasks: true }, 3)).toEqual(['8', '10', '11']);
    expect(queries.at(-1)).toMatchObject({ split: 'train' });
  });

  test('those of a fixed set come round, each once an epoch', async () => {
    const seen = (await Promise.all([1, 2, 3, 4, 5, 6, 7].map((step) => ids({ finite: true }, 7, {}, step)))).flat();
    for (let epoch = 0; epoch < 4; epoch++) expect(seen.slice(7 * epoch, 7 * epoch + 7).sort()).toEqual(['0', '1', '2', '3', '4', '5', '6']);
    expect(seen.slice(0, 7)).not.toEqual(seen.slice(7, 14));
    expect(await ids({ finite: true }, 7, {}, 2)).toEqual(seen.slice(4, 8));
    expect((await ids({ finite: true }, 7, { filter_noop_tasks: true }, 1)).sort()).toEqual(['1', '2', '4', '5']);
    await expect(ids({ finite: true }, 0, {}, 1)).rejects.toThrow('train_split is "train": retail has no tasks there to train on');
  });

  test('on the held-out split they are those that evaluation plays', async () => {
    const seen = (await Promise.all([1, 2, 3].map((step) => ids({}, Infinity, { train_split: 'heldout' }, step)))).flat();
    expect(new Set(seen)).toEqual(new Set(['0', '1', '2']));
    expect(queries.at(-1)).toMatchObject({ split: 'heldout', count: 3 });
  });

  test('their outputs can be emptied', async () => {
    const outputs = async (check_outputs: boolean) =>
      (await trainingTasks({ domain, environments: environments(Infinity) }, { ...config, check_outputs }, 1)).map(({ benchmark }) => (benchmark as { outputs: string[] }).outputs);
    expect([await outputs(true), await outputs(false)]).toEqual([Array(4).fill(['10']), Array(4).fill([])]);
  });
});

test('MUA-RL’s rules on a benchmark’s domain: its end is not asked for, its limit is the run’s', async () => {
  const tau1: Domain = { ...domain, name: 'tau1-retail', benchmark: 'tau1' };
  const play = async (rules: 'domain' | 'mua_rl') => runEpisode(stage({ domain: tau1, agent: [CANCEL, CANCEL], user: ['Cancel it.'], limits: { max_turns: 2 }, rules: departures(rules) }).options);
  expect(await play('mua_rl')).toMatchObject({ termination: 'max_turns', turns: 2, reward: 1 });
  await expect(play('domain')).rejects.toThrow('the script is at its end'); // tau-bench's thirty turns go on
  expect(departures('mua_rl').terminalTools).toEqual(['transfer_to_human_agents']);
});

test('cut episodes can be left out of the update', async () => {
  const update = async (mask_truncated: boolean) => {
    const trained: TrainSequence[] = [];
    const scores = (sequences: readonly TrainSequence[]) => ({ logprobs: sequences.map(({ tokens }) => new Float32Array(tokens.length)), entropies: sequences.map(({ tokens }) => new Float32Array(tokens.length)), top: sequences.map(() => ({ k: 0, ids: [], logprobs: [] })) });
    const learner = {
      score: async (sequences: readonly TrainSequence[]) => scores(sequences),
      accumulate: async (sequences: readonly TrainSequence[]) => (trained.push(...sequences), scores(sequences)),
      step: async () => ({ gradNorm: 1 }),
    } as unknown as Learner;
    const { options } = stage({ agent: [CANCEL, 'I '.repeat(400), 'Done.<|im_end|>'], user: [] });
    const users = new ReplayUser(['Cancel it.', 'Cancel it.', '###STOP###']);
    // The two episodes take turns.
    const config = grpoConfig('tiny', { train_batch_size: 1, n: 2, filter_groups: false, use_kl_loss: false, mask_truncated });
    const { domain: place, environments, sampler, tokenizer } = options;
    environments.tasks = async () => [task];
    const { trajectories } = await grpoStep({ domain: place, environments, users, sampler: sampler!, tokenizer }, learner, { ...config, response_length_one_turn: 200, max_model_len: 4096 }, 1);
    expect(trajectories.map(({ termination }) => termination).sort()).toEqual(['turn_length', 'user_stop']);
    return trained.length;
  };
  expect(await update(false)).toBe(2);
  expect(await update(true)).toBe(1);
});
