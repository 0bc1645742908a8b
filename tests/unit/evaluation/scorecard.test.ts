/** The scorecard: its figures against arithmetic by hand and Wilson's intervals (Newcombe 1998, computed in Python), N/A, damage. */
import { expect, test, vi } from 'vitest';
import { damageOf } from '../../../src/evaluation/damage.ts';
import { reportOf } from '../../../src/evaluation/report.ts';
import { type Evaluated, scorecardOf } from '../../../src/evaluation/scorecard.ts';
import { withCards } from '../../../src/evaluation/trial-card.ts';
import { resultOf } from '../../../src/evaluation/trial-result.ts';
import type { DomainLayers } from '../../../src/agent/layers.ts';
import type { RewardInfo } from '../../../src/records/benchmark-task.ts';
import type { Json } from '../../../src/records/json.ts';
import type { CheckedLayer, Measured } from '../../../src/records/scorecard.ts';
import type { RowChange } from '../../../src/records/task.ts';
import type { Trajectory } from '../../../src/records/trajectory.ts';
import { message, tasksFor, trajectoryOf } from '../../support/customer-conversations.ts';

/** A call before “yes” breaks the rule `asked`, and each call is an occasion of it. The layer `safety` fails. */
const LAYERS: DomainLayers = {
  policy: ({ events }) => {
    const calls = events.flatMap((event, place) => (event.kind === 'tool' ? [place] : []));
    const yes = events.findIndex((event) => event.kind === 'user' && event.text === 'Yes.');
    const findings = calls.filter((place) => yes < 0 || place < yes);
    return {
      findings: findings.map((message) => ({ rule: 'asked', sentence: 'Ask first.', message, detail: 'no yes' })),
      occasions: { asked: calls.length, never: 0 },
    };
  },
  /** Counts no occasions. */
  communication: ({ events }) => {
    const place = events.findIndex((event) => event.kind === 'user' && event.text === 'Secret.');
    return { findings: place < 0 ? [] : [{ rule: 'secret_told', sentence: null, message: place, detail: '' }], occasions: {} };
  },
  /** Needs the tools of the level. */
  recovery: ({ tools }) => ({ findings: [], occasions: { [tools?.map(({ function: { name } }) => name).join(' ') ?? 'unknown']: 1 } }),
  safety: () => {
    throw new Error('a fault of the check');
  },
};
vi.mock('../../../src/domains/registry.ts', async (original) => {
  const registry = await original<typeof import('../../../src/domains/registry.ts')>();
  return { ...registry, domainOf: (name: string) => ({ ...registry.domainOf(name)!, layers: async () => LAYERS }) };
});

const change = (key: string, before: Json, after: Json): RowChange => ({ table: 'orders', key, before, after, call: 0 });
const TASKS = tasksFor('upfront', 'nano', 4, 1);

interface Played extends Partial<Trajectory> {
  said?: string[];
  calls?: string[];
}

/** One conversation: the customer's texts, then calls of tools. */
function played(task: number, { said = [], calls = [], ...more }: Played): Trajectory {
  const nodes = [
    message(0, 'system', 'Ask first.'),
    ...said.map((text, i) => message(1 + i, 'user', text)),
    ...calls.flatMap((name, i) => {
      const at = 1 + said.length + 2 * i;
      const call = { name, arguments: {} };
      const toolResult = { name, error: false, index: i, changes: [], ms: 0 };
      return [message(at, 'assistant', '', { toolCall: call }), message(at + 1, 'tool', '{}', { toolResult })];
    }),
  ];
  return {
    ...trajectoryOf(TASKS[task]!, nodes, 'user_stop', {}),
    id: `${task}`,
    group: `${task}`,
    index: 0,
    turns: 4,
    toolCalls: Object.fromEntries(calls.map((name) => [name, calls.filter((other) => other === name).length])),
    seconds: { generate: 2, tool: 1, user: 3 },
    ...more,
  };
}
const outcome = (reward: 0 | 1, changes: RowChange[] = [], goal: RowChange[] = []) => ({
  reward,
  verdict: { reward, changes, goal, progress: reward },
});

async function cardOf(trials: Trajectory[], row: Partial<Evaluated> = {}, isOld = false) {
  const plain = trials.map(resultOf);
  return scorecardOf({
    name: 'a model',
    createdAt: 0,
    settings: {
      domain: 'retail',
      level: 'nano',
      split: 'heldout',
      tasks: 4,
      trials: 1,
      user: { mode: 'scripted' },
    } as Evaluated['settings'],
    report: reportOf(trials, 1, 1),
    results: isOld ? plain : await withCards(plain, trials),
    ...row,
  });
}

