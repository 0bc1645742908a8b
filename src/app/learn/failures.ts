/** @file Five recorded runs that failed, with the charts that show the failure. `scripts/record-failing-runs.mts` recorded them. */
import { type ChartSpec } from '../charts/charts.ts';
import { CHARTS, HEALTH_CHARTS, metricChart } from '../charts/specs.ts';
import { MetricSeries } from '../run-data/series.ts';
import { number, percent } from '../kit/format.ts';
import type { StepMetrics } from '../../records/run.ts';
import greedyRollouts from './failing-runs/greedy-rollouts.json';
import highLearningRate from './failing-runs/high-learning-rate.json';
import ownSuccesses from './failing-runs/own-successes-alone.json';
import pretrainedHighRate from './failing-runs/pretrained-high-rate.json';
import priceOnLength from './failing-runs/price-on-length-alone.json';

export interface Failure {
  id: string;
  cause: string;
  /** The settings that made the run fail. */
  settings: string;
  /** The command that repeats the run. */
  command: string;
  metrics: readonly StepMetrics[];
  charts: readonly ChartSpec[];
}

const byId = (id: string): ChartSpec => [...CHARTS, ...HEALTH_CHARTS].find((chart) => chart.id === id)!;
const share = (metric: string, title: string, help: string): ChartSpec => ({
  ...metricChart(metric),
  title,
  help,
  max: 1,
  format: percent,
});

const KL = byId('kl');
const ENTROPY = byId('entropy');
const GRADIENT = byId('grad-norm');
const REWARD: ChartSpec = {
  ...metricChart('critic/rewards/mean'),
  id: 'training-reward',
  title: 'Reward in training',
  help: 'The mean reward of a step’s rollouts, as the run’s settings define it.',
  format: number,
};
const MIXED = share(
  'trajectories/valid_query_ratio',
  'Mixed groups',
  'Share of groups with both correct and wrong rollouts. Only these groups have a gradient.',
);
const CUT = share('response_length/clip_ratio', 'Cut conversations', 'Share of conversations that a token limit cut.');
const VIOLATIONS: ChartSpec = {
  ...metricChart('violations/per_write'),
  title: 'Violations per write',
  help: 'The number of violations divided by the number of writes. A write without the customer’s yes is a violation.',
};

/** Gives the metrics of a recorded file their type. A step has no entry for what it did not measure. */
const recorded = ({ command, metrics }: { command: string; metrics: readonly object[] }) => ({
  command,
  metrics: metrics as readonly StepMetrics[],
});

export const FAILURES: readonly Failure[] = [
  {
    id: 'high-learning-rate',
    cause: 'The learning rate is too high',
    settings: 'The learning rate (lr) is 0.01, ten times that of the preset Glimpse.',
    charts: [KL, ENTROPY, REWARD, MIXED],
    ...recorded(highLearningRate),
  },
  {
    id: 'price-on-length-alone',
    cause: 'The reward pays for the wrong thing',
    settings: 'The reward counts only how short a conversation is (reward.outcome 0, reward.length 2). No customer changes their mind.',
    charts: [REWARD, VIOLATIONS, ENTROPY, MIXED],
    ...recorded(priceOnLength),
  },
  {
    id: 'greedy-rollouts',
    cause: 'The rollouts of a group are equal',
    settings: 'The temperature is 0, so the agent always takes the most likely token.',
    charts: [MIXED, REWARD],
    ...recorded(greedyRollouts),
  },
  {
    id: 'own-successes-alone',
    cause: 'The model imitates its own successes too often',
    settings: 'Rejection sampling takes three passes over each batch (rft_epochs 3) with a learning rate of 0.003.',
    charts: [REWARD, GRADIENT, CUT, ENTROPY],
    ...recorded(ownSuccesses),
  },
  {
    id: 'pretrained-high-rate',
    cause: 'The first update of a pretrained model is too large',
    settings: 'The learning rate (lr) is 0.003, thirty times that of the preset of SmolLM2, and there is no warm-up (lr_warmup_steps 0).',
    charts: [REWARD, MIXED, CUT],
    ...recorded(pretrainedHighRate),
  },
];

/** The metrics of a failure as charts read them. */
export function seriesOf({ metrics }: Failure): MetricSeries {
  const series = new MetricSeries();
  for (const step of metrics) series.put(step);
  return series;
}
