import type { RewardTerms } from '../../../records/rewards.ts';
import type { ForeignFacts } from '../../../records/foreign.ts';
import type { TrialResult } from '../../../records/evaluation.ts';

/** The facts about a conversation that are known without its messages. */
export interface OutcomeFacts extends Pick<TrialResult, 'reward' | 'termination' | 'turns' | 'tokens' | 'intent'> {
  /** Null if the rollout is not scored yet; absent if the conversation is not a rollout of a run. */
  advantage?: number | null;
  /** The same field as in `Trajectory`. */
  rewards?: RewardTerms;
  ending?: string;
  foreign?: ForeignFacts;
}

/** The number of tokens. Many files of other tools have no tokens. */
export const tokensText = ({ tokens, foreign }: Pick<OutcomeFacts, 'tokens' | 'foreign'>): string =>
  foreign && tokens === 0 ? '–' : tokens.toLocaleString('en');
