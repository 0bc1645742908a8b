/** @file The logs of a run's folder: one line for each step, evaluation and conversation. */
import { appendFile, open, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { InputError } from '../base/input-error.ts';
import { checked } from '../exchange/checked.ts';
import { readMetrics } from '../exchange/run-schema.ts';
import { natural, number } from '../exchange/schema-fields.ts';
import type { Interrupted, SinkEvaluation } from '../trainer/messages.ts';
import { UsageError } from './errors.ts';
import { readText } from './files.ts';
import { LOGS, type SavedCheckpoint, SUPERSEDED } from './status.ts';

export type Logs = Omit<Interrupted, 'checkpoint'>;

/** The part of an evaluation from which a continued run reports its success. */
const evaluationSchema = z.looseObject({
  step: natural,
  report: z.optional(z.looseObject({ pass_hat: z.array(z.looseObject({ k: natural, value: number, low: number, high: number })) })),
});

/**
 * @param checkpoint only the lines before it are read. Default: all lines
 * @throws UsageError naming the line that is not as the run wrote it, or a log that is shorter than at the checkpoint
 */
export async function readLogs(directory: string, checkpoint?: SavedCheckpoint): Promise<Logs> {
  if (checkpoint) await checkSizes(directory, checkpoint);
  const lines = async <Line>(name: string, read: (value: unknown, where: string) => Line): Promise<Line[]> => {
    const path = join(directory, name);
    const text = await readText(path);
    return (checkpoint ? Buffer.from(text).toString('utf8', 0, checkpoint.bytes[name] ?? 0) : text)
      .split('\n')
      .filter(Boolean)
      .map((line, i) => {
        try {
          return read(JSON.parse(line), `line ${i + 1}`);
        } catch (error) {
          throw new UsageError(error instanceof InputError ? error.message : `${path}: line ${i + 1} is not JSON`);
        }
      });
  };
  return {
    metrics: await lines('metrics.jsonl', (value, where) => readMetrics(value, join(directory, 'metrics.jsonl'), where)),
    evaluations: await lines('evaluations.jsonl', (value, where) =>
      checked<SinkEvaluation>(evaluationSchema, value, join(directory, 'evaluations.jsonl'), where),
    ),
  };
}

async function checkSizes(directory: string, { bytes }: SavedCheckpoint): Promise<void> {
  for (const name of LOGS) {
    const path = join(directory, name);
    const { size } = await stat(path);
    const kept = bytes[name] ?? 0;
    if (size < kept) throw new UsageError(`${path} has ${size} bytes: expected at least ${kept}, its size at the last checkpoint`);
  }
}

/** Moves the lines after the checkpoint from the logs to `superseded-*.jsonl`, because the run repeats these steps. */
export async function supersede(directory: string, { bytes }: SavedCheckpoint): Promise<void> {
  for (const name of LOGS) {
    const path = join(directory, name);
    const kept = bytes[name] ?? 0;
    const { size } = await stat(path);
    if (size === kept) continue;
    const tail = Buffer.alloc(size - kept);
    const file = await open(path);
    try {
      await file.read(tail, 0, tail.length, kept);
    } finally {
      await file.close();
    }
    // Copy only whole lines. A killed process may have left an incomplete last line.
    await appendFile(join(directory, `${SUPERSEDED}${name}`), tail.subarray(0, tail.lastIndexOf(10) + 1), { flush: true });
    await truncate(path, kept);
  }
}
