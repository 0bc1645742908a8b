/** @file Reads and checks the settings of a run. The names are verl's; TRL's names are accepted too. */
import type { z } from 'zod';
import { didYouMean, unknownName } from '../base/did-you-mean.ts';
import { COLD_START, completeShares, conditionSettings, conditionsOf, readIntents, readNames } from '../environments/conditions.ts';
import { PERSONAS, type Conditions, type CustomerShares } from '../records/conditions.ts';
import {
  AUDITED,
  CHOOSABLE,
  GENERATED,
  hasConditions,
  hasHabits,
  intentsOf,
  isAudited,
  JUDGED,
  levelSettings,
  levelsOf,
  rewardsTurns,
  taskSplits,
  TURN_REWARDED,
  wishOf,
  WITH_HABITS,
} from '../domains/registry.ts';
import { type Habit, HABITS, type HabitShares, type Style, STYLES } from '../records/dataset.ts';
import { REWARD_TERMS } from '../records/rewards.ts';
import { shown } from '../base/input-error.ts';
import type { GrpoConfig } from '../records/run.ts';
import { isTurnLevel } from './advantages.ts';
import { checkAnswer } from './check-answer.ts';
import { ConfigError } from './config-error.ts';
import { PAPER, SFT_DEFAULTS } from './defaults.ts';
import { valDomains } from './evaluation-settings.ts';
import { limitsFor, PRESETS } from './presets.ts';
import { DPO_DEFAULTS, type DpoConfig, dpoSchema } from './settings/dpo.ts';
import { grpoSchema, ownName, SETTINGS, type SftConfig, sftSchema } from './settings/index.ts';

export { ConfigError };

/**
 * Applies `overrides` to `base`. The values may be strings, as from a command line or a URL.
 * @throws ConfigError that names the setting, its value and the values it can have
 */
function resolve<T extends object>(schema: z.ZodType<T>, base: T, overrides: Record<string, unknown>): T {
  const merged = { ...base } as Record<string, unknown>;
  for (const [given, raw] of Object.entries(overrides)) {
    if (raw === undefined) continue;
    const name = Object.hasOwn(base, given) ? given : ownName(given);
    if (!Object.hasOwn(base, name)) throw new ConfigError(unknownName('setting', given, Object.keys(base)));
    merged[name] = parseValue(name, raw, (base as Record<string, unknown>)[name]);
  }
  const result = schema.safeParse(merged);
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  const field = String(issue.path[0]);
  throw new ConfigError(`setting "${field}" is ${shown(merged[field])}: ${issue.message}`);
}

function parseValue(name: string, raw: unknown, example: unknown): unknown {
  if (typeof raw !== 'string') return raw;
  if (typeof example === 'string') return SETTINGS[name as keyof GrpoConfig]?.valueAliases?.[raw] ?? raw;
  if (typeof example === 'boolean') {
    if (raw === 'true' || raw === 'True') return true;
    if (raw === 'false' || raw === 'False') return false;
    throw new ConfigError(`setting "${name}" is "${raw}": expected true or false`);
  }
  const value = Number(raw);
  if (raw.trim() === '' || !Number.isFinite(value)) throw new ConfigError(`setting "${name}" is "${raw}": expected a number`);
  return value;
}

/**
 * Completes `given` with the shares of all customers, if it has a share or the level. Shares that are not given keep their
 * proportions (`completeShares`).
 * @throws ConfigError
 */
