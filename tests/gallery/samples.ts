/** @file Sample data for the gallery, with payloads that must be shown as text. */
import type { RewardInfo } from '../../src/records/benchmark-task.ts';
import type { BranchRow } from '../../src/records/branch.ts';
import type { EvaluationReport, EvaluationRow, TrialResult } from '../../src/records/evaluation.ts';
import type { Json } from '../../src/records/json.ts';
import type { RolloutSummary } from '../../src/records/rollout.ts';
import type { RunRow, StepMetrics } from '../../src/records/run.ts';
import type { RowChange, Task, ToolSchema, Verdict } from '../../src/records/task.ts';
import type { LiveRollout } from '../../src/trainer/messages.ts';
import type { MessageNode, Trajectory } from '../../src/records/trajectory.ts';
import { evaluationSettings } from '../../src/training/evaluation-settings.ts';
import { PRESETS } from '../../src/training/presets.ts';

export const PAYLOAD = '<img src=x onerror=alert(1)>';

type Said = Partial<MessageNode> & Pick<MessageNode, 'role' | 'text'>;

/** A message with one token per character, so that different texts have different tokens. */
function node(id: number, fields: Said): MessageNode {
  const sampled = fields.role === 'assistant' ? 1 : 0;
  const tokens = Array.from(fields.text || JSON.stringify(fields.toolCall), (character) => character.codePointAt(0)!);
  return {
    id,
    parent: id === 0 ? null : id - 1,
    tokens,
    mask: tokens.map(() => sampled),
    logprobs: tokens.map((_, i) => (sampled ? -0.1 * (i % 6) : null)),
    ...fields,
  };
}
const messages = (...said: Said[]) => said.map((one, id) => node(id, one));

const before = { order_id: '#W0000001', status: 'pending' };
const after = { order_id: '#W0000001', status: 'cancelled' };
const change = { table: 'orders', key: '#W0000001', before, after, call: 1 };
const other = { table: 'users', key: 'mia_1', before: { zip: '10001' }, after: { zip: '10002' }, call: 2 };

const spoken = (content: string): Said => ({ role: 'assistant', text: content, content });
const call = (name: string, given: Record<string, Json>): Said => ({ role: 'assistant', text: '', toolCall: { name, arguments: given } });
const result = (name: string, index: number, text: string, changes: RowChange[] = []): Said => ({
  role: 'tool',
  text,
  toolResult: { name, error: false, index, changes, ms: 2 },
});

const POLICY: Said = { role: 'system', text: `# Domain policy\nAsk before you change anything. ${PAYLOAD}` };
const WISH: Said = { role: 'user', text: `I want to cancel #W0000001. ${PAYLOAD}` };
const EMAIL: Said[] = [spoken('May I have your email?'), { role: 'user', text: 'mia@example.com' }];
const CANCEL: Said[] = [
  {
    role: 'assistant',
    text: '',
    content: 'It is done.',
    toolCall: { name: 'cancel_pending_order', arguments: { order_id: '#W0000001', reason: PAYLOAD } },
  },
  result('cancel_pending_order', 1, JSON.stringify(after), [change]),
];
const LOOK_UP: Said[] = [call('get_order_details', { order_id: '#W0000001' }), result('get_order_details', 0, JSON.stringify(before))];
const END: Said = { role: 'user', text: 'Thank you. ###STOP###' };

export const NODES: MessageNode[] = messages(
  POLICY,
  WISH,
  ...EMAIL,
  { role: 'assistant', text: '<tool_call>{"name": "nothing"</tool_call>', parseError: 'the JSON ends too early' },
  {
    role: 'tool',
    text: `Error: order "${PAYLOAD}" not found`,
    toolResult: { name: 'get_order_details', error: true, index: 0, changes: [], ms: 1 },
  },
  ...CANCEL,
);

export const VERDICT: Verdict = { reward: 0, changes: [change, other], goal: [change, { ...other, key: 'ben_2', call: 3 }], progress: 0.5 };

