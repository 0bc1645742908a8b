/** What every page is held to: nothing on the console, accessible in both themes, no wider than a phone, and a picture to look at. */
import { mkdir } from 'node:fs/promises';
import { AxeBuilder } from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

const SCREENSHOTS = 'test-results/screenshots';

/** What the page complains of from now on; a dialog is a fault as well, since no page opens one by itself. */
export function watch(page: Page): string[] {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return problems;
}

/** @param fullPage false for pages whose content is long and drawn only in sight */
export async function inspect(page: Page, name: string, { fullPage = true } = {}): Promise<void> {
  await mkdir(SCREENSHOTS, { recursive: true });
  const size = page.viewportSize()!;
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`), `${name}, ${colorScheme}`).toEqual([]);
    await page.screenshot({ path: `${SCREENSHOTS}/${name}-${colorScheme}.png`, fullPage });
  }
  await page.setViewportSize({ width: 360, height: 800 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth), `${name}: width at 360 px`).toBeLessThanOrEqual(360);
  await page.screenshot({ path: `${SCREENSHOTS}/${name}-360.png`, fullPage });
  await page.setViewportSize(size);
}

/** What an animation moves now. */
export const moving = (page: Page) =>
  page.evaluate(() => document.getAnimations().filter(({ playState }) => playState === 'running').map(({ effect }) => (effect as KeyframeEffect).target?.outerHTML.slice(0, 100)));
