/**
 * @file A step as in a GRPO run. Rollouts of several tasks begin with one prompt. In each turn a conversation reads tokens and samples
 * tokens. Before every second turn its customer takes a while. Then the reference's log-probabilities are computed, and the weights are
 * updated.
 */
import { hash32 } from '../base/random.ts';
import type { Engine } from '../engine/types.ts';
import { PAPER } from '../training/defaults.ts';
import { grpoLoss } from '../training/grpo-loss.ts';
import { ADAMW, type GrpoShape } from './workloads.ts';

/** Every second rollout has the advantage 1, the others -1. Each `repetition` has other tokens. */
export async function grpoStep(engine: Engine, shape: GrpoShape, repetition: number): Promise<void> {
  const { tasks, rollouts, prompt, turns, reads, writes, waitMs } = shape;
  const tokensOf = (count: number, ...key: number[]) =>
    Array.from({ length: count }, (_, t) => hash32(4000 + repetition, t, ...key) % engine.config.vocab_size);
  const shared = tokensOf(prompt);
  const count = tasks * rollouts;
  const sampled = await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const { sampler } = engine;
      const sequence = await sampler.open({ seed: 1, stream: i });
      const [tokens, lossMask, oldLogprobs] = [[...shared], shared.map(() => 0), shared.map(() => 0)];
      sampler.append(sequence, shared);
      for (let turn = 0; turn < turns; turn++) {
        if (turn % 2 === 1) await new Promise((resolve) => setTimeout(resolve, waitMs));
        const read = tokensOf(reads, i, turn);
        sampler.append(sequence, read);
        const generation = await sampler.generate(sequence, { maxNewTokens: writes, temperature: 1, stopTokenIds: [] });
        tokens.push(...read, ...generation.tokens);
        lossMask.push(...read.map(() => 0), ...generation.tokens.map(() => 1));
        oldLogprobs.push(...read.map(() => 0), ...generation.logprobs);
      }
      sampler.close(sequence);
      return { tokens, lossMask, weight: 1 / (count * turns * writes), advantage: i % 2 === 0 ? 1 : -1, oldLogprobs };
    }),
  );
  await engine.snapshotReference();
  const reference = await engine.score(sampled, { weights: 'reference' });
  const sequences = sampled.map(({ advantage, oldLogprobs, ...sequence }, i) => ({
    ...sequence,
    inputs: [advantage, oldLogprobs, reference.logprobs[i]!],
  }));
  await engine.accumulate(sequences, grpoLoss(PAPER));
  await engine.step(ADAMW);
}
