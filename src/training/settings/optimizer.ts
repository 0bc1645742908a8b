/** @file The settings of AdamW and its learning-rate schedule. */
import { z } from 'zod';
import { amount, natural, positive, settingGroup } from './setting.ts';

/** Must be below 1: with 1 the bias correction of AdamW's moments divides by zero. */
const decay = z.number().min(0).lt(1);

export const optimizer = settingGroup({
  id: 'optimiser',
  title: 'Optimiser',
  settings: {
    lr: {
      schema: positive,
      default: 1e-6,
      sft: 1e-3,
      label: 'Learning rate',
      help: 'The size of an update. If the learning rate is too large, training fails.',
      trl: 'learning_rate',
      verl: 'actor_rollout_ref.actor.optim.lr',
    },
    lr_scheduler_type: {
      schema: z.enum(['constant', 'linear', 'cosine']),
      default: 'constant',
      sft: 'cosine',
      label: 'Schedule',
      help: 'How the learning rate changes after the warm-up. All updates of a step use the same learning rate, as in verl.',
    },
    lr_warmup_steps: {
      schema: natural,
      default: 0,
      sft: 20,
      label: 'Warm-up steps',
      help: 'The number of steps in which the learning rate rises from 0.',
      trl: 'warmup_steps',
      verl: 'actor_rollout_ref.actor.optim.lr_warmup_steps',
    },
    weight_decay: {
      schema: amount,
      default: 0.01,
      sft: 0.01,
      label: 'Weight decay',
      help: 'Moves the weights towards 0. The decay is decoupled from the gradient.',
      verl: 'actor_rollout_ref.actor.optim.weight_decay',
    },
    decay_all_parameters: {
      schema: z.boolean(),
      default: true,
      sft: false,
      label: 'Decay norms and biases too',
      help: 'If true, weight decay applies to norms and biases too, as in the paper’s code.',
      choice: { topic: 'weight decay', upstream: 'applied to all parameters', ours: 'not applied to norms and biases' },
    },
    beta1: {
      schema: decay,
      default: 0.9,
      sft: 0.9,
      label: 'β₁',
      help: 'The decay rate of the gradient’s running mean.',
      trl: 'adam_beta1',
    },
    beta2: {
      schema: decay,
      default: 0.999,
      sft: 0.95,
      label: 'β₂',
      help: 'The decay rate of the squared gradient’s running mean.',
      trl: 'adam_beta2',
    },
    adam_eps: {
      schema: positive,
      default: 1e-8,
      sft: 1e-8,
      label: 'ε',
      help: 'A small number in the denominator. It prevents a division by zero.',
      trl: 'adam_epsilon',
    },
    grad_clip: {
      schema: amount,
      default: 1,
      sft: 1,
      label: 'Maximum gradient norm',
      help: 'A gradient with a larger norm is scaled down to this norm. 0 turns clipping off.',
      trl: 'max_grad_norm',
      verl: 'actor_rollout_ref.actor.grad_clip',
    },
  },
});
