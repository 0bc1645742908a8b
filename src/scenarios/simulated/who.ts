/** @file Names an answerer. */
import { type Answerer, NOISE_KINDS, type NoiseKind } from '../../records/answerer.ts';

/** An answerer in one word or two. */
export const who = (answerer: Answerer): string => {
  if (answerer.kind === 'llm') return `the model ${answerer.endpoint.model}`;
  if (answerer.kind !== 'noisy') return answerer.kind;
  const { rate, seed, kinds, unchecked } = answerer;
  return `noisy@${rate} with seed ${seed}${named(kinds)}${unchecked ? ', unchecked' : ''}`;
};

const named = (kinds: readonly NoiseKind[] | undefined): string =>
  kinds === undefined ? '' : ` (${kinds.length === NOISE_KINDS.length ? 'all kinds' : kinds.join(', ')})`;
