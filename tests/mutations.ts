/**
 * Deliberate faults in training, evaluation, users and audit. Each one breaks a promise that a test must see.
 * `npm run mutate` applies them one by one to a copy of the project and prints those that no test notices.
 */
export interface Mutation {
  /** The promise that the fault breaks. */
  breaks: string;
  file: string;
  /** Text that occurs once in the file, and what takes its place. */
  from: string;
  to: string;
  /** Folders or files of tests/unit that must notice the fault. */
  tests: string;
}

const T = 'training';
const BEHAVIOUR = 'training/behaviour.test.ts';
const VERL = 'training/verl-algorithms.test.ts';

export const MUTATIONS: readonly Mutation[] = [
  // A run.
  {
    breaks: 'held-out evaluation plays held-out tasks',
    file: 'src/training/run.ts',
    from: "split: 'heldout'",
    to: "split: 'train'",
    tests: BEHAVIOUR,
  },
  {
    breaks: 'each evaluation has the same noise',
    file: 'src/training/run.ts',
    from: 'firstStream: EVALUATION_STREAM,',
    to: 'firstStream: EVALUATION_STREAM + Math.floor(performance.now() * 1000),',
    tests: BEHAVIOUR,
  },
  {
    breaks: 'a run is evaluated before its first step',
    file: 'src/training/run.ts',
    from: 'if (step === 0 && config.val_tasks > 0',
    to: 'if (step === 1 && config.val_tasks > 0',
    tests: BEHAVIOUR,
  },
  {
    breaks: 'the last step is evaluated',
    file: 'src/training/run.ts',
    from: '(step === last || (',
    to: '(step === last + 1 || (',
    tests: 'trainer/runs.test.ts',
  },
  {
    breaks: 'held-out evaluations have customers of their own',
    file: 'src/training/run.ts',
    from: 'hooks.valUsers ?? stage.users',
    to: 'stage.users',
    tests: 'trainer/runs.test.ts',
  },
  {
    breaks: 'evaluation samples as do_sample says',
    file: 'src/training/evaluation-settings.ts',
    from: '{ temperature: 0, top_p: 1, top_k: 0 }',
    to: '{ temperature, top_p, top_k }',
    tests: BEHAVIOUR,
  },

  // GRPO.
  {
    breaks: 'KL is against the reference',
    file: 'src/training/grpo.ts',
    from: "weights: 'reference'",
    to: "weights: 'trained'",
    tests: BEHAVIOUR,
  },
  {
    breaks: 'the reference is scored at the temperature of the rollouts',
    file: 'src/training/grpo.ts',
    from: "{ weights: 'reference', temperature: config.temperature || 1,",
    to: "{ weights: 'reference', temperature: 1,",
    tests: BEHAVIOUR,
  },
  {
    breaks: 'the update has the temperature of the rollouts',
    file: 'src/training/grpo.ts',
    from: 'accumulate(sequences, loss, {\n      temperature: config.temperature || 1,',
    to: 'accumulate(sequences, loss, {\n      temperature: 1,',
    tests: BEHAVIOUR,
  },
  {
    breaks: 'a truncated rollout is masked where that is set',
    file: 'src/training/grpo.ts',
    from: '!(config.mask_truncated && isCut(trajectory))',
    to: 'true',
    tests: T,
  },
  {
    breaks: 'the overlong penalty is part of the reward',
    file: 'src/training/grpo.ts',
    from: 'totalReward(trajectory) + lengthReward(trajectory, config)',
    to: 'totalReward(trajectory)',
    tests: T,
  },
  {
    breaks: 'a group of one rollout is left out',
    file: 'src/training/grpo.ts',
    from: 'group.length > 1 &&',
    to: 'group.length > 0 &&',
    tests: 'training/step-batch.test.ts',
  },
  {
    breaks: 'mini-batches have ppo_mini_batch_size groups',
    file: 'src/training/grpo.ts',
    from: 'i * size, (i + 1) * size',
    to: 'i * size, (i + 1) * size - 1',
    tests: 'training/step-batch.test.ts',
  },
  {
    breaks: 'the schedule counts updates of all steps',
    file: 'src/training/grpo.ts',
    from: '(step - 1) * perStep + update',
    to: 'update',
    tests: T,
  },
  {
    breaks: 'a success pushes up',
    file: 'src/training/advantages.ts',
    from: '(r - mean) / (std + EPSILON) : r - mean',
    to: '(mean - r) / (std + EPSILON) : mean - r',
    tests: BEHAVIOUR,
  },
  {
    breaks: 'the standard deviation is that of a sample',
    file: 'src/training/advantages.ts',
    from: '/ (rewards.length - 1)) };',
    to: '/ rewards.length) };',
    tests: VERL,
  },
  {
    breaks: 'RLOO leaves one out',
    file: 'src/training/advantages.ts',
    from: '(rewards.length / (rewards.length - 1)) * (r - mean)',
    to: 'r - mean',
    tests: VERL,
  },
  { breaks: 'OPO weighs by length', file: 'src/training/advantages.ts', from: 'length * reward', to: 'reward', tests: VERL },
  {
    breaks: 'a token mean counts the tokens of the batch',
    file: 'src/training/advantages.ts',
    from: "'token-mean': Math.max(1, sum(own))",
    to: "'token-mean': Math.max(1, own.length)",
    tests: VERL,
  },
  {
    breaks: 'PPO takes the larger of both losses',
    file: 'src/training/policy-loss.ts',
    from: 'const upper = Math.max(unclipped, clipped);',
    to: 'const upper = Math.min(unclipped, clipped);',
    tests: VERL,
  },
  {
    breaks: 'the clip has two ends',
    file: 'src/training/policy-loss.ts',
    from: '1 - config.clip_ratio_low, 1 + config.clip_ratio_high',
    to: '1 - config.clip_ratio_high, 1 + config.clip_ratio_low',
    tests: VERL,
  },
  {
    breaks: 'the dual clip limits bad tokens',
    file: 'src/training/policy-loss.ts',
    from: 'advantage < 0 && upper > lower',
    to: 'advantage > 0 && upper > lower',
    tests: VERL,
  },
  {
    breaks: 'k3 is not negative',
    file: 'src/training/grpo-loss.ts',
    from: 'Math.exp(negative) - negative - 1',
    to: 'Math.exp(negative) + negative - 1',
    tests: BEHAVIOUR,
  },
  {
    breaks: 'the warm-up begins above 0',
    file: 'src/training/schedule.ts',
    from: '(lr * (step + 1)) / (warmup + 1)',
    to: '(lr * step) / (warmup + 1)',
    tests: T,
  },
  { breaks: 'a linear schedule falls', file: 'src/training/schedule.ts', from: 'lr * (1 - progress)', to: 'lr', tests: T },

  // The optimizer.
  {
    breaks: 'weight decay reaches the optimizer',
    file: 'src/training/optimizer-step.ts',
    from: 'weight_decay: config.weight_decay',
    to: 'weight_decay: 0',
    tests: BEHAVIOUR,
  },
  {
    breaks: 'gradient clipping reaches the optimizer',
    file: 'src/training/optimizer-step.ts',
    from: 'grad_clip: config.grad_clip',
    to: 'grad_clip: 0',
    tests: BEHAVIOUR,
  },
  {
    breaks: 'adam_eps reaches the optimizer',
    file: 'src/training/optimizer-step.ts',
    from: 'eps: config.adam_eps',
    to: 'eps: 1e-8',
    tests: BEHAVIOUR,
  },
  {
    breaks: 'a gradient that is not finite ends the run',
    file: 'src/training/optimizer-step.ts',
    from: '!Number.isFinite(gradNorm)',
    to: 'gradNorm < 0',
    tests: T,
  },

  // Rollouts and their tasks.
  {
    breaks: 'a group shares the seed of its customer',
    file: 'src/agent/rollouts.ts',
    from: 'hash32(plan.seed, plan.firstStream, t)',
    to: 'hash32(plan.seed, plan.firstStream, t, index)',
    tests: BEHAVIOUR,
  },
  {
    breaks: 'groups have different customers',
    file: 'src/agent/rollouts.ts',
    from: 'hash32(plan.seed, plan.firstStream, t)',
    to: 'hash32(plan.seed, plan.firstStream)',
    tests: BEHAVIOUR,
  },
  {
    breaks: 'the rollouts of a group sample differently',
    file: 'src/agent/rollouts.ts',
    from: 'plan.firstStream + t * plan.n + index',
    to: 'plan.firstStream + t * plan.n',
    tests: BEHAVIOUR,
  },
  {
    breaks: 'a failed customer is tried again before it is dropped',
    file: 'src/agent/rollouts.ts',
    from: 'plan.maxRetries ?? 2',
    to: 'plan.maxRetries ?? 0',
    tests: 'agent training trainer/runs.test.ts',
  },
  {
    breaks: 'steps sample differently',
    file: 'src/training/step-batch.ts',
    from: 'step * train_batch_size * n + all',
    to: 'train_batch_size * n + all',
    tests: BEHAVIOUR,
  },
  {
    breaks: 'a group of equal rewards is not mixed',
    file: 'src/training/step-batch.ts',
    from: 'totalReward(rollout) !== totalReward(group[0]!)',
    to: 'totalReward(rollout) === totalReward(group[0]!)',
    tests: 'training/step-batch.test.ts',
  },
  {
    breaks: 'conversations with a faulty customer are dropped where that is set',
    file: 'src/training/step-batch.ts',
    from: "config.user_faults === 'drop' ? withoutFaulty(played) : played",
    to: 'played',
    tests: 'training/step-batch.test.ts',
  },
  {
    breaks: 'no two steps share a task',
    file: 'src/training/training-tasks.ts',
    from: 'const from = (step - 1) * size + genBatch',
    to: 'const from = genBatch',
    tests: T,
  },
  {
    breaks: 'training has the customers of training',
    file: 'src/training/training-tasks.ts',
    from: "split === 'heldout' ? 'val' : 'train'",
    to: "'val'",
    tests: T,
  },
  {
    breaks: 'no-op tasks are left out where that is set',
    file: 'src/training/training-tasks.ts',
    from: '!(config.filter_noop_tasks && task.noop)',
    to: 'true',
    tests: T,
  },

  // Supervised learning.
  {
    breaks: 'the cold start drops failures',
    file: 'src/training/synthesize.ts',
    from: 'conversation.reward === 1',
    to: 'conversation.reward >= 0',
    tests: BEHAVIOUR,
  },
  {
    breaks: 'the cold start has both styles',
    file: 'src/training/synthesize.ts',
    from: 'styles[hash32(seed, DEMONSTRATOR) % styles.length]!',
    to: 'styles[0]!',
    tests: BEHAVIOUR,
  },
  {
    breaks: 'rft has the temperature of the rollouts',
    file: 'src/training/rft.ts',
    from: 'temperature: config.temperature || 1,',
    to: 'temperature: 1,',
    tests: BEHAVIOUR,
  },
  { breaks: 'rft trains on successes only', file: 'src/training/rft.ts', from: 'reward === 1', to: 'reward !== null', tests: BEHAVIOUR },
  {
    breaks: 'demonstrations have the customers that are set',
    file: 'src/training/sft-run.ts',
    from: "config.sft_conditions === 'run'",
    to: "config.sft_conditions !== 'run'",
    tests: 'training/rft-and-sft.test.ts',
  },
  {
    breaks: 'the loss of a batch is a mean over its tokens',
    file: 'src/training/sft.ts',
    from: 'weight: 1 / Math.max(1, count)',
    to: 'weight: 1',
    tests: 'training/rft-and-sft.test.ts',
  },
  {
    breaks: 'nothing predicts the first token',
    file: 'src/training/sft.ts',
    from: 'for (let t = 1; t < lossMask.length; t++)',
    to: 'for (let t = 0; t < lossMask.length; t++)',
    tests: T,
  },
  {
    breaks: 'each epoch has its own order',
    file: 'src/training/sft.ts',
    from: 'permutation(examples.length, config.seed, Math.floor(step / perEpoch))',
    to: 'permutation(examples.length, config.seed, 0)',
    tests: T,
  },

  // Rewards.
  {
    breaks: 'a price lowers the reward',
    file: 'src/training/rewards.ts',
    from: 'value !== 0 ? -value : value',
    to: 'value !== 0 ? value : value',
    tests: 'training/rewards.test.ts',
  },
  {
    breaks: 'damage lowers partial credit',
    file: 'src/training/rewards.ts',
    from: 'Math.max(0, right - damaged) / goal',
    to: 'right / goal',
    tests: 'training/rewards.test.ts',
  },
  {
    breaks: 'the gate needs an audit without a violation',
    file: 'src/training/rewards.ts',
    from: "(gate === 'no_violations' && facts.violations > 0)",
    to: 'false',
    tests: 'training/rewards.test.ts',
  },
  {
    breaks: 'a hand-over that the task asks for is free',
    file: 'src/training/rewards.ts',
    from: 'gold.some(({ name }) => transfersOf(task.domain).includes(name)) ? 0 : transfersIn',
    to: 'transfersIn',
    tests: 'training/rewards.test.ts',
  },
  {
    breaks: 'an improper end has reward 0 where that is set',
    file: 'src/agent/episode.ts',
    from: '!isProper(termination) ? 0 : verdict.reward',
    to: '!isProper(termination) ? verdict.reward : verdict.reward',
    tests: 'agent/episode.test.ts',
  },

  // Evaluation.
  {
    breaks: 'pass^k draws without replacement',
    file: 'src/evaluation/pass-hat.ts',
    from: 'Math.max(0, successes - i) / (trials - i)',
    to: 'successes / trials',
    tests: 'evaluation training/training.test.ts',
  },
  {
    breaks: 'tasks with fewer than k trials are left out',
    file: 'src/evaluation/pass-hat.ts',
    from: 'results.filter(({ trials }) => trials >= k)',
    to: 'results.filter(({ trials }) => trials >= 1)',
    tests: 'evaluation training/training.test.ts',
  },
  {
    breaks: 'an interval holds 95 %',
    file: 'src/evaluation/pass-hat.ts',
    from: 'low: resamples[49]!, high: resamples[1949]!',
    to: 'low: resamples[249]!, high: resamples[1749]!',
    tests: 'evaluation training/training.test.ts',
  },
  {
    breaks: 'an unscored episode is no failure',
    file: 'src/evaluation/report.ts',
    from: 'episodes.filter(({ reward }) => reward !== null)',
    to: 'episodes.filter(() => true)',
    tests: 'evaluation training trainer/runs.test.ts',
  },
  {
    breaks: 'a difference is after minus before',
    file: 'src/evaluation/paired.ts',
    from: 'after - before)',
    to: 'before - after)',
    tests: 'evaluation',
  },
  {
    breaks: 'pairs are of the same trial',
    file: 'src/evaluation/paired.ts',
    from: 'JSON.stringify([task, index])',
    to: 'JSON.stringify([task])',
    tests: 'evaluation',
  },
  {
    breaks: 'the sign test has two sides',
    file: 'src/evaluation/paired.ts',
    from: 'Math.min(1, 2 * tail)',
    to: 'Math.min(1, tail)',
    tests: 'evaluation',
  },
  {
    breaks: 'asked writes are those with a yes',
    file: 'src/evaluation/trial-result.ts',
    from: '{ count: of - unasked, of }',
    to: '{ count: of, of }',
    tests: 'evaluation training',
  },
  {
    breaks: 'a fault after the decisive event denies no reward',
    file: 'src/evaluation/customer-quality.ts',
    from: '=== message) < decisive',
    to: '=== message) >= 0',
    tests: 'evaluation',
  },

  // Users.
  {
    breaks: 'a quoted stop word ends nothing',
    file: 'src/users/stop.ts',
    from: 'const said = withoutQuotations(text);',
    to: 'const said = text;',
    tests: 'users agent/user-stop.test.ts',
  },
  {
    breaks: 'customers who change their mind do so when they are asked',
    file: 'src/domains/retail/customer/customer.ts',
    from: 'if (this.wish?.insteadOf && !this.changedMind) return this.changeMind(this.wish);\n    if (matches',
    to: 'if (matches',
    tests: 'users',
  },
  {
    breaks: 'a customer says yes only to what they want',
    file: 'src/domains/retail/customer/customer.ts',
    from: 'if (matches(text, request)) {',
    to: 'if (matches(text, request) || true) {',
    tests: 'users',
  },
  {
    breaks: 'a customer loses patience',
    file: 'src/domains/retail/customer/customer.ts',
    from: 'const PATIENCE = 3;',
    to: 'const PATIENCE = 300;',
    tests: 'users',
  },
  {
    breaks: 'a pushy customer insists once',
    file: 'src/domains/retail/customer/customer.ts',
    from: 'this.insisted = true;',
    to: 'this.insisted = false;',
    tests: 'users',
  },
  {
    breaks: 'a claim about another order is corrected',
    file: 'src/domains/retail/customer/customer.ts',
    from: '!ids.includes(String(request.slots.order_id)))\n      return this.ignore',
    to: 'false)\n      return this.ignore',
    tests: 'users',
  },
  {
    breaks: 'a report of the past is no question',
    file: 'src/domains/retail/customer/listening.ts',
    from: 'done: !confirm && !refused && claims.length > 0',
    to: 'done: false',
    tests: 'users',
  },
  {
    breaks: 'the budget ends requests',
    file: 'src/users/account.ts',
    from: 'this.spent < this.budget',
    to: 'true',
    tests: 'users trainer/runs.test.ts',
  },

  // The audit of customers.
  {
    breaks: 'a customer that leaves at once is reported',
    file: 'src/users/audit-ending.ts',
    from: 'if (outcomes === 0) return',
    to: 'if (outcomes < 0) return',
    tests: 'users',
  },
  {
    breaks: 'a customer that stays for ever is reported',
    file: 'src/users/audit-ending.ts',
    from: "termination !== 'max_turns' && termination !== 'context_full'",
    to: 'true',
    tests: 'users',
  },
  {
    breaks: 'messages of a visitor are not audited',
    file: 'src/users/audit.ts',
    from: "node.by !== 'person'",
    to: 'true',
    tests: 'users trainer/play.test.ts',
  },

  // The audit of the agent.
  {
    breaks: 'a yes counts only after a question',
    file: 'src/agent/violations.ts',
    from: 'confirmed = asked && isConfirmation(event.text)',
    to: 'confirmed = isConfirmation(event.text)',
    tests: 'agent/violations.test.ts',
  },
  {
    breaks: 'a yes allows one write',
    file: 'src/agent/violations.ts',
    from: 'asked = confirmed = false;\n      }',
    to: '}',
    tests: 'agent/violations.test.ts',
  },
  {
    breaks: 'a failed call is no violation',
    file: 'src/agent/violations.ts',
    from: 'if (result.error) continue;',
    to: '',
    tests: 'agent/violations.test.ts',
  },
  {
    breaks: 'a conversation has one customer',
    file: 'src/agent/violations.ts',
    from: 'customer ??= result.text.trim()',
    to: 'customer = result.text.trim()',
    tests: 'agent/violations.test.ts',
  },
  {
    breaks: "another customer's data is found",
    file: 'src/agent/violations.ts',
    from: 'if (owner !== customer) report',
    to: 'if (owner === null) report',
    tests: 'agent/violations.test.ts',
  },
  {
    breaks: 'reading before the customer is found is reported',
    file: 'src/agent/violations.ts',
    from: '} else if (rules.authenticate.length > 0)',
    to: '} else if (rules.authenticate.length < 0)',
    tests: 'agent/violations.test.ts',
  },
  {
    breaks: '“yes, but …” is no yes',
    file: 'src/agent/violations.ts',
    from: 'if (CHANGE.test(said) || !YES.test(said)) return false;',
    to: 'if (!YES.test(said)) return false;',
    tests: 'agent/violations.test.ts',
  },
  {
    breaks: '“Anything else?” asks for no yes',
    file: 'src/agent/violations.ts',
    from: '!/\\b(anything|something|what) else\\b/i.test(sentence)',
    to: 'sentence !== null',
    tests: 'agent/violations.test.ts',
  },
];
