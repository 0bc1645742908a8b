import js from '@eslint/js';
import boundaries from 'eslint-plugin-boundaries';
import svelte from 'eslint-plugin-svelte';
import { defineConfig, globalIgnores } from 'eslint/config';
import ts from 'typescript-eslint';
import { elements, files, policies } from './rooms.js';
import svelteConfig from './svelte.config.js';

export default defineConfig(
  globalIgnores(['dist*/', 'out/', 'public/', 'models/', 'node_modules/', 'test-results/', 'playwright-report/', '.*/']),
  js.configs.recommended,
  ts.configs.recommended,
  svelte.configs.recommended,
  {
    rules: {
      // The type checker finds undefined names.
      'no-undef': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // Our messages say the cause, so an error needs no `cause`.
      'preserve-caught-error': 'off',
      'no-empty': ['error', { allowEmptyCatch: true }],
    },
  },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, svelteConfig } },
    // Texts of models, users and tools must never be rendered as HTML.
    // A version number announces changes of live data, so collections need not be reactive.
    rules: { 'svelte/no-at-html-tags': 'error', 'svelte/prefer-svelte-reactivity': 'off' },
  },
  {
    files: ['src/**', 'workers/**'],
    plugins: { boundaries },
    settings: {
      'boundaries/elements': elements,
      'boundaries/files': files,
      'boundaries/include': ['src/**', 'workers/**'],
      'boundaries/dependency-nodes': ['import', 'export', 'dynamic-import'],
      'boundaries/additional-dependency-nodes': [{ name: 'import-type', selector: 'TSImportType > Literal', kind: 'type' }],
    },
    rules: {
      'boundaries/dependencies': ['error', { default: 'disallow', policies }],
      // The table does not cover a file outside the rooms.
      'boundaries/no-unknown-files': 'error',
    },
  },
);
