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
  /** The route of the page that shows the conversation. */
  route: ConversationRoute;
  /** Where the conversation is stored, as in the `from` of an address: a run, an evaluation or the branches. */
  place: string;
  facts: OutcomeFacts;
  /** The formula of the rollout's advantage with the numbers of its group, such as `(1 − 0.25) / 0.463 = 1.62`, if it is known. */
  formula?: string | null | undefined;
  trajectory: Trajectory;
  /** The model that sampled the conversation. */
  model: string;
  /** The known settings with which the conversation was sampled. */
  config: Partial<GrpoConfig>;
  /** The run and step of a rollout of a run; undefined for other conversations, whose turns get no estimates of success. */
  sampled?: Sampled | undefined;
  /** The vocabulary of `model`, or the error if it cannot be read. */
  vocabulary: Vocabulary | Error;
  /** The clip band of the loss; 0.8 to 1.2 by default. */
  band?: ClipBand;
  /** The conversations that can share one colour scale, including this one. */
  group?: readonly { id: string; advantage?: number | null }[] | undefined;
  /** Loads a conversation of the group. */
  read: (id: string) => Promise<Trajectory | undefined>;
  /** The address of the next or the previous conversation. */
  sibling: (offset: 1 | -1) => string | undefined;
}
