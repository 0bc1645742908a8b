// @ts-check
/** @file Writes the notices of the packages whose code is in the built page, because their licenses ask for it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { entryOf } from './mcp-servers.mjs';

export const NOTICES = 'third-party-notices.txt';
/** Packages that name a license file which they lack, with a package of the same project that has it. */
const SAME_LICENSE = /** @type {Record<string, string>} */ ({
  '@modelcontextprotocol/server-filesystem': '@modelcontextprotocol/client',
  '@modelcontextprotocol/server-memory': '@modelcontextprotocol/client',
});
const TEXT = /^(licen[cs]e|notice|copying)([.-].*)?$/i;

/** @returns {import('vite').Plugin} */
export function notices() {
  return {
    name: 'notices',
    apply: 'build',
    generateBundle() {
      /** The folders of packages. @type {Set<string>} */
      const folders = new Set();
      for (const id of this.getModuleIds()) {
        const path = entryOf(id) ?? id;
        const [, folder] = /^(?:\0)?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path.replaceAll('\\', '/')) ?? [];
        if (folder) folders.add(folder);
      }
      const source = [...new Set([...folders].map(noticeOf))].sort().join(`\n${'-'.repeat(80)}\n\n`);
      this.emitFile({ type: 'asset', fileName: NOTICES, source });
    },
  };
}

/** @param {string} folder of a package @returns {string} its name, its license and the texts that come with it */
function noticeOf(folder) {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const source = SAME_LICENSE[name] === undefined ? folder : join(folder, '..', '..', SAME_LICENSE[name]);
  const texts = readdirSync(source)
    .filter((file) => TEXT.test(file))
    .sort()
    .map((file) => readFileSync(join(source, file), 'utf8').trim());
  const holder = typeof author === 'string' ? author : author?.name;
  if (texts.length === 0 && !license) throw new Error(`${name} ${version} has no license: the build cannot contain it`);
  return `${name} ${version} (${license ?? 'see below'})\n\n${texts.length > 0 ? texts.join('\n\n') : `Copyright ${holder ?? `the authors of ${name}`}`}\n`;
}
