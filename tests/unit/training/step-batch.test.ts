/** The rollouts that a step plays, the rollouts in the update, and the number over which the loss is averaged. */
import { describe, expect, test, vi } from 'vitest';
import type { Stage } from '../../../src/agent/rollouts.ts';
import { rulesFor } from '../../../src/benchmarks/rules.ts';
import type { AdamWParams, Learner, TrainSequence } from '../../../src/engine/types.ts';
import type { TaskQuery } from '../../../src/environments/types.ts';
import type { Task, Verdict } from '../../../src/records/task.ts';
import { grpoConfig } from '../../../src/training/config.ts';
import { grpoStep } from '../../../src/training/grpo.ts';
import { STOP, UserError } from '../../../src/users/types.ts';
import { domain, OrderDesk, task } from '../../support/episodes.ts';
import { nanoTokenizer } from '../../support/tokenizers.ts';

/** The outcome of each rollout of a group: its reward, or null if the customer fails. */
type Outcomes = readonly (0 | 1 | null)[];
const MIXED: Outcomes = [1, 0];
const EQUAL: Outcomes = [1, 1];
const SHRUNK: Outcomes = [1, null];

/** Task t has the outcomes `groups[t]`, in the order of the requests for tasks. Every rollout has the same text. */
function setUp(groups: readonly Outcomes[]) {
  const asked: TaskQuery[] = [];
  let next = 0;
  const environments = Object.assign(new OrderDesk(), {
    tasks: async (query: TaskQuery): Promise<Task[]> => {
      asked.push(query);
      return Array.from({ length: query.count }, () => ({ ...task, id: String(next++) }));
    },
    start: async ({ id }: Task) => id,
    verify: async (episode: string): Promise<Verdict> => ({
      reward: outcomes(episode).shift() as 0 | 1,
      changes: [],
      goal: [],
      progress: 0,
    }),
  });
  const left = new Map<string, (0 | 1 | null)[]>();
  const outcomes = (id: string) => {
    if (!left.has(id)) left.set(id, [...groups[Number(id)]!]);
    return left.get(id)!;
  };
  const ids = nanoTokenizer().encode('Done.<|im_end|>');
  const streams: number[] = [];
  const stage: Stage = {
    domain,
    rules: rulesFor(domain, 'domain'),
    environments,
    tokenizer: nanoTokenizer(),
    users: {
      session: () => ({ open: async () => 'Hello.', reply: async () => STOP }),
    },
    sampler: {
      maxModelLen: 4096,
      open: async ({ stream }: { stream: number }) => (streams.push(stream), { id: 0, length: 0 }),
      append: () => {},
      close: () => {},
      generate: async () => ({ tokens: [...ids], logprobs: ids.map(() => -1), finishReason: 'stop' as const }),
    },
  };
  const updates: { sequences: readonly TrainSequence[]; params?: AdamWParams }[] = [];
  const scores = (sequences: readonly TrainSequence[]) => ({
    logprobs: sequences.map(({ tokens }) => new Float32Array(tokens.length)),
    entropies: sequences.map(({ tokens }) => new Float32Array(tokens.length)),
  });
  const learner = {
    score: async (sequences: readonly TrainSequence[]) => scores(sequences),
    accumulate: async (sequences: readonly TrainSequence[]) => (updates.push({ sequences }), scores(sequences)),
    step: async (params: AdamWParams) => ((updates.at(-1)!.params = params), { gradNorm: 1 }),
  } as unknown as Learner;
  const play = (overrides: Record<string, unknown> = {}) =>
    grpoStep(stage, learner, grpoConfig('nano', { train_batch_size: groups.length, n: 2, inspect: false, ...overrides }), 1);
  return { stage, learner, asked, streams, updates, play, sampled: ids.length };
}
const weights = ({ sequences }: { sequences: readonly TrainSequence[] }) => sequences.map(({ weight }) => weight);

