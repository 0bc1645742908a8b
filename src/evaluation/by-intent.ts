/** @file Groups tasks by what their customers want. */

/** The group of tasks whose wishes have different intents. */
export const SEVERAL = 'several';

/** The intent of all wishes of a task: `cancel` for `cancel+cancel (impossible)`. `several` if the wishes differ. */
export function intentGroup(intents: string): string {
  const [first = '', ...others] = new Set(intents.split('+').map((intent) => intent.replace(' (impossible)', '')));
  return others.length === 0 ? first : SEVERAL;
}
