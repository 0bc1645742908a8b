/** Tests every component in its states: it is accessible in both themes, fits on a phone, and shows hostile text as text. */
import { expect, type Page } from '@playwright/test';
import { build, preview, type PreviewServer } from 'vite';
import { picture, takesPictures, violations, watch } from './page-checks.ts';
import { test } from './test.ts';

const SCHEMES = ['light', 'dark'] as const;
const configFile = 'tests/gallery/vite.config.ts';

// All tests run in one worker, so the gallery is built only once.
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
  if (!takesPictures) return;
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
  // Elements that get their layout only when visible would move while the picture is taken.
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('* { content-visibility: visible !important }');
    document.adoptedStyleSheets.push(sheet);
  });
  expect(await exhibits.count()).toBeGreaterThan(40);
  // Tokens get their colours when they first come near the viewport.
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
  // Names, ids, messages and results contain payloads. None of them has become an element.
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
