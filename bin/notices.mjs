// @ts-check
/** @file Writes the notices of the packages whose code is in the built page, because their licenses ask for it. Workers have builds of their own. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const NOTICES = 'third-party-notices.txt';
const TEXT = /^(licen[cs]e|notice|copying)([.-].*)?$/i;

/** @returns {import('vite').Plugin & { inWorkers(): import('vite').Plugin }} `inWorkers` makes the plugin for the builds of workers */
export function notices() {
  /** The folders of packages. @type {Set<string>} */
  const folders = new Set();
  /** @param {Iterable<string>} ids */
  const add = (ids) => {
    for (const id of ids) {
      const [, folder] = /^(?:\0)?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id.replaceAll('\\', '/')) ?? [];
      if (folder) folders.add(folder);
    }
  };
  return {
    name: 'notices',
    apply: 'build',
    generateBundle() {
      add(this.getModuleIds());
      const source = [...new Set([...folders].map(noticeOf))].sort().join(`\n${'-'.repeat(80)}\n\n`);
      this.emitFile({ type: 'asset', fileName: NOTICES, source });
    },
    inWorkers: () => ({
      name: 'notices-in-workers',
      apply: 'build',
      generateBundle() {
        add(this.getModuleIds());
      },
    }),
  };
}

/** @param {string} folder of a package @returns {string} its name, its license and the texts that come with it */
function noticeOf(folder) {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const texts = readdirSync(folder)
    .filter((file) => TEXT.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  const holder = typeof author === 'string' ? author : author?.name;
  if (texts.length === 0 && !license) throw new Error(`${name} ${version} has no license: the build cannot contain it`);
  return `${name} ${version} (${license ?? 'see below'})\n\n${texts.length > 0 ? texts.join('\n\n') : `Copyright ${holder ?? `the authors of ${name}`}`}\n`;
}
