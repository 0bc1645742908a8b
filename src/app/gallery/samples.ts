/** @file Made-up data for the gallery, with payloads that must stay text. */
import type { MessageNode, Trajectory } from '../../agent/types.ts';
import type { RewardInfo } from '../../environments/exact/benchmark-task.ts';
import type { Verdict } from '../../environments/types.ts';
import type { EvaluationReport } from '../../evaluation/evaluate.ts';
import type { TrialResult } from '../../evaluation/types.ts';
import type { EvaluationRow } from '../../storage/database.ts';
import { limitsOf } from '../../evaluation/types.ts';
import { limitsFor } from '../../training/presets.ts';

const PAYLOAD = '<img src=x onerror=alert(1)>';

function node(id: number, fields: Partial<MessageNode> & Pick<MessageNode, 'role' | 'text'>): MessageNode {
  const sampled = fields.role === 'assistant' ? 1 : 0;
  const tokens = Array.from({ length: 6 }, (_, i) => 10 * id + i);
  return { id, parent: id === 0 ? null : id - 1, tokens, mask: tokens.map(() => sampled), logprobs: tokens.map((_, i) => (sampled ? -0.1 * i : null)), ...fields };
}

const before = { order_id: '#W0000001', status: 'pending' };
const after = { order_id: '#W0000001', status: 'cancelled' };
const change = { table: 'orders', key: '#W0000001', before, after, call: 1 };
const cancel = { name: 'cancel_pending_order', arguments: { order_id: '#W0000001', reason: PAYLOAD } };

export const NODES: MessageNode[] = [
  node(0, { role: 'system', text: `# Domain policy\nAsk before you change anything. ${PAYLOAD}` }),
  node(1, { role: 'user', text: `I want to cancel #W0000001. ${PAYLOAD}` }),
  node(2, { role: 'assistant', text: 'May I have your email?', content: 'May I have your email?' }),
  node(3, { role: 'user', text: 'mia@example.com' }),
  node(4, { role: 'assistant', text: '<tool_call>{"name": "nothing"</tool_call>', parseError: 'the JSON ends too early' }),
  node(5, { role: 'tool', text: `Error: order "${PAYLOAD}" not found`, toolResult: { name: 'get_order_details', error: true, index: 0, changes: [], ms: 1 } }),
  node(6, { role: 'assistant', text: '', content: 'It is done.', toolCall: cancel }),
  node(7, { role: 'tool', text: JSON.stringify(after), toolResult: { name: 'cancel_pending_order', error: false, index: 1, changes: [change], ms: 2 } }),
];

const other = { table: 'users', key: 'mia_1', before: { zip: '10001' }, after: { zip: '10002' }, call: 2 };
export const VERDICT: Verdict = { reward: 0, changes: [change, other], goal: [change, { ...other, key: 'ben_2', call: 3 }], progress: 0.5 };

export const REWARD_INFO: RewardInfo = {
  reward: 0,
  db_check: { db_match: true, db_reward: 1 },
  env_assertions: [{ env_assertion: { env_type: 'user', func_name: 'assert_data_speed', arguments: { expected: PAYLOAD } }, met: false, reward: 0 }],
  action_checks: null,
  nl_assertions: [{ nl_assertion: `The agent is polite. ${PAYLOAD}`, met: true, justification: 'judged' }],
  communicate_checks: [{ info: '10.50', met: true, justification: 'found in what the agent said' }],
  reward_basis: ['DB', 'ENV_ASSERTION', 'COMMUNICATE', 'NL_ASSERTION'],
  reward_breakdown: { DB: 1, ENV_ASSERTION: 0, COMMUNICATE: 1, NL_ASSERTION: 1 },
  info: { unjudged_nl_assertions: ['The agent is brief.'] },
};

const RULES = ['unconfirmed_write', 'not_authenticated', 'other_customer'] as const;

export const TRAJECTORY: Pick<Trajectory, 'reward' | 'termination' | 'turns' | 'violations' | 'error'> = {
  reward: 0,
  termination: 'user_stop',
  turns: 7,
  violations: RULES.map((rule, call) => ({ rule, call, detail: `cancel_pending_order on ${PAYLOAD}` })),
};

function results(seed: number): TrialResult[] {
  return Array.from({ length: 16 }, (_, i) => ({
    id: `eval-${i >> 1}-${i & 1}`, task: `retail/nano/heldout/1/${i >> 1}`, index: i & 1, intent: i % 4 < 2 ? 'cancel' : 'modify_payment',
    reward: i === 15 ? null : (i * seed) % 3 === 0 ? 1 : 0, termination: i % 5 === 0 ? 'max_turns' : 'user_stop', turns: 6, tokens: 400,
    violations: (i + seed) % 6 === 0 ? ['unconfirmed_write'] : [],
  }));
}

const report: EvaluationReport = {
  tasks: 8, trials: 2, pass_hat: [{ k: 1, value: 0.62, low: 0.5, high: 0.73 }, { k: 2, value: 0.41, low: 0.22, high: 0.6 }], tcr: { value: 0.7, low: 0.6, high: 0.8 },
  noop_tasks: 1, unscored: 1, terminations: { user_stop: 12, max_turns: 4 }, violations: { unconfirmed_write: 3 }, tool_calls: { get_order_details: 22, cancel_pending_order: 9 },
  turns_mean: 6.4, by_intent: { cancel: { tasks: 4, pass_hat_1: 0.75 }, modify_payment: { tasks: 4, pass_hat_1: 0.5 } }, seconds: 12,
};

const evaluation = (id: string, name: string, seed: number): EvaluationRow => ({
  id, createdAt: Date.UTC(2026, 0, 1), run: '', model: { kind: 'model', name }, name, report, results: results(seed),
  settings: {
    domain: 'retail', level: 'nano', split: 'heldout', tasks: 8, trials: 2, temperature: 1, top_p: 1, top_k: 0, seed: 1,
    limits: limitsOf(limitsFor('retail', 'nano')), conversation_rules: 'domain', first_stream: 0, user: { mode: 'scripted' },
  },
});

export const BEFORE = evaluation('sample-before', 'nano-retail', 1);
export const AFTER = evaluation('sample-after', 'brisk-otter@40', 2);
