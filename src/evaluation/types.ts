/** @file An evaluation as it is asked for and as it is kept: whose weights, on which tasks, under which conditions. */
import type { ConversationRules } from '../agent/rules.ts';
import type { EpisodeLimits, TerminationReason } from '../agent/types.ts';
import type { Violation } from '../environments/types.ts';
import type { UserConfig } from '../users/types.ts';

/** Weights to evaluate: a model by its name, or a run's at one of its checkpoints. */
export type ModelRef = { kind: 'model'; name: string } | { kind: 'run'; run: string; step: number };

/** Everything but the weights. Two evaluations with equal settings play the same tasks with the same seeds: they pair. */
export interface EvaluationSettings {
  domain: string;
  level: string;
  split: 'train' | 'heldout';
  tasks: number;
  trials: number;
  temperature: number;
  top_p: number;
  top_k: number;
  seed: number;
  limits: EpisodeLimits;
  conversation_rules: ConversationRules;
  /** Where the sampler's streams and the users' seeds begin. */
  first_stream: number;
  /** Kept without its API key. */
  user: UserConfig;
}

export interface EvaluationRequest {
  model: ModelRef;
  settings: EvaluationSettings;
}

/** One episode as lists and pairings need it; the whole trajectory is fetched by the evaluation's and its own id. */
export interface TrialResult {
  id: string;
  task: string;
  /** The trial of the task. */
  index: number;
  intent: string;
  /** null: not scored. */
  reward: number | null;
  termination: TerminationReason;
  turns: number;
  tokens: number;
  violations: Violation['rule'][];
}

/** The same text if and only if two evaluations pair. */
export function settingsKey(settings: EvaluationSettings): string {
  const { domain, level, split, tasks, trials, temperature, top_p, top_k, seed, limits, conversation_rules, first_stream, user } = settings;
  const who = user.mode === 'scripted' ? [] : [user.baseUrl, user.model, user.judgeModel];
  return JSON.stringify([domain, level, split, tasks, trials, temperature, top_p, top_k, seed, Object.values(limitsOf(limits)), conversation_rules, first_stream, user.mode, ...who]);
}

/** Only what limits an episode, of a configuration that says more. */
export function limitsOf(config: EpisodeLimits): EpisodeLimits {
  const { max_turns, response_length_one_turn, max_model_len, malformed_policy, require_done } = config;
  return { max_turns, response_length_one_turn, max_model_len, malformed_policy, require_done };
}
