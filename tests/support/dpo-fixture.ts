/** What TRL's DPOTrainer computes on four pairs (tests/engines/trl_dpo.py): log-probabilities, losses, metrics and gradients. */
import type { PairNumbers, PairTokens } from '../../src/training/dpo.ts';
import type { DpoConfig } from '../../src/training/settings/dpo.ts';
import json from '../reference/fixtures/dpo/figures.json';

interface Case {
  config: Pick<DpoConfig, 'beta' | 'label_smoothing' | 'loss_type'>;
  loss: number;
  /** TRL's. Empty for `smoothed`, which TRL no longer has. */
  metrics: Record<string, number>;
}

const figures = json as {
  cases: Record<string, Case>;
  pairs: Record<'prompt' | 'chosen' | 'rejected', number[]>[];
  policy: PairNumbers[];
  reference: PairNumbers[];
};

export const { cases, policy, reference } = figures;

/** As TRL's collator makes them: only the answers are in the loss. */
export const pairs: PairTokens[] = figures.pairs.map(({ prompt, ...answers }) => {
  const side = (name: 'chosen' | 'rejected') => ({
    tokens: [...prompt, ...answers[name]],
    lossMask: [...prompt.map(() => 0), ...answers[name].map(() => 1)],
  });
  return { chosen: side('chosen'), rejected: side('rejected') };
});
