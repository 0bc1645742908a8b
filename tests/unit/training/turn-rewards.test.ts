/**
 * Rewards of turns and turn-level advantages: the reward of each turn, the equations of the papers, and the tokens that the
 * advantages reach in the update.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { runEpisode } from '../../../src/agent/episode.ts';
import { expertPlayer } from '../../../src/agent/players.ts';
import type { Stage } from '../../../src/agent/rollouts.ts';
import { flatten } from '../../../src/agent/trajectory.ts';
import { rulesFor } from '../../../src/benchmarks/rules.ts';
import { customerScripts, GENERATED_DOMAINS } from '../../../src/domains/registry.ts';
import type { Learner, TrainSequence } from '../../../src/engine/types.ts';
import { shares } from '../../../src/environments/conditions.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import type { RowChange, Task, ToolCall, Verdict } from '../../../src/records/task.ts';
import type { MessageNode, Trajectory } from '../../../src/records/trajectory.ts';
import { readToml } from '../../../src/experiments/read-toml.ts';
import { advantageOf } from '../../../src/formats/rollout-lines.ts';
import { type Advantage, estimateAdvantages, type Outcome } from '../../../src/training/advantages.ts';
import { ALGORITHMS, withAlgorithm } from '../../../src/training/algorithms/index.ts';
import { ConfigError, grpoConfig } from '../../../src/training/config.ts';
import { PAPER } from '../../../src/training/defaults.ts';
import { grpoStep } from '../../../src/training/grpo.ts';
import { PRESETS } from '../../../src/training/presets.ts';
import { storeRewards } from '../../../src/training/rewards.ts';
import { isMixed } from '../../../src/training/step-batch.ts';
import { turnsOf } from '../../../src/training/turn-rewards.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { STOP } from '../../../src/users/types.ts';
import { createCarelessExpert } from '../../support/careless.ts';
import { domain, OrderDesk, task } from '../../support/episodes.ts';
import { nanoTokenizer } from '../../support/tokenizers.ts';
import reference from '../../reference/fixtures/turn-advantages.json' with { type: 'json' };

const change = (key: string, after: string, before = 'pending'): RowChange => ({ table: 'orders', key, before, after, call: 0 });
const GOAL = [change('a', 'cancelled'), change('b', 'cancelled')];

/** A message of the agent with this number of sampled tokens, and the changes of each of its calls. */
interface Message {
  sampled: number;
  calls?: RowChange[][];
  error?: true;
}

function played(messages: Message[], goal = GOAL): Trajectory {
  const nodes: MessageNode[] = [];
  const add = (node: Partial<MessageNode> & Pick<MessageNode, 'role'>) =>
    nodes.push({
      id: nodes.length,
      parent: nodes.length - 1 < 0 ? null : nodes.length - 1,
      text: '',
      tokens: [],
      mask: [],
      logprobs: [],
      ...node,
    });
  add({ role: 'system', tokens: [1], mask: [0], logprobs: [null] });
  for (const { sampled, calls = [], error = false } of messages) {
    const of = <T>(value: T) => Array<T>(sampled).fill(value);
    add({ role: 'assistant', tokens: of(2), mask: of(1), logprobs: of(-1) });
    for (const changes of calls)
      add({ role: 'tool', tokens: [3], mask: [0], logprobs: [null], toolResult: { name: 'cancel', error, index: 0, changes, ms: 0 } });
  }
  const verdict: Verdict = { reward: 0, changes: [], goal, progress: 0 };
  const rest = { termination: 'max_turns', turns: 1, reward: 0, violations: [], toolCalls: {}, parseErrors: 0 } as const;
  return {
    ...rest,
    ...{ id: '1-0-0', task, group: '1-0', index: 0, seed: 1, nodes, leaf: nodes.length - 1, verdict, violations: [] },
    seconds: { generate: 0, tool: 0, user: 0 },
  };
}
const rewards = (...given: Parameters<typeof played>) => turnsOf(played(...given)).map(({ reward }) => reward);

