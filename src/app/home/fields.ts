/** @file The settings of a run as Setup shows them: in groups, each with a label and a help text. Loaded only with Setup. */
import type { GrpoConfig } from '../../records/run.ts';
import { PERSONAS } from '../../records/conditions.ts';
import { REWARD_PARTS } from '../../records/rewards.ts';
import { allConditionsText, PERSONA_LABELS, PERSONA_MEANINGS, runConditions, TOOL_FAULTS } from '../data/conditions.ts';
import { REWARD_LABELS } from '../data/labels.ts';
import { count, number } from '../kit/format.ts';

export interface Field {
  name: keyof GrpoConfig;
  label: string;
  help: string;
}

export interface FieldGroup {
  id: string;
  title: string;
  /** The group's main values in one line, shown while the group is closed. */
  summary: (config: GrpoConfig) => string;
  fields: Field[];
  /** The fields have a panel of their own in place of one row each. */
  panel?: 'customers';
}

const field = (name: keyof GrpoConfig, label: string, help: string): Field => ({ name, label, help });

export const GROUPS: FieldGroup[] = [
  {
    id: 'algorithm',
    title: 'Training method',
    summary: (c) => ({ grpo: 'reinforcement learning', rft: 'rejection-sampling fine-tuning', sft: 'supervised fine-tuning' })[c.algorithm],
    fields: [
      field(
        'algorithm',
        'Training method',
        'grpo compares the rollouts of a group. rft imitates the successful rollouts. sft imitates new conversations of the demonstrators, as many as grpo samples.',
      ),
      field('rft_epochs', 'Passes over successes', 'Only with rft: how often a step trains on its successful rollouts.'),
      field('sft_mini_batch_size', 'Conversations per update', 'Only with rft and sft: the number of conversations in one update.'),
      field(
        'sft_conditions',
        'Customers of demonstrations',
        'Only with sft. cold_start: cooperative customers, as in the cold start. run: the customers and tools of this run.',
      ),
    ],
  },
  {
    id: 'tasks',
    title: 'Tasks and rules',
    summary: (c) => `${c.domain} ${c.level}, ${c.train_split === 'train' ? 'training' : 'held-out'} tasks`,
    fields: [
      field('domain', 'Domain', 'The source of database, tools and tasks: retail, telecom, or an import such as tau2-retail.'),
      field(
        'level',
        'Level',
        'The size of a generated domain: glimpse (retail only), nano, small or full. Each bundled model was prepared for one level.',
      ),
      field('train_split', 'Tasks to train on', 'heldout trains on the same tasks that evaluation plays, as the paper’s code does.'),
      field(
        'filter_noop_tasks',
        'Replace no-op tasks',
        'A no-op task gives reward 1 to an agent that does nothing. Other tasks take its place.',
      ),
      field(
        'check_outputs',
        'Require facts to be told',
        'Some benchmark tasks name facts that the agent must tell the customer. If true, the reward in training requires these facts.',
      ),
      field(
        'conversation_rules',
        'Conversation rules',
        'domain: the rules of the domain’s benchmark. mua_rl: the rules of MUA-RL in every domain.',
      ),
      field(
        'malformed_policy',
        'Malformed tool call',
        'end: the conversation ends. feedback: the agent receives the error. as_text: the customer receives the text of the call.',
      ),
      field(
        'enable_thinking',
        'Thinking',
        'Qwen3’s enable_thinking. If true, the model writes thoughts before each turn. The customer does not hear them, and they stay in the context. MUA-RL trains without.',
      ),
      field('require_done', 'Require a proper end', 'If true, a conversation without a proper end gets reward 0, for example at a limit.'),
    ],
  },
  {
    id: 'rollout',
    title: 'Group and rollout',
    summary: (c) =>
      `${c.n} rollouts per task, ${c.train_batch_size} tasks per step, at most ${c.max_turns} turns, temperature ${c.temperature}`,
    fields: [
      field('n', 'Rollouts per task', 'The group size. A rollout’s advantage is relative to the mean reward of its group.'),
      field('train_batch_size', 'Tasks per step', 'The number of different tasks in one step.'),
      field(
        'filter_groups',
        'Leave out uniform groups',
        'A group whose rewards are all equal has no policy gradient. Such groups are left out of the update. The average of the loss still counts their tokens.',
      ),
      field(
        'filter_groups.max_num_gen_batches',
        'Maximum batches of tasks',
        'Only with “Leave out uniform groups”. A step plays further batches of tasks until enough groups are mixed, at most this many. 1: one batch. 0: no limit.',
      ),
      field(
        'mask_truncated',
        'Leave out truncated rollouts',
        'A rollout is truncated if a token limit cuts a message or the conversation. Truncated rollouts are left out of the update.',
      ),
      field(
        'user_faults',
        'Customers with faults',
        'An audit finds faults of the customer, such as invented facts or an early end. keep: the update uses these rollouts. drop: it leaves them out.',
      ),
      field(
        'overlong_buffer.enable',
        'Penalty for length',
        'Takes a penalty off the reward of long conversations, in training only. It grows in the last tokens before the maximum length.',
      ),
      field('overlong_buffer.len', 'Tokens with penalty', 'The number of tokens before the maximum length in which the penalty grows.'),
      field('overlong_buffer.penalty_factor', 'Largest penalty', 'The penalty of a conversation of the maximum length.'),
      field('max_turns', 'Maximum turns', 'The maximum number of tool results and customer replies in a conversation.'),
      field('response_length_one_turn', 'Tokens per message', 'The maximum length of one message of the agent.'),
      field(
        'max_model_len',
        'Tokens per conversation',
        'The maximum length of the whole sequence: rules, tools, messages and tool results.',
      ),
      field(
        'temperature',
        'Temperature',
        '1 samples from the model’s own distribution. A lower value favours likely tokens. 0 always takes the most likely token.',
      ),
      field('top_p', 'top_p', 'Samples from the most likely tokens whose probabilities sum to this value. 1 samples from all tokens.'),
      field('top_k', 'top_k', 'Samples from this many most likely tokens. 0 samples from all tokens.'),
    ],
  },
  {
    id: 'customers',
    title: 'Customers',
    summary: (c) => (c.domain === 'retail' ? allConditionsText(runConditions(c, 'train')) : 'as the domain has them'),
    panel: 'customers',
    fields: (['', 'val_'] as const).flatMap((prefix) => [
      ...PERSONAS.map((persona) => field(`${prefix}customers.${persona}`, PERSONA_LABELS[persona], PERSONA_MEANINGS[persona])),
      ...TOOL_FAULTS.map(({ fault, label, meaning }) => field(`${prefix}tools.${fault}`, label, meaning)),
    ]),
  },
  {
    id: 'reward',
    title: 'Reward',
    summary: (c) =>
      REWARD_PARTS.filter((part) => c[`reward.${part}`] > 0)
        .map((part) => `${REWARD_LABELS[part]} ${number(c[`reward.${part}`])}`)
        .join(', '),
    fields: [
      field(
        'reward.outcome',
        'Outcome',
        'Weight. 1 if the database ends exactly as the task demands, else 0. Evaluation uses only this part.',
      ),
      field(
        'reward.partial',
        'Partial credit',
        'Weight. Right rows minus damaged rows, divided by the rows that the task changes, at least 0. Rows with a wrong value count as damaged.',
      ),
      field(
        'reward.partial_gate',
        'Gate of partial credit',
        'ended: partial credit needs a proper end, by the customer or by a transfer. no_violations: the agent must also break no rule.',
      ),
      field(
        'reward.format',
        'Format',
        'Weight. 1 if every turn of the agent could be parsed, else 0. An agent that does nothing earns it too.',
      ),
      field(
        'reward.tool_match',
        'Tool match',
        'Weight. The share of the solution’s tool calls that the agent made, as tau2-bench checks actions.',
      ),
      field(
        'reward.unconfirmed_write',
        'Price of a write without a yes',
        'Subtracted for each write that the customer did not say yes to.',
      ),
      field(
        'reward.length',
        'Price of length',
        'Subtracted for every 100 tokens that the agent sampled. Almost every group is then mixed, and small differences weigh much if advantages are divided by the deviation.',
      ),
      field('reward.handover', 'Price of a needless transfer', 'Subtracted for each transfer to a human, if the solution has none.'),
    ],
  },
  {
    id: 'loss',
    title: 'Loss',
    summary: (c) =>
      `${c.adv_estimator}, ${c.loss_mode}, KL ${c.use_kl_loss ? `${number(c.kl_loss_coef)} (${c.kl_loss_type})` : 'off'}, clip ${c.clip_ratio_low} to ${c.clip_ratio_high}, ${c.loss_agg_mode}`,
    fields: [
      field(
        'adv_estimator',
        'Advantage estimator',
        'How rewards become advantages. grpo, rloo, opo and grpo_passk compare the rollouts of a group; the others bring all advantages of a step to mean 0 and standard deviation 1, reinforce_plus_plus without comparing a group.',
      ),
      field(
        'norm_adv_by_std_in_grpo',
        'Divide advantages by the deviation',
        'Divides the advantages of a group by the standard deviation of the group’s rewards. Only with grpo and grpo_passk.',
      ),
      field(
        'gamma',
        'Discount',
        'Only with reinforce_plus_plus. Each sampled token before the last one weakens the reward by this factor.',
      ),
      field(
        'loss_mode',
        'Policy loss',
        'vanilla clips the ratio of each token. gspo clips one ratio for the whole rollout. cispo limits the ratio but keeps the gradient.',
      ),
      field('clip_ratio_low', 'Lower clip', 'The probability ratio of a token is clipped below 1 minus this value.'),
      field('clip_ratio_high', 'Upper clip', 'The probability ratio of a token is clipped above 1 plus this value.'),
      field('clip_ratio_c', 'Dual clip', 'Limits the loss of a token with negative advantage to this many times the advantage’s size.'),
      field('use_kl_loss', 'KL loss', 'Adds the KL divergence from the starting weights to the loss.'),
      field('kl_loss_coef', 'KL coefficient', 'The weight of the KL divergence in the loss.'),
      field('kl_loss_type', 'KL estimator', 'low_var_kl is the estimator k3, which is never negative.'),
      field(
        'entropy_coeff',
        'Entropy bonus',
        'The weight of the entropy bonus, which favours a less certain model. 0 turns the bonus off.',
      ),
      field(
        'loss_agg_mode',
        'Loss average',
        'token-mean averages over all tokens of the batch. The seq-mean modes average over sequences. With seq-mean-token-mean, a long conversation weighs as much as a short one. seq-mean-token-sum-norm divides the sum over all tokens by a constant.',
      ),
      field(
        'loss_scale_factor',
        'Divisor of the sum',
        'Only with seq-mean-token-sum-norm. 0 divides by the maximum number of tokens of a conversation.',
      ),
      field('ppo_mini_batch_size', 'Tasks per update', 'Must divide the tasks per step. If both are equal, a step makes one update.'),
      field(
        'ppo_micro_batch_size_per_gpu',
        'Conversations per micro-batch',
        'The loss is averaged over each micro-batch, then over the micro-batches, as in the paper’s code. 0 averages over the whole update.',
      ),
      field('ppo_epochs', 'Passes over a step', 'With more than one pass, later updates reuse rollouts of older weights (off-policy).'),
    ],
  },
  {
    id: 'lora',
    title: 'What is trained, and memory',
    summary: (c) => (c.lora_rank > 0 ? `LoRA adapters of rank ${c.lora_rank} on a model in ${c.precision}` : 'all weights'),
    fields: [
      field(
        'lora_rank',
        'Rank of the adapters',
        'LoRA trains small adapters beside the weights of the model, which stay as they are. 0 trains all weights, or the adapter that the model came with.',
      ),
      field('lora_alpha', 'LoRA α', 'The adapters change a product by α / rank · B·A.'),
      field(
        'target_modules',
        'Maps with adapters',
        'all-linear, or names with commas between them: q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj.',
      ),
      field(
        'precision',
        'Precision of the model',
        'How the weights that are not trained are held: f32 (4 bytes a weight), bf16 (2), int8 (about 1) or int4 (about ½). With less, a larger model fits, and its values are rounded. Only with adapters.',
      ),
      field(
        'kv_cache_dtype',
        'Precision of the KV cache',
        'How the keys and values of past tokens are held: f32 (4 bytes each) or f16 (2). auto: f16, or f32 if the precision of the model is f32. Training rounds its keys and values in the same way.',
      ),
      field(
        'kv_cache_tokens',
        'Tokens in the KV cache',
        'Limits the memory of the rollouts. If all conversations together need more, some wait and compute their tokens again: this takes longer and changes no result. 0: no conversation waits.',
      ),
    ],
  },
  {
    id: 'optimiser',
    title: 'Optimiser',
    summary: (c) => `AdamW, learning rate ${number(c.lr)} ${c.lr_scheduler_type}, gradient norm at most ${c.grad_clip}`,
    fields: [
      field('lr', 'Learning rate', 'The size of an update. If the learning rate is too large, training fails.'),
      field('lr_scheduler_type', 'Schedule', 'How the learning rate changes after the warm-up.'),
      field('lr_warmup_steps', 'Warm-up steps', 'The number of steps in which the learning rate rises from 0.'),
      field('weight_decay', 'Weight decay', 'Moves the weights towards 0. The decay is decoupled from the gradient.'),
      field('decay_all_parameters', 'Decay norms and biases too', 'As in the paper’s code. Usually norms and biases have no weight decay.'),
      field('beta1', 'β₁', 'The decay rate of the gradient’s running mean.'),
      field('beta2', 'β₂', 'The decay rate of the squared gradient’s running mean.'),
      field('adam_eps', 'ε', 'A small number in the denominator. It prevents a division by zero.'),
      field('grad_clip', 'Maximum gradient norm', 'A larger gradient is scaled down to this norm. 0 turns clipping off.'),
    ],
  },
  {
    id: 'limits',
    title: 'Length, checkpoints, evaluation',
    summary: (c) =>
      `${count(c.total_training_steps, 'step')}, checkpoint ${c.save_freq > 0 ? `every ${c.save_freq}` : 'at the end'}, ${count(c.val_tasks, 'held-out task')}${c.test_freq > 0 ? ` every ${c.test_freq}` : ' before and after'}`,
    fields: [
      field('total_training_steps', 'Steps', 'The number of training steps of the run.'),
      field(
        'save_freq',
        'Checkpoint every',
        'The number of steps between checkpoints. A run resumes from its newest checkpoint. 0: only at the end.',
      ),
      field('test_freq', 'Evaluate every', 'The number of steps between evaluations. 0: only before and after training.'),
      field(
        'val_tasks',
        'Held-out tasks',
        'The number of tasks in each evaluation. Every evaluation plays the same tasks. 0 turns evaluation off.',
      ),
      field(
        'val_kwargs.do_sample',
        'Sample in evaluation',
        'true: evaluation uses the temperature, top_p and top_k of the rollouts. false: the agent always takes the most likely token, as in the paper’s code.',
      ),
      field('stop_on_alarm', 'Stop on an alarm', 'Ends the run after the step at which an alarm begins, such as a KL explosion.'),
      field(
        'inspect',
        'Score one group per step',
        'Measures the token probabilities of one group before and after the update, for the token view. This does not change training.',
      ),
      field(
        'init_weights',
        'Starting weights',
        'model: the weights of the chosen model. random: random weights of the same shape, drawn from the seed, so that the run has no cold start. copying: random weights with a circuit that copies, as the bundled models began.',
      ),
    ],
  },
];
