/**
 * What a whole run promises, seen from outside: which tasks it plays, which numbers reach the learner, who shares a seed, and
 * which conversations the cold start keeps. The fakes answer by what they are asked, so a wrong question gives a wrong number.
 */
import { expect, test } from 'vitest';
import { groupBy } from '../../../src/base/group-by.ts';
import type { Stage } from '../../../src/agent/rollouts.ts';
import { rulesFor } from '../../../src/benchmarks/rules.ts';
import type { AdamWParams, Learner, SamplingParams, ScoreOptions, Sequence, TrainSequence } from '../../../src/engine/types.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import type { Environments, TaskQuery } from '../../../src/environments/types.ts';
import type { Task } from '../../../src/records/task.ts';
import type { Trajectory } from '../../../src/records/trajectory.ts';
import { grpoConfig } from '../../../src/training/config.ts';
import { trainRun } from '../../../src/training/run.ts';
import { synthesize } from '../../../src/training/synthesize.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { customerScripts, GENERATED_DOMAINS } from '../../../src/domains/registry.ts';
import { STOP, UserError } from '../../../src/users/types.ts';
import { domain, OrderDesk, task } from '../../support/episodes.ts';
import { nanoTokenizer } from '../../support/tokenizers.ts';

/** The log-probability of every token under the policy, and under the reference, at temperature 1. */
const POLICY = -1;
const REFERENCE = -3;

interface Played {
  task: string;
  userSeed: number;
  seed: number;
  stream: number;
  params: SamplingParams;
}

interface World {
  /** The reward of the episode that is scored as number `nth`. Default: every second one succeeds. */
  reward?: (nth: number) => 0 | 1;
  /** What the model says in the episode of this stream. */
  says?: (stream: number) => string;
  gradNorm?: number;
  /** Whether the customer of the session of this number fails. */
  fails?: (nth: number) => boolean;
}

/** A run over a desk of orders. */
function lab(overrides: Record<string, unknown> = {}, world: World = {}) {
  const { reward = (nth) => (nth % 2) as 0 | 1, says = () => 'Done.', gradNorm = 1, fails = () => false } = world;
  let sessions = 0;
  const asked: TaskQuery[] = [];
  const played: Played[] = [];
  const scored: ScoreOptions[] = [];
  const accumulated: { sequences: readonly TrainSequence[]; temperature: number | undefined }[] = [];
  const updates: AdamWParams[] = [];
  let verdicts = 0;
  const environments = Object.assign(new OrderDesk(), {
    tasks: async (query: TaskQuery): Promise<Task[]> => {
      asked.push(query);
      return Array.from({ length: query.count }, (_, i) => ({
        ...task,
        id: `desk/nano/${query.split}/${query.seed}/${(query.from ?? 0) + i}`,
        split: query.split,
      }));
    },
    verify: async () => ({ reward: reward(verdicts++), changes: [], goal: [], progress: 0 }),
  });
  /** The episode that began last. */
  const open: Partial<Played> = {};
  const noise = new Map<Sequence, { seed: number; stream: number }>();
  const stage: Stage = {
    domain,
    rules: rulesFor(domain, 'domain'),
    environments: Object.assign(environments, {
      start: async ({ id }: Task) => {
        open.task = id;
        return id;
      },
    }),
    tokenizer: nanoTokenizer(),
    users: {
      session: (_, userSeed) => {
        open.userSeed = userSeed;
        const failing = fails(sessions++);
        return {
          open: async () => {
            if (failing) throw new UserError('nobody answers', 'network');
            return 'Hello.';
          },
          reply: async () => STOP,
        };
      },
    },
    sampler: {
      maxModelLen: 4096,
      open: async (options) => {
        const sequence = { id: 0, length: 0 };
        noise.set(sequence, options);
        return sequence;
      },
      append: () => {},
      close: () => {},
      generate: async (sequence, params) => {
        played.push({ ...open, ...noise.get(sequence)!, params } as Played);
        const ids = nanoTokenizer().encode(`${says(noise.get(sequence)!.stream)}<|im_end|>`);
        return { tokens: [...ids], logprobs: ids.map(() => POLICY), finishReason: 'stop' as const };
      },
    },
  };
  const filled = (sequences: readonly TrainSequence[], value: number) => ({
    logprobs: sequences.map(({ tokens }) => new Float32Array(tokens.length).fill(value)),
    entropies: sequences.map(({ tokens }) => new Float32Array(tokens.length)),
  });
  const learner = {
    score: async (sequences: readonly TrainSequence[], options: ScoreOptions = {}) => {
      scored.push(options);
      return filled(sequences, (options.weights === 'reference' ? REFERENCE : POLICY) / (options.temperature ?? 1));
    },
    accumulate: async (sequences: readonly TrainSequence[], _: unknown, { temperature }: { temperature?: number } = {}) => {
      accumulated.push({ sequences, temperature });
      return filled(sequences, POLICY / (temperature ?? 1));
    },
    step: async (params: AdamWParams) => {
      updates.push(params);
      return { gradNorm };
    },
  } as unknown as Learner;
  const config = grpoConfig('nano', {
    train_batch_size: 2,
    n: 2,
    val_tasks: 3,
    test_freq: 1,
    total_training_steps: 2,
    filter_groups: false,
    inspect: false,
    ...overrides,
  });
  const metrics: Record<string, number>[] = [];
  const trials: Trajectory[][] = [];
  const rollouts: Trajectory[] = [];
  const advantages = new Map<string, number>();
  // Evaluations play one episode at a time, so that the fakes know which episode asks.
  const run = () =>
    trainRun(stage, learner, config, 1, {
      onBaseline: async ({ trajectories }) => void trials.push(trajectories),
      onStep: async (result, evaluation) => {
        metrics.push(result.metrics);
        rollouts.push(...result.trajectories);
        for (const [id, advantage] of result.advantages) advantages.set(id, advantage);
        if (evaluation) trials.push(evaluation.trajectories);
      },
    });
  return { run, config, asked, played, scored, accumulated, updates, metrics, trials, rollouts, advantages };
}

