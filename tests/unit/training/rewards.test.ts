/** The reward of training by term, and its effect on groups, advantages and metrics. Values are worked out by hand. */
import { describe, expect, test } from 'vitest';
import type { RewardSettings } from '../../../src/records/rewards.ts';
import type { RowChange, Task, Violation } from '../../../src/records/task.ts';
import type { MessageNode, Trajectory } from '../../../src/records/trajectory.ts';
import { totalReward } from '../../../src/base/total-reward.ts';
import { readTrajectory } from '../../../src/exchange/trajectory-schema.ts';
import { reportOf } from '../../../src/evaluation/report.ts';
import { estimateAdvantages } from '../../../src/training/advantages.ts';
import { ConfigError, grpoConfig } from '../../../src/training/config.ts';
import { PAPER } from '../../../src/training/defaults.ts';
import { rolloutMetrics } from '../../../src/training/metrics.ts';
import { isShaped, rewardOf, storeRewards } from '../../../src/training/rewards.ts';
import { chooseGroups, isMixed } from '../../../src/training/step-batch.ts';
import { task } from '../../support/episodes.ts';

const row = (key: string, after: string): RowChange => ({ table: 'orders', key, before: null, after, call: 0 });
const GOAL = [row('a', 'cancelled'), row('b', 'cancelled'), row('c', 'cancelled'), row('d', 'cancelled')];
const asked = (name: string, args: Record<string, string>) => ({ name, arguments: args });
const GOLD = [asked('find_user', { email: 'e' }), asked('cancel', { order: 'a' })];

interface Played {
  id?: string;
  outcome?: 0 | 1;
  changes?: RowChange[];
  goal?: RowChange[];
  termination?: Trajectory['termination'];
  violations?: Violation['rule'][];
  calls?: { name: string; arguments: Record<string, string> }[];
  gold?: Task['actions'];
  toolCalls?: Record<string, number>;
  parseErrors?: number;
  sampled?: number;
  domain?: string;
}

function played(facts: Played = {}): Trajectory {
  const { id = '1-0-0', outcome = 0, changes = [], goal = GOAL, calls = [], gold = GOLD, sampled = 10, domain = 'retail' } = facts;
  const node = (values: Partial<MessageNode> & Pick<MessageNode, 'role'>) => ({ text: '', tokens: [], mask: [], logprobs: [], ...values });
  const nodes = [
    node({ role: 'system', tokens: [1], mask: [0], logprobs: [null] }),
    node({
      role: 'assistant',
      tokens: Array(sampled).fill(2),
      mask: Array(sampled).fill(1),
      logprobs: Array(sampled).fill(-1),
    }),
    ...calls.map((toolCall) => node({ role: 'assistant', toolCall })),
    ...changes.map((change, index) =>
      node({ role: 'tool', toolResult: { name: 'cancel', error: false, index, changes: [change], ms: 1 } }),
    ),
  ].map((values, i): MessageNode => ({ ...values, id: i, parent: i === 0 ? null : i - 1 }));
  return {
    id,
    task: { ...task, id: `${domain}/nano/train/1/0`, domain, actions: gold },
    group: '1-0',
    index: 0,
    seed: 1,
    nodes,
    leaf: nodes.length - 1,
    termination: facts.termination ?? 'user_stop',
    turns: 3,
    reward: outcome,
    verdict: { reward: outcome, changes, goal, progress: 0 },
    violations: (facts.violations ?? []).map((rule) => ({ rule, call: 0, detail: '' })),
    toolCalls: facts.toolCalls ?? {},
    parseErrors: facts.parseErrors ?? 0,
    seconds: { generate: 0, tool: 0, user: 0 },
  };
}

/** The binary outcome, and nothing else. */
const OUTCOME_REWARD: RewardSettings = {
  'reward.outcome': 1,
  'reward.partial': 0,
  'reward.partial_gate': 'ended',
  'reward.turn': 0,
  'reward.format': 0,
  'reward.tool_match': 0,
  'reward.judge': 0,
  'reward.unconfirmed_write': 0,
  'reward.length': 0,
  'reward.handover': 0,
};
const only = (settings: Partial<RewardSettings>) => ({ ...OUTCOME_REWARD, 'reward.outcome': 0, ...settings });
const total = (facts: Played, settings: Partial<RewardSettings>) => rewardOf(played(facts), only(settings)).total;

