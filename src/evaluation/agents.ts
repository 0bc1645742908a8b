/** @file Who plays the agent in an evaluation, by name. */
import { consentGuard, expertPlayer, guards, type Player, retryGuard } from '../agent/players.ts';
import { drawHabits } from '../agent/acts.ts';
import { demonstratorOf, domainOf } from '../domains/registry.ts';
import type { Domain } from '../environments/types.ts';
import type { HabitShares } from '../records/dataset.ts';
import type { AgentName } from '../records/evaluation.ts';
import type { Task } from '../records/task.ts';

/**
 * Makes the player of an episode from its seed and task; undefined if the model plays alone.
 * @param habits of the demonstrators; default: all habits in all conversations
 * @throws if the domain has no demonstrator or no guard
 */
export async function playerOf(
  agent: AgentName | undefined,
  domain: Domain,
  habits?: HabitShares,
): Promise<((seed: number, task: Task) => Player) | undefined> {
  if (agent === undefined || agent === 'model') return undefined;
  if (agent === 'careful' || agent === 'brisk') {
    const createExpert = await demonstratorOf(domain.name);
    return (seed, task) => expertPlayer(createExpert(domain, seed, { style: agent, habits: drawHabits(seed, agent, habits), task }));
  }
  const proposal = await domainOf(domain.name)?.proposal?.();
  if (!proposal) throw new Error(`agent: '${agent}' cannot play in '${domain.name}', which has no guard`);
  const consent = consentGuard(proposal);
  return () => (agent === 'guard' ? consent : guards(retryGuard, consent));
}