const isHeldOut = ({ task }: { task: string }) => task.startsWith('desk/nano/heldout/');

test('evaluation plays held-out tasks, the same ones with the same noise each time, and training never does', async () => {
  const { run, trials, asked, played } = lab();
  await run();
  // Before the first step, and after each of two steps.
  expect(trials).toHaveLength(3);
  for (const trajectories of trials)
    // Each from another block of 64 tasks, which are a world.
    expect(trajectories.map(({ task }) => task.id)).toEqual([0, 67, 134].map((i) => `desk/nano/heldout/42/${i}`));
  const evaluated = played.filter(isHeldOut);
  const noise = evaluated.map(({ task, userSeed, seed, stream }) => [task, userSeed, seed, stream]);
  expect(noise.slice(3, 6)).toEqual(noise.slice(0, 3));
  expect(noise.slice(6, 9)).toEqual(noise.slice(0, 3));
  const trained = asked.filter(({ split }) => split === 'train');
  expect(trained.length).toBeGreaterThan(0);
  expect(trained.every(({ seed }) => seed === 42)).toBe(true);
  const streams = (of: Played[]) => new Set(of.map(({ stream }) => stream));
  const own = streams(evaluated);
  expect([...streams(played.filter((episode) => !isHeldOut(episode)))].filter((stream) => own.has(stream))).toEqual([]);
});

test('an evaluation plays the tasks of val_split', async () => {
  const { run, trials, asked } = lab({ val_split: 'unseen' });
  await run();
  expect(trials).toHaveLength(3);
  for (const trajectories of trials)
    expect(trajectories.map(({ task }) => task.id)).toEqual([0, 67, 134].map((i) => `desk/nano/unseen/42/${i}`));
  expect(new Set(asked.map(({ split }) => split))).toEqual(new Set(['train', 'unseen']));
});

test('an evaluation samples by do_sample: greedily, or as the rollouts do', async () => {
  const temperatures = async (sample: boolean) => {
    const { run, played } = lab({ 'val_kwargs.do_sample': sample, temperature: 0.7, top_p: 0.9 });
    await run();
    return played.filter(isHeldOut).map(({ params }) => [params.temperature, params.topP]);
  };
  expect(new Set((await temperatures(false)).map(String))).toEqual(new Set(['0,1']));
  expect(new Set((await temperatures(true)).map(String))).toEqual(new Set(['0.7,0.9']));
});

test('val_greedy plays the same held-out tasks greedily after the last step only', async () => {
  const { run, played, trials, metrics } = lab({ val_greedy: true, 'val_kwargs.do_sample': true, temperature: 0.7 });
  await run();
  const [before, between, after, greedy, ...more] = [0, 3, 6, 9, 12].map((from) => played.filter(isHeldOut).slice(from, from + 3));
  expect(more).toEqual([[]]);
  for (const sampled of [before!, between!, after!]) expect(sampled.map(({ params }) => params.temperature)).toEqual([0.7, 0.7, 0.7]);
  expect(greedy!.map(({ params }) => params.temperature)).toEqual([0, 0, 0]);
  expect(greedy!.map(({ task, userSeed }) => [task, userSeed])).toEqual(after!.map(({ task, userSeed }) => [task, userSeed]));
  expect(trials).toHaveLength(3);
  const name = 'val-aux/retail-nano/reward/greedy@1';
  expect(metrics.map((values) => name in values)).toEqual([false, true]);
});

