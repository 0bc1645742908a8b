/** @file The bundled run: the same rows that storage holds, in one JSON file, read only when it is shown. */
import type { Trajectory } from '../../agent/types.ts';
import type { RunRow } from '../../storage/database.ts';
import type { RolloutSummary, StepMetrics } from '../../training/types.ts';

/** The id under which the recorded run stands in addresses. */
export const RECORDED = 'recorded';

export interface RecordedRun {
  run: RunRow;
  metrics: StepMetrics[];
  rollouts: RolloutSummary[];
  trajectories: Map<string, Trajectory>;
}

let loading: Promise<RecordedRun | null> | null = null;

/** Null when none is bundled or it cannot be read: the page then does without. */
export function recordedRun(): Promise<RecordedRun | null> {
  loading ??= fetch('recorded/run.json')
    .then(async (response) => (response.ok ? readRecorded(await response.json()) : null))
    .catch(() => null);
  return loading;
}

/** @throws Error naming the field that is not what storage would hold */
export function readRecorded(file: unknown): RecordedRun {
  const { run, metrics, rollouts, trajectories } = (file ?? {}) as Record<string, unknown>;
  if (typeof run !== 'object' || run === null || !('config' in run)) throw new Error('recorded run: "run" is not the row of a run');
  for (const [name, rows] of Object.entries({ metrics, rollouts, trajectories })) {
    if (!Array.isArray(rows)) throw new Error(`recorded run: "${name}" is ${typeof rows}, expected a list of rows`);
  }
  return {
    run: { ...(run as RunRow), id: RECORDED, recorded: true },
    metrics: (metrics as { step: number; values?: StepMetrics }[]).map((row) => row.values ?? (row as StepMetrics)),
    rollouts: rollouts as RolloutSummary[],
    trajectories: new Map((trajectories as Trajectory[]).map((trajectory) => [trajectory.id, trajectory])),
  };
}
