/** @file The charts of a run: those of its algorithm, and beside the reward those that its configuration calls for. */
import { type ChartSpec, chartsOf } from '../charts/charts.ts';
import { PARTS_CHART, WRITES_CHART } from '../charts/reward-charts.ts';
import { measuresWrites } from '../data/run/measured.ts';
import type { GrpoConfig } from '../../records/run.ts';
import { isShaped } from '../../training/rewards.ts';

export function runCharts(config: GrpoConfig | undefined): { main: ChartSpec[]; health: ChartSpec[] } {
  const { main, health } = chartsOf(config?.algorithm);
  const [reward, ...others] = main;
  const sampled = config && config.algorithm !== 'sft';
  const writes = sampled && measuresWrites(config) ? [WRITES_CHART] : [];
  const parts = sampled && isShaped(config) ? [PARTS_CHART] : [];
  return { main: [reward!, ...writes, ...parts, ...others], health };
}
