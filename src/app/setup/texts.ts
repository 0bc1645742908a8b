/** @file Which parts of the home page's query are settings of the new run. */

/** The settings of an address as the form shows them. */
export interface SetupTexts {
  /** Names and values of the settings that differ from the preset. */
  changes: [name: string, value: unknown][];
  /** A sentence for each invalid setting. Training does not start while there are any. */
  problems: string[];
  /** Names that are not settings of this version. */
  unknown: string[];
}

/** Query names that are no settings, or have their own form fields. */
const OTHERS: ReadonlySet<string> = new Set(['preset', 'seed', 'model', 'setup']);

/** The unparsed settings of the address, by name. `readSetup` parses them. */
export function settingTexts(query: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(query).filter((entry): entry is [string, string] => !OTHERS.has(entry[0]) && typeof entry[1] === 'string'),
  );
}
