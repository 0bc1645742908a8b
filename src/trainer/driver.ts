/**
 * @file Drives a run of any training method, for the page and for the command line: opens the model, continues from a
 * checkpoint, trains, and passes all results to the sink. Pauses, stops, a lost device and a full disk are handled here, in
 * the same way for all sinks.
 */
import { trainedFiles } from '../exchange/adapter-folder.ts';
import type { ModelParts } from '../exchange/model-folder.ts';
import type { ModelFiles } from '../records/model.ts';
import type { GrpoConfig, StepMetrics } from '../records/run.ts';
import type { Alarm } from '../training/alarms.ts';
import { evaluationMetrics, trainRun } from '../training/run.ts';
import { evaluatesFirst } from '../training/evaluation-settings.ts';
import { CheckpointClock } from './checkpoint-clock.ts';
import { readCheckpoint, restore, resumeNote } from './checkpoints.ts';
import { abortOnLoss, concurrency, type EngineHost, sizeOf } from './engine-host.ts';
import { estimateFor } from './estimates.ts';
import { judgeOf } from './judge.ts';
import { originOf } from './origin.ts';
import { patient, type RunControl, untilDone } from './run-control.ts';
import type { RunPhase, RunSink } from './run-sink.ts';
import { type PhaseTimes, TimeLeft } from './time-left.ts';

/** When the device is lost, pending work fails first. The loss itself is reported at most this much later. */
const LOSS_SETTLES_MS = 100;

/** A first evaluation that is estimated to take longer, in seconds, is announced. */
const LONG_S = 120;
const firstEvaluationNote = (seconds: number): string =>
  `The evaluation before step 1 takes about ${Math.round(seconds / 60)} min: val_before_train=false leaves it out.`;

export interface DrivenRun {
  /** The last finished step. */
  step: number;
  /** Returns the model with its current weights. */
  model: () => Promise<ModelFiles>;
  /** The alarm that ended the run. */
  alarm?: Alarm;
}

/** @throws DeviceLostError if the device was lost; ConfigError for a setting; errors of the sink that the control cannot resolve */
export async function driveRun(host: EngineHost, sink: RunSink, control: RunControl): Promise<DrivenRun> {
  const unwatch = abortOnLoss(host, control.abort);
  try {
    return await drive(host, sink, control);
  } catch (error) {
    await new Promise((resolve) => setTimeout(resolve, LOSS_SETTLES_MS));
    const { signal } = control.abort;
    throw signal.aborted ? signal.reason : error;
  } finally {
    unwatch();
  }
}

async function drive(host: EngineHost, sink: RunSink, control: RunControl): Promise<DrivenRun> {
  const { config, files, firstModel, loaded, metrics, spent, user, valUser, dataset, question, save: plan } = await sink.open();
  const { checkpoint } = loaded;
  const total = config.total_training_steps;
  const times = await estimate(host, files, config, metrics);
  const left = new TimeLeft(config, times, metrics);
  const tell = (at: number, phase: RunPhase, done: number, of: number) => sink.progress(at, phase, done, of, left.at(at, phase, done, of));
  tell(checkpoint?.step ?? 0, 'compile', 0, 1);
  const { engine, meter, ...staged } = await host.stage(files, config, user, sizeOf(config, concurrency(config)), config);
  const stage = { ...staged.stage, environments: patient(control, staged.stage.environments) };
  const model = async () => trainedFiles(files, await engine.weights());
  control.ready({ model, ...(meter && { meter }) });
  const judge = await judgeOf(engine, stage, { config, user, files, checkpoint }, control.abort.signal, (done, of) =>
    tell(checkpoint?.step ?? 0, 'rollout', done, of),
  );
  const reference = await restore(engine, checkpoint, config);
  const origin = await originOf(host, firstModel, config, stage.domain.data);
  meter?.spend(spent);
  const doneSteps = checkpoint?.step ?? 0;
  if (question !== undefined) await control.ask(question);
  if (control.stopping) return { step: doneSteps, model };
  const long = doneSteps === 0 && evaluatesFirst(config) && !metrics.some(({ step }) => step === 0) ? (times?.evaluation ?? 0) : 0;
  await sink.begin([resumeNote(loaded, origin), long > LONG_S && firstEvaluationNote(long)].filter(Boolean).join(' '));

  let step = doneSteps;
  let finished = doneSteps;
  let saved: number | null = doneSteps;
  let alarm: Alarm | undefined;
  const keep = (what: string, write: () => Promise<void>) => untilDone(control, what, write);
  const clock = new CheckpointClock(plan);
  const save = async () => {
    if (saved === finished) return;
    await clock.time(() =>
      host.activities.during(`storing the checkpoint of step ${finished}`, async () => {
        const read = await readCheckpoint(finished, engine, reference);
        await keep(`the checkpoint of step ${finished}`, () => sink.checkpoint(read, origin));
      }),
    );
    saved = finished;
  };
  await trainRun(stage, engine, config, concurrency(config), {
    doneSteps,
    doneMetrics: metrics,
    dataset,
    ...(judge && { judge }),
    ...(valUser && { valUsers: await host.users(valUser) }),
    signal: control.abort.signal,
    // A run pauses only between steps, so the weights are those of the last finished step.
    gate: async () => {
      for (;;) {
        const over = finished === step && !control.stopping && meter?.overBudget;
        if (!over && !control.paused) return;
        await save();
        if (over) await control.overBudget(over);
        else await control.paused;
      }
    },
    ...(meter && { takeUsage: () => meter.takeMetrics() }),
    shouldStop: () => control.stopping,
    onAlarm: (raised) => (alarm = raised),
    onStepStart: (next) => (step = next),
    onPhase: (phase, done, of) => tell(step, phase, done, of),
    onEvaluationProgress: (done, of) => tell(step, 'evaluate', done, of),
    onTrialStart: (episode) => sink.live?.beginTrial(step, episode),
    onTrial: (trajectory) => sink.live?.end(trajectory),
    onEpisode: (episode) => sink.live?.begin(step, episode),
    onRollout: (trajectory) => {
      sink.live?.end(trajectory);
      sink.rollout?.(step, trajectory);
    },
    onBaseline: async (evaluation, usage) => {
      const values = { step: 0, ...evaluationMetrics(evaluation, config), ...usage };
      left.add(values);
      await keep('the first evaluation', () => sink.evaluation(0, evaluation));
      await keep('the first metrics', () => sink.step({ metrics: values, trajectories: [], advantages: new Map() }));
      if (total === 0 || !clock.isDue(0)) return;
      saved = null;
      await save();
    },
    onStep: async (result, evaluation) => {
      left.add(result.metrics);
      if (evaluation) await keep(`the evaluation of step ${step}`, () => sink.evaluation(step, evaluation));
      await keep(`step ${step}`, () => sink.step(result));
      finished = step;
      if (step < total && clock.isDue(step)) await save();
    },
  });
  if (plan.last) await save();
  return { step: finished, model, ...(alarm && { alarm }) };
}

/**
 * An estimate of the times. It is null if the finished steps tell all times, or if something fails: a run does not end for its estimate.
 * A GPU that cannot be measured says so when the model is opened.
 */
async function estimate(host: EngineHost, files: ModelParts, config: GrpoConfig, done: readonly StepMetrics[]): Promise<PhaseTimes | null> {
  // The evaluations of a supervised run are not timed, so their estimate counts to the end.
  if (config.algorithm !== 'sft' && done.some(({ step }) => step > 0)) return null;
  try {
    return estimateFor(files, config, await host.speed());
  } catch {
    return null;
  }
}
