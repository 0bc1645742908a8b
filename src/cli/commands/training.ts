/** @file `mua train` and `mua sft`: train a model into a folder, from the start or from a checkpoint. */
import { join, resolve } from 'node:path';
import type { SftResult, TrainResult } from '../../trainer/messages.ts';
import type { RunPlan } from '../../trainer/run-plan.ts';
import type { Flags, Values } from '../args.ts';
import { ROOT } from '../build.ts';
import { ON } from '../backend.ts';
import { importedName } from '../../benchmarks/imported-benchmark.ts';
import { IMPORTED_LEVEL } from '../../domains/registry.ts';
import { type BenchmarkData, filesSha256, findPlaceData } from '../benchmark-data.ts';
import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { FOLDER } from '../customer-folder.ts';
import { findModel, readText } from '../files.ts';
import { runJob } from '../job.ts';
import { sha256 } from '../out-folder.ts';
import { checkKeyOrigin, keyProof } from '../key-origin.ts';
import type { ProgressBar } from '../progress.ts';
import { RunFolder } from '../run-folder.ts';
import { type SftSettings, sftSchema, type TrainSettings, trainSchema } from '../settings.ts';
import type { TrainOrder } from '../work.ts';
import { planLines } from './plan-texts.ts';
import { checkAlone, JSON_FLAG, keepWhenStopped, MODEL, passLine, readUser, SET } from './shared.ts';
import {
  bundledModel,
  customerFlags,
  givenValUser,
  overridesOf,
  RUN_FLAGS,
  SEED_OF_PRESET,
  STEPS,
  TRAIN_FLAGS,
  type TrainValues,
  trainSettings,
  withJudge,
  withoutSecrets,
} from './train-flags.ts';

/** @param allowed flags that may be given together with `--resume` */
function checkResume<F extends { resume: string | undefined; out: string | undefined }>(
  command: string,
  { resume, out, ...flags }: F,
  allowed: readonly string[],
): void {
  if (resume === undefined && out === undefined)
    throw new UsageError(`--out is missing: expected --out DIR, or ./mua ${command} --resume DIR`);
  if (resume !== undefined) checkAlone({ out, ...flags }, allowed);
}

async function newRun<Settings extends TrainSettings | SftSettings>(
  command: string,
  { out, lora, force }: Pick<Values<typeof RUN_FLAGS>, 'out' | 'lora' | 'force'>,
  model: string,
  settings: Settings,
  note: (text: string) => void,
): Promise<RunFolder<Settings>> {
  const inputs = 'data' in settings ? [settings.data] : [];
  return RunFolder.create(out!, { command, settings, model: await findModel(model, { tokenizer: true, lora }), force, inputs, note });
}

type Customer = Awaited<ReturnType<typeof readUser>>;

/**
 * The customer that the flags name, or the customer of a resumed run.
 * @param run the settings of the resumed run
 * @throws UsageError
 */
async function customerOf(flags: TrainValues, run?: TrainSettings): Promise<Customer> {
  const stored = run?.user;
  if (flags.user === undefined && stored?.mode === 'endpoint')
    checkKeyOrigin('MUA_USER_KEY', flags.resume!, stored.baseUrl, run!.key, 'expected --user URL to send it, or no MUA_USER_KEY');
  /** The customer in the tab that goes on to play. */
  const local = flags.user === undefined && stored?.mode === 'local' ? stored : null;
  if (local?.source === 'folder')
    throw new UsageError(`--user is missing: expected --user ${FOLDER}DIR with the folder "${local.model}", which played the customer`);
  return local ? { user: local } : readUser(customerFlags(withJudge(flags), stored), flags.judge === undefined ? '--user' : '--judge');
}

/**
 * The benchmark that the flags name, or that of a resumed run.
 * @param run the settings of the resumed run
 * @throws UsageError; also if the files are not those with which the run was started
 */
