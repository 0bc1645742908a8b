/**
 * @file Alarms: deterministic rules that detect when training goes wrong, and their remedies. A rule sees only the metrics of
 * the steps so far, so the page, the command line and `stop_on_alarm` agree. All thresholds are in this file.
 *
 * An alarm begins at the first step whose recent metrics break the rule. It ends at the first step whose recent metrics do not
 * break it.
 */
import { median } from '../base/median.ts';
import { wilson } from '../base/wilson.ts';
import type { StepMetrics } from '../records/run.ts';

export interface Alarm {
  rule: AlarmRule['name'];
  /** The step at which the alarm begins. */
  from: number;
  /** The last step at which the rule was broken. */
  to: number;
  /** The worst value of the rule's metric, and the limit that this value passed. */
  value: number;
  limit: number;
}

export interface AlarmRule {
  name: string;
  title: string;
  /** The metric that the rule watches, and how to show its values. */
  metric: string;
  unit: 'share' | 'nats' | 'number';
  /** What the alarm means. */
  meaning: string;
  /** What a person can try. The most useful remedy comes first. */
  remedies: readonly string[];
  /** After the last of `steps`: the value that the rule compares, and its limit. Null if there are not enough steps yet. */
  test(steps: readonly StepMetrics[]): { value: number; limit: number; broken: boolean } | null;
}

/**
 * The window sizes, in steps, of the rules. One step has few groups, so a rule about a share uses a single step only with a
 * confidence interval.
 */
const RECENT = 3;
const FIRST = 5;
/** One hard task can make all rollouts of a small step fail. */
const COLLAPSED = 2;
/** A share of conversations that rises by more than this within one step is an alarm. */
const SUDDEN = 0.25;
/** An alarm starts above this share of conversations in which the customer makes a mistake. */
const FAULTS_ALLOWED = 0.05;

const values = (steps: readonly StepMetrics[], name: string): number[] =>
  steps.flatMap((step) => (Number.isFinite(step[name]) ? [step[name]!] : []));
const mean = (list: readonly number[]) => list.reduce((sum, value) => sum + value, 0) / list.length;

/** The mean of the last `count` values of a metric. Null if there are fewer. */
function recent(steps: readonly StepMetrics[], name: string, count = RECENT): number | null {
  const list = values(steps, name).slice(-count);
  return list.length < count ? null : mean(list);
}

/** The mean of a metric over the first steps and over the last steps. Null while these two windows overlap. */
function change(steps: readonly StepMetrics[], name: string): { first: number; last: number } | null {
  const list = values(steps, name);
  return list.length < 2 * FIRST ? null : { first: mean(list.slice(0, FIRST)), last: mean(list.slice(-FIRST)) };
}

const above = (value: number, limit: number) => ({ value, limit, broken: value > limit });

/** The number of scored conversations of a step. Dropped conversations are audited, but the shares do not count them. */
const scored = ({ 'user/audited': audited = 0, 'rollout/dropped': dropped = 0 }: StepMetrics) => audited - dropped;

/**
 * Makes the test of a rule: is a share of conversations, over the last steps, more than `by` above its mean over the first steps? A model
 * can also collapse in one update. So the rule is broken too if the share of the last step alone is more than `SUDDEN` above, even at the
 * lower end of its 95 % interval.
 */
const rises = (name: string, by: number) => (steps: readonly StepMetrics[]) => {
  const list = values(steps, name);
  const last = steps.at(-1)!;
  const { [name]: value } = last;
  const rollouts = scored(last);
  if (list.length >= 2 && rollouts > 0 && value !== undefined) {
    const limit = mean(list.slice(0, Math.min(FIRST, list.length >> 1))) + SUDDEN;
    if (wilson(Math.round(value * rollouts), rollouts)!.low > limit) return { value, limit, broken: true };
  }
  const found = change(steps, name);
  return found && above(found.last, found.first + by);
};

