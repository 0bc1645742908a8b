/** @file `mua train` and `mua sft`: training without the page's storage. The caller keeps what the sink is given. */
import { renderConversation } from '../agent/chat-template.ts';
import { parseConversations } from '../agent/conversation.ts';
import { loadTokenizer } from '../agent/tokenizer.ts';
import type { Engine, TensorMap } from '../engine/types.ts';
import { resultOf } from '../evaluation/trial-result.ts';
import { trainedFiles, withTrained } from '../exchange/adapter-folder.ts';
import { inMemory, type ModelParts } from '../exchange/model-folder.ts';
import type { CheckpointOrigin, GrpoConfig, StepMetrics } from '../records/run.ts';
import type { SftConfig } from '../training/settings/index.ts';
import { alarmsOf, alarmText } from '../training/alarms.ts';
import { withAlgorithm } from '../training/algorithms/index.ts';
import { ConfigError, grpoConfig, sftConfig } from '../training/config.ts';
import { evaluationMetrics, trainRun } from '../training/run.ts';
import { trainSft } from '../training/sft.ts';
import { type Checkpoint, packCheckpoint, restore, resumeNote, unpackCheckpoint } from './checkpoints.ts';
import { concurrency, type EngineHost, sizeOf } from './engine-host.ts';
import type { EvaluateReport, SftOptions, SftResult, TrainingSink, TrainOptions, TrainResult } from './messages.ts';
import { originOf } from './origin.ts';
import { startingFiles } from './starting-weights.ts';

/** Checkpoints beyond those that `save_freq` asks for take at most this share of the time. */
const CHECKPOINT_SHARE = 0.02;

/**
 * Trains to the last step. A run that goes on from a checkpoint has the bits of a run that was never stopped.
 * @throws ConfigError for a setting; what the sink throws
 */
export async function trainModel(
  host: EngineHost,
  given: ModelParts,
  { preset, algorithm = '', overrides, base, user, val_user, interrupted }: TrainOptions,
  sink: TrainingSink,
): Promise<TrainResult> {
  const config = grpoConfig(preset, algorithm === '' ? overrides : withAlgorithm(algorithm, preset, overrides));
  const checkpoint = interrupted ? unpackCheckpoint(interrupted.checkpoint) : null;
  const model = checkpoint ? resumedFiles(given, config, checkpoint, base) : startingFiles(given, config, base);
  const seconds = clockFrom(checkpoint?.seconds);
  const { engine, stage, meter } = await host.stage(model, config, user, sizeOf(config, concurrency(config)), config);
  const reference = await restore(engine, checkpoint, config);
  const origin = await checkedOrigin(host, given, config, stage.domain.data, checkpoint, sink);
  const save = checkpointSaver(engine, reference, seconds, origin, sink, config.save_freq);
  const total = config.total_training_steps;
  const history: StepMetrics[] = [...(interrupted?.metrics ?? [])];
  const report = (step: number) => interrupted?.evaluations.find((evaluation) => evaluation.step === step)?.report ?? null;
  let step = checkpoint?.step ?? 0;
  for (const metrics of history) meter?.spend(metrics['user/cost'] ?? 0);
  const stopOverBudget = () => {
    if (meter?.overBudget) throw new ConfigError(`${meter.overBudget}: raise --user-budget to go on`);
  };
  if ((checkpoint?.step ?? 0) < total) stopOverBudget();
  let before: EvaluateReport | null = report(0);
  let after: EvaluateReport | null = report(step);
  await trainRun(stage, engine, config, concurrency(config), {
    doneSteps: step,
    doneMetrics: interrupted?.metrics,
    ...(val_user && { valUsers: await host.users(val_user) }),
    ...(meter && { takeUsage: () => meter.takeMetrics() }),
    onStepStart: (next) => (step = next),
    onPhase: (phase, done, of) => void sink.progress(step, total, `${phase} ${done}/${of}`),
    onEvaluationProgress: (done, of) => void sink.progress(step, total, `held-out ${done}/${of}`),
    onBaseline: async ({ report: baseline, trajectories }, usage) => {
      before = after = baseline;
      const metrics = { step: 0, ...evaluationMetrics(baseline, config), ...usage };
      void sink.progress(0, total, 'held-out before', metrics);
      await sink.evaluation({ step: 0, report: baseline, results: trajectories.map(resultOf) });
      await sink.step(metrics, []);
      if (total === 0) return;
      await save(0);
      stopOverBudget();
    },
    onStep: async ({ metrics, trajectories }, evaluation) => {
      after = evaluation?.report ?? null;
      history.push(metrics);
      void sink.progress(step, total, 'step', metrics);
      if (evaluation) await sink.evaluation({ step, report: evaluation.report, results: evaluation.trajectories.map(resultOf) });
      await sink.step(metrics, trajectories);
      if (step === total) return;
      await save(step, Boolean(meter?.overBudget));
      stopOverBudget();
    },
  });
  const sum = (name: string) => history.reduce((all, metrics) => all + (metrics[name] ?? 0), 0);
  return {
    model: trainedFiles(model, await engine.weights()),
    before,
    after,
    steps: step,
    seconds: seconds(),
    dropped: sum('rollout/dropped'),
    retried: sum('rollout/retried'),
    alarms: alarmsOf(history.filter((metrics) => metrics.step > 0)).map(alarmText),
  };
}

