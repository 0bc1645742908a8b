import { expect, test } from 'vitest';
import type { DecodeProgram } from '../../../src/engine/decode-program.ts';
import { BatchSampler } from '../../../src/engine/sampler.ts';

/** A program without a GPU that samples token 7 after every row, and keeps the slots of each decode run. */
function recorder() {
  const runs: number[][] = [];
  let samples = 0;
  const program = {
    sizes: { steps: 1, prefillTokens: 64 },
    discard: () => (samples = 0),
    setPages: () => {},
    prefill: (_: unknown, rows: unknown[]) => (samples += rows.length),
    decode: (rows: { slot: number }[]) => {
      runs.push(rows.map(({ slot }) => slot));
      samples += rows.length;
    },
    collect: async () => Array.from({ length: samples }, () => ({ token: 7, logprob: -1 })),
  } as unknown as DecodeProgram;
  return { runs, allocation: { get: async () => program, check: () => {}, turn: (work: () => Promise<void>) => work() } };
}

test('sequences with a common prompt are neighbours in a decode run', async () => {
  const { runs, allocation } = recorder();
  const sampler = new BatchSampler(64, 100, 6, { count: 40, pageSize: 16 }, allocation);
  const prompts = [1, 2].map((token) => Array.from({ length: 33 }, () => token));
  const sequences = [];
  for (let i = 0; i < 6; i++) {
    const sequence = await sampler.open({ seed: 1, stream: i });
    sampler.append(sequence, prompts[i % 2]!); // the two prompts alternate
    sequences.push(sequence);
  }
  const params = { maxNewTokens: 3, temperature: 1, stopTokenIds: [] };
  const generations = await Promise.all(sequences.map((sequence) => sampler.generate(sequence, params)));
  expect(generations.map(({ tokens }) => tokens)).toEqual(sequences.map(() => [7, 7, 7]));
  expect(runs.map((slots) => slots.map((slot) => slot % 2).join(''))).toEqual(['000111', '000111']);
});
