/** Files of tau-bench 2 are named, and not read by the rules of version 1. */
import { describe, expect, it } from 'vitest';
import { importBenchmark, importBenchmarks } from '../../../src/benchmarks/import/import.ts';
import { files, tau2Retail } from '../../support/benchmark-data.ts';

const FOLDER = 'tau2-bench/data/tau2/domains/retail/';
const repository = (project: string) =>
  files({
    ...Object.fromEntries(Object.entries(tau2Retail).map(([name, text]) => [FOLDER + name, text])),
    'tau2-bench/pyproject.toml': project,
  });
const project = (version: string, name = 'tau2') =>
  `[build-system]\nversion = "9"\n\n[project]\nname = "${name}"\nversion = "${version}"\ndescription = ""\n\n[tool.x]\nversion = "3.0"\n`;
const tasks = (change: (task: Record<string, never>) => object) => {
  const [task] = JSON.parse(tau2Retail['tasks.json']!) as [Record<string, never>];
  return files({ ...tau2Retail, 'tasks.json': JSON.stringify([{ ...task, ...change(task) }]) });
};

describe('the version of the repository', () => {
  it.each(['2.0.0', '2.0.0rc1', '2.1', '3.0.0', '10.0'])('%s is refused by its name', async (version) => {
    for (const read of [importBenchmark, importBenchmarks])
      await expect(read(repository(project(version)))).rejects.toThrow(
        new RegExp(
          `tau2-bench/pyproject.toml: project.version: it is "${version}": these are files of tau-bench 2, .* lacks .*expected tau2-bench 1, such as v1.0.1`,
        ),
      );
  });
  it.each(['1.0.1', '1.9.0', '0.2.1'])('%s is read', async (version) => {
    expect((await importBenchmark(repository(project(version)))).tasks).toHaveLength(1);
  });
  it('of another project does not count', async () => {
    expect((await importBenchmark(repository(project('2.0.0', 'my-app')))).tasks).toHaveLength(1);
    const beside = [...repository(project('1.0.1')), ...files({ 'tau2-bench/web/pyproject.toml': project('2.0.0') })];
    expect((await importBenchmark(beside)).tasks).toHaveLength(1);
  });
});

describe('a folder of tasks alone', () => {
  it.each([
    ['language', { language: 'de' }, '\\[0\\].language: it is "de"'],
    ['locale', { user_scenario: { instructions: 'Cancel.', locale: 'fr-FR' } }, '\\[0\\].user_scenario.locale: it is "fr-FR"'],
    [
      'reward_basis',
      { evaluation_criteria: { reward_basis: ['DB', 'COMMUNICATE_JUDGE'] } },
      'reward_basis\\[1\\]: it is "COMMUNICATE_JUDGE", and tau2-bench 1 has DB',
    ],
  ])('is recognised by its %s', async (_, change, message) => {
    await expect(importBenchmark(tasks(() => change))).rejects.toThrow(new RegExp(`tasks.json: .*${message}.*tau-bench 2`));
  });
  it('is read if it has none of them', async () => {
    expect((await importBenchmark(tasks(() => ({ ticket: 'x', annotations: { language_note: 'x' } })))).tasks).toHaveLength(1);
  });
});
