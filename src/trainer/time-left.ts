/** @file How long a run still takes: at first from an estimate, then from the median times of its finished steps. */
import { median } from '../base/median.ts';
import type { GrpoConfig, StepMetrics } from '../records/run.ts';
import { evaluatesAfter, evaluatesFirst, heldOutTasks } from '../training/evaluation-settings.ts';
import type { RunPhase } from './run-sink.ts';

/** Seconds of a step, of its sampling and scoring, and of an evaluation. */
export interface PhaseTimes {
  step: number;
  gen: number;
  ref: number;
  evaluation: number;
}

/** What a run does now. `evaluated`: whether the evaluation before step 1 is over, or is not made. */
interface Place {
  step: number;
  phase: RunPhase;
  done: number;
  total: number;
  evaluated: boolean;
}

type Length = Pick<GrpoConfig, 'total_training_steps' | 'val_tasks' | 'test_freq' | 'val_before_train'>;

/** The seconds until the end of the run. */
function secondsLeft(times: PhaseTimes, config: Length, { step, phase, done, total, evaluated }: Place): number {
  const { step: whole, gen, ref, evaluation } = times;
  const rest = 1 - done / Math.max(1, total);
  const inPhase = {
    compile: step === 0 && !evaluated && evaluatesFirst(config) ? evaluation : 0,
    rollout: whole - gen * (1 - rest),
    score: whole - gen,
    update: (whole - gen - ref) * rest,
    evaluate: evaluation * rest,
  }[phase];
  let seconds = inPhase;
  if (phase !== 'evaluate' && phase !== 'compile' && evaluatesAfter(config, step)) seconds += evaluation;
  for (let at = step + 1; at <= config.total_training_steps; at++) seconds += whole + (evaluatesAfter(config, at) ? evaluation : 0);
  return seconds;
}

/** The seconds of a whole run. */
export const runSeconds = (times: PhaseTimes, config: Length): number =>
  secondsLeft(times, config, { step: 0, phase: 'compile', done: 0, total: 1, evaluated: false });

/** The times of the finished steps. An episode of an evaluation is assumed to take as long as an episode of a step. Null without a step. */
function measuredTimes(metrics: readonly StepMetrics[], config: GrpoConfig): PhaseTimes | null {
  const of = (name: string) => metrics.flatMap((values) => values[`timing_s/${name}`] ?? []);
  const steps = of('step');
  if (steps.length === 0) return null;
  const phase = (name: string) => (of(name).length > 0 ? median(of(name)) : 0);
  const gen = phase('gen');
  return { step: median(steps), gen, ref: phase('ref'), evaluation: (gen * heldOutTasks(config)) / (config.train_batch_size * config.n) };
}

/** Says during a run how long it still takes. */
export class TimeLeft {
  readonly #config: GrpoConfig;
  readonly #estimate: PhaseTimes | null;
  readonly #earlier: readonly StepMetrics[];
  /** The metrics of the steps since the run began or was resumed, perhaps on another device. */
  readonly #metrics: StepMetrics[] = [];
  #times: PhaseTimes | null;
  #evaluated: boolean;

  /** @param estimate null if nothing is known before the first step has ended @param earlier the metrics of the steps before a resume */
  constructor(config: GrpoConfig, estimate: PhaseTimes | null, earlier: readonly StepMetrics[]) {
    this.#config = config;
    this.#estimate = estimate;
    this.#earlier = earlier;
    this.#times = this.#timesNow();
    this.#evaluated = earlier.some(({ step }) => step === 0);
  }

  /** Takes the metrics of a finished step, or of step 0: the evaluation before training. */
  add(metrics: StepMetrics): void {
    this.#evaluated ||= metrics.step === 0;
    this.#metrics.push(metrics);
    this.#times = this.#timesNow();
  }

  /** The seconds until the end of the run; null if nothing is known yet. */
  at(step: number, phase: RunPhase, done: number, total: number): number | null {
    return this.#times && secondsLeft(this.#times, this.#config, { step, phase, done, total, evaluated: this.#evaluated });
  }

  #timesNow(): PhaseTimes | null {
    const measured = measuredTimes(this.#metrics, this.#config) ?? measuredTimes(this.#earlier, this.#config);
    if (!measured) return this.#estimate;
    // A supervised run samples only in its evaluations, which are not timed.
    return this.#config.algorithm === 'sft' ? { ...measured, evaluation: this.#estimate?.evaluation ?? 0 } : measured;
  }
}
