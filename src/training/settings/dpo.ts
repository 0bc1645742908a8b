/** @file The settings of `mua dpo`: those of `mua sft`, and three of the loss. */
import { z } from 'zod';
import { type SftConfig, sftSchema } from './index.ts';
import { positive } from './setting.ts';

/** What `mua dpo` has beside the settings of `mua sft`, under TRL's names. */
const own = {
  /** How strongly the model is held to the reference: a smaller value allows a larger distance. For ipo it is the paper's τ. */
  beta: positive,
  /** The share of pairs whose answers are assumed to be swapped (conservative DPO). Only for sigmoid. */
  label_smoothing: z.number().min(0).lt(0.5),
  loss_type: z.enum(['sigmoid', 'ipo']),
};

export const dpoSchema = z.strictObject({ ...sftSchema.shape, ...own });
export type DpoConfig = SftConfig & { [K in keyof typeof own]: z.output<(typeof own)[K]> };
export const DPO_DEFAULTS = { lr: 1e-5, lr_warmup_steps: 0, beta: 0.1, label_smoothing: 0, loss_type: 'sigmoid' } as const;
