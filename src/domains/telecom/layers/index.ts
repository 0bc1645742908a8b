/** @file The layers of the provider. */
import { didNothing, resultOf } from '../../../agent/layers/readings.ts';
import { safetyCheck } from '../../../agent/layers/safety.ts';
import type { DomainLayers, LayeredConversation } from '../../../agent/layers.ts';
import type { Json } from '../../../records/json.ts';
import { ACTS, AUDIT } from '../audit.ts';
import { communication } from './communication.ts';
import { ProviderFacts } from './facts.ts';
import { askedFor, checkAccess, policyCheck } from './policy.ts';
import { RULES } from './rules.ts';
import { recovery } from './recovery.ts';

const WORDS = {
  ...Object.fromEntries(Object.entries(ACTS).map(([tool, { own }]) => [tool, own])),
  transfer_to_human_agents: /\btransfer|\bescalat|\bhuman|\bhand over/i,
};

/** What the tools showed about other customers than the one that was found first. */
function others({ events }: LayeredConversation): { place: number; value: Json; own: Json[] }[] {
  const facts = new ProviderFacts();
  const own: Json[] = [];
  const found: { place: number; value: Json; own: Json[] }[] = [];
  for (const [place, event] of events.entries()) {
    if (event.kind !== 'tool' || didNothing(event)) continue;
    facts.learn(event);
    const value = resultOf(event);
    const owner = facts.shows(value) ?? facts.ownerOf(event);
    if (facts.customer !== null && owner !== null && owner !== facts.customer) found.push({ place, value, own });
    else own.push(value, event.call.arguments);
  }
  return found;
}

export const LAYERS: DomainLayers = {
  communication,
  recovery,
  policy: policyCheck,
  safety: safetyCheck({ book: RULES, audit: AUDIT, acts: WORDS, policy: policyCheck, checkAccess, others, asked: askedFor }),
};
