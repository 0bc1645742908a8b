/** The bundle of the command line is built again when a file of its module graph has changed, and only then. */
import { spawnSync } from 'node:child_process';
import { appendFile, cp, mkdir, mkdtemp, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tau1Retail } from '../../support/benchmark-data.ts';

const BUILDING = 'building the command line';
let copy: string;
beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'mua-fresh-'));
  for (const name of ['bin', 'src', 'scripts', 'models', 'workers', 'package.json', 'package-lock.json', 'tsconfig.json'])
    await cp(name, join(copy, name), { recursive: true });
  await symlink(resolve('node_modules'), join(copy, 'node_modules'));
  await mkdir(join(copy, 'data'));
  for (const [name, text] of Object.entries(tau1Retail)) await writeFile(join(copy, 'data', name), text);
  const traj = [
    { role: 'system', content: '# Retail policy' },
    { role: 'user', content: 'Hi' },
  ];
  const recorded = [{ task_id: 0, trial: 0, reward: 0, info: {}, traj }];
  await writeFile(join(copy, 'results.json'), JSON.stringify(recorded));
});
afterAll(() => rm(copy, { recursive: true, force: true }));

const at = (path: string) => join(copy, path);
const run = (...args: string[]) => spawnSync(process.execPath, [at('bin/mua.mjs'), ...args], { encoding: 'utf8', cwd: copy });
const isBuilt = () => run('--help').stderr.includes(BUILDING);

test('an edit of a module anywhere below is in the next command; other files and times are not', async () => {
  expect(isBuilt()).toBe(true);
  expect(isBuilt()).toBe(false);
  for (const path of ['src/benchmarks/tau1/reward.ts', 'src/domains/registry.ts', 'src/engine/gpu.ts', 'bin/inputs.mjs']) {
    await appendFile(at(path), '\n// changed\n');
    expect(isBuilt(), path).toBe(true);
    expect(isBuilt(), path).toBe(false);
  }
  await utimes(at('src/engine/gpu.ts'), new Date(), new Date());
  await appendFile(at('src/app/App.svelte'), '\n');
  await writeFile(at('src/engine/other.ts'), 'export {};\n');
  expect(isBuilt()).toBe(false);
});

test('an edit of a reward is in the next rescore', async () => {
  const rescore = () => run('rescore', '--domain', 'retail', '--rules', 'tau1', '--data', at('data'), '--input', at('results.json'));
  expect(rescore()).toMatchObject({ status: 0, stdout: expect.stringContaining('reward 0.0 %') });
  const path = at('src/benchmarks/tau1/reward.ts');
  const source = await readFile(path, 'utf8');
  await writeFile(path, `throw new Error('the edited reward');\n${source}`);
  expect(rescore()).toMatchObject({ status: 1, stderr: expect.stringContaining('the edited reward') });
});
