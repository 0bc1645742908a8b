/** @file A conversation that is graded. */
import type { Conversation } from '../records/conversation.ts';
import type { NearMiss } from '../records/scenario.ts';

/** The fields of a row that grades and the data card use. */
export interface GradedRow extends Conversation {
  id: string;
  /** The world whose tools the agent called. Absent: it is not known. */
  domain?: string | undefined;
  reward?: number;
  /** What the customer knows and wants. */
  instruction?: string;
  near_miss?: NearMiss;
  intent?: string;
  persona?: string;
  demonstrator?: string;
}
