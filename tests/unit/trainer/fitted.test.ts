/** Settings that fit the tokenizer of a model: when demonstrations are played, and when they are not. */
import 'fake-indexeddb/auto';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { GENERATED_DOMAINS } from '../../../src/domains/registry.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { fitted } from '../../../src/trainer/fitted.ts';
import { PRESETS } from '../../../src/training/presets.ts';
import { plainFiles, SMOLLM2_TEMPLATE } from '../../support/tokenizers.ts';

const { config } = PRESETS.glimpse!;
const environments = createEnvironments({ databaseName: 'fitted', domains: GENERATED_DOMAINS });
const played = vi.spyOn(environments, 'tasks');

test.each(readdirSync('models').filter((name) => name !== 'customers'))(
  'nothing is played for %s, as the presets were measured with our models',
  async (model) => {
    const files = Object.fromEntries(
      ['tokenizer.json', 'tokenizer_config.json'].map((name) => [name, new Uint8Array(readFileSync(`models/${model}/${name}`))]),
    );
    expect(await fitted(environments, files, config)).toBe(config);
    expect(played).not.toHaveBeenCalled();
  },
);

test('demonstrations are played once for the same settings, and again after a failure', async () => {
  const texts = Object.entries(plainFiles(SMOLLM2_TEMPLATE));
  const files = Object.fromEntries(texts.map(([name, text]) => [name, new TextEncoder().encode(text)]));
  played.mockRejectedValueOnce(new Error('the storage is full'));
  await expect(fitted(environments, files, config)).rejects.toThrow('the storage is full');
  played.mockClear();
  const first = await fitted(environments, files, config);
  // The customers of training, of evaluation and of the cold start.
  expect(played).toHaveBeenCalledTimes(3);
  expect(first.max_model_len).toBeGreaterThan(config.max_model_len);
  expect(await fitted(environments, files, { ...config, lr: 1 })).toEqual({ ...first, lr: 1 });
  expect(played).toHaveBeenCalledTimes(3);
  await fitted(environments, files, { ...config, seed: config.seed + 1 });
  expect(played).toHaveBeenCalledTimes(6);
});