const TASK: Task = {
  id: 'retail/nano/train/1/0',
  domain: 'retail',
  level: 'nano',
  split: 'train',
  world: 'retail-nano',
  actions: [],
  noop: false,
  scenario: {
    persona: 'on_request',
    identity: { email: 'mia@example.com' },
    wishes: [],
    instruction: `You want to cancel order #W0000001. ${PAYLOAD}`,
  },
};

function conversation(index: number, nodes: MessageNode[], fields: Partial<Trajectory>): Trajectory {
  return {
    id: `24-0-${index}`,
    task: TASK,
    group: '24-0',
    index,
    seed: index,
    nodes,
    leaf: nodes.length - 1,
    termination: 'user_stop',
    turns: 5,
    reward: 0,
    verdict: null,
    violations: [],
    toolCalls: {},
    parseErrors: 0,
    seconds: { generate: 2.4, tool: 0.1, user: 0.6 },
    ...fields,
  };
}

const ASKED = messages(
  POLICY,
  WISH,
  ...EMAIL,
  ...LOOK_UP,
  spoken('Shall I cancel it, yes or no?'),
  { role: 'user', text: 'Yes.' },
  ...CANCEL,
  spoken('It is cancelled.'),
  END,
);
const UNASKED = messages(
  POLICY,
  WISH,
  ...EMAIL,
  ...LOOK_UP,
  ...CANCEL,
  call('modify_user_address', { zip: '10002' }),
  result('modify_user_address', 2, PAYLOAD, [other]),
  spoken('Done.'),
  END,
);
/** Rollouts of one task: two correct ones, one that changes data without asking, and one with a malformed call that reaches the turn limit. */
export const CONVERSATIONS: Trajectory[] = [
  conversation(0, ASKED, { reward: 1, verdict: { reward: 1, changes: [change], goal: [change], progress: 1 } }),
  conversation(1, UNASKED, {
    verdict: VERDICT,
    violations: [{ rule: 'unconfirmed_write', call: 1, detail: `cancel_pending_order on ${PAYLOAD}` }],
  }),
  conversation(2, ASKED, { reward: 1, verdict: { reward: 1, changes: [change], goal: [change], progress: 1 } }),
  conversation(3, NODES, { termination: 'max_turns', turns: 15 }),
];

export const REWARD_INFO: RewardInfo = {
  reward: 0,
  db_check: { db_match: true, db_reward: 1 },
  env_assertions: [
    { env_assertion: { env_type: 'user', func_name: 'assert_data_speed', arguments: { expected: PAYLOAD } }, met: false, reward: 0 },
  ],
  action_checks: null,
  nl_assertions: [{ nl_assertion: `The agent is polite. ${PAYLOAD}`, met: true, justification: 'judged' }],
  communicate_checks: [{ info: '10.50', met: true, justification: 'found in what the agent said' }],
  reward_basis: ['DB', 'ENV_ASSERTION', 'COMMUNICATE', 'NL_ASSERTION'],
  reward_breakdown: { DB: 1, ENV_ASSERTION: 0, COMMUNICATE: 1, NL_ASSERTION: 1 },
  info: { unjudged_nl_assertions: ['The agent is brief.'] },
};

const RULES = ['unconfirmed_write', 'not_authenticated', 'other_customer'] as const;

export const TRAJECTORY: Pick<Trajectory, 'task' | 'reward' | 'termination' | 'turns' | 'violations' | 'error'> = {
  task: TASK,
  reward: 0,
  termination: 'user_stop',
  turns: 7,
  violations: RULES.map((rule, call) => ({ rule, call, detail: `cancel_pending_order on ${PAYLOAD}` })),
};

function results(seed: number): TrialResult[] {
  return Array.from({ length: 16 }, (_, i) => ({
    id: `eval-${i >> 1}-${i & 1}`,
    task: `retail/nano/heldout/1/${i >> 1}`,
    index: i & 1,
    intent: i % 4 < 2 ? 'cancel' : 'modify_payment',
    reward: i === 15 ? null : (5 * i + seed) % 7 < 2 * seed ? 1 : 0,
    termination: i % 5 === 0 ? 'max_turns' : 'user_stop',
    turns: 6,
    tokens: 400,
    violations: (i + seed) % 6 === 0 ? ['unconfirmed_write'] : [],
    writes: 1,
    faults: [],
  }));
}

