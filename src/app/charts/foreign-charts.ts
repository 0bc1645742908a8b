/** @file The charts of an imported run: what its files say, on their own scale. */
import type { ForeignRun } from '../../records/foreign.ts';
import { number, percent } from '../kit/format.ts';
import { ruleLabel } from '../labels/labels.ts';
import type { ChartSpec } from './charts.ts';
import { termsIn } from './reward-charts.ts';
import { CHARTS } from './specs.ts';

const shown = (...ids: string[]) => CHARTS.filter(({ id }) => ids.includes(id));

export function foreignCharts({ success }: ForeignRun): ChartSpec[] {
  const reward: ChartSpec = {
    id: 'reward',
    title: 'Reward',
    help: 'Mean reward of the conversations, and what each part adds to it, on the scale of the file. Conversations without a reward do not count.',
    kind: 'lines',
    format: number,
    legendLines: 2,
    lines: ({ names }) => [
      { key: 'critic/rewards/mean', label: 'reward', color: '--accent' },
      // The first colour of the row is the accent, which the reward has.
      ...termsIn(names).map(({ key, term }, i) => ({ key, label: term, color: `--series-${((i + 1) % 6) + 1}` })),
    ],
  };
  const share: ChartSpec = {
    id: 'success',
    title: 'Success',
    help: `Share of the conversations with ${success && ruleLabel(success)}. Conversations that failed when they were recorded do not count.`,
    kind: 'lines',
    max: 1,
    format: percent,
    lines: () => [{ key: 'critic/score/mean', label: 'success', color: '--accent' }],
  };
  return [reward, ...(success === undefined ? [] : [share, GROUPS]), ...shown('turns', 'length', 'tools')];
}

const GROUPS: ChartSpec = {
  ...CHARTS.find(({ id }) => id === 'groups')!,
  help: 'Shares of the groups whose conversations all succeeded, partly, or not at all.',
  lines: () => [
    { key: 'trajectories/all_correct_query_ratio', label: 'all succeeded', color: '--good' },
    { key: 'trajectories/valid_query_ratio', label: 'mixed', color: '--mixed' },
    { key: 'trajectories/all_wrong_query_ratio', label: 'none succeeded', color: '--bad' },
  ],
};
