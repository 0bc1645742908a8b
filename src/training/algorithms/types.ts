/** @file An algorithm is a named bundle of settings. */
import type { GrpoConfig } from '../../records/run.ts';

export interface Algorithm {
  label: string;
  /** One paragraph: what the algorithm changes and why, and where its values differ from its authors'. */
  description: string;
  /** The paper, and its name in verl and TRL. */
  source: string;
  /** The settings that the algorithm changes in a configuration. Some depend on the size of its batch. */
  settings: (config: GrpoConfig) => Partial<GrpoConfig>;
}

/** The `ppo_mini_batch_size` that gives a step `updates` optimizer updates, or the next fewer that divides its batch. */
export function miniBatchFor(updates: number, { train_batch_size }: Pick<GrpoConfig, 'train_batch_size'>): number {
  let size = Math.max(1, Math.ceil(train_batch_size / updates));
  while (train_batch_size % size !== 0) size++;
  return size;
}
