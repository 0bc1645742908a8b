/** A setting is described in one place: an entry added to a group appears everywhere that settings are used. */
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { documents, readDocument, withTables } from '../../../scripts/doc-tables.ts';
import { FIELD_GROUPS } from '../../../src/app/setup/fields.ts';
import { problemText } from '../../../src/app/setup/problem-text.ts';
import { choicesOf, readSetup, trlName, type SettingName } from '../../../src/app/setup/setup.ts';
import { differences } from '../../../src/app/run-data/compare.ts';
import type { RunRequest } from '../../../src/records/run.ts';
import { ConfigError, grpoConfig, sftConfig } from '../../../src/training/config.ts';
import { DECISIONS, valuesOf } from '../../../src/training/decision-sheet.ts';
import { settingLabel } from '../../../src/training/settings/index.ts';
import type { Setting } from '../../../src/training/settings/setting.ts';

const NAME = 'nesterov' as SettingName;

vi.mock('../../../src/training/settings/optimizer.ts', async (original) => {
  const { optimizer } = await original<typeof import('../../../src/training/settings/optimizer.ts')>();
  // The entry of a new setting.
  const nesterov: Setting = {
    schema: z.enum(['off', 'half', 'full']),
    default: 'off',
    sft: 'half',
    label: 'Look-ahead',
    help: 'How far the optimizer looks ahead.',
    trl: 'use_nesterov',
    alias: 'optim.nesterov',
    valueAliases: { none: 'off' },
    choice: { topic: 'look-ahead', upstream: 'none', ours: 'the same' },
  };
  return { optimizer: { ...optimizer, settings: { ...optimizer.settings, nesterov } } };
});

test('in the configuration, under all its names', () => {
  expect(grpoConfig('nano')).toMatchObject({ nesterov: 'off' });
  expect(sftConfig()).toMatchObject({ nesterov: 'half' });
  for (const name of ['nesterov', 'use_nesterov', 'optim.nesterov']) {
    expect(grpoConfig('nano', { [name]: 'full' })).toMatchObject({ nesterov: 'full' });
    expect(grpoConfig('nano', { [name]: 'full', nesterov: 'none' })).toMatchObject({ nesterov: 'off' });
  }
  expect(() => grpoConfig('nano', { nesterov: 'twice' })).toThrow(ConfigError);
});

test('in the form and in the address', () => {
  const fields = FIELD_GROUPS.find(({ id }) => id === 'optimiser')!.fields;
  expect(fields.at(-1)).toEqual({ name: NAME, label: 'Look-ahead', help: 'How far the optimizer looks ahead.' });
  expect(choicesOf(NAME)).toEqual(['off', 'half', 'full']);
  expect(trlName(NAME)).toBe('use_nesterov');
  expect(readSetup('nano', { use_nesterov: 'half' }).overrides).toEqual({ nesterov: 'half' });
  expect(problemText(readSetup('nano', { nesterov: 'x' }).problems[NAME]!)).toMatch(/^Look-ahead is “x”: /);
});

test('in the tables of the documents', () => {
  const written = documents().map((path) => withTables(path, readDocument(path)));
  expect(written.join()).toContain('| `nesterov` (`use_nesterov`) | `off` | `off`, `half`, `full`. How far the optimizer looks ahead. |');
});

test('in the decision sheet, and in the comparison of two runs', () => {
  const decision = DECISIONS.find(({ topic }) => topic === 'look-ahead')!;
  expect(decision).toEqual({ topic: 'look-ahead', upstream: 'none', ours: 'the same', setting: 'nesterov' });
  expect(valuesOf(decision)).toEqual({ upstream: 'off', ours: 'off' });
  const request: RunRequest = { model: 'm', preset: 'nano', overrides: {}, user: { mode: 'scripted' } };
  const run = (value: string) => ({ request, config: grpoConfig('nano', { nesterov: value }) });
  expect(differences([run('off'), run('full')])).toEqual([{ name: 'nesterov', values: ['off', 'full'] }]);
  expect(settingLabel('nesterov')).toBe('Look-ahead');
  expect(['toString', 'dropped_in_2020'].map(settingLabel)).toEqual([undefined, undefined]);
});
