/** @file What `mua export-run` writes: a run's conversations or metrics in the formats of other tools. */
import { version } from '../../package.json';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { InputError, parserReason } from '../base/input-error.ts';
import { importedParts } from '../benchmarks/imported-benchmark.ts';
import { exactDomain } from '../environments/domains/index.ts';
import { createEnvironments } from '../environments/index.ts';
import { readRunBundle } from '../exchange/run-bundle.ts';
import { readMetrics } from '../exchange/run-schema.ts';
import { writeRunBundle } from '../exchange/write-run-bundle.ts';
import { servedRun } from '../trainer/served-run.ts';
import { readTrajectory } from '../exchange/trajectory-schema.ts';
import { metricsCsv } from '../formats/metrics-csv.ts';
import { chatLine, trajectoryLine, verlLine } from '../formats/rollout-lines.ts';
import { EVENT_FILE, tensorBoardEvents } from '../formats/tensorboard.ts';
import type { RolloutSummary } from '../records/rollout.ts';
import type { StepMetrics } from '../records/run.ts';
import type { ToolSchema } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';

export type RunFormat = 'rollouts' | 'verl' | 'chat' | 'csv' | 'tensorboard' | 'bundle';

interface Run {
  startedAt: number;
  metrics: StepMetrics[];
  trajectories: Trajectory[];
  rollouts: ReadonlyMap<string, RolloutSummary>;
}

/**
 * @param path a folder of `--out`, a `*.mua.zip`, or a JSONL file of conversations
 * @throws InputError if the path holds nothing for the format; as the readers of its files
 */
export async function exportRun(path: string, format: RunFormat, out: string): Promise<{ content: string | Uint8Array; lines: number }> {
  if (format === 'tensorboard' && !basename(out).includes('tfevents'))
    throw new InputError(
      `the file is "${basename(out)}": expected a name with "tfevents", such as ${EVENT_FILE}.1.run, or TensorBoard does not read it`,
    );
  const { startedAt, metrics, trajectories, rollouts } = await readRun(path);
  if (format === 'csv' || format === 'tensorboard') {
    if (metrics.length === 0) throw new InputError(`${path} has no metrics: expected a run`);
    return { content: format === 'csv' ? metricsCsv(metrics) : tensorBoardEvents(metrics, startedAt), lines: metrics.length };
  }
  if (trajectories.length === 0) throw new InputError(`${path} has no conversations`);
  if (format === 'bundle') {
    const places = [...new Set(trajectories.map(({ task }) => `${task.domain} ${task.level}`))];
    if (places.length > 1) throw new InputError(`${path} has conversations of ${places.join(' and ')}: expected one domain and level`);
    const bundle = await writeRunBundle(servedRun(trajectories, { createdAt: startedAt, model: 'served' }), { appVersion: version });
    return { content: new Uint8Array(await bundle.arrayBuffer()), lines: trajectories.length };
  }
  const toolsOf = toolFinder();
  const lines: string[] = [];
  for (const trajectory of trajectories) {
    const tools = await toolsOf(trajectory);
    lines.push(
      JSON.stringify(
        format === 'rollouts'
          ? trajectoryLine(trajectory, rollouts.get(trajectory.id))
          : format === 'verl'
            ? verlLine(trajectory, rollouts.get(trajectory.id)?.step ?? stepOf(trajectory), tools)
            : chatLine(trajectory, tools),
      ),
    );
  }
  return { content: `${lines.join('\n')}\n`, lines: lines.length };
}

/** A group of a run is named after its step. */
const stepOf = ({ group }: Trajectory): number | null => (/^\d+-/.test(group) ? Number(group.split('-')[0]) : null);

/** The tools of a conversation's domain. */
function toolFinder(): (trajectory: Trajectory) => Promise<readonly ToolSchema[]> {
  const environments = createEnvironments({ inMemory: true });
  const known = new Map<string, Promise<readonly ToolSchema[]>>();
  return ({ task: { domain, level } }) => {
    const key = `${domain}/${level}`;
    const imported = importedParts(domain);
    const tools =
      known.get(key) ??
      (imported
        ? Promise.resolve(exactDomain(imported.domain, imported.benchmark).tools)
        : environments.domain(domain, level).then((found) => found.tools));
    known.set(key, tools);
    return tools;
  };
}

async function readRun(path: string): Promise<Run> {
  const info = await stat(path);
  if (path.endsWith('.zip')) {
    const { run, metrics, trajectories, rollouts } = await readRunBundle(new Uint8Array(await readFile(path)));
    return { startedAt: run.createdAt, metrics, trajectories, rollouts: new Map(rollouts.map((rollout) => [rollout.id, rollout])) };
  }
  const found: Run = { startedAt: info.birthtimeMs, metrics: [], trajectories: [], rollouts: new Map() };
  const names = info.isDirectory() ? (await readdir(path)).sort() : [''];
  for (const name of names) {
    const file = join(path, name);
    if (name === '' || /^(trajectories(-\d+)?|conversations-\d+)\.jsonl$/.test(name))
      for await (const [value, where] of lines(file)) found.trajectories.push(readTrajectory(value, basename(file), where));
    else if (name === 'metrics.jsonl') for await (const [value, where] of lines(file)) found.metrics.push(readMetrics(value, name, where));
  }
  return found;
}

async function* lines(file: string): AsyncGenerator<[value: unknown, where: string]> {
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    number++;
    if (line.trim() === '') continue;
    const where = `line ${number}`;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (error) {
      throw new InputError(`${basename(file)}, ${where} is not JSON: ${parserReason(error)}`);
    }
    yield [value, where];
  }
}
