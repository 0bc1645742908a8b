/** docs/errors.md names each kind of error of the sources, and no other. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const page = readFileSync('docs/errors.md', 'utf8');
/** The sources below a folder whose path fits. */
const read = (folder: string, path = /\.(ts|mjs|svelte)$/) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => path.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n');
const sources = read('src');

/** The text between a heading and the next one. */
const section = (heading: string) => page.split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!;
/** The cells of a table's column, without its head. */
const column = (text: string, at: number) => [...text.matchAll(/^\|.*\|$/gm)].slice(2).map(([row]) => row.split('|')[at + 1]!.trim());
const names = (cells: string[]) => cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)).sort();
const numbers = (cells: string[]) => [...new Set(cells.flatMap((cell) => cell.match(/\d+/g) ?? []))].sort();
const unique = (found: Iterable<RegExpMatchArray>) => [...new Set([...found].map(([, first]) => first!))].sort();

test('the classes are those of the sources', () => {
  const parents = [...sources.matchAll(/class (\w+) extends (\w+)/g)].map(([, name, parent]) => [name!, parent!] as const);
  const errors = new Set(['Error']);
  for (let size = 0; size !== errors.size;) {
    size = errors.size;
    for (const [name, parent] of parents) if (errors.has(parent)) errors.add(name);
  }
  errors.delete('Error');
  expect(errors.size).toBeGreaterThan(20);
  expect(names(column(section('Classes'), 0))).toEqual([...errors].sort());
});

test('the kinds are those of the types', () => {
  const literals = (text: string) => unique(text.matchAll(/'(\w+)'/g));
  const types = {
    UserError: /class UserError [^}]*?kind: ([^,]*),/.exec(read('src/users'))![1]!,
    HubError: /class HubError [^}]*?kind: ([^,]*),/.exec(read('src/base'))![1]!,
    LocalError: /type LocalErrorKind =([^;]*);/.exec(read('src/local'))![1]!,
  };
  const described: Record<string, string[]> = {};
  let name = '';
  const text = section('Kinds');
  for (const [row, cell] of column(text, 0).entries()) {
    name = names([cell])[0] ?? name;
    (described[name] ??= []).push(...names([column(text, 1)[row]!]));
  }
  const sorted = Object.fromEntries(Object.entries(described).map(([type, kinds]) => [type, kinds.sort()]));
  expect(sorted).toEqual(Object.fromEntries(Object.entries(types).map(([type, union]) => [type, literals(union)])));
});

test('the codes of frames are those of the protocol', () => {
  const union = /type ErrorCode =([^;]*);/.exec(read('src/serve'))![1]!;
  expect(names(column(section('Frames of `mua env-serve`'), 0))).toEqual(unique(union.matchAll(/'(\w+)'/g)));
});

test('the exit codes of the command line are listed', () => {
  const cli = read('src/cli');
  const own = unique(cli.matchAll(/exitCode = (\d+)/g));
  const signals = /\? (130) : (143)/.exec(cli)!.slice(1);
  expect(numbers(column(section('Exit codes of `mua`'), 0))).toEqual([...own, ...signals, '0'].sort());
});

test('each status of the two servers is listed, and each code with which a WebSocket closes', () => {
  const own = unique(read('src/serve', /server\.ts$/).matchAll(/(?<![\w.])([245]\d\d)(?![\d_])/g));
  const statuses = numbers(column(section('HTTP'), 1));
  const sent = own.filter((status) => status !== '250'); // 250 is a number of milliseconds
  expect(statuses).toEqual(sent);
  const closes = unique(read('src/serve', /^server\.ts$/).matchAll(/(?<!\d)(10\d\d)(?!\d)/g));
  for (const code of closes) expect(section('Frames of `mua env-serve`')).toContain(code);
});
