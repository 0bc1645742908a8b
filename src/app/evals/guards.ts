/** @file The guards that can play beside the model of an evaluation. */
import type { EvaluationSettings } from '../../records/evaluation.ts';

export const GUARDS = {
  model: 'the model alone',
  guard: 'with a guard, which asks for a yes before each write',
  two_guards: 'with two guards: the second repeats calls that timed out',
} as const;
export type Guard = keyof typeof GUARDS;

/** Who played an evaluation beside the model. '' if nobody did. */
export function guardText({ agent = 'model' }: Pick<EvaluationSettings, 'agent'>): string {
  if (agent === 'guard') return 'with a guard';
  if (agent === 'two_guards') return 'with two guards';
  return agent === 'model' ? '' : `played by the ${agent} demonstrator`;
}
