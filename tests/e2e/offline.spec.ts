/** The built page on a static host: under any path, without special headers, and offline after the first visit. */
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

// Not the test of test.ts: its pages share one context, which blocks service workers.
test.use({ serviceWorkers: 'allow' });

test('from a sub-path without headers; after the first visit it opens, plays and trains without the server', async ({ page }) => {
  test.slow();
  const problems = watch(page);
  const server = createServer(async (request, response) => {
    const path = new URL(request.url!, 'http://x').pathname;
    const name = path.startsWith('/some/where/') ? path.slice('/some/where/'.length) || 'index.html' : null;
    const body = name && !name.includes('..') ? await readFile(join('dist', name)).catch(() => null) : null;
    if (body) response.writeHead(200, { 'Content-Type': TYPES[extname(name!)] ?? 'application/octet-stream' }).end(body);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/some/where/`;
  try {
    await page.goto(base);
    await expect(page.getByRole('button', { name: 'Start training' })).toBeEnabled();
    // Installed: all files of the build are stored.
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
    const manifest = (await (await page.request.get(`${base}manifest.webmanifest`)).json()) as { icons: unknown[]; start_url: string };
    expect(manifest).toMatchObject({ start_url: '.', display: 'standalone' });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  await page.reload();
  const story = page.getByRole('region', { name: 'Recorded run' });
  await expect(story.getByRole('region', { name: 'Before training' })).toBeVisible();
  await page.getByRole('link', { name: 'Experiments', exact: true }).click();
  await expect(page.getByRole('link', { name: 'What each part contributes, at glimpse' })).toBeVisible();
  // The workers and a bundled model too.
  await page.goto(`${base}#/?preset=tiny&val_tasks=0&total_training_steps=1`);
  await page.getByRole('button', { name: 'Start training' }).click();
  await expect(page.locator('[data-part=status]')).toHaveText(/Done/, { timeout: 240_000 });
  expect(problems).toEqual([]);
});
