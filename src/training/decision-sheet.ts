/**
 * @file The decision sheet: where MUA-RL's code makes a choice, what that choice is, and what this project does. A decision
 * with a setting can be made either way: the preset `faithful` chooses as upstream, the default preset as we do. For a
 * decision without a setting, upstream's way is not available here.
 */
import { PAPER } from './defaults.ts';
import { DEFAULT_PRESET, PRESETS } from './presets.ts';
import { GROUPS } from './settings/index.ts';
import type { Choice } from './settings/setting.ts';
import type { GrpoConfig } from '../records/run.ts';

export interface Decision extends Choice {
  setting?: keyof GrpoConfig;
}

/** The choices of each group of settings: those with a setting, then those without. */
export const DECISIONS: readonly Decision[] = GROUPS.flatMap(({ settings, choices = [] }) => [
  ...Object.entries(settings).flatMap(([name, { choice }]) => (choice ? [{ ...choice, setting: name as keyof GrpoConfig }] : [])),
  ...choices,
]);

/** The values of a decision's setting in MUA-RL's script and in our default preset; null if it has no setting. */
export function valuesOf({ setting }: Decision): { upstream: GrpoConfig[keyof GrpoConfig]; ours: GrpoConfig[keyof GrpoConfig] } | null {
  return setting === undefined ? null : { upstream: PAPER[setting], ours: PRESETS[DEFAULT_PRESET]!.config[setting] };
}
