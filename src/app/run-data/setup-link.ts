/** @file Makes the address that sets up a new run with the settings of an existing run. */
import type { RunRow } from '../../records/run.ts';
import { isForeign } from '../../records/task.ts';
import { PRESETS } from '../../training/presets.ts';
import { configDiff } from './config-diff.ts';
import { href } from '../routes/routes.ts';

/**
 * The address has the model, seed and settings that differ from the preset. Null if this version does not have the
 * run's preset, or if another program trained the run.
 */
export function setupLink({ request: { preset, model }, config }: Pick<RunRow, 'request' | 'config'>): string | null {
  if (!Object.hasOwn(PRESETS, preset) || isForeign(config)) return null;
  const base = PRESETS[preset]!;
  const changed = Object.fromEntries(configDiff(base.config, config).map(({ name, to }) => [name, String(to)]));
  return href({ name: 'home' }, { setup: '1', preset, model: model === base.model ? '' : model, ...changed });
}
