/** Every component alone, in its states: accessible in both themes, no wider than a phone, hostile text as text. */
import { expect, type Page } from '@playwright/test';
import { build, preview, type PreviewServer } from 'vite';
import { picture, violations, watch } from './page-checks.ts';
import { test } from './test.ts';

const SCHEMES = ['light', 'dark'] as const;
const configFile = 'tests/gallery/vite.config.ts';

// One worker builds the gallery once.
test.describe.configure({ mode: 'default' });

let server: PreviewServer;
let gallery: string;
test.beforeAll(async () => {
  await build({ configFile, logLevel: 'warn' });
  server = await preview({ configFile, preview: { host: '127.0.0.1', port: 0 } });
  gallery = server.resolvedUrls!.local[0]!;
});
test.afterAll(() => server.close());

async function shoot(page: Page, suffix: string): Promise<void> {
  for (const exhibit of await page.locator('[data-part=exhibit]').all()) {
    const name = (await exhibit.getByRole('heading', { level: 2 }).first().innerText()).toLowerCase().replace(/[^a-z]+/g, '-');
    await picture(exhibit, `gallery/${name}-${suffix}`);
  }
}

test('every exhibit in both themes, no wider than a phone', async ({ page }) => {
  test.slow();
  const problems = watch(page);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(gallery);
  await expect(page).toHaveTitle(/\S · MUA-RL Playground$/);
  const exhibits = page.locator('[data-part=exhibit]');
  await expect(exhibits.last()).toBeVisible();
  // What is laid out only in sight would move under the camera.
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('* { content-visibility: visible !important }');
    document.adoptedStyleSheets.push(sheet);
  });
  expect(await exhibits.count()).toBeGreaterThan(40);
  // Tokens get their colours when they first come near.
  for (const tokens of await exhibits.filter({ has: page.locator('[data-part=tokens]') }).all()) {
    await tokens.scrollIntoViewIfNeeded();
    await expect(tokens.locator('[class="t s"]:not([style])')).toHaveCount(0);
  }
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await shoot(page, colorScheme);
    expect.soft(await violations(page), colorScheme).toEqual([]);
  }
  await page.setViewportSize({ width: 360, height: 800 });
  expect.soft(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  // Payloads in names, ids, messages and results: none has become an element.
  await expect(page.getByRole('main').locator('img, script')).toHaveCount(0);
  expect(problems).toEqual([]);
});

test('the dialogs, in both themes', async ({ page }) => {
  await page.goto(gallery);
  const main = page.getByRole('main');
  for (const [name, open] of [
    ['keys', main.getByRole('button', { name: 'Keys' })],
    ['confirm', main.getByRole('button', { name: 'Ask first' })],
  ] as const) {
    await open.click();
    await expect(page.getByRole('dialog')).toBeVisible();
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      expect.soft(await violations(page), `${name}, ${colorScheme}`).toEqual([]);
      await picture(page, `gallery/dialog-${name}-${colorScheme}`);
    }
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect(open).toBeFocused();
  }
});
