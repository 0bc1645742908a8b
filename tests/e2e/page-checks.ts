/**
 * What every page must be: without errors on the console, accessible in both themes, no wider than a phone. With
 * MUA_PICTURES=1 the tests also write a picture of each page, to look at, into test-results/screenshots.
 */
import { expect, type Locator, type Page } from '@playwright/test';
import axe from 'axe-core';

const SCREENSHOTS = 'test-results/screenshots';

/** @param target a page, or an element of a page */
export async function picture(target: Page | Locator, name: string, options: { fullPage?: boolean } = {}): Promise<void> {
  if (process.env.MUA_PICTURES === '1') await target.screenshot({ path: `${SCREENSHOTS}/${name}.png`, ...options });
}

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

/** What axe finds on the page as it is now, a line for each broken rule. The page has no frames: axe runs in the page itself. */
export async function violations(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  const found = await page.evaluate(async () => {
    const { violations: broken } = await (window as unknown as { axe: typeof axe }).axe.run(document, { resultTypes: ['violations'] });
    return broken.map(({ id, nodes }) => ({ id, html: nodes.map((node) => node.html) }));
  });
  return found.map(({ id, html }) => `${id}: ${html.join(' ')}`);
}

/** @param fullPage false for pages whose content is long and drawn only in sight */
export async function inspect(page: Page, name: string, { fullPage = true } = {}): Promise<void> {
  const size = page.viewportSize()!;
  await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible(); // a page has its heading when its data are read
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    expect(await violations(page), `${name}, ${colorScheme}`).toEqual([]);
    await picture(page, `${name}-${colorScheme}`, { fullPage });
  }
  await page.setViewportSize({ width: 360, height: 800 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth), `${name}: width at 360 px`).toBeLessThanOrEqual(360);
  await picture(page, `${name}-360`, { fullPage });
  await page.setViewportSize(size);
}

/** What an animation moves now. */
export const moving = (page: Page) =>
  page.evaluate(() =>
    document
      .getAnimations()
      .filter(({ playState }) => playState === 'running')
      .map(({ effect }) => (effect as KeyframeEffect).target?.outerHTML.slice(0, 100)),
  );