describe('the rewards of turns', () => {
  test('a right row, no write, a damaged row, in an episode that a limit ended', () => {
    const messages = [
      { sampled: 3 },
      { sampled: 2, calls: [[change('a', 'cancelled')]] },
      { sampled: 4, calls: [[]] },
      { sampled: 1, calls: [[change('z', 'cancelled')]] },
    ];
    expect(turnsOf(played(messages))).toEqual([
      { reward: 0, length: 3 },
      { reward: 1 / 2, length: 2 },
      { reward: 0, length: 4 },
      { reward: -1 / 2, length: 1 },
    ]);
  });
  test.each<[string, Message[], RowChange[], number[]]>([
    ['two calls in one turn', [{ sampled: 1, calls: [[change('a', 'cancelled')], [change('b', 'cancelled')]] }], GOAL, [1]],
    ['one call that changes two rows', [{ sampled: 1, calls: [[change('a', 'cancelled'), change('y', 'x')]] }], GOAL, [0]],
    ['a row of the goal with a wrong value is damaged', [{ sampled: 1, calls: [[change('a', 'returned')]] }], GOAL, [-1 / 2]],
    [
      'a row that needs two writes is damaged between them',
      [
        { sampled: 1, calls: [[change('a', 'paid')]] },
        { sampled: 1, calls: [[change('a', 'cancelled', 'paid')]] },
      ],
      GOAL,
      [-1 / 2, 1],
    ],
    [
      'damage that is undone is paid back',
      [
        { sampled: 1, calls: [[change('z', 'cancelled')]] },
        { sampled: 1, calls: [[change('z', 'pending', 'cancelled')]] },
      ],
      GOAL,
      [-1 / 2, 1 / 2],
    ],
    [
      'a right row that is spoiled costs two rows',
      [
        { sampled: 1, calls: [[change('a', 'cancelled')]] },
        { sampled: 1, calls: [[change('a', 'x', 'cancelled')]] },
      ],
      GOAL,
      [1 / 2, -1],
    ],
    ['a write whose answer came too late', [{ sampled: 1, calls: [[change('a', 'cancelled')]], error: true }], GOAL, [1 / 2]],
    ['the goal changes nothing, but the agent does', [{ sampled: 1, calls: [[change('a', 'x')]] }], [], [-1]],
    [
      'a message that was not sampled is no turn, and its write earns nothing',
      [
        { sampled: 0, calls: [[change('a', 'cancelled')]] },
        { sampled: 1, calls: [[change('b', 'cancelled')]] },
      ],
      GOAL,
      [1 / 2],
    ],
    ['nobody says anything', [], GOAL, []],
  ])('%s', (_, messages, goal, expected) => expect(rewards(messages, goal)).toEqual(expected));

  test('an episode without a verdict is refused', () => {
    expect(() => turnsOf({ ...played([]), verdict: null })).toThrow('the episode 1-0-0 has no verdict: expected a scored episode');
  });

  test('the term of the reward is their weighted sum', () => {
    const trajectory = played([{ sampled: 1, calls: [[change('a', 'cancelled')]] }, { sampled: 1 }]);
    storeRewards(trajectory, { ...PAPER, 'reward.turn': 3 });
    expect(trajectory.rewards).toEqual({ outcome: 0, turn: 1.5 });
    const damaging = played([{ sampled: 1, calls: [[change('z', 'x')]] }]);
    storeRewards(damaging, { ...PAPER, 'reward.turn': 1 });
    expect(damaging.rewards).toEqual({ outcome: 0, turn: -0.5 });
  });

  test('in conversations of the shop with late writes, they sum to what the environment found at the end', async () => {
    const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
    const shop = await environments.domain('retail', 'full');
    const conditions = { customers: shares({ upfront: 0.5, changes_mind: 0.5 }), tools: { timeouts: 0.6, outages: 0.1, stale_reads: 0 } };
    const tasks = await environments.tasks({ domain: 'retail', level: 'full', split: 'train', seed: 3, count: 40, conditions });
    const users = new ScriptedUsers(customerScripts);
    const seen = { writes: 0, damaged: 0, late: 0 };
    for (const [i, one] of tasks.entries()) {
      const trajectory = await runEpisode({
        ...{ task: one, domain: shop, environments, users, tokenizer: nanoTokenizer(), rules: rulesFor(shop, 'domain') },
        limits: { max_turns: 60, response_length_one_turn: 1e4, max_model_len: 1e6, malformed_policy: 'feedback', require_done: true },
        ...{ sampling: { temperature: 1, top_p: 1, top_k: 0 }, seed: i, stream: 0, group: one.id, index: 0 },
        player: expertPlayer(createCarelessExpert(shop, i, 0.5)),
      });
      // An expert samples nothing, so its messages get the mask of sampled ones.
      const nodes = trajectory.nodes.map((node) => (node.role === 'assistant' ? { ...node, mask: node.tokens.map(() => 1) } : node));
      const { changes, goal } = trajectory.verdict!;
      const same = (a: RowChange, b: RowChange) =>
        a.table === b.table && a.key === b.key && JSON.stringify(a.after) === JSON.stringify(b.after);
      const right = goal.filter((row) => changes.some((made) => same(made, row))).length;
      const sum = turnsOf({ ...trajectory, nodes }).reduce((total, { reward }) => total + reward, 0);
      expect(sum).toBeCloseTo((right - (changes.length - right)) / Math.max(1, goal.length), 12);
      seen.writes += Number(changes.length > 1);
      seen.damaged += Number(changes.length > right);
      seen.late += Number(nodes.some(({ toolResult }) => toolResult?.error && toolResult.changes.length > 0));
    }
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
  });
});

