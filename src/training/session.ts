/**
 * @file The trainer behind the page and the command line: owns the GPU, one engine at a time and at most one run.
 * Everything a run makes goes to storage first and to the listener after, so a page that dies loses nothing.
 */
import { loadTokenizer } from '../agent/tokenizer.ts';
import type { Stage } from '../agent/rollouts.ts';
import { renderConversation } from '../agent/chat-template.ts';
import type { Sampling, Trajectory } from '../agent/types.ts';
import { createEngine } from '../engine/engine.ts';
import { Gpu, GpuUnavailableError } from '../engine/gpu.ts';
import { selfTest } from '../engine/self-test.ts';
import type { Engine, TensorMap } from '../engine/types.ts';
import type { Environments } from '../environments/types.ts';
import { evaluate } from '../evaluation/evaluate.ts';
import { loadModel, saveModel } from '../exchange/model-folder.ts';
import type { RunDatabase, RunRow } from '../storage/database.ts';
import type { UserConfig, UserSimulator } from '../users/types.ts';
import type { EvaluateOptions, EvaluateReport, GradRequest, ModelFiles, Progress, TrainerApi } from './api.ts';
import { bench } from './bench.ts';
import { loadCheckpoint, saveCheckpoint } from './checkpoints.ts';
import { type GenerateRequest, generateCompletions, gradients, scoreSequences } from './commands.ts';
import { grpoConfig, PRESETS, sftConfig } from './config.ts';
import { parseConversations } from '../agent/conversation.ts';
import type { StepResult } from './grpo.ts';
import { evaluateHeldOut, evaluationMetrics, trainGrpo } from './run.ts';
import { runName } from './run-name.ts';
import { trainSft } from './sft.ts';
import { summarize } from './summary.ts';
import { synthesize } from './synthesize.ts';
import type { EngineInfo, GrpoConfig, RunEvent, RunRequest, RunStatus, SftConfig } from './types.ts';

/** Where a session finds the rest of the product; workers and tests wire it differently. */
export interface SessionParts {
  gpu?: GPU;
  environments: Environments;
  users: (config: UserConfig) => Promise<UserSimulator>;
  /** Files of a bundled model. */
  bundledModel: (name: string) => Promise<ModelFiles>;
  database: () => RunDatabase;
}

/** Whole trajectories are kept for this many steps, and one group a step for good. */
const STEPS_KEPT = 20;
const EVENT_INTERVAL_MS = 100;

interface ActiveRun {
  id: string;
  abort: AbortController;
  stopping: boolean;
  paused: Promise<void> | null;
  unpause: () => void;
  finished: Promise<void>;
}

type ModelStage = { engine: Engine; stage: Stage; files: ModelFiles };

export class TrainerSession implements Omit<TrainerApi, 'connect'> {
  readonly #parts: SessionParts;
  #gpu: Promise<Gpu> | null = null;
  #info: EngineInfo | null = null;
  #engine: Engine | null = null;
  #active: ActiveRun | null = null;
  #listener: ((run: string, events: RunEvent[]) => void) | null = null;
  #pending: RunEvent[] = [];
  #flushing = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  // ── the device ────────────────────────────────────────────────────────────────────────────────────────────────

  async engineInfo(): Promise<EngineInfo> {
    if (this.#info) return this.#info;
    try {
      const { info } = await this.#device();
      return this.#info ?? { state: 'ready', ...info, selfTest: 'not run' };
    } catch (error) {
      if (!(error instanceof GpuUnavailableError)) throw error;
      return { state: 'unavailable', message: error.message, vendor: '', architecture: '', description: '', software: false, shaderF16: false, subgroupSize: 0, selfTest: 'not run' };
    }
  }

  #device(): Promise<Gpu> {
    this.#gpu ??= (async () => {
      const gpu = await Gpu.create(this.#parts.gpu);
      const failure = await selfTest(gpu);
      this.#info = { state: 'ready', ...gpu.info, selfTest: failure ? 'failed' : 'passed', message: failure ?? undefined };
      if (failure) throw new Error(`this GPU computes wrong results: ${failure}`);
      void gpu.device.lost.then(({ reason, message }) => this.#deviceLost(reason, message));
      return gpu;
    })();
    this.#gpu.catch(() => (this.#gpu = null));
    return this.#gpu;
  }

