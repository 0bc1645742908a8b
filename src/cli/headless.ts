/**
 * @file The page that the command line opens in headless Chromium: the workers of the app and one function, `window.mua(command)`.
 * Large data goes through the local server: the page fetches the request and sends the results by PUT.
 */
import type { ModelFiles } from '../records/model.ts';
import type { EvaluateOptions, GradRequest, Progress, GenerateRequest } from '../trainer/messages.ts';
import * as comlink from 'comlink';
import type { Benchmark } from '../records/benchmark-task.ts';
import type { TrialResult } from '../records/evaluation.ts';
import type { SftConfig } from '../records/run.ts';
import type { Trajectory } from '../records/trajectory.ts';
import type { UserConfig } from '../records/user.ts';
import { connectTrainer, type Trainer } from '../trainer/connect.ts';
import type { ExactDomain } from '../environments/exact/types.ts';
import { importBenchmark } from '../benchmarks/import/import.ts';
import { BenchmarkDatabase } from '../benchmarks/import/database.ts';
import type { TrainerApi } from '../trainer/api.ts';

/** The files of a benchmark. A file is fetched from `<exchange>benchmark/<index>` when it is read. */
interface BenchmarkFiles {
  benchmark: Benchmark;
  domain: ExactDomain['name'];
  paths: string[];
}

/** A command for the page. `model` lists the files of the model folder, which are fetched from `<exchange>model/<name>`. */
export type HeadlessRequest = { model?: string[]; benchmark?: BenchmarkFiles } & (
  | { command: 'train'; preset: string; algorithm: string; overrides: Record<string, string>; user: UserConfig }
  | {
      command: 'experiment';
      runs: { label: string; model: number; preset: string; overrides: Record<string, string> }[];
      /** The files of each model, fetched from `<exchange>models/<index>/<name>`. */
      models: string[][];
      user: UserConfig;
    }
  | { command: 'sft'; overrides: Partial<Record<keyof SftConfig, string>> }
  | { command: 'synthesize'; options: Parameters<TrainerApi['synthesize']>[0]; settings: Record<string, string> }
  | { command: 'evaluate'; options: EvaluateOptions; user: UserConfig }
  | { command: 'score'; sequences: number[][] }
  | { command: 'grad'; request: GradRequest }
  | { command: 'generate'; request: GenerateRequest }
  | { command: 'bench' }
);

export type HeadlessAnswer = { error?: { name: string; message: string } };

declare global {
  interface Window {
    mua(exchange: string): Promise<HeadlessAnswer>;
    muaProgress(done: number, total: number, label: string, metrics?: Record<string, number>): void;
  }
}

const PROGRESS_INTERVAL_MS = 100;

async function startTrainer(): Promise<{ trainer: Trainer; failure: Promise<never> }> {
  let fail = (_: Error) => {};
  const failure = new Promise<never>((_, reject) => (fail = reject));
  failure.catch(() => {}); // the caller awaits this promise in a race and reports the error
  return { trainer: await Promise.race([connectTrainer(fail), failure]), failure };
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

/** Trains the runs one after another. Each sends its steps, its model and at last `finished`. */
async function runExperiment(
  trainer: Trainer,
  { runs, models, user }: Extract<HeadlessRequest, { command: 'experiment' }>,
  exchange: string,
  report: Progress,
): Promise<{ runs: number }> {
  for (const [i, { label, model, preset, overrides }] of runs.entries()) {
    const place = `${exchange}run/${i}/`;
    const files = await fetchModel(models[model]!, `${exchange}models/${model}/`);
    const evaluations: { step: number; seconds: number; results: TrialResult[] }[] = [];
    const { model: trained, ...rest } = await trainer.train(
      files,
      preset,
      overrides,
      user,
      comlink.proxy<Progress>((done, total, text, metrics) =>
        report(Math.round(10 * (i + done / Math.max(1, total))) / 10, runs.length, `${label}: ${text}`, metrics),
      ),
      comlink.proxy(async (metrics: Record<string, number>, trajectories: Trajectory[]) => {
        await put(`${place}step`, [metrics, ...trajectories].map((line) => JSON.stringify(line)).join('\n'));
      }),
      '',
      comlink.proxy((step: number, seconds: number, results: TrialResult[]) => void evaluations.push({ step, seconds, results })),
    );
    for (const [name, bytes] of Object.entries(trained)) await put(place + name, bytes);
    await put(`${place}finished`, JSON.stringify({ ...rest, evaluations }));
  }
  return { runs: runs.length };
}

async function fetchModel(names: readonly string[], from: string): Promise<ModelFiles> {
  const model: ModelFiles = {};
  for (const name of names) model[name] = new Uint8Array(await (await get(from + name)).arrayBuffer());
  return model;
}

async function runCommand(trainer: Trainer, request: HeadlessRequest, exchange: string): Promise<unknown> {
  const report = throttledProgress();
  if (request.benchmark) await importData(request.benchmark, exchange, report);
  const progress = comlink.proxy(report);
  const model = await fetchModel(request.model ?? [], `${exchange}model/`);
  const putModel = async (files: ModelFiles) => {
    for (const [name, bytes] of Object.entries(files)) await put(`${exchange}out/${name}`, bytes);
  };
  switch (request.command) {
    case 'train': {
      const onStep = async (metrics: Record<string, number>, trajectories: Trajectory[]) => {
        await put(`${exchange}step`, [metrics, ...trajectories].map((line) => JSON.stringify(line)).join('\n'));
      };
      const { model: trained, ...rest } = await trainer.train(
        model,
        request.preset,
        request.overrides,
        request.user,
        progress,
        comlink.proxy(onStep),
        request.algorithm,
      );
      await putModel(trained);
      return rest;
    }
    case 'experiment':
      return runExperiment(trainer, request, exchange, report);
    case 'sft': {
      const { model: trained, ...rest } = await trainer.sft(
        model,
        await (await get(`${exchange}data.jsonl`)).text(),
        request.overrides,
        progress,
      );
      await putModel(trained);
      return rest;
    }
    case 'synthesize': {
      const { jsonl, ...rest } = await trainer.synthesize(request.options, request.settings, progress);
      await put(`${exchange}out/conversations.jsonl`, jsonl);
      return rest;
    }
    case 'evaluate':
      return trainer.evaluate(model, request.options, request.user, progress);
    case 'score':
      return trainer.score(model, request.sequences);
    case 'grad': {
      const { safetensors, report } = await trainer.grad(model, request.request);
      await put(`${exchange}out/grads.safetensors`, safetensors);
      return report;
    }
    case 'generate':
      return trainer.generate(model, request.request);
    case 'bench':
      return trainer.bench(progress);
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