async function benchmarkOf(
  { rules, data, domain }: Pick<TrainValues, 'rules' | 'data' | 'domain'>,
  run?: TrainSettings,
): Promise<BenchmarkData | undefined> {
  if (!run) {
    if (rules === undefined && domain !== undefined)
      throw new UsageError('--domain is given: expected --rules and --data with it, or --set domain=NAME for generated tasks');
    return findPlaceData({ rules, data, domain });
  }
  if (!run.benchmark) return undefined;
  const { files_sha256, ...stored } = run.benchmark;
  const found = await findPlaceData(stored);
  if (found && (await filesSha256(found)) !== files_sha256)
    throw new UsageError(`"${stored.data}": its files are not those with which the run was started`);
  return found;
}

/** The settings of a run that trains on the tasks of a benchmark. */
const benchmarkSettings = (benchmark: BenchmarkData | undefined): Record<string, string> =>
  benchmark ? { domain: importedName(benchmark.rules, benchmark.domain), level: IMPORTED_LEVEL } : {};

/** The message of a run that is stopped too early. */
const BEFORE_CHECKPOINT =
  'stopped before the first checkpoint: no step is kept, so start the run again (with --force if its folder exists)';

export const train = command({
  summary:
    'train by GRPO, another algorithm (--algorithm) or another method (--set algorithm=rft or sft); writes metrics, trajectories and the model',
  flags: TRAIN_FLAGS,
  async run(flags, progress) {
    if (flags.plan) return planned(flags, progress);
    checkResume('train', flags, [
      'user',
      'userModel',
      'userTemperature',
      'userMaxTokens',
      'userBody',
      'userDevice',
      'judgeModel',
      'judgeCustomer',
      'userPromptPrice',
      'userCompletionPrice',
      'userBudget',
      'on',
      'json',
    ]);
    const note = (text: string) => progress.note(text);
    let customer = null as Customer | null;
    let benchmark = undefined as BenchmarkData | undefined;
    const check = async (stored: TrainSettings) => {
      customer = await customerOf(flags, stored);
      benchmark = await benchmarkOf(flags, stored);
    };
    const folder =
      flags.resume === undefined
        ? null
        : await RunFolder.resume(flags.resume, { flag: '--resume', command: 'train', note, settings: trainSchema, check });
    if (!folder) benchmark = await benchmarkOf(flags);
    const { preset, algorithm, overrides } = folder ? folder.settings : trainSettings(flags, benchmarkSettings(benchmark));
    const { user, userEndpoint, folder: customerFolder } = customer ?? (await customerOf(flags));
    const val_user = folder ? folder.settings.val_user : givenValUser(flags);
    const model = flags.model ?? folder?.settings.model ?? bundledModel(preset);
    const settings: TrainSettings = { preset, algorithm, overrides, model, user: withoutSecrets(user), ...(val_user && { val_user }) };
    const key = user.mode === 'endpoint' ? keyProof('MUA_USER_KEY', user.baseUrl) : undefined;
    if (key !== undefined) settings.key = key;
    if (benchmark && !folder)
      settings.benchmark = {
        rules: benchmark.rules,
        domain: benchmark.domain,
        data: resolve(flags.data!),
        files_sha256: await filesSha256(benchmark),
      };
    const run = folder ?? (await newRun('train', flags, flags.model ?? join(ROOT, 'models', model), settings, note));
    const order: TrainOrder = { label: '', ...(val_user && { val_user }), ...run.order, preset, algorithm, overrides };
    await keepWhenStopped(run, BEFORE_CHECKPOINT, () =>
      runJob({
        on: flags.on,
        request: { command: 'train', runs: [order], user },
        runs: [run],
        benchmark,
        userEndpoint,
        folders: customerFolder ? [customerFolder] : [],
        progress,
      }),
    );
    return run.result<Omit<TrainResult, 'model'>>();
  },
  show: (result) => ('advice' in result ? planLines(result) : trainLines(result)),
});

