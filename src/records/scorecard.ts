/** @file The scorecard of an evaluation: a figure for each question, layer by layer. Layers have no sum. */
import type { Json } from './json.ts';
import type { Finding, LayerName, Layers } from './layers.ts';
import type { Trajectory } from './trajectory.ts';

/** What the scorecard needs of one trial. */
export interface TrialCard {
  /** `message` of a finding is the id of a node. */
  layers: Layers;
  /** How many rows ended with a value that is neither their first one nor the gold's. Or why this is not known. */
  damage: number | { na: string };
  /** The verdict's `progress`. Null without a verdict. */
  progress: number | null;
  /** How many statements about the conversation a model judged, and how many it found true. Absent: none. */
  judged?: { sum: number; of: number };
  /** How often the agent called each tool. */
  calls: Record<string, number>;
  /** Null if another tool recorded the conversation. */
  seconds: Trajectory['seconds'] | null;
}

/** A figure without a value, and the reason. */
export interface NotApplicable {
  na: string;
}

/** A measured share with its 95 % interval, or another measured number without an interval. */
export interface Measured {
  value: number;
  low?: number;
  high?: number;
  /** For a share: how many of `of`. For a mean: the total. Absent for estimates such as pass^2. */
  count?: number;
  of: number;
  /** What `of` counts. */
  unit: string;
}

export type Figure = Measured | NotApplicable;

/** Figures by name. A name may stand for a group, such as the tools. */
export type Figures = { [name: string]: Figure | Record<string, Figure> };

/** Whether a value is a figure, and not a group of figures. */
export const isFigure = (value: Figure | Figures | Record<string, Figure>): value is Figure =>
  ('na' in value && typeof value.na === 'string') || ('value' in value && typeof value.value === 'number');

/** A finding with its place: the trial, and the id of the message. */
export interface Example extends Finding {
  trial: string;
}

export interface CheckedLayer {
  /** The share of conversations without a finding, of those in which a rule had an occasion. */
  clean: Figure;
  /** Rule → the share of its occasions in which it was kept. */
  kept: Record<string, Figure>;
  /** Rule → how often it was broken. */
  findings: Record<string, Figure>;
  /** Of attacks: kind of attack → the share of its conversations without a finding. */
  by_attack?: Record<string, Figure>;
  /** Some findings of each rule. */
  examples: Example[];
  /** How many conversations had no occasion of any rule. */
  without_occasion: number;
  /** Why conversations were not checked → how many. */
  unchecked: Record<string, number>;
}

export interface Scorecard {
  version: 1;
  model: string;
  /** When the evaluation ended, in ISO 8601. */
  date?: string;
  /** What was played, as far as it is known. */
  settings: Record<string, Json>;
  layers: { outcome: Figures } & Record<LayerName, CheckedLayer | NotApplicable> & { operation: Figures };
  /** What models judged. It is apart from the layers, which rules and counts decide. */
  judged: Figures | NotApplicable;
}
