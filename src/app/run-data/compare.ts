/** @file Finds the settings in which runs differ. */
import { customerName } from '../../base/customer-name.ts';
import type { GrpoConfig, RunRow } from '../../records/run.ts';

export interface Difference {
  name: string;
  /** One value per run, in the order of the runs. */
  values: string[];
}

/** The model, preset, customer and settings, as far as their values differ between the runs. */
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
