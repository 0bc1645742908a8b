/** @file The layers of the shop. */
import { policyCheck } from '../../../agent/layers/policy.ts';
import { safetyCheck } from '../../../agent/layers/safety.ts';
import type { DomainLayers } from '../../../agent/layers.ts';
import { AUDIT } from '../audit.ts';
import { checkAccess, othersShown } from './access.ts';
import { communication } from './communication.ts';
import { checkWrites, servable, transfersIn } from './policy.ts';
import { RULES } from './rules.ts';
import { recovery } from './recovery.ts';

const ACTS = {
  cancel_pending_order: /\bcancel/i,
  return_delivered_order_items: /\breturn|\brefund|\bsend back/i,
  exchange_delivered_order_items: /\bexchang|\bswap|\breplac/i,
  modify_pending_order_items: /\bmodif|\bchang|\bswap|\breplac|\bswitch/i,
  modify_pending_order_payment: /\bpay|\bcard|\bpaypal/i,
  modify_pending_order_address: /\baddress|\bship|\bdeliver|\bsend/i,
  modify_user_address: /\baddress/i,
};

const SHARED = { book: RULES, audit: AUDIT, checkAccess };

export const LAYERS: DomainLayers = {
  communication,
  recovery,
  policy: policyCheck({ ...SHARED, checkActs: checkWrites, transfers: transfersIn, servable }),
  safety: safetyCheck({ ...SHARED, acts: ACTS, others: othersShown }),
};
