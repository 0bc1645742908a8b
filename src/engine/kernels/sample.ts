/**
 * Sampling on the GPU: the next token of each row of logits, its log-probability, and the input of the next decode step.
 *
 * A token is drawn by the Gumbel-max trick: argmax over ids of logit/τ + noise(seed, stream, position, id), where τ is the temperature.
 * The vocabulary of a row is cut into splits (interleaved vec4s) with one thread for each, so that a few rows of a large vocabulary
 * still use a whole GPU. Top-k and top-p need no sorting: each is a threshold on the logit. A search finds the exact threshold, four bits
 * at a time, from the top four bits to the last four.
 */
import type { Dispatch, Gpu, View } from '../gpu.ts';
import { rowCount, type Rows } from '../rows.ts';
import { drawKernel, finishKernel, narrowKernel, sumKernel } from './sample-kernels.ts';
import { itemGroups } from './threads.ts';

/** The token id in `results` if no token can be sampled, because a logit of the row is NaN or infinite. */
export const NO_TOKEN = 0xffffffff;

/** Sampling parameters of one row. `temperature` 0 is greedy: the lowest id wins a tie. `topP` 1 and `topK` 0 mean no truncation. */
export interface SampleRow {
  temperature: number;
  topP: number;
  topK: number;
  /** `seed` and `stream` are the u32 keys of the random numbers. */
  seed: number;
  stream: number;
}

export const SAMPLE_ROW_BYTES = 32;

/** Packs `rows` for the GPU: 8 u32 words for each row. */
export function packSampleRows(rows: readonly SampleRow[]): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(rows.length * 8);
  const floats = new Float32Array(words.buffer);
  rows.forEach((row, i) => {
    floats[8 * i] = row.temperature;
    floats[8 * i + 1] = row.topP;
    words[8 * i + 2] = row.topK;
    words[8 * i + 3] = row.seed;
    words[8 * i + 4] = row.stream;
  });
  return words;
}

export interface SampleTensors {
  /** [rows of this chunk, stride]. Columns from `vocab` on are ignored. */
  logits: View;
  /** The sampling parameters of all rows, from `packSampleRows`. */
  params: View;
  /** u32 [all rows]: the position of each row's last token. Sampling adds 1. */
  positions: View;
  /** u32 [all rows]: receives the sampled ids, which are the next step's input. It receives 0 where `results` has NO_TOKEN. */
  tokens: View;
  /** [steps, resultRows] of pairs of u32: (token id or NO_TOKEN, f32 bits of its log-probability). */
  results: View;
  scratch: SampleScratch;
  counts: View;
}

export interface SampleSizes {
  /** The rows of this chunk; `base` is the index of the first one among all rows. */
  rows: Rows;
  vocab: number;
  /** Row stride of the logits, a multiple of 4. Default: `vocab`, rounded up to a multiple of 4. */
  stride?: number;
  /** The row of `results` to write to. */
  step: number;
  resultRows: number;
  /** Apply topK and topP (33 more dispatches). If false, topK and topP must be off in all rows. */
  truncate: boolean;
}

export interface SampleScratch {
  partial: View;
  sums: View;
  states: View;
}

const splitsOf = (vocab: number): number => Math.max(1, Math.min(256, Math.ceil(vocab / 64)));

/** Scratch of `sample` for chunks of at most `maxRows` rows. */
export function sampleScratch(gpu: Gpu, maxRows: number, vocab: number): SampleScratch {
  return {
    partial: gpu.buffer('sample partial', maxRows * splitsOf(vocab) * 16),
    sums: gpu.buffer('sample sums', maxRows * splitsOf(vocab) * 64),
    states: gpu.buffer('sample states', maxRows * 32),
  };
}

/**
 * Samples a token for every row of a chunk of logits. The log-probability is that under softmax(logits/τ) before truncation (τ = 1 if
 * greedy). All ids with a logit at a top-k or top-p threshold are kept.
 */
export function sample(gpu: Gpu, t: SampleTensors, p: SampleSizes): Dispatch[] {
  const { tuning } = gpu;
  const stride = p.stride ?? Math.ceil(p.vocab / 4) * 4;
  if (stride % 4 !== 0 || stride < p.vocab) throw new RangeError(`stride ${stride}: expected a multiple of 4, at least vocab (${p.vocab})`);
  const splits = splitsOf(p.vocab);
  const bound = { ...t, ...t.scratch };
  const dims = { rows: p.rows, vocab: p.vocab, stride4: stride / 4, splits };
  const perSplit = itemGroups(tuning, (counts) => rowCount(p.rows, counts) * splits);
  const perRow = itemGroups(tuning, (counts) => rowCount(p.rows, counts));

  const draw = (truncate: number): Dispatch => gpu.dispatch(drawKernel(tuning), { ...bound, dims: { ...dims, truncate } }, perSplit);
  const finishDims = { ...dims, step: p.step, result_rows: p.resultRows };
  const finish = gpu.dispatch(finishKernel(tuning), { ...bound, dims: finishDims }, perRow);
  if (!p.truncate) return [draw(0), finish];

  const thresholds = [0, 1].flatMap((mode) =>
    Array.from({ length: 8 }, (_, digit) => ({ ...bound, dims: { ...dims, mode, digit } })).flatMap((digit) => [
      gpu.dispatch(sumKernel(tuning), digit, perSplit),
      gpu.dispatch(narrowKernel(tuning), digit, perRow),
    ]),
  );
  return [draw(0), ...thresholds, draw(1), finish];
}
