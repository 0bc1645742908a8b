/** @file Makes the address that sets up a new run with the settings of an existing run. */
import { isForeignRun, type RunRow } from '../../records/run.ts';
import { PRESETS } from '../../training/presets.ts';
import { overridesOf } from './config-diff.ts';
import { href } from '../routes/routes.ts';

/**
 * The address has the model, seed and settings that differ from the preset. Null if this version does not have the
 * run's preset, or if another program trained the run.
 */
export function setupLink(row: Pick<RunRow, 'request' | 'config' | 'foreign'>): string | null {
  const { request, config } = row;
  const { preset, model } = request;
  if (!Object.hasOwn(PRESETS, preset) || isForeignRun(row)) return null;
  const base = PRESETS[preset]!;
  const changed = Object.fromEntries(Object.entries(overridesOf(base.config, config)).map(([name, value]) => [name, String(value)]));
  return href({ name: 'home' }, { setup: '1', preset, model: model === base.model ? '' : model, ...changed });
}
