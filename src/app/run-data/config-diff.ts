/** @file Finds the settings in which a run's configuration differs from its preset. */
import type { GrpoConfig } from '../../records/run.ts';

export interface ConfigChange {
  name: keyof GrpoConfig;
  from: GrpoConfig[keyof GrpoConfig];
  to: GrpoConfig[keyof GrpoConfig];
}

/** The settings with different values, in the order of the configuration. Ignores settings that an older run does not have. */
export function configDiff(base: GrpoConfig, config: GrpoConfig): ConfigChange[] {
  const names = Object.keys(base) as (keyof GrpoConfig)[];
  return names
    .filter((name) => Object.hasOwn(config, name) && base[name] !== config[name])
    .map((name) => ({ name, from: base[name], to: config[name] }));
}
