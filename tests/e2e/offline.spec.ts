/** The built page works on a static host under any path and without special headers, and offline after the first visit. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { expect, test } from '@playwright/test';
import { watch } from './page-checks.ts';

const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
};

// This file does not use test.ts, whose pages share a context that blocks service workers.
test.use({ serviceWorkers: 'allow' });

/** The most bytes that the first visit may download and store. List a file that only one page needs in `LATER` of vite.config.ts. */
const MOST_KEPT = 5_700_000;
const MOST_SENT = 8_300_000;

test('from a sub-path without headers; after the first visit it opens, plays and trains without the server', async ({ page }) => {
  test.slow();
  const problems = watch(page);
  let sent = 0;
  const server = createServer(async (request, response) => {
    const path = new URL(request.url!, 'http://x').pathname;
    const name = path.startsWith('/some/where/') ? path.slice('/some/where/'.length) || 'index.html' : null;
    const body = name && !name.includes('..') ? await readFile(join('dist', name)).catch(() => null) : null;
    sent += body?.length ?? 0;
    if (body) response.writeHead(200, { 'Content-Type': TYPES[extname(name!)] ?? 'application/octet-stream' }).end(body);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/some/where/`;
  try {
    await page.goto(base);
    await expect(page.getByRole('button', { name: 'Start training' })).toBeEnabled();
    // When the service worker is ready, the files of the build are stored.
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
    const kept = await page.evaluate(async () => {
      const cache = await caches.open((await caches.keys())[0]!);
      const files = await Promise.all(
        (await cache.keys()).map(async ({ url }) => [url, (await (await cache.match(url))!.blob()).size] as const),
      );
      return { names: files.map(([url]) => url), bytes: files.reduce((sum, [, size]) => sum + size, 0) };
    });
    console.log(`a first visit downloads ${sent} bytes and keeps ${kept.bytes}`);
    expect(kept.bytes).toBeLessThan(MOST_KEPT);
    expect(sent).toBeLessThan(MOST_SENT);
    expect(kept.names.filter((name) => /interaction|gallery|mua-experiment|timeouts\.mua/i.test(name))).toEqual([]);
    const manifest = (await (await page.request.get(`${base}manifest.webmanifest`)).json()) as { icons: unknown[]; start_url: string };
    expect(manifest).toMatchObject({ start_url: '.', display: 'standalone' });
    // The results of an experiment are stored when the visitor opens its page.
    await page.reload();
    await page.getByRole('link', { name: 'Experiments', exact: true }).click();
    await expect(page.getByRole('link', { name: 'What each part contributes, at glimpse' })).toBeVisible();
    await page.goto(base);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  await page.reload();
  const story = page.getByRole('region', { name: 'Recorded run' });
  await expect(story.getByRole('region', { name: 'Before training' })).toBeVisible();
  await page.getByRole('link', { name: 'Experiments', exact: true }).click();
  await expect(page.getByRole('link', { name: 'What each part contributes, at glimpse' })).toBeVisible();
  // Workers and a bundled model work offline too.
  await page.goto(`${base}#/?preset=tiny&val_tasks=0&total_training_steps=1&train_batch_size=1&n=2&filter_groups=false&max_turns=6`);
  await page.getByRole('button', { name: 'Start training' }).click();
  await expect(page.locator('[data-part=status]')).toHaveText(/Done/, { timeout: 240_000 });
  expect(problems).toEqual([]);
});