type Settings = Parameters<typeof estimateAdvantages>[1];
const outcome = ([o, ...turns]: [number, ...[reward: number, length: number][]]): Outcome => ({
  reward: turns.reduce((sum, [reward]) => sum + reward, o),
  length: turns.reduce((sum, [, length]) => sum + length, 0),
  turns: turns.map(([reward, length]) => ({ reward, length })),
});

describe('turn-level advantages', () => {
  describe('by hand, without the division', () => {
    /** A success, whose second turn makes a row right, and a failure, whose second turn damages a row. */
    const group = [outcome([1, [0, 2], [1, 1]]), outcome([0, [0, 1], [-1, 2]])];
    const settings = { norm_adv_by_std_in_grpo: false, outcome_advantage_coef: 0.3 };
    const advantages = (more: Pick<Settings, 'adv_estimator' | 'gamma'>) => estimateAdvantages([group], { ...settings, ...more })[0]!;
    const near = (rows: number[][]) => rows.map((row) => row.map((value) => expect.closeTo(value, 12)));

    test('mt_grpo: turn 2 has 1 for its reward and 0.5 for the outcome; turn 1 has γ times that', () => {
      expect(advantages({ adv_estimator: 'mt_grpo', gamma: 0.5 })).toEqual(
        near([
          [0.75, 0.75, 1.5],
          [-0.75, -1.5, -1.5],
        ]),
      );
      expect(advantages({ adv_estimator: 'mt_grpo', gamma: 1 })).toEqual(
        near([
          [1.5, 1.5, 1.5],
          [-1.5, -1.5, -1.5],
        ]),
      );
    });
    test('gtpo: the returns are 1, 2 and −0.5, −1; their differences from the mean get 0.3 · 0.5', () => {
      expect(advantages({ adv_estimator: 'gtpo', gamma: 0.5 })).toEqual(
        near([
          [0.9, 0.9, 1.65],
          [-0.9, -1.65, -1.65],
        ]),
      );
    });
    test('a turn is not blamed for damage before it', () => {
      const early = [outcome([0, [-1, 1], [1, 1]]), outcome([0, [0, 1], [0, 1]])];
      const settings: Settings = { adv_estimator: 'mt_grpo', norm_adv_by_std_in_grpo: false, gamma: 1, outcome_advantage_coef: 0 };
      // Turn 1 damages a row, turn 2 makes a row right: in sum nothing, but the second turn is better than that of the other rollout.
      expect(estimateAdvantages([early], settings)).toEqual([
        [
          [0, 0.5],
          [0, -0.5],
        ].map((row) => row.map((a) => expect.closeTo(a, 12))),
      ]);
    });
  });

  test.each(reference.cases)('the equations in float64: $name', ({ config, advantages }) => {
    const groups = reference.groups.map((group) =>
      group.map(({ outcome: o, turns }) => outcome([o, ...turns.map(({ reward, length }): [number, number] => [reward, length])])),
    );
    const found = estimateAdvantages(groups, { ...PAPER, ...config } as Settings);
    const difference = (row: Advantage, expected: readonly number[]) => {
      expect(row).toHaveLength(expected.length);
      return Math.max(...expected.map((value, t) => Math.abs((row as readonly number[])[t]! - value)));
    };
    const largest = Math.max(...advantages.flatMap((group, g) => group.map((expected, i) => difference(found[g]![i]!, expected))));
    expect(largest).toBeLessThan(1e-7);
  });

  test('the bundles have the settings of a reference', () => {
    for (const name of ['mt-grpo', 'gtpo']) {
      const { filter_groups: _, 'reward.turn': weight, ...settings } = ALGORITHMS[name]!.settings(PRESETS.nano!.config);
      expect(settings).toEqual(reference.cases.find((one) => one.name === name)!.config);
      expect(weight).toBe(1);
    }
  });

  test('rollouts without turns are refused', () => {
    expect(() => estimateAdvantages([[{ reward: 1, length: 2 }]], { ...PAPER, adv_estimator: 'gtpo' })).toThrow(/has no turns: expected/);
  });
});

