/** Scores any number of sequences, or computes their gradients, one micro-batch after the other. */
import type { Dispatch, Gpu } from './gpu.ts';
import { type MicroBatch, pack } from './packing.ts';
import type { TrainingProgram } from './training-program.ts';
import type { Scores, TokenLoss, TopTokens, TrainSequence } from './types.ts';

export interface MicroBatchOptions {
  temperature: number;
  /** If k > 0, also find the k likeliest tokens at each token with a loss. */
  topLogprobs?: number;
  loss?: TokenLoss;
  /** Maximum number of tokens in a micro-batch. */
  capacity: number;
  signal?: AbortSignal;
  /** Throws if the buffers of `training` were freed. */
  check: () => void;
}

/**
 * Runs `program` on each micro-batch. While the GPU computes one batch, the CPU reads the results of the batch before.
 * @throws RangeError for a token outside the vocabulary; the abort reason; what `check` throws
 */
export async function runMicroBatches(
  gpu: Gpu,
  training: TrainingProgram,
  program: readonly Dispatch[],
  sequences: readonly TrainSequence[],
  { temperature, topLogprobs: k = 0, loss, capacity, signal, check }: MicroBatchOptions,
): Promise<Scores> {
  checkTokens(sequences, training.config.vocab_size);
  const scores = emptyScores(sequences, k);
  const batches = pack(sequences, capacity);
  const text = (done: number) => `micro-batch ${Math.min(done + 1, batches.length)} of ${batches.length}`;
  return gpu.activities.during(text(0), async ({ now }) => {
    let before: Promise<void> | undefined;
    for (const [i, batch] of batches.entries()) {
      signal?.throwIfAborted();
      check();
      gpu.run(program, training.upload(batch, temperature, loss));
      const reading = readScores(training, batch, scores);
      reading.catch(() => {}); // if this loop ends early, nobody awaits `reading`
      await before;
      before = reading;
      now(text(i));
    }
    await before;
    return scores;
  });
}

function emptyScores(sequences: readonly TrainSequence[], k: number): Scores {
  const empty = (): Float32Array[] => sequences.map(({ tokens }) => new Float32Array(tokens.length));
  const top = ({ tokens }: TrainSequence): TopTokens => ({
    k,
    ids: new Uint32Array(k * tokens.length),
    logprobs: new Float32Array(k * tokens.length),
  });
  return { logprobs: empty(), entropies: empty(), ...(k > 0 && { top: sequences.map(top) }) };
}

/** Reads the results of the last run into `scores`. */
async function readScores(training: TrainingProgram, batch: MicroBatch, scores: Scores): Promise<void> {
  const k = scores.top?.[0]?.k ?? 0;
  // All copies are submitted now, before the next batch overwrites the results.
  const [{ logprobs, entropies }, likeliest] = await Promise.all([
    training.statistics(),
    k > 0 ? training.topTokens(batch.rowTokens.length, k) : undefined,
  ]);
  batch.termRows.forEach((row, term) => {
    const [sequence, position] = [batch.termSequences[term]!, batch.termPositions[term]!];
    scores.logprobs[sequence]![position] = logprobs[term]!;
    scores.entropies[sequence]![position] = entropies[row]!;
    if (!likeliest) return;
    const top = scores.top![sequence]!;
    top.ids.set(likeliest.ids.subarray(row * k, (row + 1) * k), position * k);
    top.logprobs.set(likeliest.logprobs.subarray(row * k, (row + 1) * k), position * k);
  });
}

function checkTokens(sequences: readonly TrainSequence[], vocab: number): void {
  sequences.forEach(({ tokens }, i) => {
    for (let t = 0; t < tokens.length; t++) {
      if (!(tokens[t]! >= 0 && tokens[t]! < vocab))
        throw new RangeError(`sequence ${i}: token ${t} is ${tokens[t]}: expected an id from 0 to ${vocab - 1}`);
    }
  });
}
