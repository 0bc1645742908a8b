/** @file Reads the settings in the address, which differ from the preset. This module is loaded only if the address has settings. */
import { ConfigError, grpoConfig } from '../../training/config.ts';
import { grpoSchema, ownName, SETTINGS } from '../../training/settings/index.ts';
import { algorithmValues } from '../../training/algorithms/index.ts';
import { PRESETS } from '../../training/presets.ts';
import type { Conditions } from '../../records/conditions.ts';
import type { GrpoConfig } from '../../records/run.ts';
import { runConditions, sameConditions } from '../labels/conditions.ts';
import { overridesOf } from '../run-data/config-diff.ts';

export type SettingName = keyof GrpoConfig;

export interface Setup {
  /** The configuration of the preset with all valid settings of the address. */
  config: GrpoConfig;
  /** The valid settings that differ from the preset. */
  overrides: Partial<GrpoConfig>;
  /** The text in the address for each setting. TRL’s names are replaced by ours. */
  given: Partial<Record<SettingName, string>>;
  /** For each invalid setting: why its text is invalid. */
  problems: Partial<Record<SettingName, string>>;
  /** Names in the address that are not settings of this version. */
  unknown: string[];
}

/** Reads the settings of an address, with our names or TRL's. An invalid setting keeps the preset's value, and `problems` says why. */
export function readSetup(preset: string, texts: Record<string, string>): Setup {
  const base = PRESETS[preset]!.config;
  const given: Setup['given'] = {};
  const unknown: string[] = [];
  for (const [name, text] of Object.entries(texts)) {
    const own = ownName(name);
    if (Object.hasOwn(base, own)) given[own as SettingName] = text;
    else unknown.push(name);
  }
  // In TRL, the default of epsilon_high is epsilon.
  if (texts.epsilon !== undefined) given.clip_ratio_high ??= texts.epsilon;
  const { config, problems } = resolve(preset, given);
  const overrides = overridesOf(base, config);
  return { config, overrides, given, problems, unknown };
}

/** Reads all settings together, because some depend on others. If that fails, adds them one by one to find the invalid ones. */
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

/** The query change that sets a setting. '' removes a name: TRL's names always, and our name if the preset has the same value. */
export function settingQuery(preset: string, name: SettingName, text: string): Record<string, string> {
  const trl = trlName(name);
  const same = text.trim() === String(PRESETS[preset]!.config[name]);
  return { ...(trl && { [trl]: '' }), [name]: same ? '' : text.trim() };
}

/** Like `settingQuery`, for several settings. */
export function settingsQuery(preset: string, values: Partial<Record<SettingName, unknown>>): Record<string, string> {
  const entries = Object.entries(values) as [SettingName, unknown][];
  return Object.assign({}, ...entries.map(([name, value]) => settingQuery(preset, name, String(value)))) as Record<string, string>;
}

type Phase = 'train' | 'val';

/** The names and values of the settings that describe a phase's conditions. */
function conditionEntries({ customers, tools }: Conditions, phase: Phase): [string, number][] {
  const prefix = phase === 'val' ? 'val_' : '';
  return [
    ...Object.entries(customers).map(([persona, value]): [string, number] => [`${prefix}customers.${persona}`, value]),
    ...Object.entries(tools).map(([fault, value]): [string, number] => [`${prefix}tools.${fault}`, value]),
  ];
}

/** The query change that sets the conditions of a phase. It sets all of them, or removes all if they are the defaults of this setup. */
export function conditionsQuery(
  preset: string,
  texts: Record<string, string>,
  phase: Phase,
  conditions: Conditions,
): Record<string, string> {
  const others = Object.fromEntries(Object.entries(texts).filter(([name]) => !/^(val_)?(customers|tools)\./.test(name)));
  const same = sameConditions(conditions, runConditions(readSetup(preset, others).config, phase));
  return Object.fromEntries(conditionEntries(conditions, phase).map(([name, value]) => [name, same ? '' : String(value)]));
}

/** The query change that sets an algorithm: its settings, and the preset's value for each setting that only other algorithms change. */
export function algorithmQuery(preset: string, name: string, config: GrpoConfig): Record<string, string> {
  return settingsQuery(preset, algorithmValues(name, preset, config));
}

/** TRL's name of a setting; undefined if TRL has no such setting. */
export const trlName = (name: SettingName): string | undefined => SETTINGS[name].trl;

/** The possible values of a boolean or enumerated setting; null for other settings. */
export function choicesOf(name: SettingName): readonly string[] | null {
  const schema = grpoSchema.shape[name];
  if (schema.type === 'boolean') return ['true', 'false'];
  return 'options' in schema ? (schema.options as string[]) : null;
}
