/** The types that the package exports are complete: a project that installs the package can use them. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const TSC = resolve('node_modules/typescript/bin/tsc');
const PACKAGE = JSON.parse(readFileSync('package.json', 'utf8')) as {
  name: string;
  types: string;
  exports: Record<string, { types?: string } | string>;
};

function compile(folder: string, ...args: string[]): string {
  try {
    return execFileSync(process.execPath, [TSC, ...args], { cwd: folder, encoding: 'utf8' });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

test('a project reads trajectories and writes a domain with the types of the package', () => {
  const project = mkdtempSync(join(tmpdir(), 'mua-types-'));
  onTestFinished(() => rmSync(project, { recursive: true }));
  const installed = join(project, 'node_modules', PACKAGE.name);
  mkdirSync(installed, { recursive: true });
  symlinkSync(resolve('node_modules'), join(installed, 'node_modules'));
  writeFileSync(join(installed, 'package.json'), JSON.stringify(PACKAGE));
  expect(compile(process.cwd(), '-p', 'tsconfig.types.json', '--outDir', join(installed, 'dist-types'))).toBe('');

  writeFileSync(
    join(project, 'use.ts'),
    `import type { DomainModule, ExperimentContent, Trajectory } from '${PACKAGE.name}';
    export const rewardOf = (trajectory: Trajectory): number | null => trajectory.reward;
    export const sampled = ({ nodes }: Trajectory): number => nodes.filter(({ mask }) => mask.includes(1)).length;
    export const names = ({ levels }: DomainModule): string[] => levels.map(({ name }) => name);
    export const runs = ({ runs }: ExperimentContent): number => runs.length;
    // @ts-expect-error A type that was not found would be any, and no error would be here.
    export const wrong = (trajectory: Trajectory): string => trajectory.reward;`,
  );
  expect(compile(project, '--noEmit', '--strict', '--skipLibCheck', '--moduleResolution', 'bundler', '--module', 'esnext', 'use.ts')).toBe(
    '',
  );
});
