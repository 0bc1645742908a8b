// @ts-check
/** Builds the app if `dist/` is missing or older than the sources. */
import { existsSync } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { CommandError, UsageError } from './errors.mjs';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SOURCES = ['src', 'workers', 'models', 'public', 'index.html', 'headless.html', 'vite.config.ts', 'package-lock.json'];

/**
 * The folder of the built site. If `MUA_DIST` names a folder, that folder is used unchanged.
 * @param {(text: string) => void} note
 */
export async function builtSite(note) {
  const given = process.env.MUA_DIST;
  if (given) {
    if (!existsSync(join(given, 'headless.html'))) throw new UsageError(`MUA_DIST is "${given}": it holds no headless.html`);
    return given;
  }
  const dist = join(ROOT, 'dist');
  if (await isFresh(join(dist, 'headless.html'), SOURCES)) return dist;
  note('building the app (once)…');
  // Built in a folder next to dist/ and then renamed, so that a second command never sees an incomplete build.
  const fresh = join(ROOT, 'dist', '..', `dist-${process.pid}`);
  await viteBuild({ root: ROOT, configFile: join(ROOT, 'vite.config.ts'), build: { outDir: fresh, emptyOutDir: true } }, fresh);
  const old = `${fresh}-old`;
  await rename(dist, old).catch(() => {});
  await rename(fresh, dist);
  await rm(old, { recursive: true, force: true });
  return dist;
}

/**
 * The server of the scripted customer.
 * @param {(text: string) => void} note
 * @returns {Promise<typeof import('../users/server.ts')>}
 */
export const userServerModule = (note) =>
  nodeModule(
    'src/users/server.ts',
    ['src/users', 'src/environments', 'src/domains', 'src/records', 'src/base'],
    'building the user server (once)…',
    note,
  );

/**
 * The importer, the exact domains and their rewards.
 * @param {(text: string) => void} note
 * @returns {Promise<typeof import('./benchmark.ts')>}
 */
export const benchmarkModule = (note) =>
  nodeModule(
    'src/cli/benchmark.ts',
    ['src/cli/benchmark.ts', 'src/environments', 'src/domains', 'src/evaluation', 'src/exchange'],
    'building the benchmark tools (once)…',
    note,
  );

/**
 * Definitions, results and reports of experiments.
 * @param {(text: string) => void} note
 * @returns {Promise<typeof import('./experiment.ts')>}
 */
export const experimentModule = (note) =>
  nodeModule(
    'src/cli/experiment.ts',
    [
      'src/cli/experiment.ts',
      'src/experiments',
      'src/training',
      'src/evaluation',
      'src/exchange',
      'src/environments',
      'src/domains',
      'src/base',
    ],
    'building the tools of experiments (once)…',
    note,
  );

/**
 * The checks of `mua verify`.
 * @param {(text: string) => void} note
 * @returns {Promise<typeof import('./verify.ts')>}
 */
export const verifyModule = (note) =>
  nodeModule(
    'src/cli/verify.ts',
    [
      'src/cli/verify.ts',
      'src/trainer',
      'src/exchange',
      'src/experiments',
      'src/training',
      'src/agent',
      'src/engine',
      'src/records',
      'src/base',
    ],
    'building the checks (once)…',
    note,
  );

/**
 * The writers of `mua export-run`.
 * @param {(text: string) => void} note
 * @returns {Promise<typeof import('./run-export.ts')>}
 */
export const runExportModule = (note) =>
  nodeModule(
    'src/cli/run-export.ts',
    [
      'src/cli/run-export.ts',
      'src/formats',
      'src/trainer',
      'src/training',
      'src/evaluation',
      'src/benchmarks',
      'src/users',
      'src/engine',
      'src/exchange',
      'src/environments',
      'src/domains',
      'src/agent',
      'src/records',
      'src/base',
    ],
    'building the export of runs (once)…',
    note,
  );

/**
 * The environment server.
 * @param {(text: string) => void} note
 * @returns {Promise<typeof import('../serve/index.ts')>}
 */
export const envServerModule = (note) =>
  nodeModule(
    'src/serve/index.ts',
    [
      'src/serve',
      'src/formats',
      'src/training',
      'src/evaluation',
      'src/engine',
      'src/local',
      'src/benchmarks',
      'src/agent',
      'src/users',
      'src/environments',
      'src/domains',
      'src/exchange',
      'src/records',
      'src/base',
    ],
    'building the environment server (once)…',
    note,
    'env-server',
  );

/**
 * The writer of exported folders.
 * @param {(text: string) => void} note
 * @returns {Promise<typeof import('../exchange/export-folder.ts')>}
 */
export const exportModule = (note) =>
  nodeModule(
    'src/exchange/export-folder.ts',
    ['src/exchange', 'src/engine', 'src/records', 'src/base'],
    'building the export (once)…',
    note,
  );

/**
 * A TypeScript module that is bundled for Node when its sources have changed.
 * @param {string} entry
 * @param {string[]} sources
 * @param {string} what
 * @param {(text: string) => void} note
 * @param {string} [name]
 */
async function nodeModule(entry, sources, what, note, name = basename(entry, '.ts')) {
  const folder = join(ROOT, 'node_modules', '.cache', 'mua', name);
  const module = join(folder, `${name}.mjs`);
  if (!(await isFresh(module, [...sources, 'package-lock.json']))) {
    note(what);
    const fresh = `${folder}-${process.pid}`;
    await viteBuild(
      {
        root: ROOT,
        configFile: false,
        publicDir: false,
        build: { ssr: entry, outDir: fresh, rolldownOptions: { output: { entryFileNames: `${name}.mjs` } } },
      },
      fresh,
    );
    await rm(folder, { recursive: true, force: true });
    await rename(fresh, folder).catch(async (error) => {
      await rm(fresh, { recursive: true, force: true });
      if (!existsSync(module)) throw error; // otherwise another command has built the module
    });
  }
  return import(pathToFileURL(module).href);
}

/**
 * @param {import('vite').InlineConfig} config
 * @param {string} outDir removed when the build fails
 */
async function viteBuild(config, outDir) {
  let vite;
  try {
    vite = await import('vite');
  } catch {
    throw new CommandError('the app is not built and its build tools are not installed: run npm ci in the project first');
  }
  try {
    await vite.build({ ...config, logLevel: 'silent' });
  } catch (error) {
    await rm(outDir, { recursive: true, force: true });
    throw new CommandError(`the app does not build: ${/** @type {Error} */ (error).message.split('\n').slice(0, 3).join(' ')}`);
  }
}

/** @param {string} product @param {string[]} sources */
async function isFresh(product, sources) {
  const made = await stat(product).catch(() => null);
  return made !== null && (await newest(sources.map((path) => join(ROOT, path)))) <= made.mtimeMs;
}

/** @param {string[]} paths @returns {Promise<number>} */
async function newest(paths) {
  const times = await Promise.all(
    paths.map(async (path) => {
      const info = await stat(path).catch(() => null);
      if (!info?.isDirectory()) return info?.mtimeMs ?? 0;
      return Math.max(info.mtimeMs, await newest((await readdir(path)).map((name) => join(path, name))));
    }),
  );
  return Math.max(0, ...times);
}
