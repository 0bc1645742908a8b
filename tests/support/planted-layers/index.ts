/**
 * @file 800 labelled conversations: 200 for each layer, half of them with a violation. They were written from the policies, without a
 * look at the rules that check them. The rules may be improved with the open part, and never with the held-back part.
 */
import { LAYERS, type LayerName } from '../../../src/records/layers.ts';
import { COMMUNICATION_AIR, COMMUNICATION_TEL } from './communication-others.ts';
import { COMMUNICATION_SHOP } from './communication-shop.ts';
import { policy } from './policies.ts';
import { POLICY_AIR } from './policy-air.ts';
import { POLICY_SHOP } from './policy-shop.ts';
import { POLICY_TEL } from './policy-tel.ts';
import { RECOVERY_AIR, RECOVERY_TEL } from './recovery-others.ts';
import { RECOVERY_SHOP } from './recovery-shop.ts';
import { SAFETY_AIR, SAFETY_TEL } from './safety-others.ts';
import { SAFETY_SHOP } from './safety-shop.ts';
import { Dealer, type Kind, type Part, PARTS, type Planted, Talk } from './talk.ts';

const KINDS: Record<LayerName, Kind[]> = {
  policy: [...POLICY_SHOP, ...POLICY_AIR, ...POLICY_TEL],
  communication: [...COMMUNICATION_SHOP, ...COMMUNICATION_AIR, ...COMMUNICATION_TEL],
  safety: [...SAFETY_SHOP, ...SAFETY_AIR, ...SAFETY_TEL],
  recovery: [...RECOVERY_SHOP, ...RECOVERY_AIR, ...RECOVERY_TEL],
};
/** With a violation, and without one, for each layer and part. */
const EACH = 50;
const SEED = 37;

function conversations(layer: LayerName, part: Part, dealer: Dealer): Planted[] {
  const kinds = KINDS[layer].filter(({ held }) => !held || part === 'held-back');
  return [true, false].flatMap((bad) =>
    Array.from({ length: EACH }, (_, i): Planted => {
      const kind = kinds[i % kinds.length]!;
      const round = Math.floor(i / kinds.length);
      const seed = [SEED, LAYERS.indexOf(layer), PARTS.indexOf(part), Number(bad), i].reduce((sum, key) => sum * 101 + key, 0);
      const talk = new Talk(part, dealer, seed, kind.name);
      const calls = kind.system?.(bad) ?? ((i + round) % 2 ? (['strict', 'loose'] as const)[talk.below(2)]! : null);
      if (calls) policy(talk, kind.domain, calls);
      kind.write(talk, bad);
      const { messages, expected } = talk;
      return {
        id: `${layer}-${part}-${bad ? 'planted' : 'clean'}-${i + 1}`,
        layer,
        domain: kind.domain,
        part,
        kind: kind.name,
        expected,
        messages,
      };
    }),
  );
}

export function plantedConversations(): Planted[] {
  const dealer = new Dealer();
  return LAYERS.flatMap((layer) => PARTS.flatMap((part) => conversations(layer, part, dealer)));
}
