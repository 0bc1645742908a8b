/**
 * @file The page that the command line opens in headless Chromium: the workers of the app and one function, `window.mua(command)`.
 * Large data goes through the local server: the page fetches the request and sends the results by PUT.
 */
import type { ModelFiles, Precision } from '../records/model.ts';
import type { ModelParts } from '../exchange/model-folder.ts';
import type {
  EvaluatedCustomer,
  EvaluateOptions,
  EvaluationSink,
  GenerateRequest,
  GradRequest,
  Interrupted,
  PlanRequest,
  Progress,
  TrainingSink,
} from '../trainer/messages.ts';
import * as comlink from 'comlink';
import type { Benchmark } from '../records/benchmark-task.ts';
import type { SftConfig } from '../training/settings/index.ts';
import type { Trajectory } from '../records/trajectory.ts';
import type { BrowserUser, UserConfig } from '../records/user.ts';
import { connectTrainer, type Trainer } from '../trainer/connect.ts';
import type { LocalModelWorker } from '../local/api.ts';
import { type ModelWorker, spawnModelWorker } from '../local/spawn.ts';
import { importBenchmark } from '../benchmarks/import/import.ts';
import { BenchmarkDatabase } from '../benchmarks/import/database.ts';
import { isBaseWeights } from '../exchange/adapter-folder.ts';
import type { TrainerApi } from '../trainer/api.ts';
import { rooflineSvg } from '../trainer/roofline.ts';

/** The files of a benchmark. A file is fetched from `<exchange>benchmark/<index>` when it is read. */
interface BenchmarkFiles {
  benchmark: Benchmark;
  domain: string;
  paths: string[];
}

/** A command for the page. `model` lists the files of the model folder and of its adapter, which are at `<exchange>model/<name>`. */
export type HeadlessRequest = { model?: string[]; benchmark?: BenchmarkFiles } & (
  | { command: 'train'; runs: TrainOrder[]; user: UserConfig }
  | { command: 'sft'; run: RunOrder & { overrides: Partial<Record<keyof SftConfig, string>> } }
  | { command: 'synthesize'; options: Parameters<TrainerApi['synthesize']>[0]; settings: Record<string, string> }
  /** `done`: `<exchange>customer/<index>/done.jsonl` has trials from before an interruption. New ones go to `…/trial`. */
  | { command: 'evaluate'; options: EvaluateOptions; customers: { user: UserConfig; done: boolean }[] }
  | { command: 'score'; sequences: number[][]; precision: Precision }
  | { command: 'grad'; request: GradRequest; precision: Precision }
  | { command: 'generate'; request: GenerateRequest; precision: Precision }
  | { command: 'plan'; request: PlanRequest }
  | { command: 'bench'; workloads: string[] }
);

/**
 * A run to train. Its files come from `<exchange>run/<index>/`, and what it makes is sent there: each step and evaluation, the
 * checkpoints, the model and at last `finished`.
 */
interface RunOrder {
  /** Names of the model's files. */
  model: string[];
  /** Name or path of the model. */
  base?: string;
  /** `interrupted.json` and `checkpoint.safetensors` say where the run goes on. */
  interrupted: boolean;
}

interface TrainOrder extends RunOrder {
  /** Stands before the progress of the run. Empty if there is one run only. */
  label: string;
  preset: string;
  algorithm: string;
  overrides: Record<string, string>;
  /** Default: the customer of the request. */
  user?: UserConfig;
  /** The customer of the held-out evaluations. Default: that of the training. */
  val_user?: BrowserUser;
}

export type HeadlessAnswer = { error?: { name: string; message: string } };

declare global {
  interface Window {
    mua(exchange: string): Promise<HeadlessAnswer>;
    /** Asks a text-generation model, which the first call starts. */
    muaModel(method: keyof LocalModelWorker, argument?: object): Promise<unknown>;
    muaNote(text: string): void;
    muaProgress(done: number, total: number, label: string, metrics?: Record<string, number>): void;
  }
}

