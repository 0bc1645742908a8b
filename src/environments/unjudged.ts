/** @file Finds the parts of a reward that need a judge. This file loads no schemas, because the page and the trainer import it. */
import type { RewardInfo } from '../records/benchmark-task.ts';

/** The assertions in natural language that nobody has judged. They count as met. */
export const unjudgedAssertions = (reward: RewardInfo | undefined): readonly string[] =>
  (reward?.info?.unjudged_nl_assertions ?? []) as string[];
