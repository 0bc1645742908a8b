/** @file Who answers the calls of a scenario's tools. The value is plain JSON and has no key, so that runs and results can store it. */
import type { EndpointConfig } from './user.ts';

/** What noise does to a right answer, so that a check can find it. */
export const CONTRADICTIONS = [
  'other_shape',
  'write_in_read',
  'wrong_value',
  'other_again',
  'lost_write',
  'wrong_row',
  'extra_write',
  'wrong_written',
  'error_with_writes',
  'unknown_row',
  'broken_condition',
  'wrong_order',
  'leaked',
  'injected',
] as const;
/** What noise does to a right answer where no check can know better: only a comparison with the code shows it. */
export const SILENT = ['left_out', 'refused', 'miscounted'] as const;
export const NOISE_KINDS = [...CONTRADICTIONS, ...SILENT] as const;
export type NoiseKind = (typeof NOISE_KINDS)[number];

export type Answerer =
  /** The scenario's own tools. */
  | { kind: 'code' }
  /** The scenario's own tools, with contradictions. They stand for a bad language model. */
  | {
      kind: 'noisy';
      /** The share of answers with a contradiction, 0 to 1. */
      rate: number;
      seed: number;
      /** Default: `CONTRADICTIONS`. */
      kinds?: readonly NoiseKind[];
      /** No check refuses an answer, so that the noise reaches the agent. */
      unchecked?: true;
    }
  /** A cassette: a file of answers that were recorded. */
  | { kind: 'recorded'; file: string }
  /** A language model behind an OpenAI-compatible server. */
  | { kind: 'llm'; endpoint: Omit<EndpointConfig, 'apiKey'> };
