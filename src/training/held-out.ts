/** @file A run's own held-out evaluation, in the words of any other: asked for again it plays the same tasks and seeds. */
import { limitsOf, type EvaluationSettings } from '../evaluation/types.ts';
import type { UserConfig } from '../users/types.ts';
import { EVALUATION_STREAM } from './presets.ts';
import type { GrpoConfig } from './types.ts';

export function heldOutSettings(config: GrpoConfig, user: UserConfig, tasks = config.val_tasks): EvaluationSettings {
  const { domain, level, temperature, top_p, top_k, seed, conversation_rules } = config;
  return { domain, level, split: 'heldout', tasks, trials: 1, temperature, top_p, top_k, seed, limits: limitsOf(config), conversation_rules, first_stream: EVALUATION_STREAM, user };
}
