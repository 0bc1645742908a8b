import { defineConfig } from '@playwright/test';
import { launchOptions } from './tests/support/chromium.ts';

const PORT = Number(process.env.MUA_PORT ?? 8019);

/**
 * End-to-end tests on the built app, two at a time. Training on a software GPU is slow, so time limits are long. The
 * speed tests run last and alone.
 */
export default defineConfig({
  testDir: 'tests/e2e',
  timeout: 300_000,
  expect: { timeout: 30_000 },
  workers: 2,
  // A software GPU sometimes stops drawing, and the page stands still. The summary names a test that passes on its second try.
  retries: 1,
  fullyParallel: true,
  forbidOnly: Boolean(process.env.CI),
  reporter: [['list']],
  outputDir: 'test-results/traces',
  use: {
    baseURL: `http://127.0.0.1:${PORT}/`,
    browserName: 'chromium',
    launchOptions,
    actionTimeout: 240_000,
    // Only the test of offline use has a service worker: it would answer what other tests answer for the server.
    serviceWorkers: 'block',
    // A trace of every test would take a fifth of the processor time. A test that fails runs again with a trace.
    trace: { mode: 'on-first-retry', screenshots: false },
  },
  projects: [
    { name: 'pages', testIgnore: 'speed.spec.ts' },
    { name: 'speed', testMatch: 'speed.spec.ts', dependencies: ['pages'], fullyParallel: false, use: { trace: 'off' } },
  ],
  webServer: {
    command: `node bin/mua.mjs open --serve --port ${PORT}`,
    url: `http://127.0.0.1:${PORT}/`,
    timeout: 120_000,
    reuseExistingServer: false,
  },
});
