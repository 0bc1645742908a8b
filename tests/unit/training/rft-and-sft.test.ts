/** Steps of rejection-sampling fine-tuning and of supervised fine-tuning: what they play, train on and report. */
import 'fake-indexeddb/auto';
import { describe, expect, test, vi } from 'vitest';
import { renderConversation } from '../../../src/agent/chat-template.ts';
import type { Stage } from '../../../src/agent/rollouts.ts';
import { rulesFor } from '../../../src/benchmarks/rules.ts';
import type { AdamWParams, Learner, TrainSequence } from '../../../src/engine/types.ts';
import { conditionsCode, COLD_START } from '../../../src/environments/conditions.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import type { TaskQuery } from '../../../src/environments/types.ts';
import type { Task } from '../../../src/records/task.ts';
import { grpoConfig } from '../../../src/training/config.ts';
import { grpoStep } from '../../../src/training/grpo.ts';
import { rftStep } from '../../../src/training/rft.ts';
import { maskedTokens } from '../../../src/training/sft.ts';
import { sftStep } from '../../../src/training/sft-run.ts';
import type { StepHooks } from '../../../src/training/step-batch.ts';
import { synthesize } from '../../../src/training/synthesize.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { STOP } from '../../../src/users/types.ts';
import { domain, OrderDesk, task } from '../../support/episodes.ts';
import { conversation, nanoTokenizer } from '../../support/tokenizers.ts';
import { GENERATED_DOMAINS, customerScripts, uncodedConditions } from '../../../src/domains/registry.ts';

/** Records what is trained on. Each token has the log-probability −2 and the entropy 0.5. */
function recorder() {
  const updates: (readonly TrainSequence[])[] = [];
  const params: AdamWParams[] = [];
  const filled = (sequences: readonly TrainSequence[], value: number) =>
    sequences.map(({ tokens }) => new Float32Array(tokens.length).fill(value));
  const scores = (sequences: readonly TrainSequence[]) => ({ logprobs: filled(sequences, -2), entropies: filled(sequences, 0.5) });
  const learner = {
    score: vi.fn(async (sequences: readonly TrainSequence[]) => scores(sequences)),
    accumulate: async (sequences: readonly TrainSequence[]) => (updates.push(sequences), scores(sequences)),
    step: async (given: AdamWParams) => (params.push(given), { gradNorm: 3 }),
  } as unknown as Learner & { score: ReturnType<typeof vi.fn> };
  return { learner, updates, params };
}

/** Rollout i of a step has the reward `rewards[i]` and says “Done.” i + 1 times. */
function desk(rewards: readonly (0 | 1)[]) {
  const asked: TaskQuery[] = [];
  const opened: { seed: number; stream: number }[] = [];
  let verified = 0;
  const environments = Object.assign(new OrderDesk(), {
    tasks: async (query: TaskQuery) => {
      asked.push(query);
      return Array.from({ length: query.count }, (_, i): Task => ({ ...task, id: String(i) }));
    },
    verify: async () => ({ reward: rewards[verified++]!, changes: [], goal: [], progress: 0 }),
  });
  const ids = nanoTokenizer().encode('Done.<|im_end|>');
  const stage: Stage = {
    domain,
    rules: rulesFor(domain, 'domain'),
    environments,
    tokenizer: nanoTokenizer(),
    users: { session: () => ({ open: async () => 'Hello.', reply: async () => STOP }) },
    sampler: {
      maxModelLen: 4096,
      open: async (options) => (opened.push(options), { id: 0, length: 0 }),
      append: () => {},
      close: () => {},
      generate: async () => ({ tokens: [...ids], logprobs: ids.map(() => -1), finishReason: 'stop' as const }),
    },
  };
  return { stage, asked, opened, sampled: ids.length };
}

const RFT = { algorithm: 'rft', train_batch_size: 2, n: 3, sft_mini_batch_size: 2, inspect: false, filter_groups: false };

