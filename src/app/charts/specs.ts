/** @file The charts of a run: which metrics each shows, and how to read it. */
import { heldOutName } from '../../records/run.ts';
import { number, percent, seconds, tickSeconds } from '../kit/format.ts';
import type { MetricSeries } from '../run-data/series.ts';
import type { ChartSpec, Line } from './charts.ts';

const one =
  (key: string, label: string): ChartSpec['lines'] =>
  () => [{ key, label, color: '--accent' }];
const PALETTE = ['--series-1', '--series-2', '--series-3', '--series-4', '--series-5', '--series-6'];

export const CHARTS: ChartSpec[] = [
  {
    id: 'reward',
    title: 'Reward',
    help: 'Share of rollouts that left the database exactly as the task asks. The held-out tasks are never trained on.',
    kind: 'lines',
    max: 1,
    format: percent,
    lines: ({ names }) => [
      { key: 'critic/score/mean', label: 'training', color: '--accent' },
      { key: heldOutName(names) ?? 'val-core', label: 'held-out', color: '--series-2', sparse: true },
    ],
  },
  {
    id: 'groups',
    title: 'Group outcomes',
    help: 'In a mixed group, some rollouts get more reward than others. All other groups have no gradient.',
    kind: 'stacked',
    max: 1,
    format: percent,
    legendLines: 2,
    lines: () => [
      { key: 'trajectories/all_correct_query_ratio', label: 'all correct', color: '--good' },
      { key: 'trajectories/valid_query_ratio', label: 'mixed', color: '--mixed' },
      { key: 'trajectories/all_wrong_query_ratio', label: 'all wrong', color: '--bad' },
    ],
  },
  {
    id: 'kl',
    title: 'KL to the reference, trained tokens',
    help: 'How far the agent has moved from the reference model, in nats per token. Only trained tokens count: a group that is left out of the update is not measured.',
    kind: 'lines',
    format: number,
    lines: one('actor/kl_loss', 'KL'),
  },
  {
    id: 'entropy',
    title: 'Entropy, trained tokens',
    help: 'How undecided the agent is about a token, in nats. At zero, exploration ends. Only trained tokens count: a group that is left out of the update is not measured.',
    kind: 'lines',
    format: number,
    lines: one('actor/entropy', 'entropy'),
  },
  {
    id: 'turns',
    title: 'Turns',
    help: 'Tool results and customer replies per rollout, on average.',
    kind: 'lines',
    format: number,
    lines: one('rollout/turns/mean', 'turns'),
  },
  {
    id: 'length',
    title: 'Response length',
    help: 'Tokens that the agent sampled per rollout, on average. Tool results and customer replies do not count.',
    kind: 'lines',
    format: number,
    lines: one('response_length_only_model/mean', 'tokens'),
  },
  {
    id: 'tools',
    title: 'Tool mix',
    help: 'Calls of each tool per rollout, on average. Only the six most used tools are shown.',
    kind: 'stacked',
    format: number,
    legendLines: 6,
    lines: toolLines,
  },
  {
    id: 'time',
    title: 'Time of a step',
    help: 'Seconds per step for sampling rollouts, scoring them with the reference model, updating the weights, and scoring one group for the inspector.',
    kind: 'stacked',
    format: seconds,
    tick: tickSeconds,
    legendLines: 2,
    lines: () => [
      { key: 'timing_s/gen', label: 'rollout', color: '--series-1' },
      { key: 'timing_s/ref', label: 'score', color: '--series-2' },
      { key: 'timing_s/update_actor', label: 'update', color: '--series-3' },
      { key: 'timing_s/inspect', label: 'inspect', color: '--series-4' },
    ],
  },
];

/** Charts that can show a training problem before the reward does. */
export const HEALTH_CHARTS: ChartSpec[] = [
  {
    id: 'grad-norm',
    title: 'Gradient norm',
    help: 'The norm of the gradient before clipping, on average over the updates of a step. A jump means that an update was too large.',
    kind: 'lines',
    format: number,
    lines: one('actor/grad_norm', 'norm'),
  },
  {
    id: 'clip-fraction',
    title: 'Clipped share of trained tokens',
    help: 'Share of the trained tokens whose probability ratio was clipped. With one update per step, no token is clipped.',
    kind: 'lines',
    format: number,
    lines: () => [
      { key: 'actor/pg_clipfrac', label: 'clip', color: '--series-1' },
      { key: 'actor/pg_clipfrac_lower', label: 'dual clip', color: '--series-2' },
    ],
  },
  {
    id: 'sampler-mismatch',
    title: 'Sampler mismatch',
    help: 'How far the sampler’s and the trainer’s probabilities of a token differ. Rounding alone causes far less than 0.001.',
    kind: 'lines',
    format: number,
    lines: () => [
      { key: 'training/rollout_probs_diff_max', label: 'maximum', color: '--series-1' },
      { key: 'training/rollout_probs_diff_mean', label: 'mean', color: '--series-2' },
    ],
  },
];

/** The chart of one metric, by the metric's name. */
export const metricChart = (name: string): ChartSpec => ({
  id: name.replace(/[^\w.@-]+/g, '-'),
  title: name,
  help: 'The logged values of this metric. The name is from verl or MUA-RL.',
  kind: 'lines',
  format: number,
  lines: () => [{ key: name, label: 'value', color: '--accent', sparse: name.startsWith('val-') }],
});

const LOSS: ChartSpec = {
  id: 'loss',
  title: 'Loss',
  help: 'The mean negative log-likelihood of the tokens that a step trains on, in nats, before its update.',
  kind: 'lines',
  format: number,
  lines: one('train/loss', 'loss'),
};

/** The charts of a run: those whose metrics its training method has. Imported runs can lack the method. */
export function chartsOf(method = 'grpo'): { main: ChartSpec[]; health: ChartSpec[] } {
  if (method === 'grpo') return { main: CHARTS, health: HEALTH_CHARTS };
  const shown = method === 'rft' ? (id: string) => id !== 'kl' : (id: string) => ['reward', 'entropy', 'time'].includes(id);
  const [reward, ...others] = CHARTS.filter(({ id }) => shown(id));
  return { main: [reward!, LOSS, ...others], health: HEALTH_CHARTS.filter(({ id }) => id === 'grad-norm') };
}

const TOOL_TIMES = /^tool_call\/(.+)\/times\/mean$/;

function toolLines(series: MetricSeries): Line[] {
  const total = (key: string) => series.values(key).reduce<number>((sum, value) => sum + (value ?? 0), 0);
  const all = series.names.filter((name) => TOOL_TIMES.test(name)).sort();
  const most = new Set(all.toSorted((a, b) => total(b) - total(a)).slice(0, PALETTE.length));
  // Sorted by name, so that a tool keeps its colour when the ranking changes.
  return all.filter((key) => most.has(key)).map((key, i) => ({ key, label: TOOL_TIMES.exec(key)![1]!, color: PALETTE[i]! }));
}
