/** @file An algorithm is a named bundle of settings. */
import type { GrpoConfig } from '../../records/run.ts';

export interface Algorithm {
  label: string;
  /** One paragraph that says what the algorithm changes and why, and where its values differ from those of its authors. */
  description: string;
  /** The paper of the algorithm, and the name of the algorithm in verl and TRL. */
  source: string;
  /** The settings that the algorithm changes in a configuration. Some of the values depend on the batch size of `config`. */
  settings: (config: GrpoConfig) => Partial<GrpoConfig>;
}

/**
 * The `ppo_mini_batch_size` with which a step makes `updates` optimizer updates. If the batch cannot be divided evenly, a step
 * makes fewer.
 */
export function miniBatchFor(updates: number, { train_batch_size }: Pick<GrpoConfig, 'train_batch_size'>): number {
  let size = Math.max(1, Math.ceil(train_batch_size / updates));
  while (train_batch_size % size !== 0) size++;
  return size;
}
