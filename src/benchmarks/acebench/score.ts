/** @file The score of ACEBench Agent, from a report. */
import { agentScore } from './check.ts';
import type { BenchmarkScore, ScoredGroups } from '../definition.ts';
import { LANGUAGES } from './classes/api.ts';
import { groupOf } from './task.ts';

/** “Agent” of the language in which both kinds of task were played. Null if there is no such language, or more than one. */
export function agentOf(groups: ScoredGroups): BenchmarkScore | null {
  const played = LANGUAGES.flatMap((language) => {
    const [turn, step] = [groups[groupOf(language, 'multi_turn')], groups[groupOf(language, 'multi_step')]];
    return turn && step ? [agentScore(turn.pass_hat_1, step.pass_hat_1)] : [];
  });
  return played.length === 1 ? { name: 'Agent', value: played[0]! } : null;
}
