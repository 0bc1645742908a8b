// @ts-check
/** @file Bundles the command line into `dist-cli/`, because Node cannot run TypeScript. If a source has changed, it is bundled again. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Beat } from './beat.mjs';
import { INPUTS, isFresh, recordInputs } from './inputs.mjs';
import { mcpServers } from './mcp-servers.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = join(ROOT, 'dist-cli');
/** The file with the name of the newest build. Each build has its own folder, so a new build does not remove files that a command loads. */
const NEWEST = join(FOLDER, 'newest');
const KEPT_MS = 3_600_000;

/** @returns {Promise<{ main: (argv: string[]) => Promise<number> }>} */
export async function commandLine() {
  return import(pathToFileURL(join(FOLDER, newest() ?? (await build()), 'main.js')).href);
}

/** The name of the newest build, if no source has changed since. */
function newest() {
  try {
    const name = readFileSync(NEWEST, 'utf8');
    return isFresh(ROOT, join(FOLDER, name, INPUTS)) ? name : undefined;
  } catch {
    return undefined; // there is no build yet
  }
}

async function build() {
  console.error('building the command line (once)…');
  const beat = new Beat(fileURLToPath(new URL('beat.mjs', import.meta.url)));
  beat.set({ before: 'building the command line', after: '' });
  const name = `${Date.now()}-${process.pid}`;
  const { build: viteBuild } = await import('vite');
  await viteBuild({
    root: ROOT,
    configFile: false,
    publicDir: false,
    logLevel: 'silent',
    plugins: [mcpServers(), recordInputs(['bin/bundle.mjs', 'bin/inputs.mjs', 'bin/mcp-servers.mjs', 'tsconfig.json'])],
    build: {
      ssr: 'src/cli/main.ts',
      outDir: join(FOLDER, name),
      target: 'node20',
      rolldownOptions: { output: { entryFileNames: 'main.js' } },
    },
  }).finally(() => beat.end());
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(`${NEWEST}-${name}`, name);
  renameSync(`${NEWEST}-${name}`, NEWEST);
  for (const old of readdirSync(FOLDER)) {
    const path = join(FOLDER, old);
    if (old !== name && path !== NEWEST && Date.now() - statSync(path).mtimeMs > KEPT_MS) rmSync(path, { recursive: true, force: true });
  }
  return name;
}
