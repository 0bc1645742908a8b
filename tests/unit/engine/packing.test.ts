import { describe, expect, test } from 'vitest';
import { type MicroBatch, pack } from '../../../src/engine/packing.ts';
import type { TrainSequence } from '../../../src/engine/types.ts';

const sequence = (tokens: number[], lossFrom: number, lossTo = tokens.length): TrainSequence => ({
  tokens,
  lossMask: tokens.map((_, t) => Number(t >= lossFrom && t < lossTo)),
  weight: tokens.map((_, t) => t / 8),
  inputs: [2, tokens.map((_, t) => t * 16)],
});
const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, i) => from + i);

/** The tokens that packed token t attends to. Token t is the last. */
const history = ({ tokens, ends }: MicroBatch, t: number): number[] => [...tokens].filter((_, key) => key <= t && t < ends[key]!);

interface Prediction {
  seen: number[];
  target: number;
  inputs: number[];
}

/** Every token in the loss, with the tokens that predict it. */
function predictions(batches: MicroBatch[]): Map<string, Prediction> {
  const found = new Map<string, Prediction>();
  for (const batch of batches) {
    batch.rowTokens.forEach((t, row) => {
      expect(batch.firstTerms[row]).toBeLessThan(batch.firstTerms[row + 1]!);
      for (let term = batch.firstTerms[row]!; term < batch.firstTerms[row + 1]!; term++) {
        const key = `${batch.termSequences[term]}:${batch.termPositions[term]}`;
        expect(found.has(key)).toBe(false);
        expect(batch.termRows[term]).toBe(row);
        found.set(key, {
          seen: history(batch, t),
          target: batch.targets[term]!,
          inputs: [...batch.inputs.subarray(4 * term, 4 * term + 4)],
        });
      }
    });
  }
  return found;
}

function expectExact(sequences: TrainSequence[], batches: MicroBatch[]): void {
  const found = predictions(batches);
  let masked = 0;
  sequences.forEach(({ tokens, lossMask }, i) => {
    for (let t = 1; t < tokens.length; t++) {
      if (!lossMask[t]) continue;
      masked += 1;
      expect(found.get(`${i}:${t}`)).toEqual({ seen: Array.from(tokens).slice(0, t), target: tokens[t], inputs: [2, t * 16, 0, t / 8] });
    }
  });
  expect(found.size).toBe(masked);
  for (const batch of batches) {
    const histories = [...batch.tokens].map((_, t) => history(batch, t));
    // No two tokens have the same history: nothing is computed twice.
    expect(new Set(histories.map((tokens) => tokens.join())).size).toBe(batch.tokens.length);
    expect([...batch.positions]).toEqual(histories.map(({ length }) => length - 1));
    expect([...batch.rowTokens]).toEqual([...new Set(batch.rowTokens)].sort((a, b) => a - b));
  }
}

const prompt = range(100, 20);

describe('packing', () => {
  test('a group shares its prompt, which is stored once', () => {
    const group = [5, 9, 7].map((n, i) => sequence([...prompt, ...range(i * 10, n)], 20));
    const batches = pack(group, 1000);
    expectExact(group, batches);
    expect(batches).toHaveLength(1);
    // The last token of a sequence is not computed.
    expect(batches[0]!.tokens).toHaveLength(20 + 4 + 8 + 6);
    // The prompt's last token predicts three first tokens.
    expect(batches[0]!.firstTerms[1]).toBe(3);
  });

  test('tokens in the loss are shared too; equal sequences are stored once', () => {
    const same = [...prompt, 1, 2, 3, 4];
    const group = [sequence(same, 12), sequence(same, 20), sequence(same, 12), sequence(same.slice(0, 22), 12)];
    const batches = pack(group, 1000);
    expectExact(group, batches);
    expect(batches[0]!.tokens).toHaveLength(23);
    expect(batches[0]!.rowTokens).toHaveLength(12);
    expect(batches[0]!.targets).toHaveLength(12 + 4 + 12 + 10);
  });

  test('branches branch again; the order of the sequences does not matter', () => {
    const [a, b] = [
      [...prompt, ...range(500, 30)],
      [...prompt, ...range(600, 30)],
    ];
    const sequences = [0, 1, 2].flatMap((i) => [a, b].map((p) => sequence([...p, ...range(10 * i, 6)], 30)));
    const batches = pack(sequences, 1000);
    expectExact(sequences, batches);
    expect(batches[0]!.tokens).toHaveLength(20 + 2 * (30 + 3 * 5));
    expect(pack(sequences.toReversed(), 1000)[0]!.tokens).toHaveLength(110);
  });

  test('a micro-batch has at most eight terms for each token of its capacity', () => {
    const sequences = range(0, 30).map(() => sequence(range(0, 12), 1));
    const batches = pack(sequences, 16);
    expectExact(sequences, batches);
    expect(batches.map(({ targets }) => targets.length)).toEqual([121, 121, 88]);
  });

  test('micro-batches stay within the capacity and keep the order', () => {
    const sequences = range(0, 17).map((i) => sequence(range(i * 3, 10 + (i % 4)), 2 + (i % 3)));
    const batches = pack(sequences, 40);
    expectExact(sequences, batches);
    expect(batches.length).toBeGreaterThan(3);
    for (const { tokens } of batches) expect(tokens.length).toBeLessThanOrEqual(40);
    const order = batches.flatMap(({ termSequences }) => [...new Set(termSequences)].sort((x, y) => x - y));
    expect(order).toEqual([...order].sort((x, y) => x - y));
  });

  test('sequences without loss, of one token, with loss on the first token only, and with gaps', () => {
    const sequences = [
      sequence([1, 2, 3], 3),
      sequence([4], 0),
      sequence([5, 6, 7], 0, 1),
      sequence([8, 9], 1),
      sequence(range(20, 12), 4, 7),
    ];
    const batches = pack(sequences, 64);
    expectExact(sequences, batches);
    expect(batches[0]!.tokens).toHaveLength(1 + 6);
    expect(pack(sequences.slice(0, 3), 64)).toEqual([]);
  });

  test('refuses a sequence that does not fit, by name', () => {
    expect(() => pack([sequence(range(0, 50), 1)], 48)).toThrow(/sequence 0 has 50 tokens: this engine trains on at most 49/);
    expect(() => pack([{ tokens: [1, 2], lossMask: [0], weight: 1 }], 8)).toThrow(/sequence 0: lossMask has 1 entries: expected 2/);
    expect(() => pack([{ tokens: [1, 2], lossMask: [0, 1], weight: 1, inputs: [0, [1]] }], 8)).toThrow(
      /sequence 0: inputs\[1\] has 1 entries/,
    );
    expect(() => pack([{ tokens: [1, 2], lossMask: [0, 1], weight: 1, inputs: [0, 0, 0, 0] }], 8)).toThrow(/4 inputs: expected at most 3/);
  });
});