test('the KL term compares the policy with the reference', async () => {
  const { run, accumulated, metrics } = lab({ use_kl_loss: true, kl_loss_type: 'low_var_kl', kl_loss_coef: 0.5 });
  await run();
  for (const { sequences } of accumulated)
    for (const { lossMask, inputs } of sequences)
      for (let t = 0; t < lossMask.length; t++) if (lossMask[t]) expect((inputs![2] as ArrayLike<number>)[t]).toBe(REFERENCE);
  // Schulman's k3 with the reference's probability over the policy's, exp(-3 + 1): r - 1 - ln r.
  const ratio = Math.exp(REFERENCE - POLICY);
  expect(metrics[0]!['actor/kl_loss']).toBeCloseTo(ratio - 1 - Math.log(ratio), 5);
});

test('a KL that the update does not measure is absent, never 0', async () => {
  const names = async (overrides: Record<string, unknown>) => {
    const { run, metrics } = lab(overrides);
    await run();
    return Object.keys(metrics[0]!).filter((name) => /kl_|clipfrac/.test(name));
  };
  expect(await names({ use_kl_loss: true })).toEqual(['actor/kl_loss', 'actor/kl_coef', 'actor/pg_clipfrac', 'actor/pg_clipfrac_lower']);
  expect(await names({ use_kl_loss: false })).toEqual(['actor/pg_clipfrac', 'actor/pg_clipfrac_lower']);
});

test.each(['grpo', 'rft'])('%s: the temperature of the rollouts is that of the update and of the reference', async (algorithm) => {
  const { run, accumulated, scored, played } = lab({ algorithm, temperature: 0.5, use_kl_loss: true });
  await run();
  expect(played.filter((episode) => !isHeldOut(episode)).every(({ params }) => params.temperature === 0.5)).toBe(true);
  expect(accumulated.length).toBeGreaterThan(0);
  expect(accumulated.every(({ temperature }) => temperature === 0.5)).toBe(true);
  expect(scored.map(({ weights, temperature }) => [weights, temperature])).toEqual(
    algorithm === 'grpo' ? Array(2).fill(['reference', 0.5]) : [],
  );
});

test('the rollouts of a group share their customer and differ in their samples; groups differ in both', async () => {
  const { run, rollouts, played } = lab();
  await run();
  const groups = [...groupBy(rollouts, ({ group }) => group).values()];
  expect(groups.map((group) => group.length)).toEqual([2, 2, 2, 2]);
  for (const group of groups) expect(new Set(group.map(({ userSeed }) => userSeed)).size).toBe(1);
  expect(new Set(groups.map(([first]) => first!.userSeed)).size).toBe(4);
  const streams = played.filter((episode) => !isHeldOut(episode)).map(({ stream }) => stream);
  expect(new Set(streams).size).toBe(8);
});

test('training has the customers of training, and evaluation those of evaluation', async () => {
  const { run, asked } = lab({ 'customers.pushy': 0.5, 'val_customers.pushy': 0.25 });
  await run();
  const pushy = (split: string) =>
    new Set(asked.filter((query) => query.split === split).map(({ conditions }) => conditions!.customers.pushy));
  expect(pushy('train')).toEqual(new Set([0.5]));
  expect(pushy('heldout')).toEqual(new Set([0.25]));
});

test('an episode whose customer fails is played at most three times', async () => {
  const once = { train_batch_size: 1, total_training_steps: 1, val_tasks: 0 };
  // Two rollouts: both fail twice, and then they are scored.
  const patient = lab(once, { fails: (nth) => nth < 4 });
  await patient.run();
  expect(patient.rollouts.map(({ reward }) => reward).toSorted()).toEqual([0, 1]);
  await expect(lab(once, { fails: (nth) => nth < 6 }).run()).rejects.toThrow('no episode could be scored: nobody answers');
});

test('every setting of the optimizer reaches the learner', async () => {
  const given = { weight_decay: 0.03, grad_clip: 0.7, beta1: 0.8, beta2: 0.95, adam_eps: 1e-6, decay_all_parameters: true };
  const { run, updates } = lab({ ...given, lr: 0.25, lr_warmup_steps: 0, lr_scheduler_type: 'constant' });
  await run();
  const { adam_eps: eps, ...same } = given;
  expect(updates).toEqual([
    { ...same, eps, lr: 0.25 },
    { ...same, eps, lr: 0.25 },
  ]);
});

test('the learning rate changes from step to step, and all updates of a step share it, as in verl', async () => {
  // Two steps of two mini-batches. verl's scheduler makes one step for each batch of rollouts: 1, then 1 − 1/2.
  const { run, updates } = lab({ ppo_mini_batch_size: 1, lr: 1, lr_warmup_steps: 0, lr_scheduler_type: 'linear' });
  await run();
  expect(updates.map(({ lr }) => lr)).toEqual([1, 1, 0.5, 0.5]);
});

