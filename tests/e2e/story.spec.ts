/** One whole visit: find a failed rollout, its mistake and the wrong row, play it correctly, and share it with a colleague. */
import { readFileSync } from 'node:fs';
import { expect, type Page } from '@playwright/test';
import { path } from '../../src/base/message-path.ts';
import { readRunBundle } from '../../src/exchange/run-bundle.ts';
import { serve, verdict } from './agent-by-hand.ts';
import { watch } from './page-checks.ts';
import { test } from './test.ts';

/** The text of the selected token, which must be in the middle of the screen. */
async function selectedToken(page: Page): Promise<string> {
  await expect(page.locator('.t.on')).toBeInViewport();
  return page.locator('[data-part=token-id]').innerText();
}

test('a rollout that changed an order without asking: found, understood, played right, and passed on', async ({
  page,
  browser,
  baseURL,
}, testInfo) => {
  test.slow();
  page.setDefaultTimeout(30_000);
  const problems = watch(page);
  const { trajectories } = await readRunBundle(new Uint8Array(readFileSync('public/recorded/run.mua.zip')));
  const unasked = trajectories.find(
    ({ group, reward, verdict: end, violations }) =>
      reward === 0 &&
      end!.changes.length > 0 &&
      violations.some(({ rule }) => rule === 'unconfirmed_write') &&
      trajectories.some((other) => other.group === group && other.reward === 1),
  );
  expect(unasked, 'a rollout of the recorded run that wrote unasked and failed, with a sibling that did not').toBeDefined();
  const { id, group, task, nodes } = unasked!;
  const sibling = trajectories.find((other) => other.group === group && other.reward === 1)!;

  // Find the rollout with filters, which are links.
  await page.goto('/#/runs/recorded');
  const main = page.getByRole('main');
  await page.getByRole('navigation', { name: 'Parts of the run' }).getByRole('link', { name: 'Rollouts' }).click();
  await page.locator('[data-part=facet-reward] a[href*="reward=0"]').click();
  await page.locator('[data-part=facet-violation] a[href*="unconfirmed_write"]').click();
  await page.getByLabel('Text of the conversation').fill(String(task.actions.at(-1)!.arguments.order_id));
  await page.getByRole('grid', { name: 'Rollouts' }).getByRole('link', { name: id, exact: true }).click();
  await expect(page.getByRole('region', { name: 'Outcome' })).toBeVisible();

  // Compare it with a successful rollout of the group, and open the first different token.
  await main.getByRole('link', { name: /group/i }).first().click();
  for (const one of [id, sibling.id]) await page.getByRole('button', { name: `Pin rollout ${one}`, exact: true }).click();
  await page
    .locator('[data-part=fork]')
    .getByRole('link', { name: `Rollout ${id}`, exact: true })
    .click();
  await expect(page).toHaveURL(/view=rendered&tok=\d+/);
  const parting = new URL(page.url()).hash;
  const token = await selectedToken(page);

  // The page shows the row that the call changed without asking, next to the goal.
  const write = path(unasked!).findLast(({ toolResult }) => toolResult && toolResult.changes.length > 0)!;
  await page.getByText('Messages', { exact: true }).click();
  await expect(async () => {
    // A click is lost while the messages still move.
    await page.locator(`[data-node="${write.id}"]`).getByRole('link', { name: 'database at this call' }).click();
    await expect(page.locator('[data-part=world-moment]')).toBeVisible({ timeout: 2000 });
  }).toPass();
  const row = page.locator('[data-part=moment-row]').filter({ hasText: String(write.toolResult!.changes[0]!.key) });
  await expect(row).toContainText('by this call');
  await expect(page.locator('[data-part=world-moment]').getByText(/differs? from the goal after this call/)).toBeVisible();

  // Fork the rollout after the customer's message, and play it correctly.
  const spoken = nodes.find(({ role }) => role === 'user')!.id;
  await page.getByRole('navigation', { name: 'Messages' }).locator(`a[href*="turn=${spoken}"]`).first().click();
  await page
    .getByRole('link', { name: `Fork at message ${nodes.filter(({ role }) => role !== 'template').findIndex(({ id }) => id === spoken)}` })
    .click();
  await page.getByLabel('the agent', { exact: true }).check();
  await expect(page.getByRole('region', { name: 'The agent’s turn' })).toBeVisible();
  await serve(page, task.actions);
  await expect(page.locator('[data-part=branch]')).toHaveCount(1);

  // A colleague opens the same token, the same conversation and the same reward.
  await page.goto('/#/runs/recorded');
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download the run (.mua.zip)' }).click();
  const file = testInfo.outputPath('run.mua.zip');
  await (await download).saveAs(file);
  const other = await browser.newContext({ baseURL });
  const fresh = await other.newPage();
  const freshProblems = watch(fresh);
  await fresh.goto('/#/runs');
  await fresh.getByLabel('Import a run').setInputFiles(file);
  await fresh.getByRole('button', { name: 'Import it' }).click();
  await expect(fresh).toHaveURL(/#\/runs\/[0-9a-f-]{36}$/);
  const run = fresh.url().split('/').at(-1)!;
  await fresh.goto(`/${parting.replace('/recorded/', `/${run}/`)}`);
  expect(await selectedToken(fresh)).toBe(token);
  await fresh.getByRole('link', { name: /Fork/ }).click();
  const branch = fresh.locator('[data-part=branch]');
  await expect(branch).toHaveCount(1);
  await branch.getByRole('link', { name: /^Played / }).click();
  await expect(verdict(fresh).locator('[data-part=reward]')).toHaveText(/^Reward 1 /);
  await other.close();
  expect([...problems, ...freshProblems]).toEqual([]);
});
