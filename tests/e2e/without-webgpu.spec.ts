/** Browsers without WebGPU: one banner says what does not work, and the rest works without an error on the console. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { expect, test } from '@playwright/test';
import { launchOptions } from '../support/chromium.ts';
import { firefoxPath, openFirefox } from '../support/firefox.ts';
import { say } from './agent-by-hand.ts';
import { inspect, watch } from './page-checks.ts';

const TITLE = 'WebGPU is not available here';
/** The pages that must work without WebGPU. */
const PAGES = [
  '#/',
  '#/learn',
  '#/learn/group',
  '#/runs',
  '#/runs/recorded',
  '#/runs/recorded/rollouts',
  '#/worlds/retail/data',
  '#/worlds/retail/tasks',
  '#/evals',
  '#/experiments',
  '#/models',
  '#/play/retail/retail%2Fnano%2Fheldout%2F1%2F0',
  '#/settings',
];

test('Chromium without WebGPU, locks and persistent storage: read, import, share, play by hand', async ({ playwright, baseURL }) => {
  test.slow();
  const args = launchOptions.args.filter((arg) => arg !== '--enable-unsafe-webgpu');
  const browser = await playwright.chromium.launch({ ...launchOptions, args: [...args, '--disable-gpu', '--disable-software-rasterizer'] });
  try {
    const context = await browser.newContext({ baseURL, serviceWorkers: 'block' });
    let patched = 0;
    const removed = `for (const [owner, name] of [[globalThis.Navigator ?? globalThis.WorkerNavigator, 'gpu'], [globalThis.Navigator ?? globalThis.WorkerNavigator, 'locks'], [StorageManager, 'persist'], [StorageManager, 'persisted']]) delete owner.prototype[name];\n`;
    await context.addInitScript(removed);
    // Init scripts do not reach workers, so change the scripts of the workers.
    await context.route(/\/assets\/(trainer|environment|user|worlds|models)[^/]*\.js$/, async (route) => {
      patched += 1;
      const response = await route.fetch();
      await route.fulfill({ response, body: removed + (await response.text()) });
    });
    const page = await context.newPage();
    const problems = watch(page);
    await page.goto('/');
    const banner = page.getByRole('status').filter({ hasText: TITLE });
    await expect(banner).toBeVisible();
    await expect(page.getByRole('button', { name: 'Start training' })).toBeDisabled();
    await inspect(page, 'no-webgpu');
    for (const address of PAGES) {
      await page.goto(`/${address}`);
      await expect(page.getByRole('heading', { level: 1 })).toHaveText(/\S/);
      await page.waitForLoadState('networkidle');
      await expect(page.getByText(TITLE), address).toHaveCount(1);
    }

    await page.goto('/#/runs/recorded');
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download the run (.mua.zip)' }).click();
    const file = await (await download).path();
    await page.goto('/#/runs');
    await page.getByLabel('Import a run').setInputFiles({
      name: 'run.mua.zip',
      mimeType: 'application/zip',
      buffer: await readFile(file),
    });
    await page.getByRole('button', { name: 'Import it' }).click();
    await expect(page).toHaveURL(/#\/runs\/[0-9a-f-]{36}$/);
    await expect(page.getByText('Imported', { exact: true })).toBeVisible();

    await page.goto('/#/play/retail/retail%2Fnano%2Fheldout%2F1%2F0?as=agent');
    await say(page, 'What is your email?');
    await expect(page.getByRole('region', { name: 'Conversation' }).locator('[data-part=message]').last()).toContainText('email');
    expect(patched).toBeGreaterThan(2);
    expect(problems).toEqual([]);
  } finally {
    await browser.close();
  }
});

test('Firefox of the distribution: read, import, and one banner', async ({ baseURL }) => {
  if (!firefoxPath) console.log('skipped: Firefox is not installed (apt-get install firefox-esr, or name it in MUA_FIREFOX)');
  test.skip(!firefoxPath);
  test.slow();
  const firefox = await openFirefox();
  try {
    const state = () =>
      firefox.evaluate(`({
        heading: document.querySelector('h1')?.textContent.trim() ?? '',
        banners: [...document.querySelectorAll('.banner')].filter((one) => one.textContent.includes('${TITLE}')).length,
        wide: document.documentElement.scrollWidth > innerWidth,
      })`) as Promise<{ heading: string; banners: number; wide: boolean }>;
    await firefox.goto(baseURL!);
    const hasGpu = await firefox.evaluate('(await navigator.gpu?.requestAdapter().catch(() => null)) != null');
    for (const address of PAGES) {
      await firefox.evaluate(`void (location.hash = '${address}')`);
      await expect
        .poll(async () => ((await state()).heading !== '' ? (await state()).banners : -1), { message: address })
        .toBe(hasGpu ? 0 : 1);
      expect((await state()).wide, address).toBe(false);
    }
    await firefox.evaluate(`(async () => {
      location.hash = '#/runs';
      const bundle = await (await fetch('recorded/run.mua.zip')).blob();
      for (let tries = 0; tries < 50 && !document.querySelector('input[type=file]'); tries++) await new Promise((go) => setTimeout(go, 100));
      const files = new DataTransfer();
      files.items.add(new File([bundle], 'run.mua.zip', { type: 'application/zip' }));
      const input = document.querySelector('input[type=file]');
      input.files = files.files;
      input.dispatchEvent(new Event('change', { bubbles: true }));
    })()`);
    const press = `(() => {
      const found = [...document.querySelectorAll('button')].find((one) => one.textContent.trim() === 'Import it');
      found?.click();
      return found !== undefined;
    })()`;
    await expect.poll(() => firefox.evaluate(press)).toBe(true);
    await expect.poll(() => firefox.evaluate('location.hash')).toMatch(/^#\/runs\/[0-9a-f-]{36}$/);
    await expect.poll(() => firefox.evaluate('document.querySelector("main").innerText')).toContain('Imported');
    if (process.env.MUA_PICTURES === '1') {
      await mkdir('test-results/screenshots', { recursive: true });
      await writeFile('test-results/screenshots/firefox.png', await firefox.screenshot());
    }
    expect(firefox.problems).toEqual([]);
  } finally {
    await firefox.close();
  }
});
