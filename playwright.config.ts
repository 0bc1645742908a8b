import { defineConfig } from '@playwright/test';
import { launchOptions } from './tests/support/chromium.ts';

const PORT = Number(process.env.MUA_PORT ?? 8019);

/** End-to-end tests on the built app. Training on a software GPU takes its time: one worker, long time-outs. */
export default defineConfig({
  testDir: 'tests/e2e',
  timeout: 240_000,
  expect: { timeout: 30_000 },
  workers: 1,
  fullyParallel: false,
  forbidOnly: Boolean(process.env.CI),
  reporter: [['list']],
  outputDir: 'test-results/traces',
  use: { baseURL: `http://127.0.0.1:${PORT}/`, browserName: 'chromium', launchOptions, trace: 'retain-on-failure' },
  webServer: { command: `node bin/mua.mjs open --serve --port ${PORT}`, url: `http://127.0.0.1:${PORT}/`, timeout: 120_000, reuseExistingServer: false },
});
