/** The documents are short, and their links, anchors, paths and commands exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { SETTINGS_PAGE } from '../../../scripts/doc-tables.ts';

const inFolder = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
const READ = ['README.md', 'CONTRIBUTING.md', ...inFolder('docs')];
const ALL = [...READ, 'CHANGELOG.md', 'SECURITY.md', 'tests/reliability.md', SETTINGS_PAGE, ...inFolder('models')];
const text = (path: string) => readFileSync(path, 'utf8');
/** Counts like `wc -w`, without the tables that the code writes. */
const words = (path: string) =>
  text(path)
    .replace(/<!-- ([a-z0-9 -]+) -->.*?<!-- \/\1 -->/gs, '')
    .split(/\s+/)
    .filter(Boolean).length;

test('the README has at most 900 words', () => {
  expect(words('README.md')).toBeLessThanOrEqual(900);
});

test('README, CONTRIBUTING and docs have at most 23,000 words together, without the page that `npm run engines` writes', () => {
  expect(READ.filter((path) => path !== 'docs/results/engines.md').reduce((sum, path) => sum + words(path), 0)).toBeLessThanOrEqual(23_000);
});

/** The anchors of a page, as GitHub makes them from headings. */
const anchors = (page: string) =>
  [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );

/** The links of a page that lead nowhere. */
function broken(path: string, page: string): string[] {
  const targets = [...page.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!).filter((target) => !/^https?:/.test(target));
  return targets.filter((target) => {
    const [file, anchor] = target.split('#') as [string, string?];
    const to = file ? join(dirname(path), file) : path;
    return !existsSync(to) || (anchor !== undefined && !anchors(file ? text(to) : page).includes(anchor));
  });
}

test.each(ALL)('each link of %s leads somewhere', (path) => {
  expect(broken(path, text(path))).toEqual([]);
});

test('a broken link and a broken anchor are found', () => {
  expect(
    broken('docs/errors.md', '# B c\n[1](../README.md) [2](no.md) [3](#b-c) [4](#c) [5](../README.md#limits) [6](../README.md#no)'),
  ).toEqual(['no.md', '#c', '../README.md#no']);
});

/** The paths of the repository in code format. Patterns and names of the reader's own files are skipped. */
const paths = (page: string) =>
  [...page.matchAll(/`((?:src|tests|scripts|docs|models|public|workers|bin)\/[\w./-]*|[\w/-]*\/?rooms\.js)`/g)].map(([, path]) => path!);
/** Paths within commands. */
const inCommands = (page: string) =>
  [...page.matchAll(/(?:^|[\s`])((?:tests|scripts|public|models)\/[\w./-]+)/gm)].map(([, path]) => path!.replace(/\.$/, ''));

test.each(READ)('each path that %s names exists', (path) => {
  // The recipe of a domain makes this file.
  const named = [...paths(text(path)), ...inCommands(text(path))].filter((name) => name !== 'src/domains/lending/index.ts');
  expect(named.filter((name) => !existsSync(name) && !/NAME|ROOM/.test(name))).toEqual([]);
});

test.each(ALL)('each command that %s names exists', (path) => {
  const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };
  const main = readdirSync('src/cli').find((name) => /^main\.(ts|mjs)$/.test(name))!;
  const list = /COMMANDS[^=]*= \{([^}]*)\}/.exec(text(`src/cli/${main}`))![1]!;
  const commands = [...list.matchAll(/^\s*'?([\w-]+)'?(?::|,)/gm)].map(([, name]) => name!);
  expect(commands).toContain('train');
  const page = text(path);
  const scriptNames = [...page.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name!);
  expect(scriptNames.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  const used = [...page.matchAll(/(?:\.\/mua|`mua) ([a-z][\w-]*)/g)].map(([, name]) => name!);
  expect(used.filter((name) => !commands.includes(name))).toEqual([]);
  // Outside of a clone, npx would download and run an unrelated package.
  expect(page).not.toContain('npx mua');
});
