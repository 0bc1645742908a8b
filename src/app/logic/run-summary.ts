/** @file A stored run in a line of the list: what it earned, and about how much room it takes. Reads few rows of a long run. */
import type { RunDatabase } from '../../storage/database.ts';
import { beginningWith } from '../../storage/key-range.ts';
import type { StepMetrics } from '../../training/types.ts';
import { LAST_STEPS } from './compare.ts';
import { RECORDED, recordedRun } from './recorded.ts';
import { heldOutName } from './series.ts';

export interface RunSummary {
  /** Mean reward of the last steps. */
  reward: number | null;
  /** Held-out reward: first and newest, the only one, or none. */
  heldOut: number[];
}

const heldOutOf = (values: StepMetrics = { step: 0 }) => values[heldOutName(Object.keys(values)) ?? ''];

export async function runSummary(db: RunDatabase, run: string): Promise<RunSummary> {
  if (run === RECORDED) {
    const metrics = (await recordedRun())?.metrics ?? [];
    return summaryOf(metrics.slice(-LAST_STEPS), metrics.find(heldOutAt), metrics.findLast(heldOutAt));
  }
  const steps = () => beginningWith(db.metrics, run);
  const [last, first, newest] = await Promise.all([
    steps().reverse().limit(LAST_STEPS).toArray(),
    // A run is evaluated before its first step and now and then after it: neither search goes far.
    steps().filter(({ values }) => heldOutAt(values)).first(),
    steps().reverse().filter(({ values }) => heldOutAt(values)).first(),
  ]);
  return summaryOf(last.map(({ values }) => values), first?.values, newest?.values);
}

const heldOutAt = (values: StepMetrics) => heldOutOf(values) !== undefined;

function summaryOf(last: readonly StepMetrics[], first: StepMetrics | undefined, newest: StepMetrics | undefined): RunSummary {
  const rewards = last.flatMap((values) => values['critic/score/mean'] ?? []);
  const evaluated = first?.step === newest?.step ? [first] : [first, newest];
  return {
    reward: rewards.length === 0 ? null : rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length,
    heldOut: evaluated.flatMap((values) => heldOutOf(values) ?? []),
  };
}

/** What a row takes as JSON, about; IndexedDB takes about as much. */
const METRICS_BYTES = 3_000;
const ROLLOUT_BYTES = 350;
const SAMPLE = 4;

/** Bytes, about: checkpoints as they are, rows by their number, conversations (those of its evaluations too) as large as the last few are. */
export async function storedBytes(db: RunDatabase, run: string): Promise<number> {
  const conversations = () => beginningWith(db.trajectories, run);
  const trials = async () => {
    const evaluations = await db.evaluations.where('run').equals(run).primaryKeys();
    const counts = await Promise.all(evaluations.map((id) => beginningWith(db.evaluationTrajectories, id).count()));
    return counts.reduce((sum, count) => sum + count, 0);
  };
  const [metrics, rollouts, kept, evaluated, sample, checkpoints] = await Promise.all([
    beginningWith(db.metrics, run).count(),
    beginningWith(db.rollouts, run).count(),
    conversations().count(),
    trials(),
    conversations().reverse().limit(SAMPLE).toArray(),
    beginningWith(db.checkpoints, run).toArray(),
  ]);
  const weights = checkpoints.reduce((sum, { weights, optimizer, reference }) => sum + weights.size + optimizer.size + (reference?.size ?? 0), 0);
  const each = sample.reduce((sum, trajectory) => sum + JSON.stringify(trajectory).length, 0) / Math.max(1, sample.length);
  return weights + metrics * METRICS_BYTES + rollouts * ROLLOUT_BYTES + Math.round((kept + evaluated) * each);
}