describe('a mixed group', () => {
  const [first, second] = [[change('a', 'cancelled')], []].map((_, i, all) =>
    played([
      { sampled: 1, calls: [all[i]!] },
      { sampled: 1, calls: [all[1 - i]!] },
    ]),
  );
  const settings = (adv_estimator: Settings['adv_estimator']) => ({ adv_estimator });
  test('rewards that differ only in their turns matter to the turn-level estimators alone', () => {
    expect(isMixed([first!, second!], settings('mt_grpo'))).toBe(true);
    expect(isMixed([first!, second!], settings('gtpo'))).toBe(true);
    expect(isMixed([first!, second!], settings('grpo'))).toBe(false);
  });
  test('a turn without a reward makes no difference', () => {
    expect(isMixed([played([{ sampled: 1 }]), played([{ sampled: 1 }, { sampled: 1 }])], settings('mt_grpo'))).toBe(false);
  });
});

describe('the settings', () => {
  test.each<[Record<string, unknown>, RegExp]>([
    [{ adv_estimator: 'mt_grpo' }, /"reward.turn" is 0: expected a weight above 0, as adv_estimator is mt_grpo/],
    [{ adv_estimator: 'gtpo' }, /"reward.turn" is 0: expected a weight above 0, as adv_estimator is gtpo/],
    [{ 'reward.turn': '-1' }, /"reward.turn" is -1/],
    [
      { domain: 'telecom', 'reward.turn': 1 },
      /"reward.turn" is 1: expected a domain whose goal is rows that only the agent changes \(airline, retail\), not telecom/,
    ],
    [{ domain: 'tau2-telecom', 'reward.turn': 1 }, /\(airline, retail\), not tau2-telecom/],
    [{ domain: 'tau2-mock', 'reward.turn': 1 }, /\(airline, retail\), not tau2-mock/],
    [{ domain: 'elsewhere', 'reward.turn': 1 }, /elsewhere/],
  ])('%o is refused', (overrides, message) => {
    expect(() => grpoConfig('nano', overrides)).toThrow(ConfigError);
    expect(() => grpoConfig('nano', overrides)).toThrow(message);
  });
  test('the shop and the benchmarks whose goal is rows are accepted', () => {
    for (const name of ['retail', 'tau1-retail', 'tau2-retail', 'tau1-airline', 'tau2-airline'])
      expect(grpoConfig('nano', { domain: name, ...(name === 'retail' ? {} : { level: 'full' }), 'reward.turn': 1 })['reward.turn']).toBe(
        1,
      );
  });
});

