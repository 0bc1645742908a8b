/**
 * @file One step of rejection-sampling fine-tuning (RAFT, arXiv 2304.06767; STaR, arXiv 2203.14465): sample rollouts in the
 * same way as a GRPO step, keep the successful ones, and train on their sampled tokens by supervised learning. There is no
 * reference model, no clipping and no advantage. With equal settings, GRPO and this method play the same tasks with the same
 * seeds.
 */
import type { Stage } from '../agent/rollouts.ts';
import { flatten } from '../agent/trajectory.ts';
import type { Learner } from '../engine/types.ts';
import type { GrpoConfig } from '../records/run.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { inspectGroup, keptGroup } from './inspect.ts';
import { maskedTokens, sftPasses } from './sft.ts';
import { sampleStep, type StepHooks } from './step-batch.ts';
import { sampledMetrics, type StepResult, Stopwatch, sum } from './step-result.ts';

/** Whether a rollout is kept. Only the outcome counts; other reward terms have no influence. */
const succeeded = ({ reward }: Trajectory) => reward === 1;

/** Runs step `step` (from 1). If no rollout succeeds, the step makes no update. */
export async function rftStep(
  stage: Stage,
  learner: Learner,
  config: GrpoConfig,
  step: number,
  hooks: StepHooks = {},
): Promise<StepResult> {
  const clock = new Stopwatch();
  const rollouts = await sampleStep(stage, config, step, hooks);
  clock.lap('gen');
  await clock.rest(hooks.gate);

  const samples = rollouts.groups.flat().map((trajectory) => {
    const { logprobs: oldLogprobs, ...flat } = flatten(trajectory);
    return { trajectory, oldLogprobs, ...flat };
  });
  const kept = samples.filter(({ trajectory }) => succeeded(trajectory));
  const inspected = config.inspect ? samples.filter(({ trajectory }) => trajectory.group === keptGroup(step)) : [];
  const noReference = { ...config, use_kl_loss: false };
  const inspectUpdate = await inspectGroup(learner, inspected, noReference, { trained: [], signal: hooks.signal });
  if (config.inspect) clock.lap('inspect');

  // The log-probs must be those of the distribution from which the tokens were sampled, so they need the same temperature.
  const update = await sftPasses(learner, kept, config, step, {
    ...hooks,
    epochs: config.rft_epochs,
    temperature: config.temperature || 1,
  });
  clock.lap('update_actor');
  await inspectUpdate();
  if (config.inspect) clock.lap('inspect');

  return {
    metrics: {
      ...sampledMetrics(rollouts, step, clock),
      ...update,
      'actor/trained_token_ratio': sum(kept, maskedTokens) / Math.max(1, sum(samples, maskedTokens)),
    },
    trajectories: [...rollouts.groups.flat(), ...rollouts.dropped],
    advantages: new Map(samples.map(({ trajectory }) => [trajectory.id, Number(succeeded(trajectory))])),
  };
}
