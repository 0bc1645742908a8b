import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { ESLint } from 'eslint';
import { afterAll, describe, expect, it } from 'vitest';
import cycles from '../../.dependency-cruiser.js';
import { FEATURES, ROOMS } from '../../rooms.js';

const root = join(import.meta.dirname, '../..');
const eslint = new ESLint({ cwd: root, overrideConfigFile: join(root, 'eslint.config.js') });

/** Why lint refuses a file of that path. The files that the code imports must exist. */
async function broken(file: string, code: string): Promise<string[]> {
  const [result] = await eslint.lintText(code, { filePath: join(root, file) });
  return result!.messages.filter(({ ruleId, fatal }) => fatal || ruleId?.startsWith('boundaries/')).map(({ message }) => message);
}

const component = (code: string) => `<script lang="ts">${code}</script>`;
const noPolicy = (from: string, to: string) => [
  expect.stringMatching(new RegExp(`no policy allowing dependencies from .*"${from}".* to .*"${to}"`)),
];

describe('rooms', () => {
  it('import only rooms above them in the table', () => {
    const names = Object.keys(ROOMS);
    for (const [room, allowed] of Object.entries(ROOMS))
      for (const other of allowed)
        if (!['root', 'feature'].includes(other)) {
          expect(names, `${room} → ${other}`).toContain(other);
          expect(names.indexOf(other), `${room} → ${other}`).toBeLessThan(names.indexOf(room));
        }
  });

  it('import at most twelve others, and sixteen where programs start', () => {
    for (const [room, allowed] of [...Object.entries(ROOMS), ...Object.entries(FEATURES)])
      expect(allowed.length, room).toBeLessThanOrEqual(room === 'workers' || room === 'cli' ? 16 : 12);
  });

  it('are the rooms of docs/architecture.md', () => {
    const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
    const rooms = [...page.matchAll(/^\| (?:`(?:src\/(?:app\/)?)?([\w-]+)\/`|(root))/gm)].map(([, name, root]) => name ?? root!);
    const features = /^A feature is .*$/m.exec(page)![0].matchAll(/`src\/app\/([\w-]+)\/`/g);
    expect(rooms.toSorted()).toEqual(Object.keys(ROOMS).toSorted());
    expect([...features].map(([, name]) => name).toSorted()).toEqual(Object.keys(FEATURES).toSorted());
  });

  it('import what the table allows', async () => {
    expect(await broken('src/benchmarks/a.ts', "import { b } from '../environments/verifier.ts'; b();")).toEqual([]);
    expect(
      await broken('src/app/evals/A.svelte', component("import B from './EvalForm.svelte'; import { c } from '../state/app.svelte.ts';")),
    ).toEqual([]);
    expect(await broken('src/app/A.svelte', component("import B from './App.svelte'; import C from './evals/Evals.svelte';"))).toEqual([]);
  });

  it.each([
    ['a value', "import { b } from '../benchmarks/judge.ts'; b();"],
    ['a type', "import type { B } from '../benchmarks/judge.ts'; export type A = B;"],
    ['an exported type', "export type { B } from '../benchmarks/judge.ts';"],
    ['a type in an expression', "export type A = import('../benchmarks/judge.ts').B;"],
    ['a module at run time', "export const b = () => import('../benchmarks/judge.ts');"],
  ])('environments may not import benchmarks: %s', async (_, code) => {
    expect(await broken('src/environments/a.ts', code)).toEqual(noPolicy('environments', 'benchmarks'));
  });

  it.each([
    ['a value', component("import { b } from '../play/game.svelte.ts'; b();")],
    ['a type', component("import type { B } from '../play/game.svelte.ts'; export const a: B = 1;")],
    ['a component in markup', "{#await import('../play/Play.svelte') then B}{B}{/await}"],
  ])('a feature may not import another feature: %s', async (_, code) => {
    expect(await broken('src/app/evals/A.svelte', code)).toEqual(noPolicy('evals', 'play'));
  });

  it.each([
    ['a value', "import { RunDatabase } from '../../storage/database.ts'; new RunDatabase();"],
    ['a type', "import type { RunDatabase } from '../../storage/database.ts'; export const a: RunDatabase | null = null;"],
  ])('a component of a feature may not import storage: %s', async (_, code) => {
    expect(await broken('src/app/evals/A.svelte', component(code))).toEqual(noPolicy('evals', 'storage'));
  });

  it('a room may not import the files that put features together', async () => {
    expect(await broken('src/app/evals/A.svelte', component("import App from '../App.svelte';"))).toEqual(noPolicy('evals', 'root'));
    expect(await broken('src/engine/a.ts', "import '../main.ts';")).toEqual(noPolicy('engine', 'root'));
  });

  it('a folder outside the table may not hold files', async () => {
    expect(await broken('src/unlisted/b.ts', 'export const b = 1;')).toEqual([
      expect.stringContaining('does not belong to any known element'),
    ]);
  });
});

describe('circular imports', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cycles-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** The circular imports between `files`, each as the paths that it passes. */
  async function found(files: Record<string, string>): Promise<string[][]> {
    const baseDir = mkdtempSync(join(folder, 'case-'));
    for (const [path, code] of Object.entries(files)) {
      mkdirSync(dirname(join(baseDir, path)), { recursive: true });
      writeFileSync(join(baseDir, path), code);
    }
    const ruleSet = { forbidden: cycles.forbidden };
    const { output } = await cruise(['src'], { ...cycles.options, baseDir, validate: true, ruleSet });
    return (output as ICruiseResult).summary.violations.map(({ cycle }) => cycle!.map(({ name }) => name).sort());
  }

  it('of values are found', async () => {
    const files = { 'src/a.ts': "import { b } from './b.ts'; export const a = b;", 'src/b.ts': "export { a as b } from './a.ts';" };
    expect(await found(files)).toEqual([['src/a.ts', 'src/b.ts']]);
  });

  it('of types are found', async () => {
    const files = {
      'src/a.ts': "import type { B } from './b.ts'; export type A = B[];",
      'src/b.ts': "import type { A } from './a.ts'; export interface B { a: A }",
    };
    expect(await found(files)).toEqual([['src/a.ts', 'src/b.ts']]);
  });

  it('through a component are found', async () => {
    const files = {
      'src/A.svelte': `${component("import { b } from './b.ts'; const { c }: { c: string } = $props();")}{b}{c}`,
      'src/b.ts': "export const b = () => import('./A.svelte');",
    };
    expect(await found(files)).toEqual([['src/A.svelte', 'src/b.ts']]);
  });

  it('of a component with itself are allowed, as are imports in one direction', async () => {
    const files = {
      'src/Tree.svelte': `${component("import Tree from './Tree.svelte'; import { b } from './b.ts';")}{b}<Tree />`,
      'src/b.ts': 'export const b = 1;',
    };
    expect(await found(files)).toEqual([]);
  });
});
