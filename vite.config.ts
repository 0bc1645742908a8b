import { svelte } from '@sveltejs/vite-plugin-svelte';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { launchOptions } from './tests/support/chromium.ts';

// WebGPU training needs no cross-origin isolation. The threads of other packages do, so both servers send these headers,
// as src/cli/server.mjs does.
const isolation = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'credentialless' };

/** Vitest changes this object, so each project gets a new object. */
const chromium = () => ({
  enabled: true,
  headless: true,
  screenshotFailures: false,
  provider: playwright({ launchOptions }),
  instances: [{ browser: 'chromium' as const }],
});

export default defineConfig({
  base: './',
  plugins: [svelte()],
  worker: { format: 'es' },
  server: { headers: isolation },
  preview: { headers: isolation },
  // A copy of onnxruntime-web (only tests use it) would not find its WebAssembly.
  optimizeDeps: {
    include: ['comlink', 'dexie', '@huggingface/tokenizers', 'zod', '@bufbuild/protobuf/wire'],
    exclude: ['onnxruntime-web'],
  },
  // index.html is the page. headless.html is the page that the command line opens.
  // No file is inlined as a data: URL, because the page's content security policy forbids them.
  build: { target: 'es2023', assetsInlineLimit: 0, rolldownOptions: { input: ['index.html', 'headless.html'] } },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          environment: 'node',
          include: ['tests/unit/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // The default of 1 s is too short for a machine that does other work.
          expect: { poll: { timeout: 20_000 } },
        },
      },
      {
        extends: true,
        test: {
          name: 'gpu',
          include: ['tests/gpu/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
          browser: chromium(),
        },
      },
      {
        // Tests of state classes and components with Svelte's client runtime. Runes work only in files named *.svelte.test.ts.
        extends: true,
        test: {
          name: 'component',
          include: ['tests/component/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          expect: { poll: { timeout: 20_000 } },
          fileParallelism: false,
          browser: chromium(),
        },
      },
    ],
  },
});
