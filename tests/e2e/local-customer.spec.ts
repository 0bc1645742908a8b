/** A language model in the tab plays the customer: download it from a Hub, train with it, and remove it. */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { expect, type Page } from '@playwright/test';
import { unzipSync } from 'fflate';
import type { ModelFiles } from '../../src/records/model.ts';
import { type HubServer, startHubServer } from '../support/hub-server.ts';
import type { Trajectory } from '../../src/records/trajectory.ts';
import { stored } from './storage.ts';
import { test } from './test.ts';

const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

let hub: HubServer;
test.beforeAll(async () => {
  const model: ModelFiles = {};
  const directory = 'models/customers/nano-customer';
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) model[relative(directory, path)] = new Uint8Array(await readFile(path));
  }
  const tokenizer = JSON.parse(new TextDecoder().decode(model['tokenizer_config.json'])) as object;
  hub = await startHubServer({
    'test/customer': model,
    'test/no-template': { ...model, 'tokenizer_config.json': encode({ ...tokenizer, chat_template: undefined }) },
    'test/encoder': { ...model, 'config.json': encode({ architectures: ['BertModel'] }) },
    'test/no-onnx': { 'config.json': model['config.json']! },
    'test/damaged': { ...model, 'onnx/model.onnx': model['onnx/model.onnx']!.slice().fill(7, 0, 5000) },
  });
});
test.afterAll(() => hub.close());

async function name(page: Page, model: string): Promise<void> {
  await page.getByLabel('Name on the Hub').fill(model);
  await page.getByRole('button', { name: 'Use this name' }).click();
}

async function chooseLocal(page: Page): Promise<void> {
  await page.getByLabel('A language model in this tab').check();
  await page.getByText('Another model').click();
  await page.getByLabel('Address of the Hub').fill(hub.url);
  await page.getByLabel('Address of the Hub').blur();
}

const kept = (page: Page) =>
  page.evaluate(async () => (await caches.keys()).filter((cache) => cache.startsWith('mua-local-model:')).length);

for (const device of ['WASM', 'WebGPU'])
  test(`the bundled customer plays on ${device} without a network`, async ({ page, baseURL }) => {
    test.slow();
    const outside: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(baseURL!)) outside.push(request.url());
    });
    await page.goto('/#/?preset=tiny&val_tasks=0&total_training_steps=1&train_batch_size=1&n=2&filter_groups=false&max_turns=3');
    await page.getByLabel('A language model in this tab').check();
    await expect(page.getByText('✓ This model comes with the page')).toBeVisible();
    await page.getByLabel('Device').selectOption(device);
    await page.getByRole('button', { name: 'Start training' }).click();
    await expect(page.locator('[data-part=status]')).toHaveText(/Done/, { timeout: 400_000 });
    await expect(page.getByText(`nano-customer in the tab (${device}, fp32)`)).toBeVisible();
    const played = await stored<Trajectory>(page, 'trajectories');
    expect(played).toHaveLength(2);
    for (const { nodes, userRequests } of played) {
      const said = nodes.filter(({ role }) => role === 'user');
      expect(userRequests).toHaveLength(said.length);
      for (const { prompt, completion } of userRequests!) expect([prompt! > 50, completion! > 1]).toEqual([true, true]);
    }
    expect(outside).toEqual([]);
  });

test('download, train, and remove', async ({ page }) => {
  test.slow();
  await page.goto('/#/?preset=tiny&val_tasks=0&total_training_steps=1&train_batch_size=1&n=2&filter_groups=false&max_turns=3');
  await chooseLocal(page);
  await expect(page.getByRole('button', { name: 'Start training' })).toBeDisabled();
  await name(page, 'test/customer');
  // The connection breaks twice. Each time the download continues after the last byte that arrived.
  hub.breaks = 2;
  await page.getByRole('button', { name: /^Download \d/ }).click();
  await expect(page.getByText('✓ The model is in this browser')).toBeVisible();
  expect(hub.requests.filter((request) => /onnx\/model\.onnx( bytes=\d+-)?$/.test(request))).toHaveLength(3);
  expect(await kept(page)).toBe(1);

  const before = hub.requests.length;
  await page.getByRole('button', { name: 'Start training' }).click();
  await expect(page.locator('[data-part=status]')).toHaveText(/Done/, { timeout: 300_000 });
  await expect(page.getByText('test/customer in the tab (WASM, fp32)')).toBeVisible();
  expect(hub.requests.length).toBe(before);

  await page.goto('/#/models');
  await page.getByRole('button', { name: 'Remove test/customer, fp32' }).click();
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Models of customers' })).toBeHidden();
  expect(await kept(page)).toBe(0);
});