describe('a step of rft', () => {
  test('trains on the successful rollouts only, by the mean over the sampled tokens of each mini-batch', async () => {
    const { stage, sampled } = desk([1, 0, 1, 0, 0, 1]);
    const { learner, updates, params } = recorder();
    const { metrics, trajectories, advantages } = await rftStep(stage, learner, grpoConfig('nano', { ...RFT, lr_warmup_steps: 0 }), 1);
    expect(updates.map((batch) => batch.map(({ weight }) => weight))).toEqual([Array(2).fill(1 / (2 * sampled)), [1 / sampled]]);
    for (const { lossMask } of updates.flat()) expect(maskedTokens({ tokens: [], lossMask })).toBe(sampled);
    expect(learner.score).not.toHaveBeenCalled(); // no reference
    expect(params.map(({ lr }) => lr)).toEqual([4e-4, 4e-4]);
    expect(metrics).toMatchObject({
      'train/loss': 2,
      'actor/entropy': 0.5,
      'actor/grad_norm': 3,
      'critic/score/mean': 0.5,
      'actor/trained_token_ratio': 0.5,
      'perf/total_sampled_tokens': 6 * sampled,
    });
    expect(trajectories.map(({ id, reward }) => [advantages.get(id), reward])).toEqual([1, 0, 1, 0, 0, 1].map((r) => [r, r]));
  });

  test('plays the same tasks with the same random numbers as a step of GRPO, and reports the same cost', async () => {
    const [ours, theirs] = [desk([1, 0, 1, 0, 0, 1]), desk([1, 0, 1, 0, 0, 1])];
    const rft = await rftStep(ours.stage, recorder().learner, grpoConfig('nano', RFT), 3);
    const grpo = await grpoStep(theirs.stage, recorder().learner, grpoConfig('nano', { ...RFT, algorithm: 'grpo' }), 3);
    expect([ours.asked, ours.opened]).toEqual([theirs.asked, theirs.opened]);
    for (const name of ['perf/total_sampled_tokens', 'perf/total_num_tokens', 'critic/score/mean', 'rollout/turns/mean'])
      expect(rft.metrics[name], name).toBe(grpo.metrics[name]);
  });

  test('rft_epochs is the number of passes', async () => {
    const { learner, updates } = recorder();
    await rftStep(desk([1, 1, 1, 1, 0, 0]).stage, learner, grpoConfig('nano', { ...RFT, rft_epochs: 3 }), 1);
    expect(updates.map((batch) => batch.length)).toEqual([2, 2, 2, 2, 2, 2]);
  });

  test('without a success there is no update and no loss', async () => {
    const { learner, updates } = recorder();
    const { metrics } = await rftStep(desk([0, 0, 0, 0, 0, 0]).stage, learner, grpoConfig('nano', RFT), 1);
    expect(updates).toEqual([]);
    expect(Object.keys(metrics)).not.toContain('train/loss');
  });
});

const SFT = { algorithm: 'sft', train_batch_size: 4, n: 2, sft_mini_batch_size: 4, max_model_len: 4096 };

