/** @file `mua train`: trains a model into a folder, from the start or from a checkpoint. */
import { join, resolve } from 'node:path';
import type { TrainResult } from '../../trainer/messages.ts';
import type { RunPlan } from '../../trainer/run-plan.ts';
import { ROOT } from '../build.ts';
import { importedName } from '../../benchmarks/imported-benchmark.ts';
import { IMPORTED_LEVEL, usualLevel } from '../../domains/registry.ts';
import { type BenchmarkData, filesSha256, findPlaceData } from '../benchmark-data.ts';
import { command } from '../command.ts';
import { ANSWER_FLAGS, type OpenedAnswers } from '../answer.ts';
import { camelCase } from '../args.ts';
import { UsageError } from '../errors.ts';
import { FOLDER } from '../customer-folder.ts';
import { findModel } from '../files.ts';
import { runJob } from '../job.ts';
import { checkKeyOrigin, keyProof } from '../key-origin.ts';
import type { ProgressBar } from '../progress.ts';
import { RunFolder } from '../run-folder.ts';
import { type TrainSettings, trainSchema } from '../settings.ts';
import { checkAnswers, newAnswers, openKept } from '../train-answer.ts';
import type { TrainOrder } from '../work.ts';
import { checkLevel, checkPlayed, type OpenWorld, openWorld, resumedWorld } from '../world.ts';
import { planLines } from './plan-texts.ts';
import { BEFORE_CHECKPOINT, checkResume, newRun } from './new-run.ts';
import { checkAlone, keepWhenStopped, passLine, readUser } from './shared.ts';
import {
  bundledModel,
  customerFlags,
  givenValUser,
  TRAIN_FLAGS,
  type TrainValues,
  trainSettings,
  withJudge,
  withoutSecrets,
} from './train-flags.ts';

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
  { rules, data, domain, level, set, world }: Pick<TrainValues, 'rules' | 'data' | 'domain' | 'level' | 'set' | 'world'>,
  run?: TrainSettings,
): Promise<BenchmarkData | undefined> {
  if (!run) {
    for (const [name, value] of Object.entries({ domain, level })) {
      if (value === undefined) continue;
      if (rules === undefined && world === undefined)
        throw new UsageError(`--${name} is given: expected --rules and --data with it, or --set ${name}=NAME for generated tasks`);
      if (set.some((pair) => pair.startsWith(`${name}=`)))
        throw new UsageError(`--${name} and --set ${name}=… are given: expected one of them`);
    }
    return world === undefined ? findPlaceData({ rules, data, domain, level }) : undefined;
  }
  if (!run.benchmark) return undefined;
  const { files_sha256, ...stored } = run.benchmark;
  const found = await findPlaceData(stored);
  if (found && (await filesSha256(found)) !== files_sha256)
    throw new UsageError(`"${stored.data}": its files are not those with which the run was started`);
  return found;
}

/** The settings that say on which tasks a run trains, if they are those of a benchmark or of a visitor's own scenario. */
function placeSettings(
  { benchmark, world }: { benchmark: BenchmarkData | undefined; world: OpenWorld | undefined },
  { level }: TrainValues,
): Record<string, string> {
  if (world) {
    checkLevel(world.domain, level);
    return { domain: world.domain, level: level ?? usualLevel(world.domain)! };
  }
  return benchmark ? { domain: importedName(benchmark.rules, benchmark.domain), level: level ?? IMPORTED_LEVEL } : {};
}

/** The settings of a new run, and the cassette or server of its tools. @throws UsageError */
async function newSettings(flags: TrainValues, place: Record<string, string>) {
  const { overrides, ...kept } = await newAnswers(flags);
  const settings = trainSettings(flags, place);
  return { ...settings, overrides: { ...settings.overrides, ...overrides }, ...kept };
}

/** The file of `--world`. @throws UsageError; also if --set names another domain */
async function worldOf(flags: TrainValues): Promise<OpenWorld | undefined> {
  const named = flags.world !== undefined && flags.set.find((pair) => pair.startsWith('domain='));
  if (named) throw new UsageError(`--set ${named} is given: expected no domain with --world, which is the domain`);
  return openWorld(flags);
}

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
      'world',
      ...Object.keys(ANSWER_FLAGS).map(camelCase),
      'on',
      'json',
    ]);
    const note = (text: string) => progress.note(text);
    let customer = null as Customer | null;
    let benchmark = undefined as BenchmarkData | undefined;
    let world = undefined as OpenWorld | undefined;
    let answers = undefined as OpenedAnswers | undefined;
    const check = async (stored: TrainSettings) => {
      customer = await customerOf(flags, stored);
      benchmark = await benchmarkOf(flags, stored);
      world = await resumedWorld(flags.resume!, flags.resume!, stored.world, flags.world);
      checkAnswers(flags.resume!, flags, stored);
      answers = await openKept(stored, flags);
    };
    const folder =
      flags.resume === undefined
        ? null
        : await RunFolder.resume(flags.resume, { flag: '--resume', command: 'train', note, settings: trainSchema, check });
    if (!folder) [benchmark, world] = [await benchmarkOf(flags), await worldOf(flags)];
    const given = folder ? folder.settings : await newSettings(flags, placeSettings({ benchmark, world }, flags));
    if (!folder) answers = await openKept(given, flags);
    const { preset, algorithm, overrides, answers: kept } = given;
    checkPlayed(overrides);
    const { user, userEndpoint, folder: customerFolder } = customer ?? (await customerOf(flags));
    const val_user = folder ? folder.settings.val_user : givenValUser(flags);
    const model = flags.model ?? folder?.settings.model ?? bundledModel(preset);
    const settings: TrainSettings = { preset, algorithm, overrides, model, user: withoutSecrets(user), ...(val_user && { val_user }) };
    const key = user.mode === 'endpoint' ? keyProof('MUA_USER_KEY', user.baseUrl) : undefined;
    if (key !== undefined) settings.key = key;
    if (kept) settings.answers = kept;
    if (world) settings.world = { name: world.domain, sha256: world.sha256 };
    if (benchmark && !folder)
      settings.benchmark = {
        rules: benchmark.rules,
        domain: benchmark.domain,
        data: resolve(flags.data!),
        files_sha256: await filesSha256(benchmark),
      };
    const run = folder ?? (await newRun('train', flags, flags.model ?? join(ROOT, 'models', model), settings, note, world));
    const order: TrainOrder = { label: '', ...(val_user && { val_user }), ...run.order, preset, algorithm, overrides };
    await keepWhenStopped(run, BEFORE_CHECKPOINT, () =>
      runJob({
        on: answers ? 'node' : flags.on,
        request: { command: 'train', runs: [order], user },
        runs: [run],
        benchmark,
        world,
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
  'level',
  'world',
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
  const world = await worldOf(flags);
  const options = trainSettings(withJudge(flags), placeSettings({ benchmark, world }, flags));
  const model = await findModel(flags.model ?? join(ROOT, 'models', bundledModel(options.preset)), { tokenizer: true, lora: flags.lora });
  return runJob({ on: flags.on, request: { command: 'planTraining', options }, model, benchmark, world, progress });
}
