import type { RewardTerms } from '../../../records/rewards.ts';
import type { TrialResult } from '../../../records/evaluation.ts';

/** What is known of a conversation without its messages. */
export interface OutcomeFacts extends Pick<TrialResult, 'reward' | 'termination' | 'turns' | 'tokens' | 'intent'> {
  /** Null: not scored yet. Absent: not a rollout of a run. */
  advantage?: number | null;
  /** `Trajectory` has the same field. */
  rewards?: RewardTerms;
}
