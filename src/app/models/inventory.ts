/** @file Lists models and checkpoints for the page of models. */
import { parseConfig } from '../../engine/config.ts';
import type { ModelConfig, ModelRow } from '../../records/model.ts';
import type { CheckpointRow, RunRow } from '../../records/run.ts';
import { bundledCard, bundledModels, fetchBundledFile } from '../../exchange/bundled-models.ts';
import { parameterCount } from '../../trainer/stored-models.ts';

export interface ModelEntry {
  /** The value of `RunRequest.model`. */
  id: string;
  name: string;
  kind: 'built-in' | 'imported' | 'run';
  config: ModelConfig;
  parameters: number;
  bytes: number;
  /** Absent for a bundled model. */
  addedAt?: number;
  card: () => Promise<string>;
}

const BYTES_PER_WEIGHT: Record<string, number> = { float32: 4, float16: 2, bfloat16: 2 };

/** The entries of the bundled models. Reads only their config.json, not their weights. */
export function bundledEntries(): Promise<ModelEntry[]> {
  return Promise.all(
    bundledModels.map(async (name): Promise<ModelEntry> => {
      const json = JSON.parse(new TextDecoder().decode(await fetchBundledFile(name, 'config.json'))) as Record<string, unknown>;
      const config = parseConfig(json);
      const parameters = parameterCount(config);
      const width = BYTES_PER_WEIGHT[String(json.torch_dtype ?? json.dtype)] ?? 4;
      return { id: name, name, kind: 'built-in', config, parameters, bytes: parameters * width, card: () => bundledCard(name) };
    }),
  );
}

export const storedEntry = ({ id, name, run, config, parameters, addedAt, files, weights }: ModelRow): ModelEntry => ({
  id,
  name,
  kind: run === undefined ? 'imported' : 'run',
  config,
  parameters,
  bytes: Object.values(files).reduce((sum, { size }) => sum + size, weights?.bytes ?? 0),
  addedAt,
  card: async () => (await files['README.md']?.text()) ?? '',
});

export interface CheckpointEntry {
  run: string;
  runName: string;
  step: number;
  savedAt: number;
  /** The size of the weights in bytes. */
  weights: number;
  /** The size in bytes of the optimizer's moments and of the reference model, which are not exported. */
  rest: number;
  newest: boolean;
}

/** The entries of checkpoints, sorted by run (the newest first), then by step (the newest first). */
export function checkpointEntries(runs: readonly RunRow[], checkpoints: readonly CheckpointRow[]): CheckpointEntry[] {
  const names = new Map(runs.map(({ id, name }) => [id, name]));
  const newest = new Map<string, CheckpointRow>();
  for (const row of checkpoints) if ((newest.get(row.run)?.step ?? -1) < row.step) newest.set(row.run, row);
  const began = new Map(runs.map(({ id, createdAt }) => [id, createdAt]));
  return checkpoints
    .map((row) => ({
      run: row.run,
      runName: names.get(row.run) ?? row.run,
      step: row.step,
      savedAt: row.savedAt,
      weights: row.weights.size,
      rest: row.optimizer.size + (row.reference?.size ?? 0),
      newest: newest.get(row.run) === row,
    }))
    .sort((a, b) => (began.get(b.run) ?? 0) - (began.get(a.run) ?? 0) || b.step - a.step);
}
