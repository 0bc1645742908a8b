/** @file The way from the conversations that were played to those that a data set keeps. */
import type { NearMissKind } from '../records/scenario.ts';

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

/** How a data set was written. */
export interface SynthesisReport {
  places: PlaceReport[];
  tried: number;
  solved: number;
  kept: number;
  seconds: number;
  /** The near-misses by kind, and how many were dropped. Absent if none were wanted. */
  near_misses?: { kept: Record<NearMissKind, number>; dropped: number };
}
