/** @file `mua scenario`: checks a scenario file. It runs in Node and needs no GPU. */
import { basename } from 'node:path';
import { Breath } from '../../base/breath.ts';
import type { CheckReport } from '../../scenarios/check.ts';
import { SEED } from '../args.ts';
import { command, type CommandGroup } from '../command.ts';
import { errorOfWork, oneLine, UsageError } from '../errors.ts';
import { readText } from '../files.ts';
import { JSON_FLAG } from './shared.ts';

const check = command({
  summary: 'make tasks of a scenario file and check them; exit code 1 if one is unsound',
  positional: { name: 'path', value: 'FILE.json' },
  flags: {
    tasks: { type: 'integer', value: 'N', help: 'number of tasks of each level', default: 100, min: 1, max: 10_000 },
    seed: SEED,
    json: JSON_FLAG,
  },
  async run({ path, tasks, seed }, progress) {
    if (!path) throw new UsageError('FILE.json is missing: expected ./mua scenario check FILE.json');
    const breath = new Breath();
    const text = await readText(path);
    const [{ readScenario }, { CHECKS, checkScenarioTasks }] = await Promise.all([
      import('../../scenarios/read.ts'),
      import('../../scenarios/check.ts'),
    ]);
    const own = readable(() => readScenario(text, basename(path)));
    const report = await checkScenarioTasks(own, tasks, seed, (done) => {
      progress.phase(`${done} tasks checked`);
      return breath.take();
    });
    return { sound: report.findings.length === 0, ...report, checks: CHECKS };
  },
  failed: ({ sound }) => !sound,
  show: (result) => [...tables(result), ...findings(result)],
});

/** @throws UsageError if the file is wrong */
function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw errorOfWork(error as Error);
  }
}

function tables({ name, levels }: CheckReport): string[] {
  return levels.flatMap(({ level, tools, blueprints }) => [
    `${name} ${level}: ${tools} tools`,
    ...blueprints.map(
      (row) =>
        `  ${row.name.padEnd(24)} ${String(row.tasks).padStart(4)} tasks, ${row.noop} without a change, ${row.writes} writes, ${row.reads} reads, longest result ${row.longest_result} characters`,
    ),
  ]);
}

function findings({ findings: all, checks }: CheckReport & { checks: Readonly<Record<string, string>> }): string[] {
  if (all.length === 0) return [`all ${Object.keys(checks).length} checks hold`];
  return all.map(({ check: name, level, of, task, text }) => oneLine(`${name}: ${level}: ${of}: ${text}${task ? ` (${task})` : ''}`));
}

export const scenario: CommandGroup = { summary: 'check scenario files', commands: { check } };
