/** @file `mua train` and `mua sft`: train a model into a folder, from the start or from a checkpoint. */
import { join, resolve } from 'node:path';
import type { SftResult, TrainResult } from '../../trainer/messages.ts';
import type { BrowserUser, UserConfig } from '../../records/user.ts';
import { ALGORITHMS } from '../../training/algorithms/index.ts';
import { DEFAULT_PRESET, isBundled, PRESETS } from '../../training/presets.ts';
import { type Flag, type Flags, readPairs, SEED, type Values } from '../args.ts';
import { ROOT } from '../build.ts';
import { ON } from '../backend.ts';
import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { findModel, readText } from '../files.ts';
import { runJob } from '../job.ts';
import { sha256 } from '../out-folder.ts';
import { RunFolder, type SftSettings, type TrainSettings } from '../run-folder.ts';
import {
  checkAlone,
  JSON_FLAG,
  keepWhenStopped,
  MODEL,
  passLine,
  readUser,
  readValUser,
  SET,
  COST_FLAGS,
  USER_FLAGS,
  type UserValues,
} from './shared.ts';
import type { TrainOrder } from '../work.ts';

/** The name of a preset's bundled model. */
function bundledModel(preset: string): string {
  const known = Object.hasOwn(PRESETS, preset) ? PRESETS[preset]! : undefined;
  if (!known) throw new UsageError(`unknown preset "${preset}"; known: ${Object.keys(PRESETS).join(', ')}`);
  if (!isBundled(known)) throw new UsageError(`--model is missing: expected a folder, as the model of preset ${preset} is not bundled`);
  return known.model;
}
const STEPS = { type: 'integer', value: 'N', help: 'number of optimizer steps (default: the preset’s)', min: 1 } as const satisfies Flag;
const { default: _, ...SEED_OF_PRESET } = SEED;

/** The flags that `mua train` and `mua sft` share. */
const RUN_FLAGS = {
  lora: {
    type: 'string',
    value: 'DIR',
    help: 'LoRA adapter in PEFT’s format to continue training; --set lora_rank=R trains a new one',
  },
  out: { type: 'string', value: 'DIR', help: 'new folder for the results (required, except with --resume)' },
  force: { type: 'boolean', help: 'replace the run that --out already holds' },
  resume: { type: 'string', value: 'DIR', help: 'continue a run that was stopped, with its settings' },
} as const satisfies Flags;

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
): Promise<RunFolder<Settings>> {
  return RunFolder.create(out!, { command, settings, model: await findModel(model, { tokenizer: true, lora }), force });
}

const TRAIN_FLAGS = {
  preset: {
    type: 'string',
    value: 'NAME',
    help: `settings to begin with: ${Object.keys(PRESETS).join(', ')} (default ${DEFAULT_PRESET})`,
  },
  algorithm: {
    type: 'string',
    value: 'NAME',
    help: `settings of an algorithm, applied before --set: ${Object.keys(ALGORITHMS).join(', ')} (default: the preset’s, which is grpo)`,
    choices: Object.keys(ALGORITHMS),
  },
  model: { ...MODEL, required: false, help: 'model folder or GGUF file to start from (default: the preset’s bundled model)' },
  steps: STEPS,
  seed: SEED_OF_PRESET,
  'stop-on-alarm': { type: 'boolean', help: 'end the run after the step in which an alarm begins' },
  ...USER_FLAGS,
  ...COST_FLAGS,
  user: { ...USER_FLAGS.user, default: undefined, help: `${USER_FLAGS.user.help} (default scripted)` },
  judge: {
    type: 'string',
    value: 'JUDGE',
    help: 'who rewards the answers of the preset question: rule, or a judge who compares them, which is learned, hub:… or a URL as for --user; MUA_USER_KEY and the flags of the server hold for it too (default rule)',
  },
  'val-user': {
    type: 'string',
    value: 'CUSTOMER',
    help: 'customer of the held-out evaluations: scripted, learned or hub:… (default: as --user)',
  },
  set: SET,
  ...RUN_FLAGS,
  on: ON,
  json: JSON_FLAG,
} as const satisfies Flags;

type TrainValues = Values<typeof TRAIN_FLAGS>;

export const train = command({
  summary:
    'train by GRPO, another algorithm (--algorithm) or another method (--set algorithm=rft or sft); writes metrics, trajectories and the model',
  flags: TRAIN_FLAGS,
  async run(flags, progress) {
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
    const folder =
      flags.resume === undefined ? null : await RunFolder.resume<TrainSettings>(flags.resume, { flag: '--resume', command: 'train', note });
    const { preset, algorithm, overrides } = folder ? folder.settings : trainSettings(flags);
    const stored = folder?.settings.user;
    const { user, userEndpoint } =
      flags.user === undefined && stored?.mode === 'local'
        ? { user: stored, userEndpoint: undefined }
        : await readUser(customerFlags(withJudge(flags), stored), flags.judge === undefined ? '--user' : '--judge');
    const val_user = folder ? folder.settings.val_user : givenValUser(flags);
    const model = flags.model ?? folder?.settings.model ?? bundledModel(preset);
    const settings: TrainSettings = { preset, algorithm, overrides, model, user: withoutSecrets(user), ...(val_user && { val_user }) };
    const run = folder ?? (await newRun('train', flags, flags.model ?? join(ROOT, 'models', model), settings));
    const order: TrainOrder = { label: '', ...(val_user && { val_user }), ...run.order, preset, algorithm, overrides };
    await keepWhenStopped(run, progress, () =>
      runJob({
        on: flags.on,
        request: { command: 'train', runs: [order], user },
        runs: [run],
        userEndpoint,
        progress,
      }),
    );
    return run.result<Omit<TrainResult, 'model'>>();
  },
  show: ({ out, before, after, steps, seconds, dropped, retried, alarms }) => [
    `held-out success before  ${passLine(before)}`,
    `held-out success after   ${passLine(after)}`,
    `${steps} steps in ${(seconds / 60).toFixed(1)} minutes; episodes retried ${retried}, dropped ${dropped}`,
    ...alarms.map((alarm) => `alarm: ${alarm}`),
    `results in ${out}`,
  ],
});

