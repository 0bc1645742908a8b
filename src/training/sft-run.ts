/**
 * @file One step of supervised fine-tuning as a run. This is the control experiment for GRPO: it trains for the same number of
 * steps, but on clean demonstrations instead of the model's own conversations. A step uses as many conversations as a GRPO
 * step samples, `train_batch_size` × `n`.
 */
import { renderConversation } from '../agent/chat-template.ts';
import type { Stage } from '../agent/rollouts.ts';
import { permutation } from '../base/random.ts';
import type { Learner } from '../engine/types.ts';
import { COLD_START, conditionsOf } from '../environments/conditions.ts';
import type { Conversation } from '../records/conversation.ts';
import type { GrpoConfig } from '../records/run.ts';
import { customerScripts } from '../domains/registry.ts';
import { ScriptedUsers } from '../users/scripted.ts';
import { habitsOf } from './config.ts';
import { maskedTokens, sftPasses } from './sft.ts';
import type { StepHooks } from './step-batch.ts';
import { type StepResult, Stopwatch, sum } from './step-result.ts';
import { mostTried, synthesize } from './synthesize.ts';

/**
 * Runs step `step` (from 1). Its conversations depend only on the settings, the dataset and `step`. Conversations longer than
 * `max_model_len` are not used, because the agent could not play them either.
 * @throws if all conversations are too long
 */
export async function sftStep(
  stage: Stage,
  learner: Learner,
  config: GrpoConfig,
  step: number,
  hooks: StepHooks = {},
): Promise<StepResult> {
  const clock = new Stopwatch();
  const size = config.train_batch_size * config.n;
  const conversations = hooks.dataset ? fromDataset(hooks.dataset, size, config.seed, step) : await demonstrate(stage, config, step, hooks);
  const rendered = conversations.map((conversation) => renderConversation(stage.tokenizer, conversation, config.enable_thinking));
  const examples = rendered.filter(({ tokens }) => tokens.length <= config.max_model_len);
  if (examples.length === 0)
    throw new Error(
      `the shortest conversation of step ${step} has ${Math.min(...rendered.map(({ tokens }) => tokens.length))} tokens: max_model_len is ${config.max_model_len}`,
    );
  clock.lap('gen');
  await clock.rest(hooks.gate);
  const update = await sftPasses(learner, examples, config, step, hooks);
  clock.lap('update_actor');
  return {
    metrics: {
      step,
      'training/global_step': step,
      ...update,
      'train/overlong_dropped': rendered.length - examples.length,
      'perf/total_sampled_tokens': sum(examples, maskedTokens),
      ...clock.metrics(sum(examples, ({ tokens }) => tokens.length)),
    },
    trajectories: [],
    advantages: new Map(),
  };
}

/** Plays new conversations of the demonstrators. No two steps share a task. */
async function demonstrate({ environments }: Stage, config: GrpoConfig, step: number, hooks: StepHooks): Promise<Conversation[]> {
  const count = config.train_batch_size * config.n;
  const { domain, level, seed, sft_styles: style } = config;
  const own = conditionsOf(config, 'train');
  const conditions = config.sft_conditions === 'run' ? own : { ...COLD_START, intents: own.intents };
  hooks.onPhase?.('rollout', 0, count);
  const { conversations } = await synthesize(
    { environments, users: new ScriptedUsers(customerScripts) },
    {
      domain,
      level,
      count,
      seed,
      conditions,
      habits: habitsOf(config),
      ...(style !== 'both' && { styles: [style] }),
      from: (step - 1) * mostTried(count),
    },
    (kept) => hooks.onPhase?.('rollout', kept, count),
    hooks.signal,
  );
  return conversations;
}

/** The conversations of `step`. The dataset is repeated in epochs, each with its own seeded order. */
function fromDataset(dataset: readonly Conversation[], size: number, seed: number, step: number): Conversation[] {
  return Array.from({ length: size }, (_, i) => {
    const place = (step - 1) * size + i;
    return dataset[permutation(dataset.length, seed, Math.floor(place / dataset.length))[place % dataset.length]!]!;
  });
}
