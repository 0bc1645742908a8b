/** @file The whole settings of an evaluation, from what is asked for or from a run's configuration. */
import { limitsOf, type EvaluationSettings } from '../evaluation/types.ts';
import type { UserConfig } from '../users/types.ts';
import { EVALUATION_STREAM, limitsFor } from './presets.ts';
import type { GrpoConfig } from './types.ts';

type Asked = Pick<EvaluationSettings, 'domain' | 'level' | 'split' | 'tasks' | 'trials' | 'temperature' | 'seed' | 'user'>;

/** What was asked for, under the limits of the domain's own preset and with nothing cut off the distribution. */
export function evaluationSettings(asked: Asked): EvaluationSettings {
  return { ...asked, top_p: 1, top_k: 0, limits: limitsOf(limitsFor(asked.domain, asked.level)), conversation_rules: 'domain', first_stream: 0 };
}

/** A run's own held-out evaluation: asked for again it plays the same tasks and seeds. */
export function heldOutSettings(config: GrpoConfig, user: UserConfig, tasks = config.val_tasks): EvaluationSettings {
  const { domain, level, temperature, top_p, top_k, seed, conversation_rules } = config;
  return { domain, level, split: 'heldout', tasks, trials: 1, temperature, top_p, top_k, seed, limits: limitsOf(config), conversation_rules, first_stream: EVALUATION_STREAM, user };
}
