/** @file The address of a comparison, and the settings in which runs differ. */
import { customerName } from '../../../base/customer-name.ts';
import type { GrpoConfig, RunRow } from '../../../records/run.ts';

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
    return null; // a lone % in an address typed by hand
  }
}

/** Reads ids separated by commas and removes duplicates. */
export const readIds = (of: string) => [...new Set(of.split(',').filter(Boolean))];

export interface Difference {
  name: string;
  /** One value per run, in the order of the runs. */
  values: string[];
}

/** Model, preset, customer and settings whose values differ between runs. */
export function differences(rows: readonly Pick<RunRow, 'request' | 'config'>[]): Difference[] {
  const names = [...new Set(rows.flatMap(({ config }) => Object.keys(config)))] as (keyof GrpoConfig)[];
  const all: Difference[] = [
    { name: 'model', values: rows.map(({ request }) => request.model) },
    { name: 'preset', values: rows.map(({ request }) => request.preset) },
    { name: 'customer', values: rows.map(({ request: { user } }) => customerName(user)) },
    { name: 'customer in evaluation', values: rows.map(({ request: { user, val_user = user } }) => customerName(val_user)) },
    ...names.map((name) => ({ name, values: rows.map(({ config }) => String(config[name] ?? 'not set')) })),
  ];
  return all.filter(({ values }) => values.some((value) => value !== values[0]));
}

/** The steps of a mean over the end of a run. The value of a single step is noisy. */
export const LAST_STEPS = 10;
