/** A visitor's own scenario in the built page: imported, looked at, learned from, trained on, and kept. */
import { readFileSync } from 'node:fs';
import { expect } from '@playwright/test';
import { inspect, load, watch } from './page-checks.ts';
import { test } from './test.ts';

const scenario = JSON.parse(readFileSync('src/domains/library/scenario.json', 'utf8')) as { name: string; title: string; levels: string[] };
const file = (name: string, change: object) => ({ name, mimeType: 'application/json', buffer: Buffer.from(JSON.stringify({ ...scenario, ...change })) }); // prettier-ignore
const [level] = scenario.levels;

test('a scenario file becomes a world, a dataset and a run, and is still there after a reload', async ({ page }) => {
  const problems = watch(page);
  await page.goto('/#/worlds');
  const choose = page.getByLabel('Choose a scenario file');
  await choose.setInputFiles(file('library.json', {}));
  const alert = page.getByRole('alert').filter({ hasText: 'Nothing was imported' });
  await expect(alert).toContainText('library.json: name: is "library", the name of a built-in domain: choose another name');
  await choose.setInputFiles(file('wrong.json', { name: 'archive', levels: 'all' }));
  await expect(alert).toContainText('wrong.json: levels');

  const title = '<img src=x onerror=alert(1)> Archive';
  await choose.setInputFiles(file('archive.json', { name: 'archive', title }));
  const own = page.getByRole('table', { name: 'Your scenarios' });
  await expect(own.getByRole('row')).toHaveCount(2, { timeout: 120_000 });
  await inspect(page, 'own-scenarios');
  const world = own.getByRole('link', { name: new RegExp(`^<img.* Archive \\(archive@[0-9a-f]{8}\\), ${level}$`) });
  await world.click();
  await page.getByRole('link', { name: 'Tools', exact: true }).click();
  await expect(page.locator('[data-part=tool]').filter({ has: page.getByRole('heading', { name: 'renew_loan' }) })).toBeVisible();
  await page.getByRole('link', { name: 'Tasks', exact: true }).click();
  await expect(page.getByRole('grid').getByRole('row').nth(1)).toBeVisible();

  await load(page, '/#/cold-start');
  const name = (await page.getByRole('option', { name: /Archive/ }).getAttribute('value'))!;
  await page.getByRole('combobox', { name: 'Domain', exact: true }).selectOption(name);
  await page.getByLabel('Conversations', { exact: true }).fill('20');
  await page.getByRole('button', { name: 'Synthesise' }).click();
  await expect(page.locator('[data-part=count]')).toHaveText(/^20 of 20 conversations,\s+20 kept$/, { timeout: 150_000 });

  await page.goto('/#/worlds');
  await own.getByRole('link', { name: /^Train on / }).click();
  const address = new URL(page.url());
  const settings = {
    val_tasks: 0,
    n: 2,
    train_batch_size: 1,
    ppo_mini_batch_size: 1,
    max_turns: 1,
    response_length_one_turn: 4,
    total_training_steps: 1,
  };
  await page.goto(
    `/${address.hash}&${new URLSearchParams(Object.entries(settings).map(([name, value]) => [name, String(value)])).toString()}`,
  );
  await page.getByRole('button', { name: 'Start training' }).click();
  await expect(page).toHaveURL(/#\/runs\/[0-9a-f-]{36}/);
  const status = page.getByRole('region', { name: 'Run', exact: true }).locator('[data-part=status]');
  await expect(status).toHaveText('Done', { timeout: 150_000 });
  await page.reload();
  await expect(status).toHaveText('Done');

  await page.goto('/#/worlds');
  await own.getByRole('button', { name: /^Delete / }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByText(/needs the scenario archive@[0-9a-f]{8}: delete that first/)).toBeVisible();
  await expect(own.getByRole('row')).toHaveCount(2);
  expect(problems).toEqual([]);
});
