/** @file Says in words what a run does now. */
import type { RunProgress } from '../clients/trainer-client.svelte.ts';

const PHASES: Record<RunProgress['phase'], string> = {
  rollout: 'Playing conversations',
  score: 'Scoring by the reference',
  update: 'Updating the weights',
  evaluate: 'Held-out evaluation',
  compile: 'Getting the model ready',
};

export const phaseName = ({ phase }: RunProgress): string => PHASES[phase];

/** The progress of the phase; '' if the trainer does not report it. In an update, the current mini-batch counts too. */
export function phasePosition({ phase, done, total }: RunProgress): string {
  if (phase === 'rollout' || phase === 'evaluate') return `${done} of ${total}`;
  return phase === 'update' && total > 1 ? `mini-batch ${done + 1} of ${total}` : '';
}
