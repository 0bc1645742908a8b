/** @file The form of Setup: its groups of settings, and the line that a closed group shows. This module is loaded only with Setup. */
import { hasConditions } from '../../domains/registry.ts';
import type { GrpoConfig } from '../../records/run.ts';
import { REWARD_TERMS } from '../../records/rewards.ts';
import { type GroupId, GROUPS } from '../../training/settings/index.ts';
import { allConditionsText, runConditions } from '../labels/conditions.ts';
import { REWARD_LABELS } from '../labels/labels.ts';
import { count, number } from '../kit/format.ts';

export interface Field {
  name: keyof GrpoConfig;
  label: string;
  help: string;
}

export interface FieldGroup {
  id: GroupId;
  title: string;
  /** The group's main values in one line, shown while the group is closed. */
  summary: (config: GrpoConfig) => string;
  fields: Field[];
}

const METHODS = { grpo: 'reinforcement learning', rft: 'rejection-sampling fine-tuning', sft: 'supervised fine-tuning' };

const SUMMARIES: Record<GroupId, FieldGroup['summary']> = {
  method: (c) => METHODS[c.algorithm],
  tasks: (c) => `${c.domain} ${c.level}, ${c.train_split === 'train' ? 'training' : 'held-out'} tasks`,
  rollout: (c) =>
    `${c.n} rollouts per task, ${c.train_batch_size} tasks per step, at most ${c.max_turns} turns, temperature ${c.temperature}`,
  customers: (c) => (hasConditions(c.domain, c.level) ? allConditionsText(runConditions(c, 'train')) : 'the customers of the domain'),
  reward: (c) =>
    REWARD_TERMS.filter((term) => c[`reward.${term}`] > 0)
      .map((term) => `${REWARD_LABELS[term]} ${number(c[`reward.${term}`])}`)
      .join(', '),
  loss: (c) =>
    `${c.adv_estimator}, ${c.loss_mode}, KL ${c.use_kl_loss ? `${number(c.kl_loss_coef)} (${c.kl_loss_type})` : 'off'}, clip ${c.clip_ratio_low} to ${c.clip_ratio_high}, ${c.loss_agg_mode}`,
  lora: (c) => (c.lora_rank > 0 ? `LoRA adapters of rank ${c.lora_rank} on a model in ${c.precision}` : 'all weights'),
  optimiser: (c) => `AdamW, learning rate ${number(c.lr)} ${c.lr_scheduler_type}, gradient norm at most ${c.grad_clip}`,
  limits: (c) =>
    `${count(c.total_training_steps, 'step')}, checkpoint ${c.save_freq > 0 ? `every ${c.save_freq}` : 'at the end'}, ${count(c.val_tasks, 'held-out task')}${c.test_freq > 0 ? ` every ${c.test_freq}` : ' before and after'}`,
};

export const FIELD_GROUPS: readonly FieldGroup[] = GROUPS.map(({ id, title, settings }) => ({
  id,
  title,
  summary: SUMMARIES[id],
  fields: Object.entries(settings)
    .filter(([, { apart }]) => !apart)
    .map(([name, { label, help }]) => ({ name: name as keyof GrpoConfig, label, help })),
}));