/** Two rollouts: one asks and then cancels the right order, the other cancels a wrong order and then says “Done.” */
describe('a step', () => {
  const call = (order: string) => `<tool_call>\n{"name": "cancel_pending_order", "arguments": {"order_id": "${order}"}}\n</tool_call>`;
  const TEXTS = [
    ['Shall I cancel?<|im_end|>', call('#W1234567')],
    [call('#W7654321'), 'Done.<|im_end|>'],
  ];

  async function step(overrides: Record<string, unknown>) {
    const made = new Map<string, RowChange[]>();
    const goal: RowChange[] = [change('#W1234567', 'cancelled')];
    const environments = Object.assign(new OrderDesk(), {
      start: async () => {
        const id = String(made.size);
        made.set(id, []);
        return id;
      },
      tasks: async ({ count }: { count: number }): Promise<Task[]> => Array.from({ length: count }, () => task),
      call: async (id: string, { name, arguments: { order_id } }: ToolCall) => {
        const changes = name === 'cancel_pending_order' ? [change(String(order_id), 'cancelled')] : [];
        made.get(id)!.push(...changes);
        return { index: made.get(id)!.length - 1, text: 'ok', error: false, changes, terminal: false };
      },
      verify: async (id: string): Promise<Verdict> => {
        const changes = made.get(id)!;
        return { reward: changes[0]?.key === '#W1234567' ? 1 : 0, changes, goal, progress: 0 };
      },
    });
    let opened = 0;
    const left = new Map<object, string[]>();
    const stage: Stage = {
      ...{ domain, rules: rulesFor(domain, 'domain'), environments, tokenizer: nanoTokenizer() },
      // The first answer of the customer is a yes, the second one ends the conversation.
      users: { session: () => ({ open: async () => 'Hello.', reply: async (text: string) => (text.startsWith('Shall') ? 'Yes.' : STOP) }) },
      sampler: {
        maxModelLen: 4096,
        open: async () => {
          const sequence = { id: opened, length: 0 };
          left.set(sequence, [...TEXTS[opened++ % 2]!, 'Bye.<|im_end|>']);
          return sequence;
        },
        append: () => {},
        close: () => {},
        generate: async (sequence) => {
          const tokens = [...nanoTokenizer().encode(left.get(sequence)!.shift()!)];
          return { tokens, logprobs: tokens.map(() => -1), finishReason: 'stop' as const };
        },
      },
    };
    const updates: TrainSequence[] = [];
    const scores = (sequences: readonly TrainSequence[]) => ({
      logprobs: sequences.map(({ tokens }) => new Float32Array(tokens.length)),
      entropies: sequences.map(({ tokens }) => new Float32Array(tokens.length)),
    });
    const learner = {
      score: async (sequences: readonly TrainSequence[]) => scores(sequences),
      accumulate: async (sequences: readonly TrainSequence[]) => (updates.push(...sequences), scores(sequences)),
      step: async () => ({ gradNorm: 1 }),
    } as unknown as Learner;
    const config = grpoConfig('nano', { train_batch_size: 1, n: 2, inspect: false, norm_adv_by_std_in_grpo: false, ...overrides });
    return { ...(await grpoStep(stage, learner, config, 1)), updates };
  }

  /** The advantage of each turn, from the tokens that the update saw. Tokens of one turn must agree, and others must have 0. */
  function advantagesOf({ nodes, leaf }: Trajectory, updates: readonly TrainSequence[]): number[] {
    const { tokens } = flatten({ nodes, leaf });
    const sequence = updates.find((one) => Array.from(one.tokens).join() === tokens.join())!;
    const seen = Array.from(sequence.inputs![0] as ArrayLike<number>);
    let at = 0;
    return nodes.flatMap(({ role, tokens, annotations, mask }) => {
      const own = seen.slice(at, (at += tokens.length));
      if (role !== 'assistant') {
        expect(own).toEqual(tokens.map(() => 0));
        return [];
      }
      expect(mask).toEqual(tokens.map(() => 1));
      expect(new Set(own).size).toBe(1);
      // The page shows this value.
      expect(annotations!.advantage).toEqual(own);
      return [own[0]!];
    });
  }

  test.each<[string, Record<string, unknown>, number[], number[]]>([
    // Rewards: 0, 1, 0 and −1, 0. Outcomes: 1 and 0. GN(r): ½, ½, 0 and −½, −½. GN(o): ½ and −½.
    ['mt_grpo', { adv_estimator: 'mt_grpo', gamma: 1, 'reward.turn': 1 }, [1.5, 1, 0.5], [-1.5, -1]],
    // Returns ¾, 1½, 1 and −1, 0, so the means of the first two turns are −⅛ and ¾. To each turn ¼ · ±½ is added.
    [
      'gtpo',
      { adv_estimator: 'gtpo', gamma: 0.5, outcome_advantage_coef: 0.25, 'reward.turn': 1, filter_groups: false },
      [1, 0.875, 0.125],
      [-1, -0.875],
    ],
    // The sums of all rewards are 2 and −1.
    ['grpo, to which the rewards of turns are added', { 'reward.turn': 1 }, [1.5, 1.5, 1.5], [-1.5, -1.5]],
    ['mt_grpo with twice the weight', { adv_estimator: 'mt_grpo', gamma: 1, 'reward.turn': 2 }, [2.5, 1.5, 0.5], [-2.5, -1.5]],
  ])('%s: the advantage of a turn reaches exactly its tokens', async (_, overrides, success, failure) => {
    const { trajectories, updates, advantages } = await step(overrides);
    const [good, bad] = [...trajectories].sort((a, b) => b.reward! - a.reward!);
    const near = (values: number[]) => values.map((value) => expect.closeTo(value, 12));
    expect(advantagesOf(good!, updates)).toEqual(near(success));
    expect(advantagesOf(bad!, updates)).toEqual(near(failure));
    // The number of the rollout in lists and files is the mean over its sampled tokens.
    const lengths = good!.nodes.filter(({ role }) => role === 'assistant').map(({ tokens }) => tokens.length);
    const mean = lengths.reduce((sum, n, k) => sum + n * success[k]!, 0) / lengths.reduce((a, b) => a + b);
    expect(advantages.get(good!.id)).toBeCloseTo(mean, 12);
    expect(advantageOf(good!.nodes)).toBeCloseTo(mean, 12);
  });

  test('a rollout that the update leaves out keeps the advantages of its turns for the page', async () => {
    const settings = { adv_estimator: 'mt_grpo', gamma: 1, 'reward.turn': 1, mask_truncated: true };
    const agents = ({ nodes }: Trajectory) => nodes.filter(({ role }) => role === 'assistant');
    const { nodes } = (await step(settings)).trajectories.find((one) => agents(one).length === 3)!;
    const before = nodes.slice(0, nodes.indexOf(nodes.findLast(({ role }) => role === 'assistant')!));
    // The third turn of the longer rollout does not fit.
    const { trajectories, updates } = await step({
      ...settings,
      max_model_len: before.reduce((sum, { tokens }) => sum + tokens.length, 0),
    });
    const cut = trajectories.find(({ termination }) => termination === 'context_full');
    expect(cut).toBeDefined();
    expect(updates).toHaveLength(1);
    const stored = cut!.nodes.filter(({ mask }) => mask.includes(1)).map(({ annotations }) => annotations?.advantage?.[0]);
    expect(stored.every((value) => typeof value === 'number')).toBe(true);
    expect(new Set(stored).size).toBeGreaterThan(1);
  });
});

test('the experiment compares the outcome alone, the plain sum, and both estimators', () => {
  const { variants, base, seeds } = readToml(readFileSync('public/experiments/turn-rewards.toml', 'utf8'), 'turn-rewards.toml');
  const configs = variants.map(({ overrides }) => grpoConfig(base.preset!, { ...base.overrides, ...overrides }));
  expect(configs.map((config) => [config.adv_estimator, config['reward.turn'], config.gamma])).toEqual([
    ['grpo', 0, 1],
    ['grpo', 1, 1],
    ['mt_grpo', 1, 1],
    ['gtpo', 1, 0.9],
  ]);
  expect(seeds).toHaveLength(5);
});

test('--algorithm sets the bundle', () => {
  expect(grpoConfig('nano', withAlgorithm('gtpo', 'nano', {}))).toMatchObject({
    adv_estimator: 'gtpo',
    gamma: 0.9,
    'reward.turn': 1,
    filter_groups: false,
  });
});
