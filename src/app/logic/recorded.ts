/** @file The bundled run: an export like any other, read by the same reader, only when it is shown. */
import type { Trajectory } from '../../agent/types.ts';
import type { RunBundle } from '../../exchange/run-bundle.ts';
import type { SharedEvaluation, SharedTrial } from '../../exchange/run-schema.ts';
import type { RunRow } from '../../storage/database.ts';
import type { RolloutSummary, StepMetrics } from '../../training/types.ts';

/** The id under which the recorded run stands in addresses. */
export const RECORDED = 'recorded';
/** The bundled model that came out of it. */
export const RECORDED_WEIGHTS = 'nano-retail-grpo';

export interface RecordedRun {
  run: RunRow;
  metrics: StepMetrics[];
  rollouts: RolloutSummary[];
  trajectories: Map<string, Trajectory>;
  evaluations: SharedEvaluation[];
  trials: SharedTrial[];
}

let loading: Promise<RecordedRun | null> | null = null;

/** Null when none is bundled or it cannot be read: the page then does without. */
export function recordedRun(): Promise<RecordedRun | null> {
  loading ??= load().catch((error: unknown) => {
    console.warn('recorded run:', error);
    return null;
  });
  return loading;
}

async function load(): Promise<RecordedRun | null> {
  // The reader is not part of the first script.
  const [response, { readRunBundle }] = await Promise.all([fetch('recorded/run.mua.zip'), import('../../exchange/run-bundle.ts')]);
  return response.ok ? recordedOf(await readRunBundle(await response.blob())) : null;
}

export function recordedOf({ run, metrics, rollouts, trajectories, evaluations, trials }: RunBundle): RecordedRun {
  return {
    run: { ...run, id: RECORDED, recorded: true },
    metrics,
    rollouts,
    trajectories: new Map(trajectories.map((trajectory) => [trajectory.id, trajectory])),
    evaluations,
    trials,
  };
}
