/**
 * @file 320 more labelled conversations: 160 each for communication and recovery, half of them with one violation. Their author had seen
 * neither the rules nor the conversations of `../planted-layers/`. The rules may be improved with the open part, and never with the
 * held-back part.
 */
import { Dealer, type Kind, type Part, PARTS, type Planted, Talk } from '../planted-layers/talk.ts';
import { COMMUNICATION_LINE } from './communication-line.ts';
import { COMMUNICATION_SHOP_2 } from './communication-shop-2.ts';
import { COMMUNICATION_SHOP } from './communication-shop.ts';
import { COMMUNICATION_TRIP } from './communication-trip.ts';
import { RECOVERY_LINE } from './recovery-line.ts';
import { RECOVERY_SHOP_2 } from './recovery-shop-2.ts';
import { RECOVERY_SHOP } from './recovery-shop.ts';
import { RECOVERY_TRIP } from './recovery-trip.ts';
import { LOOSE, STRICT, SYSTEM } from './words.ts';

export const SECOND_LAYERS = ['communication', 'recovery'] as const;
const KINDS: Record<(typeof SECOND_LAYERS)[number], Kind[]> = {
  communication: [...COMMUNICATION_SHOP, ...COMMUNICATION_SHOP_2, ...COMMUNICATION_TRIP, ...COMMUNICATION_LINE],
  recovery: [...RECOVERY_SHOP, ...RECOVERY_SHOP_2, ...RECOVERY_TRIP, ...RECOVERY_LINE],
};
/** With a violation, and without one, for each layer and part. */
const EACH = 40;
const SEED = 7;

function conversation(kind: Kind, part: Part, bad: boolean, i: number, dealer: Dealer): Planted {
  const layer = SECOND_LAYERS.indexOf(kind.layer as 'recovery');
  const seed = [SEED, layer, PARTS.indexOf(part), Number(bad), i].reduce((sum, key) => sum * 211 + key, 0);
  const talk = new Talk(part, dealer, seed, kind.name);
  talk.loose = talk.below(2) === 0;
  if (talk.below(2)) talk.system(`${SYSTEM[kind.domain]}\n${talk.loose ? LOOSE : STRICT}`);
  kind.write(talk, bad);
  const { messages, expected } = talk;
  const id = `second-${kind.layer}-${part}-${bad ? 'planted' : 'clean'}-${i + 1}`;
  return { id, layer: kind.layer, domain: kind.domain, part, kind: kind.name, expected, messages };
}

export function secondConversations(): Planted[] {
  const dealer = new Dealer();
  return SECOND_LAYERS.flatMap((layer) =>
    PARTS.flatMap((part) => {
      const kinds = KINDS[layer].filter(({ held }) => !held || part === 'held-back');
      return [true, false].flatMap((bad) =>
        Array.from({ length: EACH }, (_, i) => conversation(kinds[i % kinds.length]!, part, bad, i, dealer)),
      );
    }),
  );
}
