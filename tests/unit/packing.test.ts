import { describe, expect, test } from 'vitest';
import { type MicroBatch, pack } from '../../src/engine/packing.ts';
import type { TrainSequence } from '../../src/engine/types.ts';

const sequence = (tokens: number[], lossFrom: number, lossTo = tokens.length): TrainSequence => ({
  tokens,
  lossMask: tokens.map((_, t) => Number(t >= lossFrom && t < lossTo)),
  weight: tokens.map((_, t) => t / 8),
  inputs: [2, tokens.map((_, t) => t * 16)],
});
const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, i) => from + i);

/** The tokens that packed token t attends to. Token t is the last. */
function history({ tokens, spans }: MicroBatch, t: number): number[] {
  const [prefixStart, prefixEnd, start] = spans.subarray(4 * t, 4 * t + 3);
  return [...tokens.subarray(prefixStart, prefixEnd), ...tokens.subarray(start, t + 1)];
}

/** Every token in the loss, with the tokens that predict it. */
function predictions(batches: MicroBatch[]): Map<string, { seen: number[]; target: number; inputs: number[] }> {
  const found = new Map<string, { seen: number[]; target: number; inputs: number[] }>();
  for (const batch of batches) {
    batch.rowTokens.forEach((t, row) => {
      const key = `${batch.rowSequences[row]}:${batch.rowPositions[row]}`;
      expect(found.has(key)).toBe(false);
      found.set(key, { seen: history(batch, t), target: batch.targets[row]!, inputs: [...batch.rowInputs.subarray(4 * row, 4 * row + 4)] });
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
    expect(new Set(batch.rowTokens).size).toBe(batch.rowTokens.length);
    batch.tokens.forEach((_, t) => expect(batch.positions[t]).toBe(history(batch, t).length - 1));
    // A key's queryEnd covers exactly the queries whose spans attend to the key.
    batch.tokens.forEach((_, key) => {
      const seeing = range(0, batch.tokens.length).filter((t) => {
        const [prefixStart, prefixEnd, start] = batch.spans.subarray(4 * t, 4 * t + 3);
        return (key >= prefixStart! && key < prefixEnd!) || (key >= start! && key <= t);
      });
      expect(batch.spans[4 * key + 3]).toBe(seeing.at(-1)! + 1);
      expect(seeing).toEqual(range(key, seeing.length));
    });
  }
}

const prompt = range(100, 20);

describe('packing', () => {
  test('a group shares its prompt, which is stored once', () => {
    const group = [5, 9, 7].map((n, i) => sequence([...prompt, ...range(i * 10, n)], 20));
    const batches = pack(group, 1000);
    expectExact(group, batches);
    expect(batches).toHaveLength(1);
    // The prompt's last token predicts each first token, so each sequence has a copy. The last token is not computed.
    expect(batches[0]!.tokens).toHaveLength(19 + (1 + 4) + (1 + 8) + (1 + 6));
  });

  test('without sharing, the same tokens are trained on', () => {
    const group = [5, 9].map((n, i) => sequence([...prompt, ...range(i * 10, n)], 20));
    const batches = pack(group, 1000, false);
    expectExact(group, batches);
    expect(batches[0]!.tokens).toHaveLength(24 + 28);
  });

  test('sequences share nothing after the first token in the loss of one of them', () => {
    const same = [...prompt, 1, 2, 3, 4];
    const group = [sequence(same, 12), sequence(same, 20)];
    const batches = pack(group, 1000);
    expectExact(group, batches);
    expect(batches[0]!.tokens).toHaveLength(11 + (23 - 11) * 2);
  });

  test('two groups with a common prefix are split where the most tokens are saved', () => {
    const [a, b] = [
      [...prompt, ...range(500, 30)],
      [...prompt, ...range(600, 30)],
    ];
    const both = [0, 1, 2].flatMap((i) => [a, b].map((p): [number[], number] => [p, i])).sort((x, y) => x[0][25]! - y[0][25]!);
    const sequences = both.map(([p, i]) => sequence([...p, ...range(10 * i, 6)], 50));
    const batches = pack(sequences, 1000);
    expectExact(sequences, batches);
    expect(batches[0]!.tokens).toHaveLength(2 * (49 + 3 * 6));
  });

  test('micro-batches stay within the capacity and keep the order', () => {
    const sequences = range(0, 17).map((i) => sequence(range(i * 3, 10 + (i % 4)), 2 + (i % 3)));
    const batches = pack(sequences, 40);
    expectExact(sequences, batches);
    expect(batches.length).toBeGreaterThan(3);
    for (const { tokens } of batches) expect(tokens.length).toBeLessThanOrEqual(40);
    const order = batches.flatMap(({ rowSequences }) => [...rowSequences]);
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
