/** @file Which values of home's query are settings of the run to start. */

/** They have places of their own on the page. */
const OTHERS: ReadonlySet<string> = new Set(['preset', 'seed', 'model']);

/** Settings as they stand in the address, unread: reading them takes the schema. */
export function settingTexts(query: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(query).filter((entry): entry is [string, string] => !OTHERS.has(entry[0]) && typeof entry[1] === 'string'));
}