describe('a term of the reward', () => {
  test('outcome', () => {
    expect(rewardOf(played({ outcome: 1 }), OUTCOME_REWARD)).toEqual({ total: 1, terms: { outcome: 1 } });
    expect(rewardOf(played(), { ...OUTCOME_REWARD, 'reward.outcome': 2 })).toEqual({ total: 0, terms: { outcome: 0 } });
  });

  const right = [row('a', 'cancelled'), row('b', 'cancelled'), row('c', 'cancelled')];
  test.each<[string, Played, number]>([
    ['three of four rows are right', { changes: right }, 3 / 4],
    ['another row is damaged', { changes: [...right, row('z', 'cancelled')] }, 2 / 4],
    ['a row of the gold is wrong, which counts as damage', { changes: [...right, row('d', 'returned')] }, 2 / 4],
    ['more damage than right rows', { changes: [row('a', 'cancelled'), row('x', ''), row('y', '')] }, 0],
    ['a limit ended the conversation', { changes: right, termination: 'max_turns' }, 0],
    ['a transfer ended the conversation', { changes: right, termination: 'terminal_tool' }, 3 / 4],
    ['the gold changes nothing, and nor did the agent', { goal: [] }, 1],
    ['the gold changes nothing, but the agent did', { goal: [], changes: [row('a', '')] }, 0],
    ['a rule was broken, which this gate ignores', { changes: right, violations: ['unconfirmed_write'] }, 3 / 4],
  ])('partial, gate ended: %s', (_, facts, credit) => {
    expect(total(facts, { 'reward.partial': 1 })).toBe(credit);
    expect(total(facts, { 'reward.partial': 0.2 })).toBe(0.2 * credit);
  });

  test('partial, gate no_violations', () => {
    const settings = { 'reward.partial': 1, 'reward.partial_gate': 'no_violations' } as const;
    expect(total({ changes: right }, settings)).toBe(3 / 4);
    expect(total({ changes: right, violations: ['other_customer'] }, settings)).toBe(0);
    expect(total({ changes: right, termination: 'turn_length' }, settings)).toBe(0);
  });

  test('format', () => {
    expect(total({}, { 'reward.format': 0.1 })).toBe(0.1);
    expect(total({ parseErrors: 2 }, { 'reward.format': 0.1 })).toBe(0);
  });

  test('tool match, as tau2-bench checks actions', () => {
    const share = (calls: Played['calls'], gold?: Task['actions']) => total({ calls, ...(gold && { gold }) }, { 'reward.tool_match': 1 });
    expect(share([])).toBe(0);
    expect(share([asked('find_user', { email: 'e' }), asked('cancel', { order: 'z' })])).toBe(1 / 2);
    expect(share([asked('cancel', { order: 'z' }), asked('cancel', { order: 'a' }), asked('find_user', { email: 'e' })])).toBe(1);
    expect(share([asked('find_user', { email: 'e', zip: '1' })])).toBe(0);
    expect(share([], [])).toBe(1);
    // The summary of a transfer is free text.
    expect(share([asked('transfer_to_human_agents', { summary: 'x' })], [asked('transfer_to_human_agents', { summary: 'y' })])).toBe(1);
  });

  test('prices', () => {
    expect(total({ violations: ['unconfirmed_write', 'unconfirmed_write', 'other_customer'] }, { 'reward.unconfirmed_write': 0.25 })).toBe(
      -0.5,
    );
    expect(total({ sampled: 150 }, { 'reward.length': 0.1 })).toBeCloseTo(-0.15, 12);
    const transferred = { toolCalls: { transfer_to_human_agents: 1 } };
    expect(total(transferred, { 'reward.handover': 0.3 })).toBe(-0.3);
    expect(total({ ...transferred, gold: [asked('transfer_to_human_agents', {})] }, { 'reward.handover': 0.3 })).toBe(0);
    expect(Object.is(total({}, { 'reward.handover': 0.3 }), 0)).toBe(true);
  });

  test('the terms that are switched on sum to the total', () => {
    const settings: RewardSettings = { ...OUTCOME_REWARD, 'reward.partial': 0.5, 'reward.unconfirmed_write': 0.25, 'reward.length': 0.5 };
    expect(rewardOf(played({ outcome: 1, changes: GOAL, violations: ['unconfirmed_write'], sampled: 50 }), settings)).toEqual({
      terms: { outcome: 1, partial: 0.5, unconfirmed_write: -0.25, length: -0.25 },
      total: 1,
    });
  });
});