describe('filter_groups', () => {
  test('one mixed group of eight weighs an eighth', async () => {
    const { play, updates, sampled } = setUp([EQUAL, EQUAL, MIXED, EQUAL, EQUAL, EQUAL, EQUAL, EQUAL]);
    const { metrics } = await play();
    expect(updates.map(weights)).toEqual([[1 / (16 * sampled), 1 / (16 * sampled)]]);
    expect(metrics['actor/trained_token_ratio']).toBe(1 / 8);
  });

  test('the average over sequences also counts excluded sequences', async () => {
    const { play, updates, sampled } = setUp([EQUAL, MIXED]);
    await play({ loss_agg_mode: 'seq-mean-token-mean' });
    expect(updates.map(weights)).toEqual([[1 / (4 * sampled), 1 / (4 * sampled)]]);
  });

  test('mini-batches are formed before groups are excluded', async () => {
    const { play, updates, sampled } = setUp([MIXED, EQUAL, EQUAL, EQUAL, MIXED, MIXED]);
    await play({ ppo_mini_batch_size: 2 });
    // The second mini-batch has no group to train on.
    expect(updates.map(weights)).toEqual([Array(2).fill(1 / (4 * sampled)), Array(4).fill(1 / (4 * sampled))]);
  });

  test('if filter_groups is off, every group is in the update', async () => {
    const { play, updates, sampled } = setUp([EQUAL, MIXED]);
    const { metrics } = await play({ filter_groups: false });
    expect(updates.map(weights)).toEqual([Array(4).fill(1 / (4 * sampled))]);
    expect(metrics['actor/trained_token_ratio']).toBe(1);
  });
});

describe('filter_groups.max_num_gen_batches', () => {
  const refill = (limit: number, ...groups: Outcomes[]) => {
    const parts = setUp(groups);
    return { ...parts, done: parts.play({ train_batch_size: 2, 'filter_groups.max_num_gen_batches': limit }) };
  };

  test('plays further tasks until enough groups are mixed; the loss is averaged over these', async () => {
    const { done, updates, sampled, asked, streams } = refill(5, EQUAL, MIXED, EQUAL, EQUAL, MIXED, MIXED);
    const { metrics, trajectories, advantages } = await done;
    expect(updates.map(weights)).toEqual([Array(4).fill(1 / (4 * sampled))]);
    expect(metrics['train/num_gen_batches']).toBe(3);
    // All played rollouts are kept and count in the reward.
    expect(trajectories.map(({ group, task: { id } }) => [group, id])).toEqual(
      [0, 1, 2, 3, 4, 5].flatMap((t) => Array(2).fill([`1-${t}`, String(t)])),
    );
    expect(metrics['critic/score/mean']).toBe(9 / 12);
    expect(advantages.size).toBe(12);
    // No task and no random number is used twice.
    expect(new Set(asked.map(({ from }) => from)).size).toBe(6);
    expect(new Set(streams).size).toBe(12);
  });

  test('more mixed groups than the batch holds: the first ones are trained on', async () => {
    const { done, updates } = refill(2, EQUAL, MIXED, MIXED, MIXED);
    const { trajectories } = await done;
    expect(updates.map(({ sequences }) => sequences.length)).toEqual([4]);
    const trained = trajectories.filter(({ nodes }) => nodes.some(({ annotations }) => annotations?.advantage));
    expect(new Set(trained.map(({ group }) => group))).toEqual(new Set(['1-1', '1-2']));
  });

  test('at the limit, groups of equal reward fill the batch and count only in the average', async () => {
    const { done, updates, sampled } = refill(2, EQUAL, EQUAL, MIXED, EQUAL, MIXED, MIXED);
    expect((await done).metrics['train/num_gen_batches']).toBe(2);
    expect(updates.map(weights)).toEqual([Array(2).fill(1 / (4 * sampled))]);
  });

  test('0 has no limit, 1 plays one batch', async () => {
    const many = [...Array<Outcomes>(20).fill(EQUAL), MIXED, MIXED];
    expect((await refill(0, ...many).done).metrics['train/num_gen_batches']).toBe(11);
    expect((await refill(1, ...many).done).metrics['train/num_gen_batches']).toBe(1);
  });
});