const report: EvaluationReport = {
  tasks: 8,
  trials: 2,
  pass_hat: [
    { k: 1, value: 0.62, low: 0.5, high: 0.73 },
    { k: 2, value: 0.41, low: 0.22, high: 0.6 },
  ],
  tcr: { value: 0.7, low: 0.6, high: 0.8 },
  noop_tasks: 1,
  unscored: 1,
  terminations: { user_stop: 12, max_turns: 4 },
  violations: { unconfirmed_write: 3 },
  confirmed_writes: null,
  tool_calls: { get_order_details: 22, cancel_pending_order: 9 },
  turns_mean: 6.4,
  by_intent: { cancel: { tasks: 4, pass_hat_1: 0.75 }, modify_payment: { tasks: 4, pass_hat_1: 0.5 } },
  seconds: 12,
};

const evaluation = (id: string, name: string, seed: number): EvaluationRow => ({
  id,
  createdAt: Date.UTC(2026, 0, 1),
  run: '',
  model: { kind: 'model', name },
  name,
  report,
  results: results(seed),
  settings: evaluationSettings({
    domain: 'retail',
    level: 'nano',
    split: 'heldout',
    tasks: 8,
    trials: 2,
    temperature: 1,
    seed: 1,
    user: { mode: 'scripted' },
  }),
});

export const BEFORE = evaluation('sample-before', 'nano-retail', 1);
export const AFTER = evaluation('sample-after', 'brisk-otter@40', 2);

const CREATED = Date.UTC(2026, 0, 1, 12);
const tiny = PRESETS.tiny!;
export const RUN: RunRow = {
  id: 'sample',
  name: 'brisk-otter',
  createdAt: CREATED,
  status: 'running',
  step: 24,
  request: { model: 'nano-retail', preset: 'tiny', overrides: { lr: 2e-4, total_training_steps: 40 }, user: { mode: 'scripted' } },
  config: { ...tiny.config, lr: 2e-4, total_training_steps: 40 },
};

/** Four complete steps of two groups of four rollouts, and the rollouts of the fifth step that have ended. */
export const ROLLOUTS: RolloutSummary[] = Array.from({ length: 37 }, (_, k): RolloutSummary => {
  const [step, group, index] = [21 + (k >> 3), (k >> 2) & 1, k & 3];
  const reward = k === 5 ? null : (k * 7) % 3 === 0 ? 1 : 0;
  return {
    id: `${step}-${group}-${index}`,
    group: `${step}-${group}`,
    index,
    step,
    task: `retail/nano/train/1/${k >> 2}`,
    intent: group ? 'modify_items+cancel' : 'cancel',
    reward,
    advantage: reward === null ? null : reward - 0.4,
    termination: k % 9 === 0 ? 'max_turns' : 'user_stop',
    turns: 5 + (k % 4),
    tokens: 900 + 53 * k,
    violations: k % 6 === 0 ? 1 : 0,
    ...(reward !== null &&
      group === 0 && { rewards: { outcome: reward, partial: 0.125 * index, unconfirmed_write: k % 6 === 0 ? -0.25 : 0 } }),
    writes: 1,
    domain: 'retail',
    rules: k % 6 === 0 ? ['unconfirmed_write'] : [],
    tools: k % 5 === 0 ? ['get_order_details', PAYLOAD] : ['get_order_details'],
  };
});

