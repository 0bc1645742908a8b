/** @file Builds the app if `dist/` is missing, or if one of the source files has changed since the last build. */
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { INPUTS, isFresh } from '../../bin/inputs.mjs';
import { CommandError, UsageError } from './errors.ts';

/** The folder of the project: the nearest folder above this code that contains `bin/mua.mjs`, which starts the command line. */
export const ROOT = (() => {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'bin', 'mua.mjs')) && folder !== dirname(folder)) folder = dirname(folder);
  return folder;
})();

/** Says that the app is built, which takes a while. */
export interface BuildProgress {
  note(text: string): void;
  phase(text: string): void;
}

/** The folder of the built site. If the environment variable `MUA_DIST` names a folder, that folder is used unchanged. */
export async function builtSite(progress: BuildProgress): Promise<string> {
  const given = process.env.MUA_DIST;
  if (given) {
    if (!existsSync(join(given, 'headless.html'))) throw new UsageError(`MUA_DIST is "${given}": it contains no headless.html`);
    return given;
  }
  const dist = join(ROOT, 'dist');
  if (isFresh(ROOT, join(dist, INPUTS))) return dist;
  progress.note('building the app (only this once)…');
  progress.phase('building the app');
  // Build into a folder next to dist/ and rename it afterwards, so that another command never sees an incomplete build.
  const fresh = join(ROOT, `dist-${process.pid}`);
  await viteBuild(fresh);
  const old = `${fresh}-old`;
  await rename(dist, old).catch(() => {});
  await rename(fresh, dist);
  await rm(old, { recursive: true, force: true });
  return dist;
}

async function viteBuild(outDir: string): Promise<void> {
  let vite: typeof import('vite');
  try {
    vite = await import('vite');
  } catch {
    throw new CommandError('the app is not built and its build tools are not installed: run npm ci in the project first');
  }
  try {
    const config = { root: ROOT, configFile: join(ROOT, 'vite.config.ts'), logLevel: 'silent' } as const;
    await vite.build({ ...config, build: { outDir, emptyOutDir: true } });
  } catch (error) {
    await rm(outDir, { recursive: true, force: true });
    throw new CommandError(`the app does not build: ${(error as Error).message.split('\n').slice(0, 3).join(' ')}`);
  }
}