export const ALARM_RULES: readonly AlarmRule[] = [
  {
    name: 'kl_explosion',
    title: 'The agent moves too far from the reference',
    metric: 'actor/kl_loss',
    unit: 'nats',
    meaning:
      'The mean KL divergence per token is above 0.3 nats. The agent’s texts are now very different from those of the reference model.',
    remedies: ['Lower the learning rate (lr).', 'Raise kl_loss_coef.', 'Lower grad_clip.', 'Begin again from the last good checkpoint.'],
    test: (steps) => {
      const value = recent(steps, 'actor/kl_loss');
      return value === null ? null : above(value, 0.3);
    },
  },
  {
    name: 'success_collapse',
    title: 'The agent no longer succeeds',
    metric: 'critic/score/mean',
    unit: 'share',
    meaning:
      'In the last two steps together, the share of correct conversations is below a third of the lowest of the five steps before, even at the upper end of the 95 % interval.',
    remedies: [
      'Begin again from the last good checkpoint.',
      'Lower the learning rate (lr).',
      'Let the learning rate rise slowly (lr_warmup_steps).',
      'Raise kl_loss_coef.',
    ],
    test: (steps) => {
      const name = 'critic/score/mean';
      const before = values(steps.slice(0, -COLLAPSED), name).slice(-FIRST);
      const last = steps.slice(-COLLAPSED);
      const rollouts = last.reduce((sum, step) => sum + scored(step), 0);
      if (before.length === 0 || rollouts <= 0 || values(last, name).length < COLLAPSED) return null;
      const correct = last.reduce((sum, step) => sum + step[name]! * scored(step), 0);
      const limit = Math.min(...before) / 3;
      return { value: correct / rollouts, limit, broken: wilson(Math.round(correct), rollouts)!.high < limit };
    },
  },
  {
    name: 'entropy_collapse',
    title: 'The agent no longer explores',
    metric: 'actor/entropy',
    unit: 'nats',
    meaning: 'The mean entropy of the last five steps is below a fifth of that of the first five. All rollouts of a task become alike.',
    remedies: [
      'Raise clip_ratio_high (DAPO’s clip-higher).',
      'Raise entropy_coeff slightly.',
      'Lower the learning rate (lr).',
      'Sample at temperature 1.',
    ],
    test: (steps) => {
      const found = change(steps, 'actor/entropy');
      return found && { value: found.last, limit: found.first / 5, broken: found.last < found.first / 5 };
    },
  },
  {
    name: 'gradient_spike',
    title: 'The gradient jumps',
    metric: 'actor/grad_norm',
    unit: 'number',
    meaning: 'The gradient norm is more than ten times its median over the ten steps before.',
    remedies: ['Lower grad_clip.', 'Lower the learning rate (lr).', 'Use more tasks per update (train_batch_size).'],
    test: (steps) => {
      const list = values(steps, 'actor/grad_norm');
      return list.length < 6 ? null : above(list.at(-1)!, 10 * median(list.slice(-11, -1)));
    },
  },
  {
    name: 'no_mixed_groups',
    title: 'Few groups teach anything',
    metric: 'trajectories/valid_query_ratio',
    unit: 'share',
    meaning: 'In the last five steps fewer than 15 % of the groups were mixed. A group with equal rewards has no gradient.',
    remedies: [
      'If most groups are correct: use harder customers, or stop the run.',
      'If most groups are wrong: use easier tasks, a longer cold start, or partial credit (reward.partial).',
      'Raise the group size (n).',
      'Let filter_groups draw more tasks (filter_groups.max_num_gen_batches).',
    ],
    test: (steps) => {
      const value = recent(steps, 'trajectories/valid_query_ratio', FIRST);
      return value === null ? null : { value, limit: 0.15, broken: value < 0.15 };
    },
  },
  {
    name: 'cut_turns',
    title: 'More and more conversations are cut',
    metric: 'response_length/clip_ratio',
    unit: 'share',
    meaning: 'The share of conversations that a token limit cut rose by more than 8 points. The agent repeats itself and does not stop.',
    remedies: ['Lower the learning rate (lr).', 'Leave cut conversations out of the update (mask_truncated).', 'Raise kl_loss_coef.'],
    test: rises('response_length/clip_ratio', 0.08),
  },
  {
    name: 'parse_errors',
    title: 'Tool calls become unreadable',
    metric: 'tool_call/parse_error_ratio',
    unit: 'share',
    meaning: 'The share of conversations with a malformed tool call rose by more than 8 points.',
    remedies: ['Lower the learning rate (lr).', 'Raise kl_loss_coef.', 'Reward the format (reward.format).'],
    test: rises('tool_call/parse_error_ratio', 0.08),
  },
  {
    name: 'tool_loops',
    title: 'The agent repeats the same call',
    metric: 'tool_call/loop_ratio',
    unit: 'share',
    meaning: 'The share of conversations in which the agent makes the same tool call at least three times rose by more than 10 points.',
    remedies: ['Put a price on length (reward.length).', 'Lower max_turns.', 'Lower the learning rate (lr).'],
    test: rises('tool_call/loop_ratio', 0.1),
  },
  {
    name: 'claims_without_writes',
    title: 'The agent says that it acted, and did not',
    metric: 'claims/unfounded_ratio',
    unit: 'share',
    meaning: 'The share of conversations in which the agent reports success without any write rose by more than 10 points.',
    remedies: [
      'Check what the reward pays for: the outcome in the database must count most.',
      'Check the customer: does it accept every claim?',
      'Lower the learning rate (lr).',
    ],
    test: rises('claims/unfounded_ratio', 0.1),
  },
  {
    name: 'handover_inflation',
    title: 'The agent hands over customers that it could serve',
    metric: 'handover/needless_ratio',
    unit: 'share',
    meaning: 'The share of needless transfers to a human rose by more than 10 points.',
    remedies: ['Put a price on needless transfers (reward.handover).', 'Use fewer customers with impossible wishes.'],
    test: rises('handover/needless_ratio', 0.1),
  },
  {
    name: 'simulator_breakdown',
    title: 'The simulated customer fails',
    metric: 'rollout/failed_ratio',
    unit: 'share',
    meaning: 'In the last three steps more than 10 % of the conversations had to be repeated or dropped because the customer failed.',
    remedies: [
      'Test the customer’s endpoint in the settings.',
      'Lower the number of requests at once.',
      'Raise the customer’s time limit.',
    ],
    test: (steps) => {
      const value = recent(steps, 'rollout/failed_ratio');
      return value === null ? null : above(value, 0.1);
    },
  },
  {
    name: 'customer_faults',
    title: 'The simulated customer makes faults',
    metric: 'user/fault_rate',
    unit: 'share',
    meaning:
      'In this step the customer made a fault in more than 5 % of the conversations, even at the lower end of the 95 % interval: it invented facts, left early or spoke as the agent. The agent can lose its reward without a mistake.',
    remedies: [
      'Look at the rollouts: “Customer faults” names the messages.',
      'Use another model as the customer, or a lower temperature.',
      'Leave these conversations out of the update (user_faults=drop).',
    ],
    test: (steps) => {
      const { 'user/fault_rate': rate, 'user/audited': audited } = steps.at(-1)!;
      const interval = rate === undefined || !audited ? null : wilson(Math.round(rate * audited), audited);
      return interval && { value: rate!, limit: FAULTS_ALLOWED, broken: interval.low > FAULTS_ALLOWED };
    },
  },
  {
    name: 'reward_hacking',
    title: 'Reward rises, and so do violations',
    metric: 'violations/per_write',
    unit: 'share',
    meaning: 'The reward rose by more than 5 points while violations per write rose by more than 10 points.',
    remedies: [
      'Look at the rollouts with violations: does the reward pay for them?',
      'Put a price on writes without a yes (reward.unconfirmed_write).',
      'Use customers who change their mind (customers.changes_mind).',
    ],
    test: (steps) => {
      const reward = change(steps, 'critic/rewards/mean');
      const violations = change(steps, 'violations/per_write');
      if (!reward || !violations) return null;
      const limit = violations.first + 0.1;
      return { value: violations.last, limit, broken: violations.last > limit && reward.last > reward.first + 0.05 };
    },
  },
];

