/** @file The address of a setup like that of a run. */
import type { RunRow } from '../../storage/database.ts';
import { PRESETS } from '../../training/presets.ts';
import { configDiff } from './config-diff.ts';
import { href } from './routes.ts';

/** Model, seed and settings where they differ from the preset; null where this version has no such preset. */
export function setupLink({ request: { preset, model }, config }: Pick<RunRow, 'request' | 'config'>): string | null {
  if (!Object.hasOwn(PRESETS, preset)) return null;
  const base = PRESETS[preset]!;
  const changed = Object.fromEntries(configDiff(base.config, config).map(({ name, to }) => [name, String(to)]));
  return href({ name: 'home' }, { preset, model: model === base.model ? '' : model, ...changed });
}
