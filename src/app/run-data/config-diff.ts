/** @file Finds the settings in which a run's configuration differs from its preset. */
import { levelSettings } from '../../domains/registry.ts';
import type { GrpoConfig } from '../../records/run.ts';

export interface ConfigChange {
  name: keyof GrpoConfig;
  from: GrpoConfig[keyof GrpoConfig];
  to: GrpoConfig[keyof GrpoConfig];
}

/**
 * The settings that make `config` of a preset. On another domain or level than the preset's, the customers and tool faults that are not
 * set are those of that place. Of customers, all shares are set or none, because a share that is not set depends on the others.
 */
export function overridesOf(preset: GrpoConfig, config: GrpoConfig): Partial<GrpoConfig> {
  const isElsewhere = config.domain !== preset.domain || config.level !== preset.level;
  const start = isElsewhere ? { ...preset, ...levelSettings(config.domain, config.level) } : preset;
  const changed = configDiff(start, config).map(({ name }) => name);
  const prefixes = ['customers.', 'val_customers.'].filter((prefix) => changed.some((name) => name.startsWith(prefix)));
  const isSet = (name: string) => changed.includes(name as keyof GrpoConfig) || prefixes.some((prefix) => name.startsWith(prefix));
  return Object.fromEntries(Object.entries(config).filter(([name]) => Object.hasOwn(preset, name) && isSet(name)));
}

/** The settings with different values, in the order of the configuration. Ignores settings that an older run does not have. */
export function configDiff(base: GrpoConfig, config: GrpoConfig): ConfigChange[] {
  const names = Object.keys(base) as (keyof GrpoConfig)[];
  return names
    .filter((name) => Object.hasOwn(config, name) && base[name] !== config[name])
    .map((name) => ({ name, from: base[name], to: config[name] }));
}
