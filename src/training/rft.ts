/**
 * @file One step of rejection-sampling fine-tuning (RAFT, arXiv 2304.06767; STaR, arXiv 2203.14465): sample as a GRPO step
 * samples, keep the successful rollouts, and train on the tokens that they sampled by supervised learning. There is no
 * reference, no clip and no advantage. With equal settings, GRPO and this method play equal tasks with equal seeds.
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

/** Only the outcome counts: shaped rewards do not change which rollouts are kept. */
const succeeded = ({ reward }: Trajectory) => reward === 1;

/** Runs step `step` (from 1). A step without a successful rollout makes no update. */
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

  // Log-probabilities are those of the distribution that was sampled from.
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