test.each([true, false])('a group that shrank to one rollout is left out of the update (filter_groups %s)', async (filter_groups) => {
  const { stage, play, updates, sampled } = setUp([SHRUNK, MIXED]);
  // The customer of the second episode fails in each try.
  let sessions = 0;
  vi.spyOn(stage.users, 'session').mockImplementation(() => {
    const fails = ++sessions === 2 || sessions > 4;
    return { open: async () => 'Hello.', reply: async () => (fails ? Promise.reject(new UserError('gone', 'network')) : STOP) };
  });
  const { trajectories, advantages } = await play({ filter_groups });
  expect(trajectories.map(({ group, reward }) => [group, reward])).toEqual([
    ['1-0', 1],
    ['1-1', 1],
    ['1-1', 0],
    ['1-0', null],
  ]);
  expect(advantages.get(trajectories[0]!.id)).toBe(0);
  expect(updates.map(weights)).toEqual([Array(2).fill(1 / (3 * sampled))]);
});

test('the update gets the number of micro-batches and whether all parameters decay', async () => {
  const { play, updates, sampled } = setUp([MIXED, EQUAL]);
  await play({ ppo_micro_batch_size_per_gpu: 3, decay_all_parameters: true });
  // Four sequences in micro-batches of three and one; the first two are trained on.
  expect(updates.map(weights)).toEqual([Array(2).fill(1 / (2 * 3 * sampled))]);
  expect(updates[0]!.params).toMatchObject({ decay_all_parameters: true });
});

describe('GSPO', () => {
  const gspo = { loss_mode: 'gspo', ppo_mini_batch_size: 1, use_kl_loss: false };
  /** The second mini-batch is scored once, by weights that raised its first token by 0.5. The sampler's log-probs are -1. */
  const setUpGspo = (groups: readonly Outcomes[]) => {
    const parts = setUp(groups);
    const score = vi.fn(async (sequences: readonly TrainSequence[]) => ({
      logprobs: sequences.map(({ lossMask }) => {
        const first = Array.from(lossMask).indexOf(1);
        return Float32Array.from(lossMask, (m, t) => (m ? (t === first ? -0.5 : -1) : 0));
      }),
      entropies: sequences.map(({ tokens }) => new Float32Array(tokens.length)),
    }));
    Object.assign(parts.learner, { score });
    return { ...parts, score };
  };
  const old = ({ lossMask, inputs }: TrainSequence) => Array.from(inputs![1] as ArrayLike<number>).filter((_, t) => lossMask[t] === 1);

  test('after the first update of a step the old log-probs give each token the ratio of its sequence', async () => {
    const { play, updates, score, sampled } = setUpGspo([MIXED, MIXED]);
    await play(gspo);
    expect(score).toHaveBeenCalledTimes(1);
    expect(updates).toHaveLength(2);
    for (const sequence of updates[0]!.sequences) expect(old(sequence)).toEqual(Array(sampled).fill(-1));
    const mean = 0.5 / sampled;
    for (const sequence of updates[1]!.sequences)
      expect(old(sequence)).toEqual([-0.5, ...Array(sampled - 1).fill(-1)].map((l) => expect.closeTo(l - mean, 6)));
  });

  test('one update needs no scores, and other losses never do', async () => {
    const { play, score } = setUpGspo([MIXED, MIXED]);
    await play({ ...gspo, ppo_mini_batch_size: 2 });
    await setUpGspo([MIXED]).play({ ppo_epochs: 3, use_kl_loss: false });
    expect(score).not.toHaveBeenCalled();
  });

  test('the KL metric compares with the sampler', async () => {
    const { play } = setUpGspo([MIXED]);
    // The learner of this test gives log-probabilities 0 in an update.
    expect((await play({ ...gspo, ppo_epochs: 2 })).metrics['actor/ppo_kl']).toBeCloseTo(-1, 12);
  });
});

