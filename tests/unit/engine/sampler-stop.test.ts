/** A call of `generate` that a function ends. The sampler is the engine's own, over tokens that are hashes. */
import { expect, it } from 'vitest';
import type { SamplingParams } from '../../../src/engine/types.ts';
import { hashSampler } from '../../support/hash-sampler.ts';

async function play(more: Partial<SamplingParams>) {
  const sampler = hashSampler(0, 2);
  const sequence = await sampler.open({ seed: 3, stream: 5 });
  sampler.append(sequence, [1, 2, 3]);
  const params = { maxNewTokens: 20, temperature: 1, stopTokenIds: [], ...more };
  const first = await sampler.generate(sequence, params);
  const { length } = sequence;
  sampler.append(sequence, [4]);
  const second = await sampler.generate(sequence, { ...params, maxNewTokens: 5, stop: () => false });
  return { first, second, length };
}

it('ends at the token for which `stop` is true, and keeps the tokens before it as they were', async () => {
  const { first: whole } = await play({});
  expect(whole.finishReason).toBe('length');
  const seen: number[] = [];
  const { first, second, length } = await play({ stop: (tokens) => (seen.push(tokens.length), tokens.length === 11) });
  expect(first).toEqual({ tokens: whole.tokens.slice(0, 11), logprobs: whole.logprobs.slice(0, 11), finishReason: 'stop' });
  expect(seen).toEqual(Array.from({ length: 11 }, (_, i) => i + 1));
  expect(length).toBe(3 + 11);
  // The next call samples the same as after 11 tokens that ended by their number.
  expect(second).toEqual((await play({ maxNewTokens: 11 })).second);
});