describe('a step of sft', () => {
  const environments = createEnvironments({ domains: GENERATED_DOMAINS });
  async function run(overrides: object, step: number, hooks: StepHooks = {}) {
    const tasks = vi.spyOn(environments, 'tasks');
    const { learner, updates } = recorder();
    const nano = await environments.domain('retail', 'nano');
    const stage = { ...desk([]).stage, domain: nano, environments, users: null! };
    const { metrics, trajectories } = await sftStep(stage, learner, grpoConfig('nano', { ...SFT, ...overrides }), step, hooks);
    const asked = tasks.mock.calls.map(([query]) => query);
    tasks.mockRestore();
    return { metrics, trajectories, updates, asked };
  }

  test('trains on train_batch_size × n new conversations, which are those that mua synthesize writes', async () => {
    const { updates, metrics, trajectories } = await run({}, 1);
    expect(updates.map((batch) => batch.length)).toEqual([4, 4]);
    const { conversations } = await synthesize(
      { environments, users: new ScriptedUsers(customerScripts) },
      { domain: 'retail', level: 'nano', count: 8, seed: 42 },
    );
    const rendered = conversations.map((made) => renderConversation(nanoTokenizer(), made));
    const seen = updates.flat().map(({ tokens }) => Array.from(tokens).join());
    expect(seen.sort()).toEqual(rendered.map(({ tokens }) => tokens.join()).sort());
    expect(metrics).toMatchObject({
      'train/loss': 2,
      'perf/total_sampled_tokens': rendered.reduce((total, example) => total + maskedTokens(example), 0),
      'perf/total_num_tokens': rendered.reduce((total, { tokens }) => total + tokens.length, 0),
    });
    expect(trajectories).toEqual([]);
  });

  test('no two steps share a task, and a step repeats itself', async () => {
    const [first, second, again] = [await run({}, 1), await run({}, 2), await run({}, 2)];
    const places = ({ asked }: typeof first) => asked.flatMap(({ from = 0, count }) => Array.from({ length: count }, (_, i) => from + i));
    expect(places(first).filter((place) => places(second).includes(place))).toEqual([]);
    expect(again.updates).toEqual(second.updates);
  });

  test('the customers are those of the cold start, or those of the run', async () => {
    const code = async (sft_conditions: string) =>
      conditionsCode((await run({ sft_conditions, 'customers.pushy': 0.5 }, 1)).asked[0]!.conditions, uncodedConditions('retail', 'nano'));
    expect(await code('cold_start')).toBe(conditionsCode(COLD_START, uncodedConditions('retail', 'nano')));
    expect(await code('run')).toMatch(/p500/);
  });

  test.each(['cold_start', 'run'])('the customers want what the run trains on: %s', async (sft_conditions) => {
    const { asked } = await run({ sft_conditions, intents: 'modify_payment,cancel' }, 1);
    expect(asked.map(({ conditions }) => conditions!.intents)).toEqual(asked.map(() => ['cancel', 'modify_payment']));
  });

  test('a dataset comes round in epochs', async () => {
    const dataset = Array.from({ length: 6 }, (_, i) => ({
      messages: [...conversation.messages.slice(0, 2), { role: 'assistant' as const, content: `Answer ${i}.` }],
    }));
    const said = async (step: number) =>
      (await run({}, step, { dataset })).updates
        .flat()
        .map(({ tokens }) => /Answer (\d)/.exec(nanoTokenizer().decode(Array.from(tokens)))![1]!);
    const [first, second, third] = [await said(1), await said(2), await said(3)];
    expect([first.length, second.length, third.length]).toEqual([8, 8, 8]);
    for (const answer of ['0', '1', '2', '3', '4', '5'])
      expect([...first, ...second, ...third].filter((seen) => seen === answer)).toHaveLength(4);
  });

  test('conversations that do not fit are left out and counted; if none fits, the run ends', async () => {
    const whole = await run({}, 1);
    const lengths = whole.updates.flat().map(({ tokens }) => tokens.length);
    const median = lengths.toSorted((a, b) => a - b)[4]!;
    const { updates, metrics } = await run({ max_model_len: median }, 1);
    const fitting = lengths.filter((length) => length <= median);
    expect(updates.flat().length).toBe(fitting.length);
    expect(metrics['train/overlong_dropped']).toBe(8 - fitting.length);
    await expect(run({ max_model_len: 100 }, 1)).rejects.toThrow(
      /the shortest conversation of step 1 has \d+ tokens: max_model_len is 100/,
    );
  });

  test('it can be cancelled', async () => {
    const signal = AbortSignal.abort(new Error('stopped'));
    await expect(run({}, 1, { signal })).rejects.toThrow('stopped');
  });

  test('held-out tasks are refused', () => {
    expect(() => grpoConfig('nano', { ...SFT, train_split: 'heldout' })).toThrow('setting "train_split" is "heldout": expected train');
  });
});