  #deviceLost(reason: string, message: string): void {
    this.#gpu = null;
    this.#engine = null;
    if (reason === 'destroyed') return;
    if (this.#info) this.#info = { ...this.#info, state: 'lost', message };
    this.#active?.abort.abort(new DeviceLostError(message));
  }

  /** Replaces the engine in hand: two models are never in GPU memory at once. */
  async #open(files: ModelFiles, size: { maxModelLen: number; slots?: number }): Promise<Engine> {
    const { config, weights } = loadModel(files);
    this.#engine?.destroy();
    this.#engine = null;
    const engine = await createEngine(await this.#device(), config, weights, size);
    this.#engine = engine;
    return engine;
  }

  async #stage(files: ModelFiles, place: { domain: string; level: string }, user: UserConfig, size: { maxModelLen: number; slots?: number }): Promise<ModelStage> {
    const engine = await this.#open(files, size);
    const { environments } = this.#parts;
    const [domain, users] = await Promise.all([environments.domain(place.domain, place.level), this.#parts.users(user)]);
    return { engine, files, stage: { domain, environments, users, sampler: engine.sampler, tokenizer: loadTokenizer(files) } };
  }

  // ── runs ──────────────────────────────────────────────────────────────────────────────────────────────────────

  async listen(listener: (run: string, events: RunEvent[]) => void): Promise<void> {
    this.#listener = listener;
  }

  async active(): Promise<string | null> {
    return this.#active?.id ?? null;
  }

  async start(request: RunRequest): Promise<string> {
    const config = grpoConfig(request.preset, request.overrides);
    const user = withoutKey(request.user);
    const createdAt = Date.now();
    const row: RunRow = {
      id: crypto.randomUUID(),
      name: runName(config.seed, createdAt),
      createdAt,
      status: 'starting',
      step: 0,
      request: { ...request, user },
      config,
    };
    await this.#launch(row, request.user);
    return row.id;
  }

  async resume(run: string, user?: UserConfig): Promise<void> {
    const row = await this.#parts.database().runs.get(run);
    if (!row) throw new Error(`there is no run "${run}" in this browser`);
    await this.#launch(row, user ?? row.request.user);
  }

  async pause(): Promise<void> {
    const active = this.#active;
    if (!active || active.paused) return;
    active.paused = new Promise((resolve) => (active.unpause = resolve));
    await this.#setStatus(active.id, 'paused');
  }

  async unpause(): Promise<void> {
    const active = this.#active;
    if (!active?.paused) return;
    active.paused = null;
    await this.#setStatus(active.id, 'running');
    active.unpause();
  }

  async stop(): Promise<void> {
    const active = this.#active;
    if (!active) return;
    active.stopping = true;
    await this.unpause();
    await active.finished;
  }

  async exportModel(run: string): Promise<ModelFiles> {
    const db = this.#parts.database();
    const [row, checkpoint] = await Promise.all([db.runs.get(run), loadCheckpoint(db, run)]);
    if (!row || !checkpoint) throw new Error(`run "${run}" has no checkpoint yet`);
    const files = await this.#parts.bundledModel(row.request.model);
    return withWeights(files, checkpoint.weights);
  }

  async #launch(row: RunRow, user: UserConfig): Promise<void> {
    if (this.#active) throw new Error('a run is already active: stop it first');
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    if (!(await holdTrainerLock(held))) throw new Error('another tab is training: one tab at a time');
    const active: ActiveRun = { id: row.id, abort: new AbortController(), stopping: false, paused: null, unpause: () => {}, finished: Promise.resolve() };
    this.#active = active;
    active.finished = this.#run(active, row, user).finally(() => {
      this.#active = null;
      release();
    });
  }

  /** Runs to the end and records how it ended; never rejects. */
  async #run(active: ActiveRun, row: RunRow, user: UserConfig): Promise<void> {
    const db = this.#parts.database();
    try {
      await db.runs.put({ ...row, status: 'starting', message: undefined });
      this.#emit({ type: 'status', status: 'starting' });
      await this.#train(active, row, user, db);
      await this.#setStatus(row.id, active.stopping ? 'stopped' : 'done');
    } catch (error) {
      const lost = error instanceof DeviceLostError;
      const message = error instanceof Error ? error.message : String(error);
      await this.#setStatus(row.id, lost ? 'interrupted' : 'failed', message).catch((failure: unknown) => console.error(failure));
    }
  }

  async #train(active: ActiveRun, row: RunRow, user: UserConfig, db: RunDatabase): Promise<void> {
    const { config, id } = row;
    const files = await this.#parts.bundledModel(row.request.model);
    const checkpoint = await loadCheckpoint(db, id);
    this.#emit({ type: 'progress', step: checkpoint?.step ?? 0, totalSteps: config.total_training_steps, phase: 'compile', done: 0, total: 1 });
    const { engine, stage } = await this.#stage(files, config, user, { maxModelLen: config.max_model_len, slots: concurrency(config) });
    const reference = await restore(engine, checkpoint, config);
    const doneSteps = checkpoint?.step ?? 0;
    // Steps after the checkpoint are played again, identically: what they left behind would be doubled.
    await this.#forgetAfter(db, id, doneSteps);
    await this.#setStatus(id, 'running');
    let step = doneSteps;
    await trainGrpo(stage, engine, config, concurrency(config), {
      doneSteps,
      signal: active.abort.signal,
      gate: async () => void (await active.paused),
      shouldStop: () => active.stopping,
      onStepStart: (next) => (step = next),
      onPhase: (phase, done, total) => this.#emit({ type: 'progress', step, totalSteps: config.total_training_steps, phase, done, total }),
      onEvaluationProgress: (done, total) => this.#emit({ type: 'progress', step, totalSteps: config.total_training_steps, phase: 'evaluate', done, total }),
      onRollout: (trajectory) => this.#emit({ type: 'rollout', rollout: summarize(trajectory, step, null) }),
      onBaseline: async (report) => {
        const metrics = { step: 0, ...evaluationMetrics(report, config) };
        await db.metrics.put({ run: id, step: 0, values: metrics });
        this.#emit({ type: 'metrics', metrics });
      },
      onStep: async (result) => {
        await this.#keepStep(db, id, result);
        if (step % Math.max(1, config.save_freq) === 0 || step === config.total_training_steps || active.stopping) {
          await saveCheckpoint(db, id, step, engine, reference);
          this.#emit({ type: 'checkpoint', step });
        }
      },
    });
  }

  async #keepStep(db: RunDatabase, run: string, { metrics, trajectories, advantages }: StepResult): Promise<void> {
    const { step } = metrics;
    const rollouts = trajectories.map((t) => summarize(t, step, advantages.get(t.id) ?? null));
    const outdated = step - STEPS_KEPT;
    await db.transaction('rw', [db.runs, db.metrics, db.rollouts, db.trajectories], async () => {
      await db.metrics.put({ run, step, values: metrics });
      await db.rollouts.bulkPut(rollouts.map((rollout) => ({ run, ...rollout })));
      await db.trajectories.bulkPut(trajectories.map((trajectory) => ({ run, ...trajectory })));
      await db.runs.update(run, { step });
      if (outdated > 1) {
        const old = await db.rollouts.where('[run+step]').equals([run, outdated]).toArray();
        await db.trajectories.bulkDelete(old.filter((r) => r.group !== `${outdated}-0`).map((r): [string, string] => [run, r.id]));
      }
    });
    for (const rollout of rollouts) this.#emit({ type: 'rollout', rollout });
    this.#emit({ type: 'metrics', metrics });
  }

  async #forgetAfter(db: RunDatabase, run: string, step: number): Promise<void> {
    await db.transaction('rw', [db.metrics, db.rollouts, db.trajectories, db.runs], async () => {
      const from = step === 0 ? 0 : step + 1;
      const later = await db.rollouts.where('[run+step]').between([run, from], [run, Infinity]).primaryKeys();
      await db.trajectories.bulkDelete(later);
      await db.rollouts.bulkDelete(later);
      await db.metrics.where('[run+step]').between([run, from], [run, Infinity]).delete();
      await db.runs.update(run, { step });
    });
  }

  /** The page learns of it even where storage is full. */
  async #setStatus(run: string, status: RunStatus, message?: string): Promise<void> {
    this.#emit({ type: 'status', status, message });
    await this.#parts.database().runs.update(run, { status, message });
  }

  #emit(event: RunEvent): void {
    // Progress is only news while it is the newest.
    if (event.type === 'progress') this.#pending = this.#pending.filter((e) => e.type !== 'progress');
    this.#pending.push(event);
    if (this.#flushing) return;
    this.#flushing = true;
    const run = this.#active?.id ?? '';
    setTimeout(() => {
      this.#flushing = false;
      const events = this.#pending;
      this.#pending = [];
      this.#listener?.(run, events);
    }, EVENT_INTERVAL_MS);
  }

  // ── one-off commands ──────────────────────────────────────────────────────────────────────────────────────────

  async train(
    model: ModelFiles, preset: string, overrides: Record<string, string>, user: UserConfig,
    progress: Progress, onStep: (metrics: Record<string, number>, trajectories: Trajectory[]) => void | Promise<void>,
  ): ReturnType<TrainerApi['train']> {
    const config = grpoConfig(preset, overrides);
    const start = performance.now();
    const { engine, stage } = await this.#stage(model, config, user, { maxModelLen: config.max_model_len, slots: concurrency(config) });
    await restore(engine, null, config);
    const total = config.total_training_steps;
    let before: EvaluateReport | null = null;
    let after: EvaluateReport | null = null;
    let dropped = 0;
    let retried = 0;
    let step = 0;
    await trainGrpo(stage, engine, config, concurrency(config), {
      onStepStart: (next) => (step = next),
      onPhase: (phase, done, of) => progress(step, total, `${phase} ${done}/${of}`),
      onEvaluationProgress: (done, of) => progress(step, total, `held-out ${done}/${of}`),
      onBaseline: async (report) => {
        before = after = report;
        progress(0, total, 'held-out before', evaluationMetrics(report, config));
        await onStep({ step: 0, ...evaluationMetrics(report, config) }, []);
      },
      onStep: async ({ metrics, trajectories }, report) => {
        after = report ?? after;
        dropped += metrics['rollout/dropped'] ?? 0;
        retried += metrics['rollout/retried'] ?? 0;
        progress(step, total, 'step', metrics);
        await onStep(metrics, trajectories);
      },
    });
    if (!before || !after) {
      const { report } = await evaluateHeldOut(stage, { ...config, val_tasks: Math.max(1, config.val_tasks) }, concurrency(config), {});
      before ??= report;
      after = report;
    }
    return { model: withWeights(model, await engine.weights()), before, after, steps: step, seconds: (performance.now() - start) / 1000, dropped, retried };
  }

  async sft(model: ModelFiles, jsonl: string, overrides: Partial<Record<keyof SftConfig, string>>, progress: Progress): ReturnType<TrainerApi['sft']> {
    const config = sftConfig(overrides);
    const tokenizer = loadTokenizer(model);
    const examples = parseConversations(jsonl).map((conversation) => renderConversation(tokenizer, conversation));
    const tooLong = examples.findIndex(({ tokens }) => tokens.length > config.max_model_len);
    if (tooLong >= 0) throw new Error(`conversation ${tooLong + 1} has ${examples[tooLong]!.tokens.length} tokens: max_model_len is ${config.max_model_len}`);
    const longest = examples.reduce((max, { tokens }) => Math.max(max, tokens.length), 0);
    const engine = await this.#open(model, { maxModelLen: longest, slots: 1 });
    const start = performance.now();
    const losses: number[] = [];
    let tokens = 0;
    for await (const { step, totalSteps, loss, lr, gradNorm, tokens: count } of trainSft(engine, examples, config)) {
      losses.push(loss);
      tokens += count;
      progress(step, totalSteps, 'sft', { loss, lr, grad_norm: gradNorm, tokens });
    }
    return { model: withWeights(model, await engine.weights()), losses, tokens, seconds: (performance.now() - start) / 1000 };
  }

  async synthesize(options: { domain: string; level: string; count: number; seed: number }, progress: Progress): ReturnType<TrainerApi['synthesize']> {
    const users = await this.#parts.users({ mode: 'scripted' });
    const { conversations, tried } = await synthesize({ environments: this.#parts.environments, users }, options, (kept) => progress(kept, options.count, 'conversations'));
    return { jsonl: conversations.map((conversation) => `${JSON.stringify(conversation)}\n`).join(''), kept: conversations.length, tried };
  }

  async evaluate(model: ModelFiles, options: EvaluateOptions, user: UserConfig, progress: Progress): Promise<EvaluateReport> {
    const { config } = presetFor(options);
    const sampling: Sampling = { temperature: options.temperature, top_p: 1, top_k: 0 };
    const slots = concurrency(config);
    const { stage } = await this.#stage(model, options, user, { maxModelLen: config.max_model_len, slots });
    const tasks = await this.#parts.environments.tasks({ domain: options.domain, level: options.level, split: options.split, seed: options.seed, count: options.tasks });
    const { report, trajectories } = await evaluate(stage, {
      tasks,
      trials: options.trials,
      limits: config,
      sampling,
      seed: options.seed,
      firstStream: 0,
      concurrency: slots,
      onProgress: (done, total) => progress(done, total, 'episodes'),
    });
    return options.trajectories ? { ...report, trajectories } : report;
  }

  async score(model: ModelFiles, sequences: number[][]) {
    return scoreSequences(await this.#open(model, { maxModelLen: longest(sequences), slots: 1 }), sequences);
  }

  async grad(model: ModelFiles, request: GradRequest) {
    return gradients(await this.#open(model, { maxModelLen: longest(request.sequences.map((s) => s.tokens)), slots: 1 }), request);
  }

  async generate(model: ModelFiles, request: GenerateRequest) {
    const size = { maxModelLen: longest(request.prompts) + request.max_new_tokens, slots: Math.max(1, Math.min(64, request.prompts.length)) };
    return generateCompletions(await this.#open(model, size), request);
  }

  async bench(progress: Progress) {
    this.#engine?.destroy();
    this.#engine = null;
    return bench(await this.#device(), await this.engineInfo(), progress);
  }
}

export class DeviceLostError extends Error {
  override name = 'DeviceLostError';
}

/** Episodes played at once: every slot of the KV cache. */
function concurrency(config: GrpoConfig): number {
  return Math.min(64, Math.max(config.train_batch_size * config.n, 32));
}

/** Limits of an evaluation: those of the preset that trains at this level, else the paper's. */
function presetFor({ domain, level }: { domain: string; level: string }) {
  const preset = Object.values(PRESETS).find(({ config }) => config.domain === domain && config.level === level);
  return preset ?? { config: { ...PRESETS.nano!.config, domain, level, max_model_len: 8192, response_length_one_turn: 1024, max_turns: 30 } };
}

/** Puts a checkpoint's weights and moments in place; the reference is the policy before step 1. */
async function restore(engine: Engine, checkpoint: Awaited<ReturnType<typeof loadCheckpoint>>, config: GrpoConfig): Promise<TensorMap | null> {
  if (checkpoint?.reference) engine.loadWeights(checkpoint.reference);
  const reference = config.use_kl_loss ? (checkpoint?.reference ?? (await engine.weights())) : null;
  if (reference) engine.snapshotReference();
  if (checkpoint) {
    engine.loadWeights(checkpoint.weights);
    engine.loadOptimizerState(checkpoint.optimizer);
  }
  return reference;
}

function withWeights(files: ModelFiles, weights: TensorMap): ModelFiles {
  const { config } = loadModel(files);
  return { ...files, ...saveModel(config, weights) };
}

/** What storage may know of the user's endpoint: never the key. */
function withoutKey(user: UserConfig): UserConfig {
  if (user.mode !== 'endpoint') return user;
  const { apiKey: _, ...rest } = user;
  return rest;
}

const longest = (sequences: readonly (readonly number[])[]) => sequences.reduce((max, tokens) => Math.max(max, tokens.length), 1);

/** Holds the browser-wide lock until `until` resolves; false when another tab has it. Outside browsers there is none. */
function holdTrainerLock(until: Promise<void>): Promise<boolean> {
  const locks = globalThis.navigator?.locks;
  if (!locks) return Promise.resolve(true);
  return new Promise((resolve) => {
    void locks.request('mua-trainer', { ifAvailable: true }, async (lock) => {
      resolve(lock !== null);
      if (lock) await until;
    });
  });
}
