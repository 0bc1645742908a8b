/** A small experiment, and runs with given outcomes. */
import type { Experiment, ExperimentRun } from '../../src/records/experiment.ts';

export const EXPERIMENT: Experiment = {
  id: 'kl',
  name: 'The KL term',
  question: 'Does the KL term help?',
  base: { preset: 'tiny', overrides: {}, user: { mode: 'scripted' } },
  variants: [
    { name: 'kl', overrides: {} },
    { name: 'no_kl', overrides: { use_kl_loss: false } },
  ],
  baseline: 'kl',
  seeds: [42, 43, 44],
  evaluation: { val_tasks: 4 },
};

/** `success`: outcomes of the seed's tasks before training and after the last step. */
export function finishedRun(variant: string, seed: number, ...success: (0 | 1 | null)[][]): ExperimentRun {
  return {
    variant,
    seed,
    steps: 2,
    seconds: 60,
    tasks: success[0]!.map((_, i) => `retail/nano/heldout/${seed}/${i}`),
    evaluations: success.map((outcomes, i) => ({
      step: 2 * i,
      success: outcomes,
      figures: { turns: 10, hand_overs: 0.25, confirmed_writes: 0.5 + i / 4 },
    })),
    metricSteps: [1, 2],
    metrics: { 'actor/kl_loss': [0.01, 0.03], 'response_length_only_model/mean': [50, 70] },
  };
}
