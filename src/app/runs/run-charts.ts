/** @file Chooses the charts of a run: those of its training method, and more that depend on its configuration and its customer. */
import { type ChartSpec } from '../charts/charts.ts';
import { chartsOf } from '../charts/specs.ts';
import { foreignCharts } from '../charts/foreign-charts.ts';
import { TERMS_CHART, WRITES_CHART } from '../charts/reward-charts.ts';
import { USER_COST_CHART, USER_FAULTS_CHART, USER_LATENCY_CHART, USER_TOKENS_CHART } from '../charts/user-charts.ts';
import { isAudited } from '../labels/labels.ts';
import type { ForeignRun } from '../../records/foreign.ts';
import type { GrpoConfig } from '../../records/run.ts';
import type { UserConfig } from '../../records/user.ts';
import { isShaped } from '../../training/rewards.ts';

/** @param foreign what the visitor says of a run of another tool */
export function runCharts(
  config: GrpoConfig | undefined,
  user?: UserConfig,
  foreign?: ForeignRun,
): { main: ChartSpec[]; health: ChartSpec[] } {
  if (foreign) return { main: foreignCharts(foreign), health: [] };
  const { main, health } = chartsOf(config?.algorithm);
  const [reward, ...others] = main;
  const sampled = config && config.algorithm !== 'sft';
  const writes = sampled && isAudited(config.domain) ? [WRITES_CHART] : [];
  const isPriced = user?.mode === 'endpoint' && (user.promptPrice !== undefined || user.completionPrice !== undefined);
  const customer =
    user && user.mode !== 'scripted'
      ? [USER_FAULTS_CHART, USER_TOKENS_CHART, USER_LATENCY_CHART, ...(isPriced ? [USER_COST_CHART] : [])]
      : [];
  const terms = sampled && isShaped(config) ? [TERMS_CHART] : [];
  return { main: [reward!, ...writes, ...terms, ...others], health: [...health, ...customer] };
}
