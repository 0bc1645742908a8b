/** @file Finds the settings of the new run in the query of the home page. */
import { DEFAULT_PRESET, PRESETS } from '../../training/presets.ts';

/** The settings of an address as the form shows them. */
export interface SetupTexts {
  /** Names and values of the settings that differ from the preset. */
  changes: [name: string, value: unknown][];
  /** One sentence for each invalid setting. Training cannot start while a setting is invalid. */
  problems: string[];
  /** Names that are not settings of this version. */
  unknown: string[];
}

/** The preset of an address. An address with settings but without a preset means the preset that command lines use. */
export const presetOf = ({ preset }: { preset: string }): string => (Object.hasOwn(PRESETS, preset) ? preset : DEFAULT_PRESET);

/** True if an address names neither a preset nor a setting, a seed or a model. Then the page chooses the preset. */
export const saysNothing = (query: Record<string, unknown>): boolean =>
  Object.entries(query).every(([name, value]) => name === 'setup' || value === '' || value === null);

/** The names in the query that are not settings, or that have separate form fields. */
const OTHERS: ReadonlySet<string> = new Set(['preset', 'seed', 'model', 'setup']);

/** The settings in the address as text, by name. `readSetup` parses them. */
export function settingTexts(query: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(query).filter((entry): entry is [string, string] => !OTHERS.has(entry[0]) && typeof entry[1] === 'string'),
  );
}
