/** @file What models there are, for the Models page: the bundled ones, those that were brought here, checkpoints of runs. */
import { parseConfig } from '../../engine/config.ts';
import type { ModelConfig } from '../../engine/types.ts';
import type { CheckpointRow, ModelRow, RunDatabase } from '../../storage/database.ts';
import { bundledCard, bundledModels, fetchBundledFile } from '../../training/bundled-models.ts';
import { parameterCount } from '../../training/stored-models.ts';

export interface ModelEntry {
  /** What `RunRequest.model` says. */
  id: string;
  name: string;
  kind: 'built-in' | 'imported' | 'run';
  config: ModelConfig;
  parameters: number;
  bytes: number;
  /** Of one that is stored here. */
  addedAt?: number;
  card: () => Promise<string>;
}

const BYTES_PER_WEIGHT: Record<string, number> = { float32: 4, float16: 2, bfloat16: 2 };

/** Bundled models by their config.json alone: weights are not fetched to be listed. */
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

export const storedEntry = ({ id, name, run, config, parameters, addedAt, files }: ModelRow): ModelEntry => ({
  id,
  name,
  kind: run === undefined ? 'imported' : 'run',
  config,
  parameters,
  bytes: Object.values(files).reduce((sum, { size }) => sum + size, 0),
  addedAt,
  card: async () => (await files['README.md']?.text()) ?? '',
});

/** `qwen3, 3 layers of width 64, 4 heads (2 key-value) of 32, MLP 192, vocabulary 1,280, tied embeddings` */
export function architecture(config: ModelConfig): string {
  const n = (value: number) => value.toLocaleString('en');
  return [
    `${config.model_type}, ${n(config.num_hidden_layers)} layers of width ${n(config.hidden_size)}`,
    `${n(config.num_attention_heads)} heads (${n(config.num_key_value_heads)} key-value) of ${n(config.head_dim)}`,
    `MLP ${n(config.intermediate_size)}`,
    `vocabulary ${n(config.vocab_size)}`,
    `${config.tie_word_embeddings ? 'tied' : 'untied'} embeddings`,
    `at most ${n(config.max_position_embeddings)} tokens`,
  ].join(', ');
}

/** Text of a model card without the fields that stand before it for Hugging Face. */
export const cardText = (card: string) => card.replace(/^---\r?\n[\s\S]*?\r?\n---\r?\n/, '').trim();

export interface CheckpointEntry {
  run: string;
  runName: string;
  step: number;
  savedAt: number;
  weights: number;
  /** The moments and the reference, which an export leaves out. */
  rest: number;
  newest: boolean;
}

/** The newest run first, its newest checkpoint first. */
export async function checkpointEntries(db: RunDatabase): Promise<CheckpointEntry[]> {
  const [runs, checkpoints] = await Promise.all([db.runs.toArray(), db.checkpoints.toArray()]);
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
