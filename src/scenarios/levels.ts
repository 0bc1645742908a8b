/** @file The levels of a scenario, from easy to hard. */

/** Whether a thing exists at a level. @param from the first level that has the thing; undefined: all levels have it */
export const reaches = (levels: readonly string[], from: string | undefined, level: string): boolean =>
  levels.indexOf(from ?? levels[0]!) <= levels.indexOf(level);
