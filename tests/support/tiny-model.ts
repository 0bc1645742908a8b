/** A very small model folder with random weights and no tokenizer. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomWeights } from '../../src/engine/parameters.ts';
import type { TensorMap } from '../../src/engine/types.ts';
import { saveModel } from '../../src/exchange/model-folder.ts';
import { TINY } from './tiny-config.ts';

export async function writeTinyModel(directory: string, change: (weights: TensorMap) => void = () => {}): Promise<TensorMap> {
  const weights = randomWeights(TINY, 5);
  // Large enough for distributions that are far from uniform.
  for (const [name, { data }] of weights) if (!name.includes('norm')) data.forEach((value, i) => (data[i] = value * 8));
  change(weights);
  await mkdir(directory, { recursive: true });
  for (const [name, bytes] of Object.entries(saveModel(TINY, weights))) await writeFile(join(directory, name), bytes);
  return weights;
}