const TRIALS = [
  played(0, { ...outcome(1), said: ['Yes.'], calls: ['get_order_details', 'calculate'] }),
  played(1, {
    ...outcome(0, [change('a', { status: 'open' }, { status: 'gone' })]),
    said: ['No.'],
    calls: ['cancel_pending_order', 'think'],
  }),
  played(2, { ...outcome(1), said: ['Yes.'], calls: ['transfer_to_human_agents'] }),
  played(3, { ...outcome(0) }),
];
/** Wilson's 95 % intervals, by count and number. */
const WILSON = { '1/4': [0.04559, 0.69936], '2/4': [0.15004, 0.84996], '2/3': [0.20766, 0.93851], '0/4': [0, 0.48989] } as const;
const expectShare = (figure: unknown, count: number, of: number, unit: string) => {
  const { value, low, high, ...rest } = figure as Measured;
  expect(rest).toEqual({ count, of, unit });
  expect(value).toBeCloseTo(count / of, 12);
  const [from, to] = WILSON[`${count}/${of}` as keyof typeof WILSON];
  expect(low).toBeCloseTo(from, 4);
  expect(high).toBeCloseTo(to, 4);
};

test('outcome and operation have the figures that one counts by hand', async () => {
  const { layers, judged } = await cardOf(TRIALS);
  const { outcome: own, operation } = layers;
  expectShare(own.pass_hat_1, 2, 4, 'trials');
  expect(own.partial_completion).toMatchObject({ value: 0.5, of: 4, unit: 'tasks' });
  expectShare(own.damaged_conversations, 1, 4, 'conversations');
  expect(own.damaged_rows).toEqual({ value: 0.25, count: 1, of: 4, unit: 'conversations' });
  expect(operation.turns).toEqual({ value: 4, count: 16, of: 4, unit: 'conversations' });
  expect(operation.calls).toEqual({ value: 1.25, count: 5, of: 4, unit: 'conversations' });
  expect(operation.calls_by_tool).toMatchObject({ think: { value: 0.25, count: 1 }, cancel_pending_order: { value: 0.25 } });
  // calculate, think and transfer_to_human_agents, of five calls.
  expect(operation.generic_calls).toMatchObject({ value: 0.6, count: 3, of: 5, unit: 'calls' });
  expectShare(operation.hand_overs, 1, 4, 'conversations');
  expect(operation.seconds).toMatchObject({ generate: { value: 2 }, tool: { value: 1 }, user: { value: 3 } });
  expectShare(operation.infrastructure_failures, 0, 4, 'trials');
  expect(operation.cost).toEqual({ na: 'No model behind a server played.' });
  expect(judged).toEqual({ na: 'No model judged these conversations.' });
});

test('a layer counts the conversations with an occasion, and the occasions of each rule', async () => {
  const { layers } = await cardOf(TRIALS);
  const policy = layers.policy as CheckedLayer;
  // The fourth conversation has no call, so no rule had an occasion.
  expectShare(policy.clean, 2, 3, 'conversations');
  expect(policy.without_occasion).toBe(1);
  expect(policy.kept.asked).toMatchObject({ value: 0.6, count: 3, of: 5, unit: 'occasions' });
  expect(policy.kept.never).toEqual({ na: 'The rule had no occasion.' });
  expect(policy.findings).toMatchObject({ asked: { value: 0.5, count: 2, of: 4 }, never: { count: 0 } });
  // Nodes: 0 the policy, 1 “No.”, 2 and 4 the calls.
  expect(policy.examples).toEqual(
    [2, 4].map((node) => ({ trial: '1', rule: 'asked', sentence: 'Ask first.', message: node, detail: 'no yes' })),
  );
  expect(layers.communication).toMatchObject({ clean: { na: 'No rule had an occasion.' }, without_occasion: 4 });
  expect(layers.safety).toEqual({ na: 'The check failed: a fault of the check' });
});

test('a rule whose occasions are not counted has findings, and no share', async () => {
  const { communication } = (await cardOf([played(0, { ...outcome(1), said: ['Secret.'] }), TRIALS[3]!])).layers;
  const { clean, kept, findings } = communication as CheckedLayer;
  expect(kept.secret_told).toEqual({ na: 'The check does not count the occasions of this rule.' });
  expect(findings.secret_told).toMatchObject({ value: 0.5, count: 1, of: 2 });
  expect(clean).toMatchObject({ count: 0, of: 1 });
});

test('a check gets the tools of the level', async () => {
  const toolsAt = async (level: string) => {
    const [task] = tasksFor('upfront', level, 1, 1);
    const { recovery } = (await cardOf([{ ...played(0, outcome(1)), task: task! }])).layers;
    return Object.keys((recovery as CheckedLayer).kept)[0]!.split(' ');
  };
  expect(await toolsAt('nano')).toContain('find_user_id_by_email');
  // At this level no tool finds customers, so no agent can be blamed for it.
  expect(await toolsAt('glimpse')).toEqual(expect.not.arrayContaining(['find_user_id_by_email']));
});

test('a rule has at most three examples; all its findings are counted', async () => {
  const { policy } = (await cardOf([played(0, { ...outcome(0), calls: Array<string>(5).fill('think') })])).layers;
  expect((policy as CheckedLayer).examples).toHaveLength(3);
  expect((policy as CheckedLayer).kept.asked).toMatchObject({ value: 0, count: 0, of: 5 });
});