const PROGRESS_INTERVAL_MS = 100;

async function startTrainer(): Promise<{ trainer: Trainer; failure: Promise<never> }> {
  let fail = (_: Error) => {};
  const failure = new Promise<never>((_, reject) => (fail = reject));
  failure.catch(() => {}); // the caller awaits this promise in a race and reports the error
  const { trainer } = await Promise.race([connectTrainer({ failed: fail }), failure]);
  return { trainer, failure };
}

async function get(url: string): Promise<Response> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`could not fetch ${url.split('/').at(-1)}: HTTP ${response.status}`);
  return response;
}

async function put(url: string, body: string | Uint8Array<ArrayBuffer>): Promise<void> {
  const response = await fetch(url, { method: 'PUT', body });
  if (!response.ok) throw new Error(`could not hand over ${url.split('/').at(-1)}: ${await response.text()}`);
}

/** Reports progress at most ten times a second, and all metrics of steps. */
function throttledProgress(): Progress {
  let last = -Infinity;
  return (done, total, label, metrics) => {
    const now = performance.now();
    if (!metrics && done !== total && now - last < PROGRESS_INTERVAL_MS) return;
    last = now;
    window.muaProgress(done, total, label, metrics);
  };
}

/** Stores an import where the environment worker reads it. */
async function importData({ benchmark, domain, paths }: BenchmarkFiles, exchange: string, onProgress: Progress): Promise<void> {
  const files = paths.map((path, i) => [path, async () => (await get(`${exchange}benchmark/${i}`)).body!] as const);
  const imported = await importBenchmark(files, {
    benchmark,
    domain,
    onProgress: (done, total) => onProgress(done, total, 'reading the benchmark'),
  });
  await new BenchmarkDatabase().store(imported, (done, total) => onProgress(done, total, 'storing the benchmark'));
}

/** Sends what a training makes to `place`. */
const sinkTo = (place: string, progress: Progress) =>
  comlink.proxy<TrainingSink>({
    progress,
    note: (text) => window.muaNote(text),
    evaluation: (evaluation) => put(`${place}evaluation`, JSON.stringify(evaluation)),
    step: (metrics, trajectories) => put(`${place}step`, [metrics, ...trajectories].map((line) => JSON.stringify(line)).join('\n')),
    checkpoint: (step, safetensors) => put(`${place}checkpoint-${step}.safetensors`, safetensors),
  });

async function fetchRun({ model, interrupted }: RunOrder, place: string): Promise<{ model: ModelParts; interrupted?: Interrupted }> {
  const files = await fetchModel(model, place);
  if (!interrupted) return { model: files };
  const logs = (await (await get(`${place}interrupted.json`)).json()) as Omit<Interrupted, 'checkpoint'>;
  const checkpoint = new Uint8Array(await (await get(`${place}checkpoint.safetensors`)).arrayBuffer());
  return { model: files, interrupted: { ...logs, checkpoint } };
}

async function finish(place: string, { model, ...rest }: { model: ModelFiles }): Promise<void> {
  for (const [name, bytes] of Object.entries(model)) await put(place + name, bytes);
  await put(`${place}finished`, JSON.stringify(rest));
}

/** Trains the runs one after another. */
async function train(trainer: Trainer, runs: readonly TrainOrder[], user: UserConfig, exchange: string, report: Progress): Promise<void> {
  for (const [i, { label, preset, algorithm, overrides, base, user: own = user, val_user, ...order }] of runs.entries()) {
    const place = `${exchange}run/${i}/`;
    const progress: Progress = (done, total, text, metrics) =>
      label === ''
        ? report(done, total, text, metrics)
        : report(Math.round(10 * (i + done / Math.max(1, total))) / 10, runs.length, `${label}: ${text}`, metrics);
    const { model, interrupted } = await fetchRun(order, place);
    const options = {
      preset,
      algorithm,
      overrides,
      ...(base !== undefined && { base }),
      user: own,
      ...(val_user && { val_user }),
      ...(interrupted && { interrupted }),
    };
    await finish(place, await trainer.train(model, options, sinkTo(place, progress)));
  }
}

