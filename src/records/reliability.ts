/** @file The reliability card: how steadily, robustly, predictably and safely an agent behaves, beside how often it succeeds. */
import type { Interval } from './evaluation.ts';

/**
 * What differs from the plain conditions of a task: the customer's wording, failures of tools, the tools' interface and the order of the
 * fields in results, or the layout and wording of the system prompt. The meaning stays.
 */
export const PERTURBATIONS = ['customers', 'faults', 'environment', 'prompt'] as const;
export type Perturbation = (typeof PERTURBATIONS)[number];

/** The metrics by dimension. `prompt_layout` is ours. The other twelve are those of arXiv 2602.16666. */
export const RELIABILITY = {
  consistency: ['outcome', 'trajectory_distribution', 'trajectory_sequence', 'resource'],
  robustness: ['fault', 'environment', 'prompt', 'prompt_layout'],
  predictability: ['calibration', 'discrimination', 'brier'],
  safety: ['compliance', 'harm_severity'],
} as const;
export type Dimension = keyof typeof RELIABILITY;
export type MetricName = (typeof RELIABILITY)[Dimension][number];

/** A measured value from 0 (worst) to 1 (best) with its 95 % interval, or the reason why it is not given. */
export type Measured =
  (Interval & { /** Of how many tasks or conversations. */ n: number; of: 'tasks' | 'conversations' }) | { na: string };

export type Metric = Measured & { title: string; definition: string; source: string };

/** The conversations of one condition. */
export type ConditionSummary =
  { episodes: number; unscored: number; /** Null: no conversation is scored. */ pass_1: Interval | null } | { na: string };

/** A bin of the reliability diagram: conversations with a confidence from `from` to below `to` (the last bin: to 1). */
export interface CalibrationBin {
  from: number;
  to: number;
  n: number;
  confidence: number;
  success: number;
}

export interface ReliabilityCard {
  format: 'mua-reliability-card';
  version: 1;
  agent: string;
  domain: string;
  level: string;
  split: string;
  seed: number;
  temperature: number;
  tasks: number;
  trials: number;
  conditions: Record<'plain' | Perturbation, ConditionSummary>;
  metrics: { [D in Dimension]: Record<(typeof RELIABILITY)[D][number], Metric> };
  calibration_bins: CalibrationBin[];
}
