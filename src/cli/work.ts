/**
 * @file The work of the commands that need a model. The headless page and Node run this same code: both have a trainer, and
 * both read and write the files of the job by name.
 */
import type { ModelFiles, Precision } from '../records/model.ts';
import type { FileBytes } from '../exchange/file-bytes.ts';
import type { ModelParts } from '../exchange/model-folder.ts';
import type {
  BenchReport,
  SelfTestReport,
  EvaluatedCustomer,
  EvaluateOptions,
  EvaluateResult,
  EvaluationSink,
  GenerateRequest,
  GradRequest,
  Interrupted,
  Progress,
  Scored,
  ScoreRequest,
  SftOptions,
  TrainingSink,
} from '../trainer/messages.ts';
import type { Benchmark } from '../records/benchmark-task.ts';
import type { Perturbation } from '../records/reliability.ts';
import { readTrajectory } from '../exchange/trajectory-schema.ts';
import type { BrowserUser, UserConfig } from '../records/user.ts';
import { importBenchmark } from '../benchmarks/import/import.ts';
import { BenchmarkDatabase } from '../benchmarks/import/database.ts';
import type { FileSource } from '../exchange/file-source.ts';
import { isBaseWeights } from '../exchange/adapter-folder.ts';
import { SCENARIO } from './status.ts';
import { OwnScenarios } from '../storage/own-scenarios.ts';
import type { AnswerRequest, AnswerSink } from '../trainer/answers.ts';
import type { TrainerApi } from '../trainer/api.ts';
import type { NeedsRequest } from '../trainer/estimates.ts';
import type { PlannedRun, PlanRequest } from '../trainer/run-plan.ts';

/** The files of a benchmark to import. The content of the file with index i is at `benchmark/<i>`. */
interface BenchmarkOrder {
  benchmark: Benchmark;
  domain: string;
  paths: string[];
}

/** A command to run. `world` is the name of the file of the visitor's own scenario, whose text is at `scenario.json`. `model` lists the files of the model folder and of its adapter. Their content is at `model/<name>`. */
export type WorkRequest = { model?: string[]; benchmark?: BenchmarkOrder; world?: string } & (
  | { command: 'train'; runs: TrainOrder[]; user: UserConfig }
  | { command: 'sft' | 'dpo'; run: RunOrder & Pick<SftOptions, 'overrides'> }
  /**
   * If `done` is true, `customer/<index>/done.jsonl` has the trials from before an interruption. New trials are sent to
   * `customer/<index>/trial`.
   */
  | { command: 'evaluate'; options: EvaluateOptions; customers: { user: UserConfig; done: boolean; perturbed?: Perturbation }[] }
  | { command: 'score'; request: ScoreRequest; precision: Precision }
  | { command: 'grad'; request: GradRequest; precision: Precision }
  | { command: 'generate'; request: GenerateRequest; precision: Precision }
  /** Each turn is sent to `answer/<stream>`. */
  | { command: 'answer'; request: AnswerRequest; precision: Precision }
  | { command: 'plan'; request: PlanRequest }
  | { command: 'planTraining'; options: PlannedRun }
  | { command: 'needs'; asked: readonly NeedsRequest[] }
  | { command: 'bench'; workloads: string[] }
  | { command: 'selfTest' }
);

/** The result of each command, as JSON. Files are sent to the receivers of the job instead. */
export interface WorkResults {
  train: null;
  sft: null;
  dpo: null;
  evaluate: EvaluateResult;
  score: Scored;
  grad: Record<string, number>;
  generate: { completions: { tokens: number[]; logprobs: number[] }[] };
  answer: null;
  plan: Awaited<ReturnType<TrainerApi['plan']>>;
  planTraining: Awaited<ReturnType<TrainerApi['planTraining']>>;
  needs: Awaited<ReturnType<TrainerApi['needs']>>;
  bench: BenchReport;
  selfTest: SelfTestReport;
}

/**
 * A run to train. Its files are read from `run/<index>/`. The results are sent there too: each step and evaluation, the
 * checkpoints, the model and finally `finished`.
 */
export interface RunOrder {
  /** Names of the model's files. */
  model: string[];
  /** Name or path of the base model. */
  base?: string;
  /** If true, `interrupted.json` and `checkpoint.safetensors` say from where the run continues. */
  interrupted: boolean;
}