const givenValUser = ({ valUser, userDevice }: TrainValues): BrowserUser | undefined =>
  valUser === undefined ? undefined : readValUser(valUser, userDevice);

function trainSettings({
  preset = DEFAULT_PRESET,
  algorithm,
  stopOnAlarm,
  judge,
  ...flags
}: TrainValues): Pick<TrainSettings, 'preset' | 'algorithm' | 'overrides'> {
  return {
    preset,
    algorithm: algorithm ?? '',
    overrides: { ...(stopOnAlarm && { stop_on_alarm: 'true' }), ...rewardOf(judge), ...overridesOf(flags) },
  };
}

/** The settings that give the whole reward to the judge, or to the rule. */
function rewardOf(judge: string | undefined): Record<string, string> {
  if (judge === undefined) return {};
  const [byJudge, byRule] = judge === 'rule' ? ['0', '1'] : ['1', '0'];
  return { 'reward.judge': byJudge, 'reward.outcome': byRule };
}

/** The flags with the judge as the customer, whose model judges. The preset's customers are scripted, so the model only judges. */
function withJudge(flags: TrainValues): TrainValues {
  const { judge, user, userModel, judgeModel } = flags;
  if (judge === undefined) return flags;
  if (user !== undefined) throw new UsageError('--judge and --user are given: expected one of them, as both name the same server');
  if (judge === 'rule') return flags;
  if (judge !== 'learned' && !judge.startsWith('hub:') && !URL.canParse(judge))
    throw new UsageError(`--judge is "${judge}": expected rule, learned, hub:OWNER/NAME or an http(s) URL`);
  return { ...flags, user: judge, userModel: userModel ?? judgeModel };
}

const overridesOf = ({ set, steps, seed }: Pick<TrainValues, 'set' | 'steps' | 'seed'>): Record<string, string> => ({
  ...readPairs('set', set),
  ...(steps === undefined ? {} : { total_training_steps: String(steps) }),
  ...(seed === undefined ? {} : { seed: String(seed) }),
});

/** The customer that the flags name. If they name none: the customer of the resumed run, or the scripted customer. */
function customerFlags(flags: TrainValues, stored: UserConfig | undefined): UserValues {
  const { user, userModel } = flags;
  if (user === 'scripted') return { ...flags, user };
  const endpoint = stored?.mode === 'endpoint' ? stored : undefined;
  const costs = {
    userPromptPrice: flags.userPromptPrice ?? endpoint?.promptPrice,
    userCompletionPrice: flags.userCompletionPrice ?? endpoint?.completionPrice,
    userBudget: flags.userBudget ?? endpoint?.budget,
  };
  if (user !== undefined || !endpoint) return { ...flags, user: user ?? 'scripted', ...costs };
  if (endpoint.baseUrl === '')
    throw new UsageError("--user is missing: the address of the run's customer has a key or a name, which is not stored");
  return {
    ...flags,
    user: endpoint.baseUrl,
    userModel: userModel ?? endpoint.model,
    userTemperature: flags.userTemperature ?? endpoint.temperature,
    userMaxTokens: flags.userMaxTokens ?? endpoint.maxTokens,
    userBody: flags.userBody ?? (endpoint.extraBody && JSON.stringify(endpoint.extraBody)),
    judgeModel: flags.judgeModel ?? endpoint.judgeModel,
    judgeCustomer: flags.judgeCustomer ?? endpoint.judgeCustomer,
    ...costs,
  };
}

/** The customer without secrets, so that it may be stored. If its URL has a user, password or query, the URL is removed. */
function withoutSecrets(user: UserConfig): UserConfig {
  if (user.mode !== 'endpoint') return user;
  const { username, password, search } = new URL(user.baseUrl);
  return username || password || search ? { ...user, baseUrl: '' } : user;
}

export const sft = command({
  summary: 'train by supervised fine-tuning on conversations; only assistant tokens are in the loss',
  flags: {
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
  },
  async run(flags, progress) {
    checkResume('sft', flags, ['data', 'on', 'json']);
    const note = (text: string) => progress.note(text);
    const folder =
      flags.resume === undefined ? null : await RunFolder.resume<SftSettings>(flags.resume, { flag: '--resume', command: 'sft', note });
    const model = flags.model ?? folder?.settings.model;
    const data = flags.data ?? folder?.settings.data;
    if (model === undefined) throw new UsageError('--model is missing: expected --model');
    if (data === undefined) throw new UsageError('--data is missing: expected --data');
    const text = await readText(data);
    if (text.trim() === '') throw new UsageError(`--data is "${data}": the file is empty`);
    const settings: SftSettings = {
      overrides: overridesOf(flags),
      model,
      data: resolve(data),
      data_sha256: sha256(text),
    };
    if (folder && folder.settings.data_sha256 !== settings.data_sha256)
      throw new UsageError(`--data is "${data}": it is not the file with which the run was started`);
    const run = folder ?? (await newRun('sft', flags, model, settings));
    const { overrides } = run.settings;
    await keepWhenStopped(run, progress, () =>
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
