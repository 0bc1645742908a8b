/** A key that the visitor has typed belongs to the origin of its server. */
import { expect, test } from 'vitest';
import { Settings } from '../../src/app/state/settings.svelte.ts';

test('a changed base URL does not get the key; the first server gets it again', () => {
  const settings = new Settings();
  settings.mode = 'endpoint';
  settings.baseUrl = 'https://one.example/v1';
  settings.apiKey = 'sk-one';
  for (const other of [
    'https://two.example/v1',
    'http://one.example/v1',
    'https://one.example:444/v1',
    'https://one.example.evil',
    '',
    'javascript:x',
  ]) {
    settings.baseUrl = other;
    expect(settings.apiKey, other).toBe('');
    expect(JSON.stringify(settings.user), other).not.toContain('sk-one');
  }
  settings.apiKey = 'lost, as there is no server';
  settings.baseUrl = ' https://one.example/v2 ';
  expect(settings.user).toMatchObject({ apiKey: 'sk-one' });
  expect(settings.keys).toEqual(['sk-one']);
  settings.save();
  expect(JSON.stringify({ ...localStorage })).not.toContain('sk-one');
});
