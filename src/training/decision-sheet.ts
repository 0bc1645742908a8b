/**
 * @file The decision sheet: where MUA-RL's code makes a choice, what that choice is, and what this project does. If a decision
 * has a setting, both ways are possible: the preset `faithful` chooses MUA-RL's way, and the default preset chooses ours. If a
 * decision has no setting, MUA-RL's way is not available here.
 */
import { PAPER } from './defaults.ts';
import { DEFAULT_PRESET, PRESETS } from './presets.ts';
import { GROUPS } from './settings/index.ts';
import type { Choice } from './settings/setting.ts';
import type { GrpoConfig } from '../records/run.ts';

export interface Decision extends Choice {
  setting?: keyof GrpoConfig;
}

/** The decisions of each group of settings. Within a group, decisions with a setting come first. */
export const DECISIONS: readonly Decision[] = GROUPS.flatMap(({ settings, choices = [] }) => [
  ...Object.entries(settings).flatMap(([name, { choice }]) => (choice ? [{ ...choice, setting: name as keyof GrpoConfig }] : [])),
  ...choices,
]);

/** The values of a decision's setting: in MUA-RL's script, and in our default preset. Null if the decision has no setting. */
export function valuesOf({ setting }: Decision): { upstream: GrpoConfig[keyof GrpoConfig]; ours: GrpoConfig[keyof GrpoConfig] } | null {
  return setting === undefined ? null : { upstream: PAPER[setting], ours: PRESETS[DEFAULT_PRESET]!.config[setting] };
}