/** The rollouts that are played, in all states. */
export const LIVE: LiveRollout[] = [
  {
    index: 0,
    reward: 1,
    acts: [
      { id: '1', by: 'customer', text: 'I want to cancel #W0000001.' },
      { id: '2', by: 'agent', text: 'Cancel #W0000001? Please say yes.' },
      { id: '3', by: 'customer', text: 'yes' },
      {
        id: '4',
        by: 'agent',
        text: '',
        call: { name: 'cancel_pending_order', arguments: { order_id: '#W0000001', reason: PAYLOAD } },
        result: { error: false, wrote: 1 },
      },
      { id: '6', by: 'customer', text: 'Thank you. ###STOP###' },
    ],
  },
  {
    index: 1,
    acts: [
      { id: '1', by: 'customer', text: `I want to cancel #W0000001. ${PAYLOAD}` },
      { id: '2', by: 'agent', text: '', problem: 'the JSON ends too early' },
      { id: '4', by: 'agent', text: '', call: { name: 'get_order_details', arguments: {} }, result: { error: true, wrote: 0 } },
      { id: '6', by: 'agent', text: 'One moment.', open: { markup: '{"name": "get_order_det' } },
    ],
  },
  { index: 2, acts: [{ id: '1', by: 'agent', text: '', call: { name: 'get_user', arguments: { zip: 10001 } } }] },
];

export const METRICS: StepMetrics[] = Array.from({ length: 25 }, (_, step): StepMetrics => {
  const heldOut: Record<string, number> = step % 8 === 0 ? { 'val-core/retail/reward/mean@1': 0.2 + 0.02 * step } : {};
  if (step === 0) return { step, ...heldOut };
  const wobble = 0.06 * Math.sin(2.4 * step);
  const correct = 0.01 * step;
  return {
    step,
    ...heldOut,
    'critic/score/mean': 0.25 + 0.02 * step + wobble,
    'rollout/turns/mean': 7.5 - 0.05 * step,
    'perf/time_per_step': 14.2,
    'perf/throughput': 2140,
    'critic/rewards/mean': 0.2 + 0.025 * step + wobble,
    'reward/outcome/mean': 0.25 + 0.02 * step + wobble,
    'reward/unconfirmed_write/mean': -0.05 + 0.0015 * step,
    'writes/audited': 20 + step,
    'writes/confirmed': 10 + step,
    'writes/confirmed_ratio': (10 + step) / (20 + step),
    'trajectories/all_correct_query_ratio': correct,
    'trajectories/valid_query_ratio': 0.45 + wobble,
    'trajectories/all_wrong_query_ratio': 0.55 - correct - wobble,
    'tool_call/get_order_details/times/mean': 1.6 + wobble,
    'tool_call/cancel_pending_order/times/mean': 0.7,
    [`tool_call/${PAYLOAD}/times/mean`]: 0.2,
  };
});

export const BRANCHES: BranchRow[] = CONVERSATIONS.map((trajectory, i) => ({
  id: `branch-${i}`,
  createdAt: CREATED + 60_000 * i,
  origin: 'sample/24-0-1',
  shared: 6,
  batch: i < 2 ? '' : 'batch',
  model: 'nano-retail',
  trajectory,
  ...(i === 0 && { conversation: { messages: [], tools: [] } }),
}));

const described = (type: string, description = '') => ({ type, ...(description && { description }) });
/** A tool with one parameter of each kind that a form has. */
export const TOOL: ToolSchema = {
  type: 'function',
  function: {
    name: 'book_flight',
    description: `Books flights for several passengers. ${PAYLOAD}`,
    parameters: {
      type: 'object',
      required: ['user_id', 'cabin', 'bags', 'price', 'insurance', 'passengers'],
      properties: {
        user_id: described('string', `As the profile has it. ${PAYLOAD}`),
        cabin: { type: 'string', enum: ['basic_economy', 'economy', 'business'] },
        bags: described('integer', 'Checked bags of all passengers.'),
        price: described('number'),
        insurance: described('boolean'),
        passengers: {
          type: 'array',
          items: {
            type: 'object',
            properties: { name: described('string'), born: described('string', 'Year, month, day.') },
            required: ['name'],
          },
        },
        remarks: { type: 'array', items: described('string') },
        anything: { description: 'Any JSON.' },
      },
    },
  },
};