/** The worker reads weights in pieces from their addresses. */
async function fetchModel(names: readonly string[], from: string): Promise<ModelParts> {
  const model: ModelParts = {};
  for (const name of names)
    model[name] = isBaseWeights(name) ? { url: from + name } : new Uint8Array(await (await get(from + name)).arrayBuffer());
  return model;
}

async function runCommand(trainer: Trainer, request: HeadlessRequest, exchange: string): Promise<unknown> {
  const report = throttledProgress();
  if (request.benchmark) await importData(request.benchmark, exchange, report);
  const progress = comlink.proxy(report);
  if (request.command === 'plan') return trainer.plan(await (await get(`${exchange}model/config.json`)).json(), request.request);
  const model = await fetchModel(request.model ?? [], `${exchange}model/`);
  switch (request.command) {
    case 'score':
      return trainer.score(model, request.sequences, request.precision);
    case 'generate':
      return trainer.generate(model, request.request, request.precision);
    case 'grad': {
      const { safetensors, report } = await trainer.grad(model, request.request, request.precision);
      await put(`${exchange}out/grads.safetensors`, safetensors);
      return report;
    }
    case 'train':
      await train(trainer, request.runs, request.user, exchange, report);
      return null;
    case 'sft': {
      const place = `${exchange}run/0/`;
      const { model: start, interrupted } = await fetchRun(request.run, place);
      const jsonl = await (await get(`${exchange}data.jsonl`)).text();
      const { overrides, base } = request.run;
      const options = { overrides, ...(base !== undefined && { base }), ...(interrupted && { interrupted }) };
      await finish(place, await trainer.sft(start, jsonl, options, sinkTo(place, report)));
      return null;
    }
    case 'synthesize': {
      const { jsonl, ...rest } = await trainer.synthesize(request.options, request.settings, progress);
      await put(`${exchange}out/conversations.jsonl`, jsonl);
      return rest;
    }
    case 'evaluate': {
      const place = (i: number) => `${exchange}customer/${i}/`;
      const customers = await Promise.all(
        request.customers.map(async ({ user, done }, i): Promise<EvaluatedCustomer> => {
          const lines = done ? (await (await get(`${place(i)}done.jsonl`)).text()).split('\n').filter(Boolean) : [];
          return { user, done: lines.map((line) => JSON.parse(line) as Trajectory) };
        }),
      );
      const trial: EvaluationSink['trial'] = (i, trajectory) => put(`${place(i)}trial`, JSON.stringify(trajectory));
      return trainer.evaluate(model, request.options, customers, comlink.proxy<EvaluationSink>({ progress: report, trial }));
    }
    case 'bench': {
      const report = await trainer.bench(request.workloads, progress);
      await put(`${exchange}out/roofline.svg`, rooflineSvg(report));
      return report;
    }
  }
}

async function answer(exchange: string): Promise<void> {
  const { trainer, failure } = await startTrainer();
  const request = (await (await get(`${exchange}request.json`)).json()) as HeadlessRequest;
  if (request.command !== 'synthesize') {
    const info = await Promise.race([trainer.engineInfo(), failure]);
    if (info.state !== 'ready') throw Object.assign(new Error(info.message ?? 'the GPU is not available'), { name: 'GpuUnavailableError' });
  }
  const result = await Promise.race([runCommand(trainer, request, exchange), failure]);
  await put(`${exchange}result.json`, JSON.stringify(result));
}

let customer: ModelWorker | undefined;
window.muaModel = (method, argument) => {
  const { model, death } = (customer ??= spawnModelWorker());
  return Promise.race([model[method](argument as never), death]);
};

/** Never rejects: an error is returned as its name and message. */
window.mua = async (exchange) => {
  try {
    await answer(exchange);
    return {};
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return { error: { name, message } };
  }
};
