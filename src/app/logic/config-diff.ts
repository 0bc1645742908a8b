/** @file What a run changed: its configuration against its preset. */
import type { GrpoConfig } from '../../training/types.ts';

export interface ConfigChange {
  name: keyof GrpoConfig;
  from: GrpoConfig[keyof GrpoConfig];
  to: GrpoConfig[keyof GrpoConfig];
}

/** Settings whose value differs, in the order of the configuration; those that a run of an earlier version lacks do not. */
export function configDiff(base: GrpoConfig, config: GrpoConfig): ConfigChange[] {
  const names = Object.keys(base) as (keyof GrpoConfig)[];
  return names.filter((name) => Object.hasOwn(config, name) && base[name] !== config[name]).map((name) => ({ name, from: base[name], to: config[name] }));
}
