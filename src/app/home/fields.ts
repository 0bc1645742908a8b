/** @file The settings of a run as Setup shows them: in groups, each with what it means. Loaded with Setup only. */
import type { GrpoConfig } from '../../training/types.ts';
import { number } from '../logic/format.ts';

export interface Field {
  name: keyof GrpoConfig;
  label: string;
  help: string;
}

export interface FieldGroup {
  id: string;
  title: string;
  /** Its main values in one line, so that nothing needs opening to be read. */
  summary: (config: GrpoConfig) => string;
  fields: Field[];
}

const field = (name: keyof GrpoConfig, label: string, help: string): Field => ({ name, label, help });

export const GROUPS: FieldGroup[] = [
  {
    id: 'tasks',
    title: 'Tasks and rules',
    summary: (c) => `${c.domain} ${c.level}, ${c.train_split === 'train' ? 'training' : 'held-out'} tasks`,
    fields: [
      field('domain', 'Domain', 'Whose database, tools and tasks: retail, telecom, or an imported benchmark such as tau2-retail.'),
      field('level', 'Level', 'How much of the domain there is: nano, small or full. The bundled model was prepared for nano.'),
      field('train_split', 'Tasks to train on', 'heldout trains on the very tasks that evaluation plays, as the paper’s code did.'),
      field('filter_noop_tasks', 'Leave out tasks that doing nothing solves', 'Such a task pays an agent that never acts.'),
      field('check_outputs', 'Ask for what a task wants said', 'Whether a benchmark’s task also demands that certain facts be told to the customer.'),
      field('conversation_rules', 'Conversation rules', 'Those of the domain’s benchmark, or those of MUA-RL everywhere.'),
      field('malformed_policy', 'A malformed tool call', 'end: ends the conversation. feedback: the error is told to the agent. as_text: is said to the customer.'),
      field('require_done', 'Reward only a proper end', 'Whether a conversation that ran into a limit can still be correct.'),
    ],
  },
  {
    id: 'rollout',
    title: 'Group and rollout',
    summary: (c) => `${c.n} tries a task, ${c.train_batch_size} tasks a step, at most ${c.max_turns} turns, temperature ${c.temperature}`,
    fields: [
      field('n', 'Tries a task', 'The group: advantages are relative to its mean.'),
      field('train_batch_size', 'Tasks a step', 'Different customers in one step.'),
      field('filter_groups', 'Leave out uniform groups', 'Groups that are all right or all wrong carry no policy gradient.'),
      field('mask_truncated', 'Leave out cut conversations', 'Conversations cut amid a turn, or by the end of the context, then have no part in the update.'),
      field('max_turns', 'Turns at most', 'Tool calls and replies of the customer.'),
      field('response_length_one_turn', 'Tokens a turn', 'The longest message the agent may write.'),
      field('max_model_len', 'Tokens a conversation', 'Everything: rules, tools, messages and results.'),
      field('temperature', 'Temperature', '1 samples as the model believes; lower is bolder, 0 takes the likeliest.'),
      field('top_p', 'top_p', 'Sample from the likeliest tokens that make up this share; 1 from all.'),
      field('top_k', 'top_k', 'Sample from this many likeliest tokens; 0 from all.'),
    ],
  },
  {
    id: 'loss',
    title: 'Loss',
    summary: (c) => `KL ${c.use_kl_loss ? `${number(c.kl_loss_coef)} (${c.kl_loss_type})` : 'off'}, clip ${c.clip_ratio_low} to ${c.clip_ratio_high}, ${c.loss_agg_mode}`,
    fields: [
      field('norm_adv_by_std_in_grpo', 'Divide advantages by the deviation', 'Off, an easy and a hard group weigh by how far their tries differ.'),
      field('clip_ratio_low', 'Clip below', 'A token’s probability ratio counts down to 1 minus this.'),
      field('clip_ratio_high', 'Clip above', 'A token’s probability ratio counts up to 1 plus this.'),
      field('clip_ratio_c', 'Dual clip', 'Bounds the loss of tokens with a negative advantage.'),
      field('use_kl_loss', 'Hold on to the reference', 'Adds the divergence from the starting policy to the loss.'),
      field('kl_loss_coef', 'KL weight', 'How strongly.'),
      field('kl_loss_type', 'KL estimate', 'low_var_kl is k3, never negative.'),
      field('entropy_coeff', 'Entropy bonus', 'Rewards staying undecided; 0 is none.'),
      field('loss_agg_mode', 'Average over', 'Tokens of the whole batch, or sequences first: then a long conversation weighs no more than a short one.'),
      field('ppo_mini_batch_size', 'Tasks an update', 'A divisor of the tasks a step; the same means one update a step.'),
      field('ppo_epochs', 'Passes over a step', 'More than one reuses the rollouts, off policy.'),
    ],
  },
  {
    id: 'optimiser',
    title: 'Optimiser',
    summary: (c) => `AdamW, learning rate ${number(c.lr)} ${c.lr_scheduler_type}, gradient norm at most ${c.grad_clip}`,
    fields: [
      field('lr', 'Learning rate', 'The first thing to change, and the first to break a run.'),
      field('lr_scheduler_type', 'Schedule', 'How the learning rate goes on after the warm-up.'),
      field('lr_warmup_steps', 'Warm-up steps', 'Steps in which it rises from 0.'),
      field('weight_decay', 'Weight decay', 'Pulls weights towards 0, decoupled from the gradient.'),
      field('beta1', 'β₁', 'Memory of the mean gradient.'),
      field('beta2', 'β₂', 'Memory of its square.'),
      field('adam_eps', 'ε', 'Keeps the division finite.'),
      field('grad_clip', 'Gradient norm at most', '0 never clips.'),
    ],
  },
  {
    id: 'limits',
    title: 'Length and looking on',
    summary: (c) => `${c.total_training_steps} steps, checkpoint ${c.save_freq > 0 ? `every ${c.save_freq}` : 'at the end'}, ${c.val_tasks} held-out tasks${c.test_freq > 0 ? ` every ${c.test_freq}` : ' before and after'}`,
    fields: [
      field('total_training_steps', 'Steps', 'Optimiser steps until the run is done.'),
      field('save_freq', 'Checkpoint every', 'Steps; what a resumed run goes on from. 0 only at the end.'),
      field('test_freq', 'Evaluate every', 'Steps; 0 only before and after.'),
      field('val_tasks', 'Held-out tasks', 'Played in each evaluation, always the same ones; 0 never evaluates.'),
      field('inspect', 'Look closely at one group a step', 'Scores it before and after the update, for the token view. Learns nothing from it.'),
    ],
  },
];
