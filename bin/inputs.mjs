// @ts-check
/**
 * @file Finds out whether a build is up to date. A plugin gets the inputs from the bundler, and writes them to `inputs.json`. The next
 * start compares them with the files on disk.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

export const INPUTS = 'inputs.json';

/**
 * @typedef {object} Inputs
 * @property {Record<string, { size: number, mtimeMs: number, sha256: string }>} files path from the root → state of the file
 * @property {Record<string, string[]>} folders folder that the code reads as a whole → paths of its files
 */

/** @param {string} path */
const sha256 = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');

/** @param {string} folder @returns {string[]} */
const listing = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();

/**
 * Whether a build was made from the current files. A file with another modification time counts as the same if its content is the same.
 * @param {string} root root folder of the project
 * @param {string} manifest path of `inputs.json`
 * @returns {boolean}
 */
export function isFresh(root, manifest) {
  try {
    const { files, folders } = /** @type {Inputs} */ (JSON.parse(readFileSync(manifest, 'utf8')));
    return (
      Object.entries(files).every(([path, { size, mtimeMs, sha256: expected }]) => {
        const info = statSync(join(root, path));
        return info.size === size && (info.mtimeMs === mtimeMs || sha256(join(root, path)) === expected);
      }) && Object.entries(folders).every(([path, names]) => names.join() === listing(join(root, path)).join())
    );
  } catch {
    return false; // a file is missing, or there is no build
  }
}

/**
 * Makes a plugin that writes `inputs.json` into the folder of the build. The file lists all modules and assets of the graph, and the given
 * files. It lists package-lock.json instead of the files of packages.
 * @param {string[]} [given] paths of more files, from the root or absolute. Other plugins may add some while they load modules
 * @returns {import('vite').Plugin}
 */
export function recordInputs(given = []) {
  /** @type {Set<string>} */
  const files = new Set();
  /** @type {Set<string>} */
  const folders = new Set();
  let started = 0;
  let root = '';

  /** @param {Iterable<string>} ids */
  const add = (ids) => {
    for (const id of ids) {
      const path = (id.startsWith('\0') ? '' : (id.split('?')[0] ?? '')).split('/').join(sep);
      if (path.startsWith(root + sep) && !path.includes('node_modules')) files.add(path);
    }
  };
  /** @param {string} code @param {string} id */
  const addGlobs = (code, id) => {
    for (const [call] of code.matchAll(/import\.meta\.glob\b[^(]*\([^)]*\)/g))
      for (const [, pattern = ''] of call.matchAll(/'(\.{1,2}\/[^']*)'/g))
        folders.add(resolve(dirname(id.split('?')[0] ?? ''), pattern.slice(0, pattern.indexOf('*'))));
  };
  return {
    name: 'record-inputs',
    apply: 'build',
    configResolved(config) {
      started = Date.now();
      root = resolve(config.root);
      add(config.configFileDependencies.map((path) => resolve(path)));
      add(['package.json', 'package-lock.json'].map((path) => join(root, path)));
      if (config.publicDir) {
        folders.add(config.publicDir);
        add(listing(config.publicDir).map((path) => join(config.publicDir, path)));
      }
    },
    transform: { order: 'pre', handler: (code, id) => void addGlobs(code, id) },
    writeBundle({ dir }) {
      add(this.getModuleIds());
      add(given.map((path) => resolve(root, path)));
      /** @type {Inputs} */
      const inputs = { files: {}, folders: {} };
      for (const path of [...files].sort()) {
        const { size, mtimeMs } = statSync(path);
        // If a file changed during the build, the build may have its old content. The empty hash makes the next start build again.
        inputs.files[relative(root, path)] = { size, mtimeMs, sha256: mtimeMs < started ? sha256(path) : '' };
      }
      for (const path of [...folders].sort()) inputs.folders[relative(root, path)] = listing(path);
      writeFileSync(join(dir ?? '', INPUTS), JSON.stringify(inputs));
    },
  };
}
