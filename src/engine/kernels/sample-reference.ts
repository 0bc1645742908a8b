/** CPU references of sampling. They use the same random bits as the GPU. */
import { gumbel, randomBits, randomKey } from './random.ts';
import type { SampleRow } from './sample.ts';

/** The ids of one row that remain after top-k and then top-p (Hugging Face's order). All ids with a logit at the threshold remain. */
export function keptIds(logits: ArrayLike<number>, row: SampleRow): number[] {
  const scale = row.temperature > 0 ? 1 / row.temperature : 1;
  let ids = Array.from({ length: logits.length }, (_, id) => id).sort((a, b) => logits[b]! - logits[a]!);
  const top = logits[ids[0]!]!;
  if (row.topK > 0 && row.topK < ids.length) {
    const threshold = logits[ids[row.topK - 1]!]!;
    ids = ids.filter((id) => logits[id]! >= threshold);
  }
  if (row.topP < 1) {
    const weight = (id: number): number => Math.exp((logits[id]! - top) * scale);
    const goal = row.topP * ids.reduce((total, id) => total + weight(id), 0);
    let mass = 0;
    let threshold = top;
    for (const id of ids) {
      if (mass >= goal) break;
      mass += weight(id);
      threshold = logits[id]!;
    }
    ids = ids.filter((id) => logits[id]! >= threshold);
  }
  return ids.sort((a, b) => a - b);
}

/**
 * Computes what `sample` does for one row. From the same random bits it gives the same token, except for near ties in f32.
 * @param position position of the sampled token
 */
export function sampleReference(logits: ArrayLike<number>, row: SampleRow, position: number): { token: number; logprob: number } {
  const scale = row.temperature > 0 ? 1 / row.temperature : 1;
  const key = randomKey(row.seed, row.stream, position);
  let token = -1;
  let best = -Infinity;
  for (const id of keptIds(logits, row)) {
    const score = logits[id]! * scale + (row.temperature > 0 ? gumbel(randomBits(key, id)) : 0);
    if (score > best) [best, token] = [score, id];
  }
  let top = -Infinity;
  for (let id = 0; id < logits.length; id++) top = Math.max(top, logits[id]! * scale);
  let sum = 0;
  for (let id = 0; id < logits.length; id++) sum += Math.exp(logits[id]! * scale - top);
  return { token, logprob: logits[token]! * scale - top - Math.log(sum) };
}
