/**
 * Checks that every page must pass: no errors on the console, accessible in both themes, not wider than a phone. With
 * MUA_PICTURES=1 the tests also write a picture of each page to test-results/screenshots. Also how to load a page anew.
 */
import { expect, type Locator, type Page } from '@playwright/test';
import axe from 'axe-core';

const SCREENSHOTS = 'test-results/screenshots';

export const takesPictures = process.env.MUA_PICTURES === '1';

/** @param target a page, or an element of a page */
export async function picture(target: Page | Locator, name: string, options: { fullPage?: boolean } = {}): Promise<void> {
  if (takesPictures) await target.screenshot({ path: `${SCREENSHOTS}/${name}.png`, ...options });
}

/** Collects the errors of the page from now on. A dialog also counts as an error, because no page opens one by itself. */
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

/** The problems that axe finds on the page, one line for each broken rule. axe runs in the page itself, which has no frames. */
export async function violations(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  const found = await page.evaluate(async () => {
    const { violations: broken } = await (window as unknown as { axe: typeof axe }).axe.run(document, { resultTypes: ['violations'] });
    return broken.map(({ id, nodes }) => ({ id, html: nodes.map((node) => node.html) }));
  });
  return found.map(({ id, html }) => `${id}: ${html.join(' ')}`);
}

/** @param fullPage false for pages with long content that is drawn only where it is visible */
export async function inspect(page: Page, name: string, { fullPage = true } = {}): Promise<void> {
  const size = page.viewportSize()!;
  await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible(); // A page shows its heading when it has read its data.
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

/** The elements that an animation moves now. */
export const moving = (page: Page) =>
  page.evaluate(() =>
    document
      .getAnimations()
      .filter(({ playState }) => playState === 'running')
      .map(({ effect }) => (effect as KeyframeEffect).target?.outerHTML.slice(0, 100)),
  );

/**
 * Loads an address as a new document. A reload right after `goto` can load the address before it: if only the hash changes, `goto` ends at
 * the first event of the history, and the page also stores its scroll position there.
 */
export async function load(page: Page, address: string): Promise<void> {
  await page.goto('about:blank');
  await page.goto(address);
}
