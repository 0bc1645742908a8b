/** @file Who plays the agent in an evaluation, by name. */
import { consentGuard, expertPlayer, guards, type Player, retryGuard } from '../agent/players.ts';
import { hash32 } from '../base/random.ts';
import { demonstratorOf, domainOf } from '../domains/registry.ts';
import type { Domain } from '../environments/types.ts';
import { ALWAYS_AGAIN, type CallsAgain } from '../records/dataset.ts';
import type { AgentName } from '../records/evaluation.ts';

/**
 * Makes the player of an episode from its seed; undefined if the model plays alone.
 * @param callsAgain what the demonstrators do after a timeout
 * @throws if the domain has no demonstrator or no guard
 */
export async function playerOf(
  agent: AgentName | undefined,
  domain: Domain,
  callsAgain: CallsAgain = ALWAYS_AGAIN,
): Promise<((seed: number) => Player) | undefined> {
  if (agent === undefined || agent === 'model') return undefined;
  if (agent === 'careful' || agent === 'brisk') {
    const createExpert = await demonstratorOf(domain.name);
    return (seed) => expertPlayer(createExpert(domain, seed, { style: agent, callsAgain: hash32(seed) < callsAgain[agent] * 2 ** 32 }));
  }
  const proposal = await domainOf(domain.name)?.proposal?.();
  if (!proposal) throw new Error(`agent: '${agent}' cannot play in '${domain.name}', which has no guard`);
  const consent = consentGuard(proposal);
  return () => (agent === 'guard' ? consent : guards(retryGuard, consent));
}
