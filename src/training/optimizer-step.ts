/** @file One optimizer update. All training methods use it. */
import type { Learner } from '../engine/types.ts';
import type { OptimiserConfig } from './settings/index.ts';

/**
 * Updates the weights with AdamW from the accumulated gradients. Returns the gradient norm before clipping.
 * @param step the step of the run, for the error message
 * @throws if the gradient norm is not finite; in this case the weights are not updated
 */
export async function optimizerStep(learner: Learner, config: OptimiserConfig, lr: number, step: number): Promise<number> {
  const { gradNorm } = await learner.step({
    lr,
    beta1: config.beta1,
    beta2: config.beta2,
    eps: config.adam_eps,
    weight_decay: config.weight_decay,
    decay_all_parameters: config.decay_all_parameters,
    grad_clip: config.grad_clip,
  });
  if (!Number.isFinite(gradNorm))
    throw new Error(`the gradient norm of step ${step} is ${gradNorm}: the update was not applied; lower lr (now ${lr})`);
  return gradNorm;
}
