/** @file What of a reward still hangs on a judge. No schema is loaded with it: the page and the trainer read it. */
import type { RewardInfo } from './benchmark-task.ts';

/** Assertions in natural language that nobody has judged: they count as met. */
export const unjudgedAssertions = (reward: RewardInfo | undefined): readonly string[] => (reward?.info?.unjudged_nl_assertions ?? []) as string[];
