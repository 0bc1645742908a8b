/** @file The judge of a run: the model of the customer's endpoint, or the customer's model in the tab. */
import type { Stage } from '../agent/rollouts.ts';
import type { Engine } from '../engine/types.ts';
import { hasAdapter } from '../exchange/adapter-files.ts';
import type { ModelParts } from '../exchange/model-folder.ts';
import type { GrpoConfig } from '../records/run.ts';
import type { UserConfig } from '../records/user.ts';
import { ConfigError } from '../training/config.ts';
import type { Judge } from '../training/judge.ts';
import { originalAnswers } from '../training/original-answers.ts';
import type { Checkpoint } from './checkpoints.ts';
import { concurrency } from './engine-host.ts';

/** The model that judges, with its server. @throws ConfigError if the customer is scripted */
function nameOf(user: UserConfig, weight: number): string {
  if (user.mode === 'local') return `"${user.model}" in this tab`;
  if (user.mode === 'endpoint') {
    const { origin, pathname } = new URL(user.baseUrl);
    return `"${user.judgeModel ?? user.model}" at ${origin}${pathname}`;
  }
  throw new ConfigError(
    `setting "reward.judge" is ${weight}: expected 0, or an endpoint or a model in the tab as the customer, whose model then judges`,
  );
}

/**
 * Prepares the judge. Undefined if the run has none. Must be called before the engine loads a checkpoint: the original answers
 * are sampled with the weights before step 1.
 * @throws ConfigError if nothing can judge, or if a continued run would lack the original weights
 */
export async function judgeOf(
  engine: Engine,
  stage: Stage,
  run: { config: GrpoConfig; user: UserConfig; files: ModelParts; checkpoint: Checkpoint | null },
  signal: AbortSignal,
  onProgress: (done: number, total: number) => void,
): Promise<Judge | undefined> {
  const { config, user, files, checkpoint } = run;
  // Earlier runs have no such setting.
  if (!(config['reward.judge'] > 0)) return undefined;
  const name = nameOf(user, config['reward.judge']);
  if (!config['judge.original']) return { name, originals: new Map() };
  if (!hasAdapter(files) && !config.use_kl_loss)
    throw new ConfigError(
      'setting "judge.original" is true: expected lora_rank above 0 or use_kl_loss true, as a checkpoint has no other original weights',
    );
  if (checkpoint?.reference) engine.loadWeights(checkpoint.reference);
  return { name, originals: await originalAnswers(stage, config, { concurrency: concurrency(config), signal, onProgress }) };
}
