/** An edit of a benchmark's reward is in the next `mua rescore`: the command line is built again when a file of a reward changes. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { INPUTS, isFresh } from '../../../bin/inputs.mjs';

const ROOT = resolve(import.meta.dirname, '../../..');
const copy = mkdtempSync(join(tmpdir(), 'mua-freshness-'));
afterAll(() => rmSync(copy, { recursive: true }));

const REWARDS = readdirSync(join(ROOT, 'src/benchmarks'), { recursive: true, encoding: 'utf8' })
  .filter((path) => /^\w+\/reward[\w-]*\.ts$/.test(path))
  .map((path) => `src/benchmarks/${path}`);

test.each(REWARDS)('%s', (reward: string) => {
  execFileSync(process.execPath, [join(ROOT, 'bin/mua.mjs'), '--help']);
  const manifest = join(ROOT, 'dist-cli', readFileSync(join(ROOT, 'dist-cli/newest'), 'utf8'), INPUTS);
  const { files, folders } = JSON.parse(readFileSync(manifest, 'utf8')) as { files: object; folders: object };
  for (const path of [...Object.keys(files), ...Object.keys(folders)]) cpSync(join(ROOT, path), join(copy, path), { recursive: true });
  expect(isFresh(copy, manifest)).toBe(true);
  appendFileSync(join(copy, reward), '\n');
  expect(isFresh(copy, manifest)).toBe(false);
});
