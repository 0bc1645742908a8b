import type { Algorithm } from './types.ts';

export const ppoEpochs: Algorithm = {
  label: 'GRPO, several epochs',
  description:
    'Each batch of rollouts is used four times, as in PPO. From the second pass on, the weights differ from those that sampled the rollouts. The clip limits how far they move away. The advantages are GRPO’s: there is no value network.',
  source: 'PPO, arXiv 1707.06347. verl: ppo_epochs. TRL: num_ppo_epochs=4 of PPOConfig, num_iterations of GRPOConfig.',
  settings: () => ({ ppo_epochs: 4 }),
};
