/** @file The configuration in the address: any setting that differs from the preset. Loaded only where there is one to read. */
import { ALIASES, ConfigError, grpoConfig, grpoSchema } from '../../training/config.ts';
import { PRESETS } from '../../training/presets.ts';
import type { GrpoConfig } from '../../training/types.ts';
import { configDiff } from '../logic/config-diff.ts';

export type SettingName = keyof GrpoConfig;

export interface Setup {
  /** With every setting that could be read. */
  config: GrpoConfig;
  /** What differs from the preset. */
  overrides: Partial<GrpoConfig>;
  /** The text given for a setting, under its own name. */
  given: Partial<Record<SettingName, string>>;
  problems: Partial<Record<SettingName, string>>;
  /** Names in the address that this version does not know. */
  unknown: string[];
}

/** Reads settings as they stand in an address, TRL's names too. What cannot be read is left as in the preset, with the reason. */
export function readSetup(preset: string, texts: Record<string, string>): Setup {
  const base = PRESETS[preset]!.config;
  const given: Setup['given'] = {};
  const unknown: string[] = [];
  for (const [name, text] of Object.entries(texts)) {
    const own = Object.hasOwn(ALIASES, name) ? ALIASES[name]! : name;
    if (Object.hasOwn(base, own)) given[own as SettingName] = text;
    else unknown.push(name);
  }
  // TRL: epsilon_high defaults to epsilon.
  if (texts.epsilon !== undefined) given.clip_ratio_high ??= texts.epsilon;
  const { config, problems } = resolve(preset, given);
  const overrides = Object.fromEntries(configDiff(base, config).map(({ name, to }) => [name, to])) as Partial<GrpoConfig>;
  return { config, overrides, given, problems, unknown };
}

/** All at once, as some settings depend on others; one by one where that fails, to know which it is. */
function resolve(preset: string, given: Setup['given']): Pick<Setup, 'config' | 'problems'> {
  try {
    return { config: grpoConfig(preset, given), problems: {} };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
  }
  const problems: Setup['problems'] = {};
  const good: Setup['given'] = {};
  for (const [name, text] of Object.entries(given) as [SettingName, string][]) {
    try {
      grpoConfig(preset, { ...good, [name]: text });
      good[name] = text;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems[name] = error.message;
    }
  }
  return { config: grpoConfig(preset, good), problems };
}

/** The query that gives a setting this value: nothing where the preset has it already. TRL's names of it are removed. */
export function settingQuery(preset: string, name: SettingName, text: string): Record<string, string> {
  const aliases = Object.entries(ALIASES).flatMap(([alias, own]) => (own === name ? [[alias, '']] : []));
  const same = text.trim() === String(PRESETS[preset]!.config[name]);
  return { ...Object.fromEntries(aliases), [name]: same ? '' : text.trim() };
}

/** TRL's name of a setting, where it has one. */
export const trlName = (name: SettingName): string | undefined => Object.entries(ALIASES).find(([, own]) => own === name)?.[0];

/** The values a setting can have, where they can be listed. */
export function choicesOf(name: SettingName): readonly string[] | null {
  const schema = grpoSchema.shape[name];
  if (schema.type === 'boolean') return ['true', 'false'];
  return 'options' in schema ? (schema.options as string[]) : null;
}