test('the advantages of REINFORCE++ with gamma differ within a rollout, and are stored with its tokens', async () => {
  const { play, updates, sampled } = setUp([MIXED]);
  const { trajectories, advantages } = await play({ adv_estimator: 'reinforce_plus_plus', gamma: 0.5, filter_groups: false });
  const { lossMask, inputs } = updates[0]!.sequences[0]!;
  const own = Array.from(inputs![0] as ArrayLike<number>).filter((_, t) => lossMask[t] === 1);
  expect(own).toHaveLength(sampled);
  expect(own.at(-1)!).toBeGreaterThan(own[0]!);
  const stored = trajectories[0]!.nodes.flatMap(({ annotations }) => annotations?.advantage ?? []).filter((a) => a !== null);
  expect(stored).toEqual(own);
  expect(advantages.get(trajectories[0]!.id)).toBeCloseTo(own.reduce((a, b) => a + b) / sampled, 12);
});

test('the penalty for length changes advantages and not which groups are mixed', async () => {
  const { play, updates } = setUp([EQUAL, MIXED]);
  const { metrics, advantages, trajectories } = await play({
    'overlong_buffer.enable': true,
    'overlong_buffer.len': 1024,
    'overlong_buffer.penalty_factor': 2,
    norm_adv_by_std_in_grpo: false,
  });
  expect(metrics['critic/overlong_reward/mean']).toBeCloseTo((-2 * metrics['perf/total_num_tokens']!) / 4 / 1024, 12);
  expect(updates[0]!.sequences).toHaveLength(2);
  // All rollouts have the same length, so the penalty cancels out.
  expect(trajectories.map(({ id }) => advantages.get(id))).toEqual([0, 0, 0.5, -0.5].map((a) => expect.closeTo(a, 12)));
});

describe('user_faults', () => {
  /** The customer of every second rollout speaks as the agent. */
  const play = (user_faults: string, faulty = (session: number) => session % 2 === 1) => {
    const { stage, play, updates } = setUp([
      [1, 0, 1, 0],
      [0, 1, 1, 0],
    ]);
    let sessions = 0;
    stage.users.session = () => {
      const open = faulty(sessions++) ? 'How can I help you today?' : 'Hello.';
      return { open: async () => open, reply: async () => STOP };
    };
    return { result: play({ n: 4, user_faults, filter_groups: false }), updates };
  };

  test('keep: the update uses all rollouts, and the metric counts the faults', async () => {
    const { result, updates } = play('keep');
    const { metrics, advantages } = await result;
    expect(metrics).toMatchObject({ 'user/fault_rate': 0.5, 'user/audited': 8, 'rollout/dropped': 0, 'rollout/failed_ratio': 0 });
    expect(updates.flatMap(({ sequences }) => sequences)).toHaveLength(8);
    expect(advantages.size).toBe(8);
  });

  test('drop: rollouts with a faulty customer are left out like those of a failed customer, and are counted', async () => {
    const { result, updates } = play('drop');
    const { metrics, advantages, trajectories } = await result;
    expect(metrics).toMatchObject({ 'user/fault_rate': 0.5, 'user/audited': 8, 'rollout/dropped': 4, 'rollout/failed_ratio': 0.5 });
    expect(updates.flatMap(({ sequences }) => sequences)).toHaveLength(4);
    expect(advantages.size).toBe(4);
    expect(trajectories).toHaveLength(8);
  });

  test('drop: a step without sound rollouts is an error', async () => {
    await expect(play('drop', () => true).result).rejects.toThrow(/in each of them the customer makes a fault/);
  });

  test('a sound customer has the rate 0', async () => {
    expect((await play('drop', () => false).result).metrics).toMatchObject({ 'user/fault_rate': 0, 'rollout/dropped': 0 });
  });

  test('other values are refused', () => expect(() => grpoConfig('nano', { user_faults: 'no' })).toThrow(/user_faults/));
});
