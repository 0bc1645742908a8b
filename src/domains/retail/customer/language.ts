/**
 * @file How messages in a shop are understood: what the agent claims, what the customer asks for, and which facts of a
 * scenario a message contains.
 */
import type { CustomerLanguage } from '../../../users/types.ts';
import { contradictions, tellsEverything } from './contradictions.ts';
import { listen, orderIds, requests } from './listening.ts';

export const shopLanguage: CustomerLanguage = {
  listen,
  requests,
  names: (text, { slots }) => Boolean(slots.order_id) && orderIds(text).includes(String(slots.order_id)),
  contradictions,
  tellsEverything,
};
