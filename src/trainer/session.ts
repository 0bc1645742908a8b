/** @file The trainer of the page and of the command line. It has one engine, at most one active run, and the one-off commands. */
import '../base/content-policy.ts';
import type { SessionParts } from './session-parts.ts';
import type { ModelFiles, Precision } from '../records/model.ts';
import type {
  DatasetRequest,
  EvaluateOptions,
  EvaluatedCustomer,
  EvaluateResult,
  EvaluationSink,
  GradRequest,
  Progress,
  GenerateRequest,
  Rescored,
  RescoreRequest,
  PlayRequest,
  EngineInfo,
  RunEvent,
  Scored,
  ScoreRequest,
  SftOptions,
  SftResult,
  TrainingSink,
  TrainOptions,
  TrainResult,
  Viewer,
} from './messages.ts';
import type { EvaluationRequest } from '../records/evaluation.ts';
import type { GrpoConfig, RunRequest } from '../records/run.ts';
import type { Trajectory } from '../records/trajectory.ts';
import type { UserConfig } from '../records/user.ts';
import type { TrainerApi } from './api.ts';
import { type AnswerRequest, type AnswerSink, answerTurns } from './answers.ts';
import { openTokenizer } from '../agent/tokenizer.ts';
import { bench } from '../bench/bench.ts';
import type { Speed } from '../bench/rates.ts';
import { rooflineSvg } from '../bench/roofline.ts';
import { parseConfig } from '../engine/config.ts';
import { LORA_TARGETS } from '../engine/lora.ts';
import { planMemory } from '../engine/memory-plan.ts';
import { hasAdapter } from '../exchange/adapter-files.ts';
import { adapterConfig, adapterFile } from '../exchange/adapter-folder.ts';
import { inMemory, type ModelParts } from '../exchange/model-folder.ts';
import { writeSafetensors } from '../exchange/safetensors.ts';
import { encodeTexts, generateCompletions, gradients, scoreSequences } from './commands.ts';
import { ConfigError } from '../training/config.ts';
import { Datasets } from './datasets.ts';
import { firstFiles } from './model-ref.ts';
import { type PlannedRun, type PlanRequest, planRun, type RunPlan } from './run-plan.ts';
import { estimateFor, type NeedsRequest, type RunNeeds, runNeeds, timesOfRun } from './estimates.ts';
import { EngineHost, kvFormat } from './engine-host.ts';
import { fitted } from './fitted.ts';
import { evaluateModel } from './evaluate-model.ts';
import { Experiments } from './experiments.ts';
import { Evaluations } from './evaluations.ts';
import { GpuTurns } from './gpu-turns.ts';
import { Plays } from './play.ts';
import { Runs } from './runs.ts';
import { dpoModel } from './dpo-model.ts';
import { sftModel } from './sft-model.ts';
import { trainConfig, trainModel } from './train-model.ts';

export class TrainerSession implements Omit<TrainerApi, 'connect' | 'ping'> {
  readonly #parts: SessionParts;
  readonly #host: EngineHost;
  readonly #turns: GpuTurns;
  readonly #runs: Runs;
  readonly #experiments: Experiments;
  readonly #evaluations: Evaluations;
  readonly #plays: Plays;
  readonly #datasets: Datasets;
  #probing: Promise<Speed> | null = null;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#host = new EngineHost(parts);
    const turns = (this.#turns = new GpuTurns());
    this.#runs = new Runs(parts, this.#host, turns);
    this.#experiments = new Experiments(parts, this.#runs, turns);
    this.#evaluations = new Evaluations(parts, this.#host, turns);
    this.#plays = new Plays(parts, this.#host, turns);
    this.#datasets = new Datasets(parts);
  }

  engineInfo(): Promise<EngineInfo> {
    return this.#host.info();
  }
  async holdsGpu(): Promise<boolean> {
    return this.#turns.locked;
  }