describe('what is stored', () => {
  test('nothing for the plain outcome', () => {
    for (const settings of [OUTCOME_REWARD, { ...OUTCOME_REWARD, 'reward.partial_gate': 'no_violations' } as const]) {
      const trajectory = played({ outcome: 1 });
      storeRewards(trajectory, settings);
      expect(isShaped(settings)).toBe(false);
      expect(trajectory.rewards).toBeUndefined();
      expect(totalReward(trajectory)).toBe(1);
    }
    expect(isShaped({})).toBe(false);
  });
  test('the terms of a shaped reward; the outcome stays binary; a file keeps the terms', () => {
    const trajectory = played({ outcome: 0, changes: GOAL.slice(0, 2) });
    storeRewards(trajectory, { ...OUTCOME_REWARD, 'reward.partial': 0.5 });
    expect(trajectory).toMatchObject({ reward: 0, rewards: { outcome: 0, partial: 0.25 } });
    expect(totalReward(trajectory)).toBe(0.25);
    expect(readTrajectory(JSON.parse(JSON.stringify(trajectory)), 'f', '').rewards).toEqual({ outcome: 0, partial: 0.25 });
    expect(() => readTrajectory({ ...trajectory, rewards: { charm: 1 } }, 'f', '')).toThrow(/rewards/);
  });
  test('nothing for a trajectory without a score', () => {
    const trajectory = { ...played(), reward: null };
    storeRewards(trajectory, { ...OUTCOME_REWARD, 'reward.partial': 0.5 });
    expect(trajectory.rewards).toBeUndefined();
  });
});

describe('a shaped reward', () => {
  const settings: RewardSettings = { ...OUTCOME_REWARD, 'reward.partial': 0.5, 'reward.unconfirmed_write': 0.25 };
  const group = [
    played({ outcome: 1, changes: GOAL }), // 1.5
    played({ outcome: 1, changes: GOAL, violations: ['unconfirmed_write'] }), // 1.25
    played({ changes: GOAL.slice(0, 2) }), // 0.25
    played(), // 0
  ].map((trajectory) => (storeRewards(trajectory, settings), trajectory));

  test('separates rollouts with the same outcome', () => {
    expect(group.map(totalReward)).toEqual([1.5, 1.25, 0.25, 0]);
    // Mean 0.75; the outcome alone would give 0.5 and −0.5.
    const settings = { adv_estimator: 'grpo', norm_adv_by_std_in_grpo: false, gamma: 1, outcome_advantage_coef: 0.3 } as const;
    const outcomes = group.map((t) => ({ reward: totalReward(t), length: 1 }));
    expect(estimateAdvantages([outcomes], settings)).toEqual([[0.75, 0.5, -0.5, -0.75]]);
  });

  test('makes a group of equal outcomes mixed', () => {
    const failed = group.slice(2);
    expect(failed.map(({ reward }) => reward)).toEqual([0, 0]);
    expect(isMixed(failed, PAPER)).toBe(true);
    expect(isMixed([group[3]!, group[3]!], PAPER)).toBe(false);
    const equal = [group[3]!, group[3]!];
    expect(chooseGroups([equal, failed], 1, PAPER)).toEqual([failed]);
  });

  test('is in critic/rewards and by term; critic/score is the outcome', () => {
    expect(rolloutMetrics([group])).toMatchObject({
      'critic/score/mean': 0.5,
      'critic/score/max': 1,
      'critic/rewards/mean': 0.75,
      'critic/rewards/max': 1.5,
      'reward/outcome/mean': 0.5,
      'reward/partial/mean': 0.3125,
      'reward/unconfirmed_write/mean': -0.0625,
    });
    const plain = rolloutMetrics([[played({ outcome: 1 })]]);
    expect(plain['critic/rewards/mean']).toBe(1);
    expect(Object.keys(plain).filter((name) => name.startsWith('reward/'))).toEqual([]);
  });
});