export interface TrainOrder extends RunOrder {
  /** Printed before the progress of the run. Empty if there is only one run. */
  label: string;
  preset: string;
  algorithm: string;
  overrides: Record<string, string>;
  /** The customer of the training. Default: the customer of the request. */
  user?: UserConfig;
  /** The customer of the held-out evaluations. Default: the customer of the training. */
  val_user?: BrowserUser;
}

/** How the work reads and writes the files of the job. */
export interface WorkFiles {
  read(name: string): Promise<Uint8Array<ArrayBuffer>>;
  /** Gives access to a file of weights, which the trainer may read in pieces. */
  weights(name: string): Promise<FileBytes>;
  /** Gives access to a file of a benchmark, perhaps as a stream. */
  content(name: string): ReturnType<Extract<FileSource, () => unknown>>;
  write(name: string, body: string | Uint8Array<ArrayBuffer>): Promise<void>;
}

export interface Workplace {
  trainer: Pick<TrainerApi, WorkRequest['command']>;
  files: WorkFiles;
  progress: Progress;
  note(text: string): void;
  /** Wraps a callback so that the trainer can call it, perhaps from its worker. */
  callable<T extends object>(callback: T): T;
}

const text = async (files: WorkFiles, name: string) => new TextDecoder().decode(await files.read(name));

/** What each command says before it counts anything. */
const WORK: Record<WorkRequest['command'], string> = {
  train: 'opening the run',
  sft: 'opening the run',
  dpo: 'opening the run',
  evaluate: 'preparing the evaluation',
  score: 'scoring',
  grad: 'computing gradients',
  generate: 'completing the prompts',
  answer: 'rendering the conversations',
  plan: 'planning the memory',
  planTraining: 'estimating memory and time',
  needs: 'estimating memory and time',
  bench: 'measuring',
  selfTest: 'checking this GPU',
};

/** @returns a value of `WorkResults` */
export async function doWork(request: WorkRequest, place: Workplace): Promise<WorkResults[WorkRequest['command']]> {
  const { trainer, files, callable } = place;
  if (request.benchmark) await importData(request.benchmark, place);
  // The workers find the scenario there.
  if (request.world) await new OwnScenarios().store(await text(files, SCENARIO), request.world);
  const progress = callable(place.progress);
  if (request.command === 'plan') return trainer.plan(JSON.parse(await text(files, 'model/config.json')), request.request);
  if (request.model?.length) place.progress(0, 0, 'reading the model');
  const model = await readModel(files, request.model ?? [], 'model/');
  place.progress(0, 0, WORK[request.command]);
  switch (request.command) {
    case 'score':
      return trainer.score(model, request.request, request.precision);
    case 'generate':
      return trainer.generate(model, request.request, request.precision);
    case 'answer': {
      const answer: AnswerSink['answer'] = (stream, own) => files.write(`answer/${stream}`, JSON.stringify(own));
      await trainer.answer(model, request.request, callable<AnswerSink>({ progress: place.progress, answer }), request.precision);
      return null;
    }
    case 'grad': {
      const { safetensors, report } = await trainer.grad(model, request.request, request.precision);
      await files.write('out/grads.safetensors', safetensors);
      return report;
    }
    case 'planTraining':
      return trainer.planTraining(model, request.options);
    case 'needs':
      return trainer.needs(request.asked);
    case 'train':
      await train(request.runs, request.user, place);
      return null;
    case 'sft':
    case 'dpo': {
      const { model: start, interrupted } = await readRun(files, request.run, 'run/0/');
      const { overrides, base } = request.run;
      const options = { overrides, ...(base !== undefined && { base }), ...(interrupted && { interrupted }) };
      const jsonl = await text(files, 'data.jsonl');
      await finish(files, 'run/0/', await trainer[request.command](start, jsonl, options, sinkTo('run/0/', place.progress, place)));
      return null;
    }
    case 'evaluate': {
      const customers = await Promise.all(
        request.customers.map(async ({ done, ...customer }, i): Promise<EvaluatedCustomer> => {
          const lines = done ? (await text(files, `customer/${i}/done.jsonl`)).split('\n').filter(Boolean) : [];
          return {
            ...customer,
            done: lines.map((line, at) => readTrajectory(JSON.parse(line), `trajectories-${i + 1}.jsonl`, `line ${at + 1}`)),
          };
        }),
      );
      const trial: EvaluationSink['trial'] = (i, trajectory) => files.write(`customer/${i}/trial`, JSON.stringify(trajectory));
      return trainer.evaluate(model, request.options, customers, callable<EvaluationSink>({ progress: place.progress, trial }));
    }
    case 'selfTest':
      return trainer.selfTest();
    case 'bench': {
      const { report, roofline } = await trainer.bench(request.workloads, progress);
      await files.write('out/roofline.svg', roofline);
      return report;
    }
  }
}