function withConditions(base: GrpoConfig, given: Record<string, unknown>): Record<string, unknown> {
  const named = Object.keys(given).filter((name) => given[name] !== undefined && /^(val_)?(customers|tools)\./.test(name));
  const domain = String(given.domain ?? base.domain);
  const level = String(given.level ?? base.level);
  if (named.length > 0 && !hasConditions(domain, level))
    throw new ConfigError(
      `setting "${named[0]}" is set: only ${CHOOSABLE.join(' and ')} have customers and tools that can be set, not ${domain} ${level}`,
    );
  const usual = level === base.level && domain === base.domain ? {} : levelSettings(domain, level);
  const start = { ...base, ...usual };
  const completed: Record<string, unknown> = {};
  for (const phase of ['train', 'val'] as const) {
    const prefix = phase === 'val' ? 'val_customers.' : 'customers.';
    const shares = Object.fromEntries(
      named.filter((name) => name.startsWith(prefix)).map((name) => [name.slice(prefix.length), parseValue(name, given[name], 0)]),
    ) as Partial<CustomerShares>;
    for (const persona of Object.keys(shares))
      if (!(PERSONAS as readonly string[]).includes(persona))
        throw new ConfigError(
          `unknown setting "${prefix}${persona}"${didYouMean(persona, PERSONAS)}; known: ${PERSONAS.map((known) => prefix + known).join(', ')}`,
        );
    if (Object.keys(shares).length === 0) continue;
    try {
      for (const [persona, share] of Object.entries(completeShares(conditionsOf(start, phase).customers, shares)))
        completed[prefix + persona] = share;
    } catch (error) {
      throw new ConfigError(`${phase === 'val' ? 'val_' : ''}${(error as Error).message}`);
    }
  }
  return { ...usual, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)), ...completed };
}

/** Applies `given` to `base`. As in verl, GSPO averages the loss over sequences. @throws ConfigError */
function withLoss(base: GrpoConfig, given: Record<string, unknown>): GrpoConfig {
  const gspo = (given.loss_mode ?? given['policy_loss.loss_mode']) === 'gspo' && given.loss_agg_mode === undefined;
  const config = resolve(grpoSchema, base, gspo ? { ...given, loss_agg_mode: 'seq-mean-token-mean' } : given);
  if (config.loss_mode === 'gspo' && config.loss_agg_mode !== 'seq-mean-token-mean')
    throw new ConfigError(`setting "loss_agg_mode" is "${config.loss_agg_mode}": expected seq-mean-token-mean, as loss_mode is gspo`);
  return config;
}

/** @throws ConfigError */
export function grpoConfig(preset: string, overrides: Record<string, unknown> = {}): GrpoConfig {
  if (!Object.hasOwn(PRESETS, preset)) throw new ConfigError(unknownName('preset', preset, Object.keys(PRESETS)));
  const base = PRESETS[preset]!.config;
  const given = withConditions(base, overrides);
  // If only the batch size is changed, a batch still makes one update, as in the preset.
  if (given.train_batch_size !== undefined && given.ppo_mini_batch_size === undefined) given.ppo_mini_batch_size = given.train_batch_size;
  // In TRL, the default of epsilon_high is epsilon.
  if (given.epsilon !== undefined && given.epsilon_high === undefined) given.epsilon_high = given.epsilon;
  const config = withLoss(base, given);
  const buffer = config['overlong_buffer.len'];
  if (config['overlong_buffer.enable'] && (buffer < 1 || buffer > config.max_model_len))
    throw new ConfigError(
      `setting "overlong_buffer.len" is ${buffer}: expected 1 to max_model_len (${config.max_model_len}), as overlong_buffer.enable is true`,
    );
  if (config.kv_cache_tokens > 0 && config.kv_cache_tokens < config.max_model_len)
    throw new ConfigError(
      `setting "kv_cache_tokens" is ${config.kv_cache_tokens}: expected 0, or at least max_model_len (${config.max_model_len})`,
    );
  if (config.n < 2) throw new ConfigError(`setting "n" is ${config.n}: expected at least 2, as GRPO compares the rollouts of a group`);
  if (config.algorithm === 'sft' && config.train_split !== 'train')
    throw new ConfigError(
      `setting "train_split" is "${config.train_split}": expected train with algorithm sft, as demonstrators serve no held-out tasks`,
    );
  if (config.train_batch_size % config.ppo_mini_batch_size !== 0) {
    throw new ConfigError(
      `setting "ppo_mini_batch_size" is ${config.ppo_mini_batch_size}: expected a divisor of train_batch_size (${config.train_batch_size})`,
    );
  }
  checkAnswer(config);
  checkValDomains(config);
  checkIntents(config);
  checkHabits(config);
  checkRewards(config);
  return config;
}