const trainLines = ({ out, before, after, steps, seconds, dropped, retried, alarms }: Omit<TrainResult, 'model'> & { out: string }) => [
  `held-out success before  ${passLine(before)}`,
  `held-out success after   ${passLine(after)}`,
  `${steps} steps in ${(seconds / 60).toFixed(1)} minutes; episodes retried ${retried}, dropped ${dropped}`,
  ...alarms.map((alarm) => `alarm: ${alarm}`),
  `results in ${out}`,
];

/** The flags that change what a run needs. */
const PLANNED = [
  'preset',
  'algorithm',
  'rules',
  'data',
  'domain',
  'model',
  'lora',
  'steps',
  'seed',
  'coldStart',
  'stopOnAlarm',
  'judge',
  'set',
  'plan',
  'on',
  'json',
];

/** What the run of the flags would need. */
async function planned(flags: TrainValues, progress: ProgressBar): Promise<RunPlan> {
  checkAlone(flags, PLANNED, '--plan starts no run, and does not use it');
  const benchmark = await benchmarkOf(flags);
  const options = trainSettings(withJudge(flags), benchmarkSettings(benchmark));
  const model = await findModel(flags.model ?? join(ROOT, 'models', bundledModel(options.preset)), { tokenizer: true, lora: flags.lora });
  return runJob({ on: flags.on, request: { command: 'planTraining', options }, model, benchmark, progress });
}

const SFT_FLAGS = {
  model: { ...MODEL, required: false, help: 'model folder in Hugging Face layout (required, except with --resume)' },
  data: {
    type: 'string',
    value: 'FILE.jsonl',
    help: 'OpenAI-style messages with tool calls, one conversation on each line (required, except with --resume)',
  },
  steps: { ...STEPS, help: 'number of optimizer steps (default: two passes over the data)' },
  seed: SEED_OF_PRESET,
  set: SET,
  ...RUN_FLAGS,
  on: ON,
  json: JSON_FLAG,
} as const satisfies Flags;

async function sha256OfData(path: string): Promise<string> {
  const text = await readText(path);
  if (text.trim() === '') throw new UsageError(`--data is "${path}": the file is empty`);
  return sha256(text);
}

async function newSft(flags: Values<typeof SFT_FLAGS>, note: (text: string) => void): Promise<RunFolder<SftSettings>> {
  const { model, data } = flags;
  if (model === undefined) throw new UsageError('--model is missing: expected --model');
  if (data === undefined) throw new UsageError('--data is missing: expected --data');
  const settings = { overrides: overridesOf(flags), model, data: resolve(data), data_sha256: await sha256OfData(data) };
  return newRun('sft', flags, model, settings, note);
}

export const sft = command({
  summary: 'train by supervised fine-tuning on conversations; only assistant tokens are in the loss',
  flags: SFT_FLAGS,
  async run(flags, progress) {
    checkResume('sft', flags, ['data', 'on', 'json']);
    const note = (text: string) => progress.note(text);
    const check = async (stored: SftSettings) => {
      const data = flags.data ?? stored.data;
      if ((await sha256OfData(data)) !== stored.data_sha256)
        throw new UsageError(`--data is "${data}": it is not the file with which the run was started`);
    };
    const run =
      flags.resume === undefined
        ? await newSft(flags, note)
        : await RunFolder.resume(flags.resume, { flag: '--resume', command: 'sft', note, settings: sftSchema, check });
    const { overrides } = run.settings;
    const data = flags.data ?? run.settings.data;
    await keepWhenStopped(run, BEFORE_CHECKPOINT, () =>
      runJob({
        on: flags.on,
        request: { command: 'sft', run: { ...run.order, overrides } },
        runs: [run],
        data,
        progress,
      }),
    );
    return run.result<Omit<SftResult, 'model'>>();
  },
  show: ({ out, losses, tokens, seconds }) => [
    `loss ${losses[0]?.toFixed(4)} → ${losses.at(-1)?.toFixed(4)} in ${losses.length} steps, ${tokens} tokens, ${(tokens / seconds).toFixed(0)} tokens/s`,
    `model in ${out}`,
  ],
});
