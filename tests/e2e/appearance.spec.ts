/** Animations and colours. Visitors can change both. */
import { readFileSync } from 'node:fs';
import { expect } from '@playwright/test';
import { readRunBundle } from '../../src/exchange/run-bundle.ts';
import { moving, watch } from './page-checks.ts';
import { test } from './test.ts';

test('nothing moves for those who asked for less motion', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const { trajectories } = await readRunBundle(new Uint8Array(readFileSync('public/recorded/run.mua.zip')));
  for (const address of [
    '#/',
    '#/learn',
    '#/runs/recorded',
    `#/runs/recorded/rollouts/${encodeURIComponent(trajectories[0]!.id)}?view=rendered&tok=9`,
  ]) {
    await page.goto(`/${address}`);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    // Animations would begin in the first moments, so look several times.
    for (let look = 0; look < 5; look++) {
      expect(await moving(page), address).toEqual([]);
      await page.waitForTimeout(100);
    }
  }
});

test('the theme is chosen by a button, is kept, and charts take it on', async ({ page }) => {
  const problems = watch(page);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto('/#/runs/recorded');
  const root = page.locator('html');
  const chart = page.locator('[data-part=chart-reward] canvas').first();
  await expect(chart).toBeVisible();
  const picture = () => chart.evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const theme = page.getByRole('button', { name: /^Theme: / });
  await theme.click();
  await expect(root).toHaveAttribute('data-theme', 'light');
  const [light, lightGround] = [await picture(), await background()];
  await theme.click();
  await expect(root).toHaveAttribute('data-theme', 'dark');
  await expect.poll(picture).not.toBe(light);
  const dark = await background();
  expect(dark).not.toBe(lightGround);
  await page.reload();
  await expect(root).toHaveAttribute('data-theme', 'dark');
  expect(await background()).toBe(dark);
  await expect(theme).toHaveAccessibleName(/^Theme: dark/);

  // Switch back to the theme of the system.
  await theme.click();
  await expect(root).not.toHaveAttribute('data-theme');
  expect(await background()).toBe(lightGround);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await background()).toBe(dark);
  expect(problems).toEqual([]);
});