test('a stored model is kept as a customer, also if it is a GGUF file, and can be chosen', async ({ page }) => {
  await page.goto('/#/models');
  await page.getByLabel('Choose files or a zip').setInputFiles('tests/reference/fixtures/gguf/llama.gguf');
  await expect(page.getByText('is imported: choose it for a run.')).toBeVisible();
  const model = page.getByRole('article').filter({ hasText: 'Imported' });
  const dialog = page.getByRole('dialog');
  await model.getByRole('button', { name: /^Export/ }).click();
  await expect(dialog.getByRole('button', { name: 'Keep as a customer' })).toBeHidden();
  const download = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Export' }).click();
  const zip = unzipSync(new Uint8Array(await readFile(await (await download).path())));
  expect(Object.keys(zip).some((path) => path.endsWith('/model.safetensors'))).toBe(true);

  await model.getByRole('button', { name: /^Export/ }).click();
  await page.getByRole('radio', { name: 'ONNX, float32' }).check();
  await dialog.getByRole('button', { name: 'Keep as a customer' }).click();
  await expect(page.getByText('can play the customer: choose “A language model in this tab”.')).toBeVisible();
  const row = page.getByRole('region', { name: 'Models of customers' }).getByRole('row').filter({ hasText: 'fp32' });
  await expect(row).toHaveCount(1);
  const name = await row.getByRole('cell').first().textContent();

  await page.goto('/#/settings');
  await page.getByLabel('A language model in this tab').check();
  await page
    .locator('select')
    .filter({ has: page.getByRole('option', { name: name! }) })
    .selectOption({ label: name! });
  await expect(page.getByText('✓ The model is in this browser')).toBeVisible();
});

test('a model that cannot play is refused in one sentence, and nothing of it is kept', async ({ page }) => {
  await page.goto('/#/settings');
  await chooseLocal(page);
  const status = page.getByRole('status').filter({ hasText: '✗' });
  for (const [model, message] of [
    ['nonsense', 'the model of the Hub is "nonsense": expected OWNER/NAME, such as onnx-community/Qwen3-0.6B-ONNX'],
    ['test/none', 'the Hub has no public model "test/none" (HTTP 404): expected OWNER/NAME of one'],
    ['test/no-onnx', '"test/no-onnx" has no file such as onnx/model_q4.onnx: expected a text-generation model for transformers.js'],
  ] as const) {
    await name(page, model);
    await expect(status).toHaveText(`✗ ${message}`);
  }
  for (const [model, message] of [
    [
      'test/no-template',
      'tokenizer_config.json of "test/no-template" has no chat_template: expected the template of an instruction-tuned model',
    ],
    [
      'test/encoder',
      'config.json of "test/encoder" names the architecture "BertModel": expected a text-generation model, such as Qwen3ForCausalLM',
    ],
  ] as const) {
    await name(page, model);
    await page.getByRole('button', { name: /^Download \d/ }).click();
    await expect(status).toHaveText(`✗ ${message}`);
    expect(await kept(page)).toBe(0);
  }
  await name(page, 'test/customer');
  hub.breaks = 100;
  await page.getByRole('button', { name: /^Download \d/ }).click();
  await expect(status).toHaveText(/^✗ the download of onnx\/model\.onnx broke off after \d+ bytes: expected \d+$/);
  hub.breaks = 0;
  expect(await kept(page)).toBe(0);
});

test('a damaged model ends the start of a run with one sentence', async ({ page }) => {
  test.slow();
  await page.goto('/#/?preset=tiny&val_tasks=0&total_training_steps=1');
  await chooseLocal(page);
  await name(page, 'test/damaged');
  await page.getByRole('button', { name: /^Download \d/ }).click();
  await page.getByRole('button', { name: 'Start training' }).click();
  const reason = page.getByRole('region', { name: 'Run', exact: true });
  await expect(reason).toContainText(/onnx\/model\.onnx of "test\/damaged" cannot be loaded \(.+\): expected a text-generation model/);
});
