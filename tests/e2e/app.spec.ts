/** The built page: a run from its start to a transcript, and the messages of the page if it cannot train. */
import { readFileSync } from 'node:fs';
import { expect, type Page } from '@playwright/test';
import { unzipSync } from 'fflate';
import { changeNothing } from '../../src/engine/lora.ts';
import { mergeAdapter, readAdapter } from '../../src/exchange/adapter-folder.ts';
import { loadModel } from '../../src/exchange/model-folder.ts';
import { inspect, watch } from './page-checks.ts';
import { test } from './test.ts';

const STEP_TIMEOUT = 150_000;

const run = (page: Page) => page.getByRole('region', { name: 'Run', exact: true });
/** The number of finished steps. The text next to it names the current step. */
const step = (page: Page) =>
  run(page)
    .getByLabel('Steps of the run')
    .evaluate((bar) => (bar as HTMLProgressElement).value);
const reaches = (page: Page, target: number) =>
  expect.poll(() => step(page), { timeout: STEP_TIMEOUT, message: `step ${target}` }).toBeGreaterThanOrEqual(target);

test('cold start: conversations are synthesised, read, rejected and trained on; the model is set up for GRPO', async ({ page }) => {
  test.slow();
  const problems = watch(page);
  await page.goto('/#/cold-start');
  await page.getByLabel('Conversations', { exact: true }).fill('17');
  await inspect(page, 'cold-start');
  await page.getByRole('button', { name: 'Synthesise' }).click();
  await expect(page).toHaveURL(/#\/cold-start\/[0-9a-f-]{36}$/, { timeout: STEP_TIMEOUT });

  const count = page.locator('[data-part=count]');
  await expect(count).toHaveText(/^17 of 17 conversations,\s+17 kept$/);
  await page
    .locator('[data-part=facet-demonstrator]')
    .getByRole('link', { name: /^careful/ })
    .click();
  await expect(count).toHaveText(/^([1-9]|1[0-6]) of 17/);
  await page.getByRole('grid', { name: 'Conversations' }).locator('[data-index="0"]').click();
  const conversation = page.getByRole('region', { name: /^Conversation \d+$/ });
  await expect(conversation.locator('[data-part=database-check]')).toContainText('reward 1');
  await expect(conversation.locator('[data-part=policy-audit]')).toContainText('no rule broken');
  await conversation.getByRole('button', { name: 'Reject' }).click();
  await expect(count).toHaveText(/16 kept$/);
  await inspect(page, 'dataset', { fullPage: false });
  await page.reload();
  await expect(count).toHaveText(/16 kept$/);

  const form = page.getByRole('form', { name: 'Train on this dataset' });
  await form.getByLabel('Steps', { exact: true }).fill('1');
  await form.getByLabel('Held-out tasks', { exact: true }).fill('0');
  await form.getByRole('button', { name: 'Start training' }).click();
  await expect(page).toHaveURL(/#\/runs\/[0-9a-f-]{36}/);
  await expect(run(page).locator('[data-part=status]')).toHaveText('Done', { timeout: STEP_TIMEOUT });
  // The model is untrained, so its loss is near that of equal probabilities.
  const loss = await page.locator('[data-part=chart-loss] li b').innerText();
  expect(Number(loss)).toBeGreaterThan(4);
  expect(Number(loss)).toBeLessThan(9);
  await expect(page.getByRole('region', { name: 'Groups' })).toHaveCount(0);

  await page.goto('/#/cold-start');
  await page.getByRole('button', { name: 'Train it by GRPO' }).click();
  await expect(page).toHaveURL(/#\/\?.*model=[0-9a-f-]{36}-step-1/);
  expect(problems).toEqual([]);
});

test('a run trains, survives a reload, resumes, and its conversations are readable', async ({ page }) => {
  test.slow();
  const problems = watch(page);
  await page.goto('/#/?preset=tiny&seed=3&val_tasks=2&max_turns=8');
  await page.getByRole('button', { name: 'Start training' }).click();
  await expect(page).toHaveURL(/#\/runs\/[0-9a-f-]{36}/);
  await reaches(page, 1);

  // Step 0 and the first step have metrics, and the storage has them too.
  const table = page.getByRole('button', { name: / as a table$/ }).first();
  await table.click();
  await expect(page.getByRole('region', { name: /, values$/ }).getByRole('rowheader', { name: '1', exact: true })).toBeVisible();
  await table.click();

  await page.getByRole('button', { name: 'Pause' }).click();
  await expect(run(page).locator('[data-part=status]')).toHaveText('Paused');
  await page.getByRole('button', { name: 'Resume' }).click();
  await expect(run(page).locator('[data-part=status]')).not.toHaveText('Paused');

  await page.reload();
  await expect(run(page).locator('[data-part=status]')).toHaveText('Interrupted');
  const before = await step(page);
  expect(before).toBeGreaterThanOrEqual(1);
  await page.getByRole('button', { name: 'Resume' }).click();
  await reaches(page, before + 1);

  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(run(page).locator('[data-part=status]')).toHaveText(/Stopped|Done/, { timeout: STEP_TIMEOUT });
  await inspect(page, 'run');

  const groups = page.getByRole('table', { name: 'Groups' });
  await expect(groups.getByRole('row')).toHaveCount(1 + 2);
  await groups
    .getByRole('link', { name: /^Group / })
    .first()
    .click();
  const rollouts = page.getByRole('table', { name: 'Rollouts of the group' });
  await expect(rollouts.locator('[data-part=group-column]')).toHaveCount(4);
  await inspect(page, 'group');

  await rollouts.getByRole('link', { name: /^Rollout \S+-0$/ }).click();
  const conversation = page.getByRole('region', { name: 'Conversation' });
  // There are at least the system prompt, the customer's first message and an answer.
  await expect.poll(() => conversation.getByRole('listitem').count()).toBeGreaterThanOrEqual(3);
  const outcome = page.getByRole('region', { name: 'Outcome' });
  await expect(outcome.locator('[data-part=termination]')).not.toBeEmpty();
  await expect(outcome.locator('[data-part=reward]')).toHaveText(/^[01] /);
  await inspect(page, 'rollout');

  await page.goto('/#/runs');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await inspect(page, 'runs');

  // Another run starts from the weights of this run. They are stored as a model only once.
  const checkpoints = page.getByRole('table', { name: 'Checkpoints' });
  for (let time = 0; time < 2; time++) {
    await page.goto('/#/models');
    await checkpoints
      .getByRole('button', { name: /^Use .* for a run$/ })
      .first()
      .click();
    await expect(page).toHaveURL(/#\/\?setup=1&model=[0-9a-f-]{36}-step-\d+$/);
  }
  await expect(page.getByRole('combobox', { name: 'Model' })).toContainText(/@\d+/);
  await page.goto('/#/models');
  await expect(page.getByRole('article').filter({ hasText: 'From a run' })).toHaveCount(1);
  await inspect(page, 'models-checkpoints');
  await checkpoints
    .getByRole('link', { name: /^Evaluate / })
    .first()
    .click();
  await expect(page.getByRole('form', { name: 'New evaluation' }).getByRole('combobox', { name: 'Model' })).toHaveValue(
    /^[0-9a-f-]{36}@\d+$/,
  );
  expect(problems).toEqual([]);
});

test('a run trains a LoRA adapter; the adapter is exported alone and merged, and another run trains it on', async ({ page }) => {
  test.slow();
  const problems = watch(page);
  const start = async () => {
    await page.getByRole('button', { name: 'Start training' }).click();
    await expect(page).toHaveURL(/#\/runs\/[0-9a-f-]{36}/);
    await expect(run(page).locator('[data-part=status]')).toHaveText('Done', { timeout: STEP_TIMEOUT });
  };
  const small = 'train_batch_size=1&n=2&filter_groups=false&total_training_steps=1';
  await page.goto(`/#/?preset=tiny&val_tasks=0&${small}&lora_rank=4&precision=bf16`);
  await start();

  await page.goto('/#/models');
  const exported = async (format: string) => {
    const download = page.waitForEvent('download');
    await page
      .getByRole('table', { name: 'Checkpoints' })
      .getByRole('button', { name: /^Export / })
      .first()
      .click();
    await page.getByRole('radio', { name: format }).check();
    if (format === 'LoRA adapter') await inspect(page, 'export-adapter', { fullPage: false });
    await page.getByRole('dialog').getByRole('button', { name: 'Export' }).click();
    const files = unzipSync(new Uint8Array(readFileSync(await (await download).path())));
    return Object.fromEntries(Object.entries(files).map(([path, bytes]) => [path.split('/').at(-1)!, new Uint8Array(bytes)]));
  };
  const adapter = await exported('LoRA adapter');
  expect(Object.keys(adapter).sort()).toEqual(['adapter_config.json', 'adapter_model.safetensors']);
  const { config, tensors } = readAdapter(adapter);
  expect(config).toMatchObject({ r: 4, lora_alpha: 16 });
  expect(changeNothing(tensors)).toBe(false);
  const merged = loadModel(await exported('Hugging Face folder')).weights;
  const base = loadModel({
    'config.json': new Uint8Array(readFileSync('models/nano-retail/config.json')),
    'model.safetensors': new Uint8Array(readFileSync('models/nano-retail/model.safetensors')),
  }).weights;
  expect(merged).toEqual(mergeAdapter(base, { config, tensors }));

  await page.getByRole('button', { name: /^Use .* for a run$/ }).click();
  await expect(page).toHaveURL(/#\/\?setup=1&model=[0-9a-f-]{36}-step-1$/);
  const model = new URLSearchParams(page.url().split('?')[1]).get('model')!;
  await page.goto(`/#/?setup=1&preset=tiny&val_tasks=1&${small}&precision=bf16&model=${model}`);
  await expect(page.getByRole('combobox', { name: 'Model' })).toContainText(/@1/);
  await start();
  expect(problems).toEqual([]);
});

test('Setup shows the memory of the run, and sets what would lower it', async ({ page }) => {
  const problems = watch(page);
  // With this many conversations, the plan of the memory gives advice.
  await page.goto('/#/?setup=1&preset=nano&max_model_len=16384&n=8&train_batch_size=8');
  await page.getByText('What is trained, and memory').click();
  const plan = page.locator('[data-part=memory-plan]');
  await expect(plan.getByRole('row', { name: /^Most at a time [\d.]+ [MG]B$/ })).toBeVisible();
  const total = () => plan.getByRole('row', { name: /^Most at a time/ }).innerText();
  const before = await total();
  await inspect(page, 'memory-plan', { fullPage: false });
  await plan.getByRole('button', { name: 'Set kv_cache_dtype=f16' }).click();
  await expect(page).toHaveURL(/kv_cache_dtype=f16/);
  await expect.poll(total).not.toBe(before);
  await page.goto('/#/?setup=1&preset=nano&max_model_len=1000000');
  await expect(plan.getByRole('alert')).toHaveText(/This run does not fit: .+ needs \d+ bytes/);
  expect(problems).toEqual([]);
});

test('home and settings', async ({ page }) => {
  const problems = watch(page);
  await page.goto('/');
  await expect(page.getByRole('button', { name: 'Start training' })).toBeEnabled();
  await inspect(page, 'home');
  await page.goto('/#/settings');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await inspect(page, 'settings');
  expect(problems).toEqual([]);
});