  async listen(listener: (run: string, events: RunEvent[]) => void): Promise<void> {
    this.#runs.listen(listener);
  }
  async listenToActivities(listener: (text: string) => void): Promise<void> {
    this.#host.activities.listen(listener);
  }
  /** What the customers wait for; '' for nothing. Whoever made `parts.users` calls it. */
  waiting(text: string): void {
    this.#host.waiting(text);
  }
  async watch(run: string, on: boolean): Promise<void> {
    this.#runs.watch(run, on);
  }
  async start(request: RunRequest): Promise<string> {
    return this.#runs.start(request);
  }
  async resume(run: string, user?: UserConfig): Promise<void> {
    return this.#runs.resume(run, user);
  }
  async planRun(model: string, config: GrpoConfig, given: Partial<GrpoConfig>): Promise<RunPlan> {
    return this.#planned(await firstFiles(this.#parts, { kind: 'model', name: model }), config, given);
  }
  async planTraining(model: ModelParts, options: PlannedRun): Promise<RunPlan> {
    return this.#planned(model, trainConfig(options), options.overrides);
  }
  async #planned(files: ModelParts, config: GrpoConfig, given: Record<string, unknown>): Promise<RunPlan> {
    const device = await this.#host.device();
    let limits: GrpoConfig;
    try {
      limits = await fitted(this.#parts.environments, files, config, given);
    } catch (error) {
      // A start would refuse this limit.
      if (!(error instanceof ConfigError)) throw error;
      return { problem: error.message, advice: [], seconds: null };
    }
    const plan = planRun(device, files, limits);
    const speed = plan.plan && (await this.#speed().catch(() => null));
    return { ...plan, seconds: speed ? timesOfRun(estimateFor(files, limits, speed), limits) : null };
  }
  async needs(asked: readonly NeedsRequest[]): Promise<RunNeeds[]> {
    const [gpu, speed] = [await this.#host.device(), await this.#speed()];
    return asked.map(({ model, config }) => runNeeds(gpu, model, config, speed));
  }
  /** The speeds of the device. The first measurement waits for its turn. @throws while the GPU is used */
  #speed(): Promise<Speed> {
    if (this.#host.probed) return this.#host.probed;
    this.#probing ??= this.#plays.alone('bench', () => this.#host.speed()).finally(() => (this.#probing = null));
    return this.#probing;
  }
  pause(): Promise<void> {
    return this.#runs.pause();
  }
  unpause(budget?: number): Promise<void> {
    return this.#runs.unpause(budget);
  }
  stop(): Promise<void> {
    return this.#runs.stop();
  }
  model(): Promise<ModelFiles> {
    return this.#runs.model();
  }

  async runExperiment(id: string, user?: UserConfig): Promise<void> {
    return this.#experiments.run(id, user);
  }
  stopExperiment(): Promise<void> {
    return this.#experiments.stop();
  }

  async evaluateAndKeep(requests: EvaluationRequest[], progress: Progress): Promise<string[]> {
    return this.#evaluations.run(requests, progress);
  }
  async cancelEvaluation(): Promise<void> {
    this.#evaluations.cancel();
  }

  async play(request: PlayRequest, progress: Progress, viewer?: Viewer): Promise<Trajectory[]> {
    return this.#plays.play(request, progress, viewer);
  }
  async rescore(request: RescoreRequest): Promise<Rescored> {
    return this.#plays.rescore(request);
  }
  stopPlay(): Promise<void> {
    return this.#plays.stop();
  }

  synthesizeAndKeep(request: DatasetRequest, progress: Progress): Promise<string> {
    return this.#datasets.make(request, progress);
  }
  async cancelSynthesis(): Promise<void> {
    this.#datasets.cancel();
  }

  train(model: ModelParts, options: TrainOptions, sink: TrainingSink): Promise<TrainResult> {
    return trainModel(this.#parts.environments, this.#host, model, options, sink);
  }

  sft(model: ModelParts, jsonl: string, options: SftOptions, sink: TrainingSink): Promise<SftResult> {
    return sftModel(this.#host, model, jsonl, options, sink);
  }

  dpo(model: ModelParts, jsonl: string, options: SftOptions, sink: TrainingSink): Promise<SftResult> {
    return dpoModel(this.#host, model, jsonl, options, sink);
  }

  evaluate(model: ModelParts, options: EvaluateOptions, customers: EvaluatedCustomer[], sink: EvaluationSink): Promise<EvaluateResult> {
    return evaluateModel(this.#parts, this.#host, model, options, customers, sink);
  }

  async score(model: ModelParts, request: ScoreRequest, precision?: Precision): Promise<Scored> {
    const tokens = 'texts' in request ? encodeTexts(await openTokenizer(inMemory(model)), request.texts) : undefined;
    const sequences = tokens ?? (request as { sequences: number[][] }).sequences;
    const engine = await this.#host.open(model, { maxModelLen: longest(sequences), slots: 1 }, { precision });
    return { ...(tokens && { tokens }), ...(await scoreSequences(engine, sequences)) };
  }

  async grad(model: ModelParts, request: GradRequest, precision?: Precision) {
    const size = { maxModelLen: longest(request.sequences.map((s) => s.tokens)), slots: 1 };
    const { gradients: tensors, report } = await gradients(await this.#host.open(model, size, { precision, trainable: true }), request);
    const safetensors = hasAdapter(model) ? adapterFile(adapterConfig(model), tensors) : writeSafetensors(tensors);
    return { safetensors, report };
  }

  async generate(model: ModelParts, request: GenerateRequest, precision?: Precision) {
    const size = {
      maxModelLen: longest(request.prompts) + request.max_new_tokens,
      slots: Math.max(1, Math.min(64, request.prompts.length)),
    };
    return generateCompletions(await this.#host.open(model, size, { precision }), request, this.#host.activities);
  }

  answer(model: ModelParts, request: AnswerRequest, sink: AnswerSink, precision: Precision = 'f32'): Promise<void> {
    return answerTurns(this.#host, model, request, sink, precision);
  }

  async plan(
    config: unknown,
    { precision, lora_rank: rank, max_model_len: maxModelLen, slots, shared_tokens, kv_cache_dtype }: PlanRequest,
  ) {
    const { info, device } = await this.#host.device();
    const lora = rank > 0 ? { lora: { rank, scale: 1, targets: LORA_TARGETS } } : {};
    const cache = { kvFormat: kvFormat(kv_cache_dtype, precision), kvTokens: shared_tokens + slots * (maxModelLen - shared_tokens) };
    return planMemory({ info, limits: device.limits }, parseConfig(config), { precision, maxModelLen, slots, ...cache, ...lora });
  }

  async selfTest() {
    return this.#plays.alone('bench', () => this.#host.selfTest());
  }

  async bench(workloads: readonly string[], progress: Progress) {
    return this.#plays.measure(async (gpu, adapter, signal) => {
      const report = { adapter, ...(await bench(gpu, workloads, progress, signal)) };
      return { report, roofline: rooflineSvg(report) };
    });
  }
}

const longest = (sequences: readonly (readonly number[])[]) => sequences.reduce((max, tokens) => Math.max(max, tokens.length), 1);
