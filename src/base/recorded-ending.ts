/** @file The ending of a conversation, also of those that other tools recorded. */
import type { Trajectory } from '../records/trajectory.ts';

/** Another tool's name for the ending if it recorded the conversation and has a name, or else ours. */
export const recordedEnding = ({ termination, ending, foreign }: Pick<Trajectory, 'termination' | 'ending' | 'foreign'>): string =>
  foreign && ending !== undefined ? ending : termination;
