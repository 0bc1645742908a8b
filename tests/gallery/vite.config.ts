/** @file Serves and builds the gallery alone. The visitors' build (vite.config.ts at the root) does not contain the gallery. */
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { HEADERS } from '../../src/cli/headers.ts';

export default defineConfig({
  root: import.meta.dirname,
  publicDir: '../../public',
  base: './',
  plugins: [svelte()],
  worker: { format: 'es' },
  preview: { headers: HEADERS },
  build: { target: 'es2023', assetsInlineLimit: 0, outDir: '../../test-results/gallery', emptyOutDir: true },
});