test('the warm-up counts steps, not updates: of one step and four passes, all have half the learning rate', async () => {
  const { run, updates } = lab({ ppo_epochs: 4, lr: 1, lr_warmup_steps: 1, lr_scheduler_type: 'constant' });
  await run();
  expect(updates.map(({ lr }) => lr)).toEqual([0.5, 0.5, 0.5, 0.5, 1, 1, 1, 1]);
});

test('a gradient that is not finite ends the run and names the step', async () => {
  await expect(lab({}, { gradNorm: NaN }).run()).rejects.toThrow('the gradient norm of step 1 is NaN: the update was not applied');
});

test('successes get a positive advantage and failures a negative one, also in the update', async () => {
  // The first three of four rollouts fail.
  const { run, rollouts, advantages, accumulated } = lab(
    { n: 4, train_batch_size: 1, norm_adv_by_std_in_grpo: false, total_training_steps: 1, val_tasks: 0 },
    { reward: (nth) => Number(nth === 3) as 0 | 1 },
  );
  await run();
  // R minus the mean of 0, 0, 0 and 1.
  expect(rollouts.map(({ id, reward }) => [reward, advantages.get(id)]).toSorted()).toEqual([
    [0, -0.25],
    [0, -0.25],
    [0, -0.25],
    [1, 0.75],
  ]);
  const trained = accumulated.flatMap(({ sequences }) =>
    sequences.map(({ lossMask, inputs }) => (inputs![0] as ArrayLike<number>)[Array.from(lossMask).indexOf(1)]),
  );
  expect(trained.toSorted()).toEqual([-0.25, -0.25, -0.25, 0.75]);
});

test('with the overlong buffer a longer conversation of the same outcome gets less', async () => {
  const long = 'Done. Done. Done. Done.';
  const { run, rollouts, advantages } = lab(
    {
      ...{ train_batch_size: 1, total_training_steps: 1, val_tasks: 0, max_model_len: 4096 },
      ...{ 'overlong_buffer.enable': true, 'overlong_buffer.len': 4095, 'overlong_buffer.penalty_factor': 1 },
    },
    { reward: () => 1, says: (stream) => (stream % 2 ? long : 'Done.') },
  );
  await run();
  const size = ({ nodes }: Trajectory) => nodes.reduce((sum, { tokens }) => sum + tokens.length, 0);
  const [short, longer] = rollouts.toSorted((a, b) => size(a) - size(b));
  expect(size(longer!)).toBeGreaterThan(size(short!));
  expect(advantages.get(longer!.id)).toBeLessThan(advantages.get(short!.id)!);
});

test('rft trains on successes only', async () => {
  const { run, accumulated } = lab({ algorithm: 'rft', total_training_steps: 1, sft_mini_batch_size: 8 });
  await run();
  expect(accumulated.map(({ sequences }) => sequences.length)).toEqual([2]);
});

test('the cold start keeps verified successes of both demonstrators, and nothing else', async () => {
  const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
  // Every third episode ends with the wrong database, whatever the demonstrator did.
  const failed = new Set<string>();
  const tasks = new Map<string, string>();
  const unreliable: Environments = {
    domain: (...args) => environments.domain(...args),
    tasks: (query) => environments.tasks(query),
    call: (...args) => environments.call(...args),
    close: (id) => environments.close(id),
    async start(given) {
      const id = await environments.start(given);
      tasks.set(id, given.id);
      if (tasks.size % 3 === 0) failed.add(given.id);
      return id;
    },
    async verify(id, ...more) {
      const verdict = await environments.verify(id, ...more);
      return failed.has(tasks.get(id)!) ? { ...verdict, reward: 0 } : verdict;
    },
  };
  const { conversations, tried, solved } = await synthesize(
    { environments: unreliable, users: new ScriptedUsers(customerScripts) },
    { domain: 'retail', level: 'nano', count: 40, seed: 3 },
  );
  expect(conversations).toHaveLength(40);
  expect(conversations.map(({ reward }) => reward)).toEqual(Array(40).fill(1));
  expect(conversations.filter(({ id }) => failed.has(id))).toEqual([]);
  expect(solved).toBeLessThanOrEqual(tried - failed.size);
  const styles = groupBy(conversations, ({ demonstrator }) => demonstrator);
  expect([...styles.keys()].sort()).toEqual(['brisk', 'careful']);
  for (const own of styles.values()) expect(own.length).toBeGreaterThan(8);
  // A careful demonstrator asks before each write, a brisk one does not.
  expect(styles.get('careful')!.every((made) => made.unconfirmed_writes === 0)).toBe(true);
  expect(styles.get('brisk')!.some((made) => made.unconfirmed_writes > 0)).toBe(true);
});
