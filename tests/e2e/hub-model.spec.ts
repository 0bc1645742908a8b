/** Downloads a model in three shards from a Hub. The download breaks off and continues after a reload. The model is then trained. */
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type Page } from '@playwright/test';
import { readSafetensors, writeSafetensors } from '../../src/exchange/safetensors.ts';
import type { ModelFiles } from '../../src/records/model.ts';
import { type HubServer, startHubServer } from '../support/hub-server.ts';
import { test } from './test.ts';

let hub: HubServer;
const SHARDS = [1, 2, 3].map((i) => `model-0000${i}-of-00003.safetensors`);
const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

test.beforeAll(async () => {
  const read = async (name: string) => new Uint8Array(await readFile(`models/nano-retail/${name}`));
  const rest: ModelFiles = {};
  for (const name of ['config.json', 'tokenizer.json', 'tokenizer_config.json']) rest[name] = await read(name);
  const tensors = [...readSafetensors(await read('model.safetensors'))];
  const model: ModelFiles = { ...rest };
  const map: Record<string, string> = {};
  SHARDS.forEach((shard, i) => {
    const own = tensors.slice((i * tensors.length) / 3, ((i + 1) * tensors.length) / 3);
    for (const [name] of own) map[name] = shard;
    model[shard] = writeSafetensors(new Map(own));
  });
  model['model.safetensors.index.json'] = encode({ weight_map: map });
  hub = await startHubServer({
    'test/sharded': model,
    'test/onnx-only': { 'config.json': rest['config.json']!, 'onnx/model.onnx': encode(1) },
    'test/gemma': {
      ...rest,
      'config.json': encode({ ...(JSON.parse(new TextDecoder().decode(rest['config.json'])) as object), model_type: 'gemma3' }),
      'model.safetensors': model[SHARDS[0]!]!,
    },
  });
});
test.afterAll(() => hub.close());

async function lookUp(page: Page, name: string): Promise<void> {
  await page.getByText('Another Hub').click();
  await page.getByLabel('Address', { exact: true }).fill(hub.url);
  await page.getByLabel('Name on the Hub').fill(name);
  await page.getByRole('button', { name: 'Look up the size' }).click();
}

const modelFolders = (page: Page) =>
  page.evaluate(async () => {
    const names: string[] = [];
    const root = await navigator.storage.getDirectory();
    for await (const name of (await root.getDirectoryHandle('models')).keys()) names.push(name);
    return names;
  });

test('a download that breaks off goes on after a reload, without a byte twice, and the model is trained', async ({ page }) => {
  test.slow();
  await page.goto('/#/models');
  await lookUp(page, 'test/sharded');
  await expect(page.getByText(/test\/sharded: [\d.]+ MB in 7 files\./)).toBeVisible();
  hub.breaks = 1000;
  await page.getByRole('button', { name: /^Download \d/ }).click();
  await expect(page.getByRole('alert')).toHaveText(
    /✗ the download of model-0000\d-of-00003\.safetensors broke off after \d+ bytes: expected \d+/,
  );
  await expect(page.getByText(/test\/sharded is not complete: [\d.]+ .B are here/)).toBeVisible();

  hub.breaks = 0;
  hub.requests.length = 0;
  await page.reload();
  await lookUp(page, 'test/sharded');
  await page.getByRole('button', { name: /^Download the other \d/ }).click();
  await expect(page.getByText('test/sharded is here: choose it for a run.')).toBeVisible();
  await expect(page.getByText('is not complete')).toBeHidden();
  const ofShards = hub.requests.filter((request) => request.includes('.safetensors') && !request.includes('index'));
  expect(ofShards.filter((request) => / bytes=[1-9]\d*-$/.test(request))).toHaveLength(1);
  expect(ofShards).toHaveLength(3);
  expect(hub.requests.filter((request) => request.endsWith('config.json'))).toEqual([]);

  await page.getByRole('region', { name: 'Bundled and imported models' }).getByText('test/sharded').waitFor();
  await page.goto(
    '/#/?setup=1&preset=tiny&val_tasks=0&total_training_steps=1&train_batch_size=1&n=2&filter_groups=false&max_turns=6&lora_rank=4&precision=bf16',
  );
  await page.getByRole('combobox', { name: 'Model' }).selectOption({ label: 'test/sharded' });
  await page.getByRole('button', { name: 'Start training' }).click();
  await expect(page.locator('[data-part=status]')).toHaveText(/Done/, { timeout: 300_000 });

  await page.goto('/#/models');
  await page
    .getByRole('article')
    .filter({ hasText: 'test/sharded' })
    .getByRole('button', { name: /^Delete/ })
    .click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(page.getByText('Deleted.')).toBeVisible();
  expect(await modelFolders(page)).toEqual([]);
});

test('an imported folder is copied: the model stays when the folder is gone', async ({ page }) => {
  const folder = join(await mkdtemp(join(tmpdir(), 'mua-import-')), 'mine');
  await cp('models/nano-retail', folder, { recursive: true });
  await page.goto('/#/models');
  await page.getByRole('region', { name: 'Import a model' }).getByLabel('Choose a folder').setInputFiles(folder);
  await expect(page.getByText('mine is imported')).toBeVisible();
  await rm(folder, { recursive: true });
  await page.reload();
  const download = page.waitForEvent('download');
  await page
    .getByRole('article')
    .filter({ hasText: 'mine' })
    .getByRole('button', { name: /^Export/ })
    .click();
  await page.getByRole('dialog').getByRole('button', { name: 'Export' }).click();
  await download;
});

test('a preset whose model is not here says where to get it', async ({ page }) => {
  await page.goto('/#/?preset=lora');
  await expect(page.getByText('This preset trains Qwen3-0.6B.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Start training' })).toBeDisabled();
  await page.getByRole('link', { name: 'Download it under Models' }).click();
  await expect(page).toHaveURL(/#\/models$/);
});

test('models that cannot be trained are refused in one sentence, and a download can be discarded', async ({ page }) => {
  await page.goto('/#/models');
  for (const [name, message] of [
    ['nonsense', 'the model of the Hub is "nonsense": expected OWNER/NAME, such as Qwen/Qwen3-0.6B'],
    ['test/none', 'the Hub has no public model "test/none" (HTTP 404): expected OWNER/NAME of one'],
    [
      'test/onnx-only',
      '"test/onnx-only" has neither config.json with *.safetensors nor a GGUF file: expected a Qwen2, Qwen3 or Llama model such as Qwen/Qwen3-0.6B',
    ],
  ] as const) {
    await lookUp(page, name);
    await expect(page.getByRole('alert')).toHaveText(`✗ ${message}`);
    await page.reload();
  }
  await lookUp(page, 'test/gemma');
  await page.getByRole('button', { name: /^Download \d/ }).click();
  await expect(page.getByRole('alert')).toHaveText(/model_type is "gemma3"/);
  await page.getByRole('button', { name: 'Discard test/gemma' }).click();
  await expect(page.getByText('is not complete')).toBeHidden();
});
