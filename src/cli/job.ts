/** @file Runs the work of one command: in the browser, or in Node. */
import { basename } from 'node:path';
import type { Answer } from '../trainer/answers.ts';
import type { Interrupted } from '../trainer/messages.ts';
import { backendOf, type BackendName, inNode } from './backend.ts';
import { hasServer, type UserEndpoint } from './backend-job.ts';
import type { BenchmarkData } from './benchmark-data.ts';
import type { CustomerFolder } from './customer-folder.ts';
import type { ModelFolder } from './files.ts';
import { JobFiles, type Receive } from './job-files.ts';
import type { ProgressBar } from './progress.ts';
import type { WorkRequest, WorkResults } from './work.ts';
import { SCENARIO } from './status.ts';
import type { OpenWorld } from './world.ts';

export interface Job<Request extends WorkRequest> {
  /** The backend that runs the command. Default: the one that suits this computer. */
  on: BackendName | undefined;
  request: Request;
  model?: ModelFolder;
  /** The runs of a training, in the order of the request. */
  runs?: JobRun[];
  /** The customers of an evaluation, in the order of the request. */
  customers?: JobCustomer[];
  /** The text of a file that the work reads. */
  data?: string;
  /** The benchmark data that the work imports first. */
  benchmark?: BenchmarkData | undefined;
  /** The visitor's own scenario, which the work stores first. */
  world?: OpenWorld | undefined;
  userEndpoint?: UserEndpoint | undefined;
  /** The API key of the agent's server. */
  agentKey?: string | undefined;
  /** The folders whose models play customers. */
  folders?: readonly CustomerFolder[];
  /** Gets each file that the work makes. */
  onFile?: Receive;
  /** Gets each turn of a model, by its number. */
  onAnswer?: (stream: number, answer: Answer) => Promise<void>;
  progress: ProgressBar;
}

export interface JobRun {
  model: Pick<ModelFolder, 'files'>;
  /** The logs and the checkpoint from which the run continues. Null for a new run. */
  interrupted: { logs: Omit<Interrupted, 'checkpoint'>; checkpoint: string } | null;
  /** Gets the results of the run from the work. */
  receive(name: string, body: Buffer): Promise<void> | void;
}

export interface JobCustomer {
  /** The path of a file with the trials from before an interruption. */
  done?: string;
  /** Gets each trial when it has ended. */
  receive(trajectory: Buffer): Promise<void> | void;
}

/** @throws CommandError or UsageError */
export async function runJob<Request extends WorkRequest>(job: Job<Request>): Promise<WorkResults[Request['command']]> {
  const { on, request, model, benchmark, world, userEndpoint, agentKey, folders = [], progress } = job;
  const work = hasServer(request) ? await inNode() : await backendOf(on, (text) => progress.note(text));
  const imported = benchmark && {
    benchmark: { benchmark: benchmark.rules, domain: benchmark.domain, paths: benchmark.files.map(([path]) => path) },
  };
  const own = world && { world: basename(world.file) };
  const order = { ...request, ...imported, ...own, model: Object.keys(model?.files ?? {}) };
  return (await work({
    request: order,
    files: filesOf(job),
    userEndpoint,
    agentKey,
    folders,
    progress,
  })) as WorkResults[Request['command']];
}

function filesOf<Request extends WorkRequest>({
  model,
  runs = [],
  customers = [],
  data,
  benchmark,
  world,
  onFile,
  onAnswer,
}: Job<Request>): JobFiles {
  const files = new JobFiles();
  for (const [name, file] of Object.entries(model?.files ?? {})) files.offer(`model/${name}`, file);
  for (const [i, run] of runs.entries()) {
    for (const [name, file] of Object.entries(run.model.files)) files.offer(`run/${i}/${name}`, file);
    if (run.interrupted) {
      files.offer(`run/${i}/interrupted.json`, { data: JSON.stringify(run.interrupted.logs) });
      files.offer(`run/${i}/checkpoint.safetensors`, { file: run.interrupted.checkpoint });
    }
    files.accept(`run/${i}/*`, (body, name) => run.receive(name.slice(`run/${i}/`.length), body));
  }
  for (const [i, { done, receive }] of customers.entries()) {
    if (done) files.offer(`customer/${i}/done.jsonl`, { file: done });
    files.accept(`customer/${i}/trial`, receive);
  }
  if (data) files.offer('data.jsonl', { data });
  if (world) files.offer(SCENARIO, { data: world.text });
  // Use the index as the name, because paths may contain any character.
  benchmark?.files.forEach(([, file], i) => files.offer(`benchmark/${i}`, { file }));
  if (onFile) files.accept('out/*', (body, name) => onFile(body, name.slice('out/'.length)));
  if (onAnswer)
    files.accept('answer/*', (body, name) => onAnswer(Number(name.slice('answer/'.length)), JSON.parse(body.toString('utf8')) as Answer));
  return files;
}
