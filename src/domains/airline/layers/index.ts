/** @file The layers of the airline. */
import { didNothing, resultOf } from '../../../agent/layers/readings.ts';
import { safetyCheck } from '../../../agent/layers/safety.ts';
import type { DomainLayers, LayeredConversation } from '../../../agent/layers.ts';
import type { Json } from '../../../records/json.ts';
import { ACTS, AUDIT } from '../audit.ts';
import { checkAccess, customerOf, ownerOf } from './access.ts';
import { communication } from './communication.ts';
import { AirlineFacts } from './facts.ts';
import { askedFor, policyCheck } from './policy.ts';
import { RULES } from './rules.ts';
import { recovery } from './recovery.ts';

const WORDS = {
  ...Object.fromEntries(Object.entries(ACTS).map(([tool, { own }]) => [tool, own])),
  transfer_to_human_agents: /\btransfer|\bescalat|\bhuman|\bhand over/i,
};

/** What the tools showed about other customers than the one who named their id. */
function others(conversation: LayeredConversation): { place: number; value: Json; own: Json[] }[] {
  const facts = new AirlineFacts();
  const own: Json[] = [];
  const found: { place: number; value: Json; own: Json[] }[] = [];
  for (const [place, event] of conversation.events.entries()) {
    if (event.kind !== 'tool' || didNothing(event)) continue;
    facts.learn(event);
    const customer = customerOf(conversation, place);
    const owner = ownerOf(event, facts);
    if (customer !== null && owner !== null && owner !== customer) found.push({ place, value: resultOf(event), own });
    else own.push(resultOf(event), event.call.arguments);
  }
  return found;
}

export const LAYERS: DomainLayers = {
  communication,
  recovery,
  policy: policyCheck,
  safety: safetyCheck({ book: RULES, audit: AUDIT, acts: WORDS, policy: policyCheck, checkAccess, others, asked: askedFor }),
};