/** @throws ConfigError if a domain of the evaluation is unknown, or lacks the level or the split */
function checkValDomains(config: GrpoConfig): void {
  const { level, val_split } = config;
  const having = GENERATED.filter(({ name }) => levelsOf(name).includes(level)).map(({ name }) => name);
  for (const domain of readNames(config.val_domains))
    if (domain !== config.domain && !having.includes(domain))
      throw new ConfigError(
        `setting "val_domains" has "${domain}": expected some of ${having.join(', ')}, the domains with level ${level}${didYouMean(domain, having)}`,
      );
  for (const domain of valDomains(config)) {
    const splits = taskSplits(domain, level);
    if (!splits.includes(val_split))
      throw new ConfigError(`setting "val_split" is "${val_split}": expected ${splits.join(' or ')}, the splits of ${domain}`);
  }
}

/** @throws ConfigError if an intent is none of the level's, in one of the domains that play it */
function checkIntents(config: GrpoConfig): void {
  const places = { intents: [config.domain], val_intents: valDomains(config) };
  for (const [name, domains] of Object.entries(places) as [keyof typeof places, string[]][])
    for (const domain of domains) {
      const known = intentsOf(domain, config.level);
      const unknown = readIntents(config[name]).find((intent) => !known.includes(intent));
      if (unknown === undefined) continue;
      const expected = known.length > 0 ? `some of ${known.join(', ')}` : 'no value';
      throw new ConfigError(`setting "${name}" has "${unknown}": expected ${expected} at ${domain} ${config.level}`);
    }
}

/** @throws ConfigError if a habit is set for demonstrators that always have it */
function checkHabits(config: GrpoConfig): void {
  const name = HABIT_SETTINGS.find((setting) => config[setting] !== 1);
  if (name === undefined || hasHabits(config.domain)) return;
  throw new ConfigError(
    `setting "${name}" is ${config[name]}: expected 1, as only demonstrators of ${WITH_HABITS.join(', ')} can lack habits`,
  );
}

/** @throws ConfigError if no term of the reward is switched on, or if the domain or the estimator does not fit a term */
function checkRewards(config: GrpoConfig): void {
  if (REWARD_TERMS.every((term) => config[`reward.${term}`] === 0))
    throw new ConfigError('setting "reward.outcome" is 0: expected a weight or price above 0 for at least one setting reward.*');
  const turn = config['reward.turn'];
  if (turn > 0 && !rewardsTurns(config.domain))
    throw new ConfigError(
      `setting "reward.turn" is ${turn}: expected a domain whose goal is rows that only the agent changes (${TURN_REWARDED.join(', ')}), not ${config.domain}`,
    );
  if (turn === 0 && isTurnLevel(config))
    throw new ConfigError(`setting "reward.turn" is 0: expected a weight above 0, as adv_estimator is ${config.adv_estimator}`);
  checkJudge(config);
  if (isAudited(config.domain)) return;
  const needsAudit = `expected a domain whose rules are audited (${AUDITED.join(', ')}), not ${config.domain}`;
  if (config['reward.unconfirmed_write'] > 0)
    throw new ConfigError(`setting "reward.unconfirmed_write" is ${config['reward.unconfirmed_write']}: ${needsAudit}`);
  if (config['reward.partial'] > 0 && config['reward.partial_gate'] === 'no_violations')
    throw new ConfigError(`setting "reward.partial_gate" is "no_violations": ${needsAudit}`);
}