test('an episode that a fault ended counts as such, and nowhere else', async () => {
  const failed = played(3, { reward: null, verdict: null, termination: 'agent_error', turns: 100, calls: ['think'] });
  const { outcome: own, operation, policy } = (await cardOf([...TRIALS.slice(0, 3), failed])).layers;
  expectShare(own.pass_hat_1, 2, 3, 'trials');
  expectShare(operation.infrastructure_failures, 1, 4, 'trials');
  expect(operation.turns).toMatchObject({ value: 4, of: 3 });
  expect((policy as CheckedLayer).without_occasion).toBe(0);
});

test('an evaluation of which nothing was scored has no figure of success', async () => {
  const { layers } = await cardOf([played(0, { reward: null, verdict: null, termination: 'user_error' })]);
  const na = 'No conversation was played to its end.';
  expect(layers.outcome.pass_hat_1).toEqual({ na: 'No conversation has an outcome.' });
  expect(layers.outcome.damaged_rows).toEqual({ na });
  expect(layers.policy).toEqual({ na });
  expect(layers.operation.turns).toEqual({ na });
});

test('an evaluation that an earlier version stored keeps its outcome; its layers are not applicable', async () => {
  const { layers, judged } = await cardOf(TRIALS, {}, true);
  const earlier = { na: 'An earlier version stored this evaluation, without these figures.' };
  expectShare(layers.outcome.pass_hat_1, 2, 4, 'trials');
  expect(layers.outcome.partial_completion).toMatchObject({ value: 0.5 });
  expect(layers.operation.turns).toMatchObject({ value: 4 });
  for (const figure of [layers.policy, layers.recovery, layers.outcome.damaged_rows, layers.operation.calls, judged])
    expect(figure).toEqual(earlier);
});

test('the tokens and the cost of a server are means, and unknown if answers report none', async () => {
  const asked = (cost?: number) => ({ retry: false, seconds: 1, prompt: 100, completion: 10, ...(cost !== undefined && { cost }) });
  const of = async (...requests: object[]) =>
    (await cardOf([played(0, { ...outcome(1), agentRequests: requests as Trajectory['agentRequests'] })])).layers.operation;
  const { tokens, requests, cost } = await of(asked(0.25), asked(0.5));
  expect(tokens).toMatchObject({ prompt: { value: 200 }, completion: { value: 20 } });
  expect([requests, cost]).toMatchObject([{ value: 2 }, { value: 0.75 }]);
  expect((await of(asked())).cost).toEqual({ na: 'No prices were given.' });
  const silent = await of(asked(0.25), { ...asked(), prompt: null, completion: null });
  expect(silent.cost).toEqual({ na: 'The server did not report the tokens of all answers.' });
});

test('what a model judged is apart from the layers', async () => {
  const info = { reward_basis: ['DB', 'NL_ASSERTION'], nl_assertions: [true, false, true].map((met) => ({ nl_assertion: 'a', met })) };
  const verdict = { ...outcome(0).verdict, reward_info: info as unknown as RewardInfo };
  const { judged } = await cardOf([played(0, { reward: 0, verdict }), TRIALS[1]!]);
  expect(judged).toMatchObject({ statements: { count: 2, of: 3 }, outcomes: { count: 1, of: 2 } });
});

test('damage is a field that is neither as before nor as in the gold', () => {
  const before = { status: 'pending', items: ['x'], paid: { card: 1 }, log: [] };
  const goal = { status: 'cancelled', items: ['x', 'y'], paid: { card: 2 }, log: ['refund', 'mail'] };
  const damage = (after: Json, wanted: Json = goal) =>
    damageOf({ verdict: { reward: 0, progress: 0, changes: [change('a', before, after)], goal: [change('a', before, wanted)] } });
  expect(damage(goal)).toBe(0);
  // Only a part of the wish is done.
  expect(damage({ ...before, status: 'cancelled' })).toBe(0);
  expect(damage({ ...before, log: ['refund'] })).toBe(0);
  expect(damage({ ...goal, status: 'returned' })).toBe(1);
  expect(damage({ ...before, log: ['mail'] })).toBe(1);
  expect(damage({ ...goal, paid: { card: 2, gift: 1 } })).toBe(1);
  expect(damage(null)).toBe(1);
  expect(damage(before, null)).toBe(0);
});

test('rows that the gold leaves alone are damaged by each change; a missing gold is no gold without changes', () => {
  const verdict = { reward: 0 as const, progress: 0, changes: [change('a', null, { id: 1 }), change('b', { n: 1 }, { n: 2 })], goal: [] };
  expect(damageOf({ verdict })).toBe(2);
  expect(damageOf({ verdict: { ...verdict, goal: [change('a', null, { id: 1 })] } })).toBe(1);
  expect(damageOf({ verdict: null })).toEqual({ na: 'The rows that should change are not known.' });
  const basis = (reward_basis: string[]) => damageOf({ verdict: { ...verdict, reward_info: { reward_basis } as RewardInfo } });
  expect(basis(['DB', 'COMMUNICATE'])).toBe(2);
  expect(basis(['ENV_ASSERTION'])).toEqual({ na: 'The task’s criteria do not say which rows should change.' });
});
