import type { GrpoConfig, RunRow } from '../../../records/run.ts';
import type { Trajectory } from '../../../records/trajectory.ts';
import type { ConversationRoute } from '../../routes/routes.ts';
import type { OutcomeFacts } from '../transcript/outcome-facts.ts';
import type { ClipBand } from './channels.ts';
import type { Vocabulary } from './vocabulary.ts';

/** The run and the step that sampled a rollout. */
export interface Sampled {
  run: RunRow;
  step: number;
}

/** The conversation to inspect. */
export interface Subject {
  /** The page that shows the conversation. */
  route: ConversationRoute;
  /** The place where the conversation is stored, as a fork names the place: a run, an evaluation or the branches. */
  place: string;
  facts: OutcomeFacts;
  trajectory: Trajectory;
  /** The model that sampled the conversation. */
  model: string;
  /** The settings that the conversation was sampled with, as far as they are known. */
  config: Partial<GrpoConfig>;
  /** Only a rollout of a run has it: its turns get estimates of success. */
  sampled?: Sampled | undefined;
  /** The vocabulary of `model`, or why it cannot be read. */
  vocabulary: Vocabulary | Error;
  /** The clip band of the loss; 0.8 to 1.2 by default. */
  band?: ClipBand;
  /** The conversations that can share one colour scale, this one included. */
  group?: readonly { id: string; advantage?: number | null }[] | undefined;
  /** Loads a conversation of the group. */
  read: (id: string) => Promise<Trajectory | undefined>;
  /** The address of the next or the previous conversation. */
  sibling: (offset: 1 | -1) => string | undefined;
}
