/** @file Writes a run in the format of another tool. The command line and the page write the same bytes. */
import type { Tokenizer } from '../agent/types.ts';
import { withoutSecrets } from '../exchange/secrets.ts';
import { jsonl } from '../exchange/write-run-bundle.ts';
import type { RolloutSummary } from '../records/rollout.ts';
import type { StepMetrics } from '../records/run.ts';
import type { ToolSchema } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { inspectLog, type LoggedRun } from './inspect-log.ts';
import { metricsCsv } from './metrics-csv.ts';
import { chatLine, trajectoryLine, verlLine } from './rollout-lines.ts';
import { tensorBoardEvents } from './tensorboard.ts';

/** Formats for conversations, and formats for metrics. */
export type RunFormat = 'rollouts' | 'parquet' | 'verl' | 'chat' | 'inspect' | MetricsFormat;
export type MetricsFormat = 'csv' | 'tensorboard';

export const isOfMetrics = (format: RunFormat): format is MetricsFormat => format === 'csv' || format === 'tensorboard';

export interface WrittenRun {
  run: LoggedRun;
  metrics: readonly StepMetrics[];
  trajectories: readonly Trajectory[];
  /** Id of the trajectory → rollout. */
  rollouts: ReadonlyMap<string, RolloutSummary>;
  /** The tools of each trajectory's domain, for the formats `chat` and `verl`. Absent: the lines have no tools. */
  tools?: ReadonlyMap<Trajectory, readonly ToolSchema[]>;
  /** The tokenizer of the run's model. The format `verl` needs it. */
  tokenizer?: Tokenizer;
  /** API keys to remove from names and errors. */
  keys?: readonly string[];
}

export async function writeRun(
  format: RunFormat,
  { run, metrics, trajectories, rollouts, tools, tokenizer, keys = [] }: WrittenRun,
): Promise<Uint8Array<ArrayBuffer>> {
  const shared = (own: Trajectory): Trajectory => (own.error === undefined ? own : { ...own, error: withoutSecrets(own.error, keys) });
  const lineOf = (own: Trajectory) => trajectoryLine(shared(own), rollouts.get(own.id));
  switch (format) {
    case 'rollouts':
      return jsonl(trajectories, lineOf);
    case 'parquet': {
      const { writeParquet } = await import('./parquet.ts');
      return new Uint8Array(writeParquet(trajectories.map(lineOf)));
    }
    case 'verl':
      if (!tokenizer) throw new Error('the format verl needs the tokenizer of the run');
      return jsonl(trajectories, (own) => verlLine(shared(own), rollouts.get(own.id)?.step ?? null, tools?.get(own), tokenizer));
    case 'chat':
      return jsonl(trajectories, (own) => chatLine(own, tools?.get(own)));
    case 'inspect':
      return new TextEncoder().encode(`${JSON.stringify(inspectLog(run, trajectories, rollouts, keys))}\n`);
    case 'csv':
      return new TextEncoder().encode(metricsCsv(metrics));
    case 'tensorboard':
      return tensorBoardEvents(metrics, run.createdAt);
  }
}