/** The names of all metrics that the rules read. */
export const ALARM_METRICS: readonly string[] = [
  ...new Set([...ALARM_RULES.map(({ metric }) => metric), 'critic/rewards/mean', 'user/audited', 'rollout/dropped']),
];

/**
 * The alarms of a run, in the order of their first steps.
 * @param steps the metrics of each step, ascending; the evaluation before training (step 0) is ignored
 */
export function alarmsOf(steps: readonly StepMetrics[]): Alarm[] {
  const trained = steps.filter(({ step }) => step > 0);
  const alarms: Alarm[] = [];
  for (const rule of ALARM_RULES) {
    let open: Alarm | null = null;
    for (let count = 1; count <= trained.length; count++) {
      const { step } = trained[count - 1]!;
      const found = rule.test(trained.slice(0, count));
      if (!found?.broken) {
        open = null;
        continue;
      }
      const { value, limit } = found;
      if (!open) alarms.push((open = { rule: rule.name, from: step, to: step, value, limit }));
      open.to = step;
      if (Math.abs(value - limit) > Math.abs(open.value - open.limit)) Object.assign(open, { value, limit });
    }
  }
  return alarms.sort((a, b) => a.from - b.from);
}

export const alarmRule = (name: string): AlarmRule | undefined => ALARM_RULES.find((rule) => rule.name === name);

/** The value or the limit of an alarm, as a text with its unit. */
export function showAlarmValue(alarm: Alarm, which: 'value' | 'limit'): string {
  const { unit } = alarmRule(alarm.rule)!;
  if (unit === 'share') return `${(100 * alarm[which]).toFixed(1)} %`;
  return `${alarm[which].toPrecision(3)}${unit === 'nats' ? ' nats' : ''}`;
}

/** The alarm as one sentence, for the command line. */
export function alarmText(alarm: Alarm): string {
  const { title, metric } = alarmRule(alarm.rule)!;
  return `step ${alarm.from}: ${title} (${metric} ${showAlarmValue(alarm, 'value')}, limit ${showAlarmValue(alarm, 'limit')})`;
}
