/** @file The charts of a run: the usual ones, and beside the reward those that its configuration calls for. */
import { CHARTS, type ChartSpec } from '../charts/charts.ts';
import { PARTS_CHART, WRITES_CHART } from '../charts/reward-charts.ts';
import { measuresWrites } from '../data/run/measured.ts';
import type { GrpoConfig } from '../../records/run.ts';
import { isShaped } from '../../training/rewards.ts';

export function runCharts(config: GrpoConfig | undefined): ChartSpec[] {
  const [reward, ...others] = CHARTS;
  return [
    reward!,
    ...(config && measuresWrites(config) ? [WRITES_CHART] : []),
    ...(config && isShaped(config) ? [PARTS_CHART] : []),
    ...others,
  ];
}
