/** @file The flags of `mua train` and `mua sft`, and the settings and customers that they mean. */
import { unknownName } from '../../base/did-you-mean.ts';
import type { BrowserUser, UserConfig } from '../../records/user.ts';
import { ALGORITHMS } from '../../training/algorithms/index.ts';
import { DEFAULT_PRESET, isBundled, PRESETS } from '../../training/presets.ts';
import { type Flag, type Flags, readPairs, SEED, type Values } from '../args.ts';
import { ON } from '../backend.ts';
import { ANSWER_FLAGS } from '../answer.ts';
import { DATA_FLAGS, IMPORTED_LEVEL_FLAG } from '../benchmark-data.ts';
import { UsageError } from '../errors.ts';
import { WORLD_FLAGS } from '../world.ts';
import type { TrainSettings } from '../settings.ts';
import { COST_FLAGS, JSON_FLAG, MODEL, readValUser, SET, USER_FLAGS, type UserValues } from './shared.ts';

/** The name of a preset's bundled model. */
export function bundledModel(preset: string): string {
  const known = Object.hasOwn(PRESETS, preset) ? PRESETS[preset]! : undefined;
  if (!known) throw new UsageError(unknownName('preset', preset, Object.keys(PRESETS)));
  if (!isBundled(known)) throw new UsageError(`--model is missing: expected a folder, as the model of preset ${preset} is not bundled`);
  return known.model;
}
export const STEPS = {
  type: 'integer',
  value: 'N',
  help: 'number of optimizer steps (default: the preset’s)',
  min: 1,
} as const satisfies Flag;
const { default: _, ...ofPreset } = SEED;
export const SEED_OF_PRESET = ofPreset;

/** The flags that `mua train` and `mua sft` share. */
export const RUN_FLAGS = {
  lora: {
    type: 'string',
    value: 'DIR',
    help: 'LoRA adapter in PEFT’s format to continue training; --set lora_rank=R trains a new one',
  },
  out: { type: 'string', value: 'DIR', help: 'new folder for the results (required, except with --resume)' },
  force: { type: 'boolean', help: 'replace the run that --out already holds' },
  resume: { type: 'string', value: 'DIR', help: 'continue a run that was stopped, with its settings' },
} as const satisfies Flags;

export const TRAIN_FLAGS = {
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
  rules: { ...DATA_FLAGS.rules, required: false, help: `train on the tasks of ${DATA_FLAGS.rules.help}; needs --data` },
  data: { ...DATA_FLAGS.data, required: false },
  domain: { ...DATA_FLAGS.domain, help: `domain of --data: ${DATA_FLAGS.domain.help}` },
  level: {
    ...IMPORTED_LEVEL_FLAG,
    choices: undefined,
    help: `${IMPORTED_LEVEL_FLAG.help}; with --world one of its levels (default: the first)`,
  },
  ...WORLD_FLAGS,
  ...ANSWER_FLAGS,
  answer: { ...ANSWER_FLAGS.answer, help: `${ANSWER_FLAGS.answer.help}; in training only: evaluations have the own tools` },
  model: { ...MODEL, required: false, help: 'model folder or GGUF file to start from (default: the preset’s bundled model)' },
  steps: STEPS,
  seed: SEED_OF_PRESET,
  'cold-start': { type: 'boolean', help: 'train the cold start of the preset instead: supervised, on conversations of demonstrators' },
  plan: { type: 'boolean', help: 'print the memory and the time that the run would take, and do not start it' },
  'stop-on-alarm': { type: 'boolean', help: 'end the run after the step in which an alarm begins' },
  ...USER_FLAGS,
  ...COST_FLAGS,
  user: { ...USER_FLAGS.user, default: undefined, help: `${USER_FLAGS.user.help} (default scripted)` },
  judge: {
    type: 'string',
    value: 'JUDGE',
    help: 'who rewards the answers of the preset question: rule, or a judge who compares them, which is learned, hub:…, folder:… or a URL as for --user; MUA_USER_KEY and the flags of the server hold for it too (default rule)',
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

export type TrainValues = Values<typeof TRAIN_FLAGS>;
export const givenValUser = ({ valUser, userDevice }: TrainValues): BrowserUser | undefined =>
  valUser === undefined ? undefined : readValUser(valUser, userDevice);

/** @param place the settings of an imported benchmark */
export function trainSettings(
  { preset = DEFAULT_PRESET, algorithm, coldStart, stopOnAlarm, judge, ...flags }: TrainValues,
  place: Record<string, string>,
): Pick<TrainSettings, 'preset' | 'algorithm' | 'overrides'> {
  return {
    preset,
    algorithm: algorithm ?? '',
    overrides: {
      ...(coldStart && coldStartOf(preset)),
      ...place,
      ...(stopOnAlarm && { stop_on_alarm: 'true' }),
      ...rewardOf(judge),
      ...overridesOf(flags),
    },
  };
}

/** The settings of the preset's cold start. */
function coldStartOf(preset: string): Record<string, string> {
  const settings = PRESETS[preset]?.coldStart;
  const having = Object.keys(PRESETS).filter((name) => PRESETS[name]!.coldStart);
  if (!settings) throw new UsageError(`--cold-start is given: expected --preset ${having.join(' or ')}, not ${preset}`);
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]));
}

/** The settings that give the whole reward to the judge, or to the rule. */
function rewardOf(judge: string | undefined): Record<string, string> {
  if (judge === undefined) return {};
  const [byJudge, byRule] = judge === 'rule' ? ['0', '1'] : ['1', '0'];
  return { 'reward.judge': byJudge, 'reward.outcome': byRule };
}

/** The flags with the judge as the customer, whose model judges. The preset's customers are scripted, so the model only judges. */
export function withJudge(flags: TrainValues): TrainValues {
  const { judge, user, userModel, judgeModel } = flags;
  if (judge === undefined) return flags;
  if (user !== undefined) throw new UsageError('--judge and --user are given: expected one of them, as both name the same server');
  if (judge === 'rule') return flags;
  if (judge !== 'learned' && !/^(hub|folder):/.test(judge) && !URL.canParse(judge))
    throw new UsageError(`--judge is "${judge}": expected rule, learned, hub:OWNER/NAME, folder:DIR or an http(s) URL`);
  return { ...flags, user: judge, userModel: userModel ?? judgeModel };
}

export const overridesOf = ({ set, steps, seed }: Pick<TrainValues, 'set' | 'steps' | 'seed'>): Record<string, string> => ({
  ...readPairs('set', set),
  ...(steps === undefined ? {} : { total_training_steps: String(steps) }),
  ...(seed === undefined ? {} : { seed: String(seed) }),
});

/** The customer that the flags name. If they name none: the customer of the resumed run, or the scripted customer. */
export function customerFlags(flags: TrainValues, stored: UserConfig | undefined): UserValues {
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
export function withoutSecrets(user: UserConfig): UserConfig {
  if (user.mode !== 'endpoint') return user;
  const { username, password, search } = new URL(user.baseUrl);
  return username || password || search ? { ...user, baseUrl: '' } : user;
}
