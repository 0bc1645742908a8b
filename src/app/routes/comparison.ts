/** @file The address of a comparison of runs, rollouts or evaluations. */

/** The number of colours for curves. */
export const MOST_RUNS = 6;

export interface RolloutAddress {
  run: string;
  id: string;
}

/** The query value `of` for two rollouts: `run/rollout,run/rollout`, each name escaped as in a path. */
export const pairText = (pair: readonly RolloutAddress[]) =>
  pair.map(({ run, id }) => `${encodeURIComponent(run)}/${encodeURIComponent(id)}`).join(',');

/** @returns null if `of` does not name two rollouts */
export function readPair(of: string): [RolloutAddress, RolloutAddress] | null {
  const sides = of.split(',').map((side) => side.split('/'));
  if (sides.length !== 2 || sides.some((side) => side.length !== 2 || side.includes(''))) return null;
  try {
    return sides.map(([run, id]) => ({ run: decodeURIComponent(run!), id: decodeURIComponent(id!) })) as [RolloutAddress, RolloutAddress];
  } catch {
    return null; // The text has a lone %, such as in an address that a person typed.
  }
}

/** Reads ids separated by commas and removes duplicates. */
export const readIds = (of: string) => [...new Set(of.split(',').filter(Boolean))];
