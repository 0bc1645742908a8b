import { svelte } from '@sveltejs/vite-plugin-svelte';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { launchOptions } from './tests/support/chromium.ts';

// WebGPU training does not need cross-origin isolation; threads of other packages do, so both servers send it.
const isolation = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };

export default defineConfig({
  base: './',
  plugins: [svelte()],
  worker: { format: 'es' },
  server: { headers: isolation },
  preview: { headers: isolation },
  optimizeDeps: { include: ['comlink', 'dexie'] },
  // The page, and the page behind the command line.
  // No file becomes a data: address, which the page's policy would not fetch.
  build: { target: 'es2023', assetsInlineLimit: 0, rolldownOptions: { input: ['index.html', 'headless.html'] } },
  test: {
    projects: [
      { extends: true, test: { name: 'unit', environment: 'node', include: ['tests/unit/**/*.test.ts'], testTimeout: 30_000 } },
      {
        extends: true,
        test: {
          name: 'gpu',
          include: ['tests/gpu/**/*.test.ts'],
          testTimeout: 120_000,
          fileParallelism: false,
          browser: { enabled: true, headless: true, screenshotFailures: false, provider: playwright({ launchOptions }), instances: [{ browser: 'chromium' }] },
        },
      },
    ],
  },
});
