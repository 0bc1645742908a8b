/**
 * @file The algorithms that a user can choose for a run. Each is a named bundle of settings, and the user can still change
 * each setting.
 */
import { unknownName } from '../../base/did-you-mean.ts';
import type { GrpoConfig } from '../../records/run.ts';
import { ConfigError, grpoConfig } from '../config.ts';
import { PRESETS } from '../presets.ts';
import { cispo } from './cispo.ts';
import { dapo } from './dapo.ts';
import { drGrpo } from './dr-grpo.ts';
import { grpo } from './grpo.ts';
import { gspo } from './gspo.ts';
import { gtpo } from './gtpo.ts';
import { mtGrpo } from './mt-grpo.ts';
import { ppoEpochs } from './ppo-epochs.ts';
import { reinforcePlusPlus } from './reinforce-plus-plus.ts';
import { rloo } from './rloo.ts';
import type { Algorithm } from './types.ts';

export const ALGORITHMS: Record<string, Algorithm> = {
  grpo,
  'dr-grpo': drGrpo,
  rloo,
  'reinforce-plus-plus': reinforcePlusPlus,
  gspo,
  cispo,
  dapo,
  'ppo-epochs': ppoEpochs,
  'mt-grpo': mtGrpo,
  gtpo,
};

/**
 * Adds the settings of an algorithm to `overrides`. A setting that is already in `overrides` wins.
 * @throws ConfigError if the algorithm is unknown
 */
export function withAlgorithm(name: string, preset: string, overrides: Record<string, unknown>): Record<string, unknown> {
  if (!Object.hasOwn(ALGORITHMS, name)) throw new ConfigError(unknownName('algorithm', name, Object.keys(ALGORITHMS)));
  const own: Record<string, unknown> = ALGORITHMS[name]!.settings(grpoConfig(preset, overrides));
  return { ...own, ...overrides };
}

/**
 * The values of all settings that any algorithm changes. A setting that `name` does not change has the preset's value.
 * `config` is the configuration of the run: some values depend on its batch size.
 */
export function algorithmValues(name: string, preset: string, config: GrpoConfig): Partial<GrpoConfig> {
  const all = Object.values(ALGORITHMS).flatMap(({ settings }) => Object.keys(settings(config)) as (keyof GrpoConfig)[]);
  // The presets make one optimizer update for each batch, so the mini-batch is the whole batch.
  const base = { ...PRESETS[preset]!.config, ppo_mini_batch_size: config.train_batch_size };
  const start = { ...config, ...Object.fromEntries([...new Set(all)].map((setting) => [setting, base[setting]])) };
  const own = ALGORITHMS[name]!.settings(start);
  return Object.fromEntries([...new Set(all)].map((setting) => [setting, own[setting] ?? start[setting]]));
}

/** The name of the algorithm whose settings a configuration has. Undefined if the settings fit no algorithm. */
export const algorithmOf = (preset: string, config: GrpoConfig): string | undefined =>
  Object.keys(ALGORITHMS).find((name) =>
    Object.entries(algorithmValues(name, preset, config)).every(([setting, value]) => config[setting as keyof GrpoConfig] === value),
  );
