/** A lesson from its list to its end, over pages of the app, with progress that survives a reload. */
import { expect } from '@playwright/test';
import { inspect } from './page-checks.ts';
import { test } from './test.ts';

test('a lesson goes along, sees what was done, and is resumed', async ({ page }) => {
  await page.goto('/#/learn');
  await page.getByRole('main').getByRole('link', { name: 'What is being trained?' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'What is being trained?' })).toBeVisible();
  await page.getByRole('button', { name: 'Begin' }).click();

  const panel = page.getByRole('complementary', { name: /What is being trained/ });
  await expect(panel.getByRole('status')).toContainText('Waiting');
  await panel.getByRole('link', { name: 'Take me there' }).click();
  await expect(page).toHaveURL(/rollouts\/.*ch=mask/);
  await expect(panel.getByRole('status')).toContainText('Done');
  await inspect(page, 'lesson-panel', { fullPage: false });
  await panel.getByRole('button', { name: 'Next' }).click();

  await page.getByRole('main').focus();
  await page.keyboard.press('l');
  await expect(page).toHaveURL(/tok=\d/);
  await expect(panel.getByRole('status')).toContainText('Done');

  await page.goto('/#/learn/mask');
  await page.reload();
  await expect(panel).toHaveCount(0);
  await page.getByRole('button', { name: 'Continue at page 2' }).click();
  await panel.getByRole('button', { name: /Next/ }).click();
  await panel.getByRole('button', { name: /Next/ }).click();
  await panel.getByRole('button', { name: 'Finish' }).click();
  await expect(panel).toHaveCount(0);
  await page.goto('/#/learn');
  await expect(page.getByText('✓ finished')).toHaveCount(1);
});

test('a lesson points at the parts it speaks of, and a link names its page', async ({ page }) => {
  await page.goto('/#/learn/break?page=1');
  await page.getByRole('button', { name: 'Begin' }).click();
  const panel = page.getByRole('complementary', { name: /Break it/ });
  await panel.getByRole('link', { name: 'Take me there' }).click();
  await expect(page.locator('[data-part=start]')).toHaveAttribute('data-focus', '');
  await expect(page.locator('[data-part=changed]')).toContainText('lr 0.04');
  await inspect(page, 'lesson-panel-part', { fullPage: false });
  await panel.getByRole('button', { name: /Close/ }).click();
  await expect(page.locator('[data-focus]')).toHaveCount(0);

  await page.goto('/#/learn/break?page=4');
  await expect(page.getByRole('button', { name: 'Continue at page 4' })).toBeVisible();
  await page.goto('/#/learn/nothing');
  await expect(page.getByRole('heading', { level: 1, name: 'There is no such lesson' })).toBeVisible();
});
