/** @file The way from the conversations that were played to those that a data set keeps. */
import type { NearMissKind } from '../records/scenario.ts';
import type { RefusalStep, Spent } from '../records/written.ts';

/** What was written at one place. */
export interface PlaceReport {
  domain: string;
  level: string;
  /** Of the scenario file, if the domain is one. */
  world_sha256?: string;
  tried: number;
  /** Those with reward 1. */
  solved: number;
  kept: number;
}

/** What language models wrote. */
export interface WriterReport {
  /** The model that played the agent, and whether it saw the calls that reach the goal. Absent: demonstrators played. */
  agent?: { model: string; temperature: number; hint: boolean };
  /** The model that played the customer. Absent: a script did. */
  customer?: { model: string; temperature: number };
  /** How many attempts each step refused, in the order of the steps. */
  refused: Record<RefusalStep, number>;
  /** The reasons by step. */
  reasons: Record<string, number>;
  /** The scored attempts at each wish, and those with reward 1. */
  wishes: Record<string, { tried: number; solved: number }>;
  spent: Spent;
}

/** How a data set was written. */
export interface SynthesisReport {
  places: PlaceReport[];
  tried: number;
  solved: number;
  kept: number;
  /** Those without an outcome, because a simulated tool failed. Absent if there are none. */
  dropped?: number;
  seconds: number;
  /** The near-misses by kind, and how many were dropped. Absent if none were wanted. */
  near_misses?: { kept: Record<NearMissKind, number>; dropped: number };
  /** Absent: only demonstrators and scripts wrote. */
  writers?: WriterReport;
}