/** Supervised fine-tuning on the conversations of `jsonl`. @throws ConfigError for a setting; Error if a conversation is too long */
export async function sftModel(
  host: EngineHost,
  given: ModelParts,
  jsonl: string,
  { overrides, base, interrupted }: SftOptions,
  sink: TrainingSink,
): Promise<SftResult> {
  const config = sftConfig(overrides);
  const tokenizer = loadTokenizer(inMemory(given));
  const examples = parseConversations(jsonl).map((conversation) => renderConversation(tokenizer, conversation, config.enable_thinking));
  const tooLong = examples.findIndex(({ tokens }) => tokens.length > config.max_model_len);
  if (tooLong >= 0)
    throw new Error(`conversation ${tooLong + 1} has ${examples[tooLong]!.tokens.length} tokens: max_model_len is ${config.max_model_len}`);
  const longest = examples.reduce((max, { tokens }) => Math.max(max, tokens.length), 0);
  const checkpoint = interrupted ? unpackCheckpoint(interrupted.checkpoint) : null;
  const model = checkpoint ? resumedFiles(given, config, checkpoint, base) : startingFiles(given, config, base);
  const seconds = clockFrom(checkpoint?.seconds);
  const engine = await host.open(model, { maxModelLen: longest, slots: 1 }, config);
  if (checkpoint) await engine.loadOptimizerState(checkpoint.optimizer);
  const origin = await checkedOrigin(host, given, config, undefined, checkpoint, sink);
  const save = checkpointSaver(engine, null, seconds, origin, sink);
  const history: StepMetrics[] = [...(interrupted?.metrics ?? [])];
  for await (const { step, totalSteps, loss, lr, gradNorm, tokens } of trainSft(engine, examples, config, checkpoint?.step)) {
    const metrics = { step, 'train/loss': loss, 'actor/lr': lr, 'actor/grad_norm': gradNorm, 'perf/total_num_tokens': tokens };
    history.push(metrics);
    void sink.progress(step, totalSteps, 'sft', metrics);
    await sink.step(metrics, []);
    if (step < totalSteps) await save(step);
  }
  return {
    model: trainedFiles(model, await engine.weights()),
    losses: history.map((metrics) => metrics['train/loss']!),
    tokens: history.reduce((all, metrics) => all + metrics['perf/total_num_tokens']!, 0),
    seconds: seconds(),
  };
}

/** The checkpoint holds what is trained. The folder of a run has no weights to begin with. */
const resumedFiles = (given: ModelParts, config: GrpoConfig | SftConfig, { weights }: Checkpoint, base?: string): ModelParts =>
  withTrained(startingFiles(given, { ...config, init_weights: 'model' }, base), weights);

/** The origin of now. The sink gets a note if that of the checkpoint was another. The folder of a run has no first weights. */
async function checkedOrigin(
  host: EngineHost,
  given: ModelParts,
  config: object,
  data: string | undefined,
  checkpoint: { origin?: CheckpointOrigin } | null,
  sink: TrainingSink,
): Promise<CheckpointOrigin> {
  const files = Object.fromEntries(Object.entries(given).filter(([name]) => !/\.safetensors(\.index\.json)?$/.test(name)));
  const origin = await originOf(host, files, config, data);
  const note = checkpoint?.origin && resumeNote({ origin: checkpoint.origin }, origin);
  if (note) await sink.note(note);
  return origin;
}

/** Returns a function that saves a checkpoint every `every` steps, and after each step if the last checkpoint took little of the time since. */
function checkpointSaver(
  engine: Engine,
  reference: TensorMap | null,
  seconds: () => number,
  origin: CheckpointOrigin,
  sink: TrainingSink,
  every = 0,
): (step: number, now?: boolean) => Promise<void> {
  let due = -Infinity;
  return async (step, now = false) => {
    const start = performance.now();
    if (!now && start < due && !(every > 0 && step % every === 0)) return;
    const checkpoint: Checkpoint = { step, weights: await engine.weights(), reference, optimizer: await engine.optimizerState() };
    await sink.checkpoint(step, packCheckpoint(checkpoint, seconds(), origin));
    const end = performance.now();
    due = end + (end - start) / CHECKPOINT_SHARE;
  };
}

/** Returns the seconds since now, plus those before. */
function clockFrom(before = 0): () => number {
  const start = performance.now();
  return () => before + (performance.now() - start) / 1000;
}