describe('writes', () => {
  const careful = played({ id: '1-0-0', changes: GOAL.slice(0, 3) });
  const hasty = played({ id: '1-0-1', changes: GOAL.slice(0, 1), violations: ['unconfirmed_write', 'not_authenticated'] });
  const idle = played({ id: '1-0-2', toolCalls: { transfer_to_human_agents: 1 } });

  test('in the metrics of a step', () => {
    expect(rolloutMetrics([[careful, hasty, idle]])).toMatchObject({
      'writes/mean': 4 / 3,
      'writes/audited': 4,
      'writes/confirmed': 3,
      'writes/confirmed_ratio': 3 / 4,
      'violations/per_write': 2 / 4,
      'handover/ratio': 1 / 3,
    });
    expect(rolloutMetrics([[idle]])).not.toHaveProperty('writes/confirmed_ratio');
    const metrics = rolloutMetrics([[played({ domain: 'tau2-airline', changes: GOAL })]]);
    expect(metrics['writes/mean']).toBe(4);
    expect(metrics).not.toHaveProperty('writes/confirmed');
  });

  test('in the report of an evaluation, with an interval over customers', () => {
    const trials = [careful, { ...hasty, group: '1-1' }, { ...idle, group: '1-2' }];
    const { value, low, high } = reportOf(trials, 1, 0).confirmed_writes!;
    expect(value).toBe(3 / 4);
    // All tasks have the same customer, who says nothing about others.
    expect([low, high]).toEqual([0, 1]);
    // Wilson's interval of one customer of one: 1 / (1 + 1.96²) to 1.
    const all = reportOf([careful, { ...careful, group: '1-1' }], 1, 0).confirmed_writes;
    expect(all).toEqual({ value: 1, low: expect.closeTo(0.2065, 4), high: 1 });
    expect(reportOf([idle], 1, 0).confirmed_writes).toBeNull();
    const { by_intent } = reportOf(trials, 1, 0);
    expect(Object.values(by_intent).map(({ tasks, writes }) => [tasks, writes])).toEqual([[3, { confirmed: 3, of: 4 }]]);
    const foreign = Object.values(reportOf([played({ domain: 'tau2-airline', changes: GOAL })], 1, 0).by_intent);
    expect(foreign.map(({ writes }) => writes)).toEqual([undefined]);
    expect(reportOf([played({ domain: 'tau2-airline', changes: GOAL })], 1, 0).confirmed_writes).toBeNull();
  });
});

describe('the settings', () => {
  test('are the plain outcome in every preset', () => {
    for (const preset of ['nano', 'tiny', 'faithful']) expect(grpoConfig(preset)).toMatchObject(OUTCOME_REWARD);
  });
  test.each<[Record<string, string>, RegExp]>([
    [{ 'reward.partial': '-1' }, /"reward.partial" is -1/],
    [{ 'reward.partial_gate': 'always' }, /"reward.partial_gate" is "always".*no_violations/],
    [{ 'reward.outcome': '0' }, /"reward.outcome" is 0: expected a weight or price above 0/],
    [{ domain: 'tau2-airline', 'reward.unconfirmed_write': '1' }, /"reward.unconfirmed_write" is 1: expected a domain.*not tau2-airline/],
    [{ domain: 'tau2-airline', 'reward.partial': '1', 'reward.partial_gate': 'no_violations' }, /"reward.partial_gate".*not tau2-airline/],
  ])('%o is refused', (overrides, message) => {
    expect(() => grpoConfig('nano', overrides)).toThrow(ConfigError);
    expect(() => grpoConfig('nano', overrides)).toThrow(message);
  });
});
