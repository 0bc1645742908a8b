/** @file What `mua synthesize` shall write, and what was played for it. */
import type { Answerer } from '../records/answerer.ts';
import type { SynthesizedConversation } from '../records/dataset.ts';
import type { WrittenConversation } from '../records/written.ts';
import type { SynthesisReport } from '../synthesis/funnel.ts';
import type { PlaceOrder } from '../training/synthesize-place.ts';
import type { Writers } from '../training/write-places.ts';
import type { ProgressBar } from './progress.ts';
import type { Journal } from './synthesis-journal.ts';
import type { Place } from './synthesis-places.ts';

export interface SynthesisJob {
  places: readonly Place[];
  count: number;
  demonstrator: 'careful' | 'brisk' | 'both';
  side: 'agent' | 'customer';
  nearMiss?: number | undefined;
  settings: Record<string, string>;
  seed: number;
  threads?: number | undefined;
  /** Who answers the tools. Absent: the domain itself. */
  answerer?: Answerer | undefined;
  /** Null: only demonstrators and scripts write. */
  writers: Writers | null;
  out: string;
  /** The command as its card shows it. */
  command: string;
  resume?: boolean | undefined;
  card?: string | undefined;
  name?: string | undefined;
  licence?: string | undefined;
}

/** What was played at a place. */
export interface PlayedPlace {
  conversations: readonly (SynthesizedConversation | WrittenConversation)[];
  tried: number;
  solved: number;
  /** Those without an outcome, because a simulated tool failed. */
  dropped?: number;
}

/** What was played at all places. */
export interface PlayedPlaces extends Pick<SynthesisReport, 'near_misses' | 'writers'> {
  places: PlayedPlace[];
}

/** How the places are played. */
export interface Playing {
  job: SynthesisJob;
  orders: readonly PlaceOrder[];
  journal: Journal;
  progress: ProgressBar;
  /** Says how far a place is. */
  kept(place: number, count: number): void;
}