/** Imports a benchmark and stores it where the environments read it. */
async function importData({ benchmark, domain, paths }: BenchmarkOrder, { files, progress }: Workplace): Promise<void> {
  const imported = await importBenchmark(
    paths.map((path, i) => [path, () => files.content(`benchmark/${i}`)] as const),
    { benchmark, domain, onProgress: (done, total) => progress(done, total, 'reading the benchmark') },
  );
  await new BenchmarkDatabase().store(imported, (done, total) => progress(done, total, 'storing the benchmark'));
}

/** Trains the runs, one after another. */
async function train(runs: readonly TrainOrder[], user: UserConfig, workplace: Workplace): Promise<void> {
  const { trainer, files, progress: report } = workplace;
  const started = performance.now();
  for (const [i, { label, preset, algorithm, overrides, base, user: own = user, val_user, ...order }] of runs.entries()) {
    const place = `run/${i}/`;
    /** A later run is assumed to take as long as the runs so far on average. */
    const all = (left: number) => left + ((runs.length - i - 1) * ((performance.now() - started) / 1000 + left)) / (i + 1);
    const progress: Progress = (done, total, text, metrics, left) =>
      label === ''
        ? report(done, total, text, metrics, left)
        : report(
            Math.round(10 * (i + done / Math.max(1, total))) / 10,
            runs.length,
            `${label}: ${text}`,
            metrics,
            left === undefined ? undefined : all(left),
          );
    const { model, interrupted } = await readRun(files, order, place);
    const options = {
      preset,
      algorithm,
      overrides,
      ...(base !== undefined && { base }),
      user: own,
      ...(val_user && { val_user }),
      ...(interrupted && { interrupted }),
    };
    await finish(files, place, await trainer.train(model, options, sinkTo(place, progress, workplace)));
  }
}

/** Makes a sink that sends the results of a training to `place`. */
const sinkTo = (place: string, progress: Progress, { files, note, callable }: Workplace) =>
  callable<TrainingSink>({
    progress,
    note,
    evaluation: (evaluation) => files.write(`${place}evaluation`, JSON.stringify(evaluation)),
    step: (metrics, trajectories) => files.write(`${place}step`, [metrics, ...trajectories].map((line) => JSON.stringify(line)).join('\n')),
    checkpoint: (step, safetensors) => files.write(`${place}checkpoint-${step}.safetensors`, safetensors),
  });

async function readRun(
  files: WorkFiles,
  { model, interrupted }: RunOrder,
  place: string,
): Promise<{ model: ModelParts; interrupted?: Interrupted }> {
  const parts = await readModel(files, model, place);
  if (!interrupted) return { model: parts };
  const logs = JSON.parse(await text(files, `${place}interrupted.json`)) as Omit<Interrupted, 'checkpoint'>;
  return { model: parts, interrupted: { ...logs, checkpoint: await files.weights(`${place}checkpoint.safetensors`) } };
}

async function finish(files: WorkFiles, place: string, { model, ...rest }: { model: ModelFiles }): Promise<void> {
  for (const [name, bytes] of Object.entries(model)) await files.write(place + name, bytes);
  await files.write(`${place}finished`, JSON.stringify(rest));
}

async function readModel(files: WorkFiles, names: readonly string[], from: string): Promise<ModelParts> {
  const model: ModelParts = {};
  for (const name of names) model[name] = isBaseWeights(name) ? await files.weights(from + name) : await files.read(from + name);
  return model;
}
