/** @file The writes of the shop, in the words of agents and customers, for the checks of communication and recovery. */
import type { ActWords } from '../../../agent/layers/communication-claims.ts';

const CHANGED = /\b(?:modified|changed|updated|replaced|swapped|switched|modification|change|update|is now)\b/.source;

export const ACTS: readonly ActWords[] = [
  { says: 'cancelling an order', tools: ['cancel_pending_order'], named: /\bcancel/i, thing: 'order_id' },
  {
    says: 'returning items',
    tools: ['return_delivered_order_items'],
    named: /\breturn(?:ed|ing|s)?\b|\b(?:send|give|bring|ship|(?<!\bi )take)\b(?![^.?!]*\bmoney\b)[^.?!]{0,40}\bback\b/i,
    claimed: /\breturn(?:ed)?\b(?! (?:instructions|label|the (?:item|product)))/i,
    thing: 'order_id',
  },
  {
    says: 'exchanging items',
    tools: ['exchange_delivered_order_items'],
    named: /\bexchang|\bswap|\breplac/i,
    claimed: /\bexchange[ds]?\b/i,
    thing: 'order_id',
  },
  {
    says: 'changing items',
    tools: ['modify_pending_order_items'],
    named: /\b(?:chang|modif|swap|replac|switch|upgrad|exchang)/i,
    claimed: new RegExp(
      String.raw`^(?!.*\b(?:address|payment|paid|exchange)).*\b(?:items?|products?|variants?|options?)\b.{0,80}${CHANGED}|^(?!.*\b(?:address|payment|paid|exchange)).*${CHANGED}.{0,80}\b(?:items?|products?|variants?|options?)\b`,
      'i',
    ),
    thing: 'order_id',
  },
  {
    says: 'changing the payment',
    tools: ['modify_pending_order_payment'],
    named: /\bpay(?:ment|pal|ing)?\b|\bcard\b/i,
    claimed: new RegExp(String.raw`\bpayment(?: method)?\b.{0,80}${CHANGED}|${CHANGED}.{0,40}\bpayment(?: method)?\b`, 'i'),
    thing: 'order_id',
  },
  {
    says: 'changing an address',
    tools: ['modify_pending_order_address', 'modify_user_address'],
    named: /\baddress/i,
    claimed: new RegExp(String.raw`\baddress\b.{0,80}${CHANGED}|${CHANGED}.{0,60}\baddress\b`, 'i'),
  },
];

/** The acts as customers wish them: they do not tell an exchange from a change of items, and a refund is no new payment. */
export const WISHES: readonly ActWords[] = [
  ACTS[0]!,
  ACTS[1]!,
  {
    says: 'changing items',
    tools: ['exchange_delivered_order_items', 'modify_pending_order_items'],
    named: /^(?![\s\S]*\b(?:address|payment|pay|refund|difference)\b)[\s\S]*\b(?:exchang|swap|replac|chang|modif|switch|upgrad)/i,
  },
  {
    says: 'changing the payment',
    tools: ['modify_pending_order_payment'],
    named: /^(?![\s\S]*\b(?:refund|difference)\b)[\s\S]*(?:\bpayment\b|\bpay (?:for|with|by|using|it)\b)/i,
  },
  ACTS[5]!,
];

export const TRANSFERS: readonly string[] = ['transfer_to_human_agents'];

/** Order ids in a text, as arguments have them. */
export const ordersIn = (text: string): string[] => [
  ...new Set([...text.matchAll(/#?\bW(\d{6,8})\b/g)].map(([, digits]) => `#W${digits}`)),
];

const STATUS: Record<string, RegExp> = {
  cancel_pending_order: /cancell?ed/i,
  return_delivered_order_items: /return requested/i,
  exchange_delivered_order_items: /exchange requested/i,
  modify_pending_order_items: /item modifi?ed/i,
};

/** Whether the record of an order shows that an act was done. */
export const showsDone = ({ status }: Record<string, unknown>, { tools }: ActWords): boolean =>
  typeof status === 'string' && (STATUS[tools[0]!]?.test(status) ?? false);
