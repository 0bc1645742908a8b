/** @file `mua scenario`: checks a scenario file. It runs in Node and needs no GPU. */
import { basename } from 'node:path';
import { Breath } from '../../base/breath.ts';
import type { CheckReport } from '../../scenarios/check.ts';
import { GENERATED } from '../../domains/registry.ts';
import type { ReadScenario } from '../../scenarios/read.ts';
import { ANSWER_FLAGS, answererOf, RECORDED } from '../answer.ts';
import { SEED } from '../args.ts';
import { fidelityLines } from '../fidelity-lines.ts';
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

const fidelity = command({
  summary: 'compare who answers the tools of a scenario with its code, call by call',
  positional: { name: 'scenario', value: 'FILE.json|NAME' },
  flags: {
    ...ANSWER_FLAGS,
    level: { type: 'string', value: 'NAME', help: 'level of the tasks (default: the last, which has all tools)' },
    tasks: { type: 'integer', value: 'N', help: 'number of tasks whose calls are compared', default: 100, min: 1, max: 10_000 },
    seed: SEED,
    json: JSON_FLAG,
  },
  async run({ scenario: named, level: wanted, tasks, seed, json: _, ...flags }, progress) {
    if (!named) throw new UsageError('FILE.json is missing: expected ./mua scenario fidelity FILE.json, or the name of a domain');
    if (flags.answer === undefined) throw new UsageError('--answer is missing: expected code, noisy@RATE or an http(s) URL');
    // A cassette has only the answers that passed the checks, but here each first answer counts.
    if (flags.cassette !== undefined) throw new UsageError('--cassette is given: expected it only with synthesize and evaluate');
    if (flags.answer.startsWith(RECORDED))
      throw new UsageError(`--answer is "${flags.answer}": expected code, noisy@RATE or an http(s) URL`);
    const own = await scenarioNamed(named);
    const { levels, name } = own.scenario;
    const level = wanted ?? levels.at(-1)!;
    if (!levels.includes(level)) throw new UsageError(`--level is "${level}": expected ${levels.join(', ')}`);
    const opened = await answererOf(own, flags.answer, flags);
    const breath = new Breath();
    const { fidelity: compare } = await import('../../scenarios/simulated/fidelity.ts');
    const report = await compare(own, opened.simulator, { level, tasks, seed }, (done) => {
      progress.phase(`${done} tasks compared`);
      return breath.take();
    }).catch((error: Error) => {
      throw errorOfWork(error);
    });
    const usage = opened.usage();
    return { name, level, tasks, answerer: opened.answerer, ...report, ...(usage && { usage }) };
  },
  show: fidelityLines,
});

/** The scenario of a file, or that of a domain. @throws UsageError */
async function scenarioNamed(named: string): Promise<ReadScenario> {
  const bundled = GENERATED.filter(({ scenario }) => scenario);
  const own = bundled.find(({ name }) => name === named)?.scenario;
  if (own) return own();
  if (!/[./\\]/.test(named))
    throw new UsageError(`unknown scenario "${named}": expected FILE.json, or ${bundled.map(({ name }) => name).join(', ')}`);
  const text = await readText(named);
  const { readScenario } = await import('../../scenarios/read.ts');
  return readable(() => readScenario(text, basename(named)));
}

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

export const scenario: CommandGroup = { summary: 'check scenario files, and who answers their tools', commands: { check, fidelity } };