/** @throws ConfigError if a judge is wanted where it cannot compare answers */
function checkJudge(config: GrpoConfig): void {
  const { domain, level, algorithm } = config;
  const wrong = (expected: string) => new ConfigError(`setting "reward.judge" is ${config['reward.judge']}: expected ${expected}`);
  if (config['reward.judge'] === 0) return;
  if (wishOf(domain, level) === undefined)
    throw wrong(`0, as a judge only compares answers of ${JUDGED.join(', ')}, not of ${domain} ${level}`);
  if (algorithm !== 'grpo') throw wrong(`0, as algorithm is ${algorithm}, which does not use the rewards of a group`);
  if (!config['judge.original']) return;
  if (config['filter_groups.max_num_gen_batches'] !== 1)
    throw new ConfigError(
      `setting "filter_groups.max_num_gen_batches" is ${config['filter_groups.max_num_gen_batches']}: expected 1, as judge.original is true`,
    );
}

/**
 * The settings of an evaluation. They start from `preset`, or from the limits for the domain and level, and the overrides are
 * applied.
 * @throws ConfigError
 */
export function evaluationConfig({
  domain,
  level,
  preset,
  settings = {},
}: {
  domain: string;
  level: string;
  preset?: string;
  settings?: Record<string, string>;
}): GrpoConfig {
  const base = preset === undefined ? limitsFor(domain, level) : grpoConfig(preset);
  const config = resolve(grpoSchema, base, withConditions(base, { ...settings, domain, level }));
  checkIntents(config);
  return config;
}

const HABIT_SETTINGS = STYLES.flatMap((style) => HABITS.map((habit) => `demonstrators.${style}.${habit}` as const));

/** The settings of the cold start's conversations. */
const COLD_START_SETTINGS = [
  ...Object.keys(conditionSettings(COLD_START)).filter((name) => !name.startsWith('val_')),
  ...HABIT_SETTINGS,
  'intents',
];

/** The shares of customers and tool faults in the conversations of the cold start, and what its demonstrators do. @throws ConfigError */
export function coldStart(
  domain: string,
  level: string,
  settings: Record<string, unknown> = {},
): { conditions: Conditions; habits: HabitShares } {
  const other = Object.keys(settings).find((name) => !COLD_START_SETTINGS.includes(name));
  if (other) throw new ConfigError(unknownName('setting', other, COLD_START_SETTINGS));
  const base: GrpoConfig = { ...limitsFor(domain, level), ...conditionSettings(COLD_START) };
  const config = resolve(grpoSchema, base, withConditions(base, settings));
  checkIntents(config);
  checkHabits(config);
  return { conditions: conditionsOf(config, 'train'), habits: habitsOf(config) };
}

/** The habits of the demonstrators. Runs from before a habit existed have no setting for it. */
export const habitsOf = (config: Partial<Pick<GrpoConfig, `demonstrators.${Style}.${Habit}`>>): HabitShares => {
  const of = (style: Style) => Object.fromEntries(HABITS.map((habit) => [habit, config[`demonstrators.${style}.${habit}`] ?? 1]));
  return Object.fromEntries(STYLES.map((style) => [style, of(style)])) as HabitShares;
};

/** @throws ConfigError */
export function sftConfig(overrides: Record<string, unknown> = {}): SftConfig {
  return resolve(sftSchema, SFT_DEFAULTS, overrides);
}

/** @throws ConfigError */
export function dpoConfig(overrides: Record<string, unknown> = {}): DpoConfig {
  const config = resolve<DpoConfig>(dpoSchema, { ...SFT_DEFAULTS, ...DPO_DEFAULTS }, overrides);
  if (config.loss_type !== 'sigmoid' && config.label_smoothing > 0)
    throw new ConfigError(`setting "label_smoothing" is ${config.label_smoothing}: expected 0, as loss_type is ${config.loss_type}`);
  return config;
}

/** The loss settings of `mua grad`: the paper's settings, with overrides. @throws ConfigError */
export function lossConfig(overrides: Record<string, unknown> = {}): GrpoConfig {
  return withLoss(PAPER, overrides);
}
