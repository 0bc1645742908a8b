/** @file Makes a scenario from a plain instruction (`You are Mia Diaz … You want to cancel order #W1234567 because …`). */
import type { Persona } from '../../../records/conditions.ts';
import type { UserScenario } from '../../../records/task.ts';
import { instructionIn } from '../../../users/prompt.ts';
import type { Intent, ShopWish } from '../schema.ts';

/**
 * Reads the parts that the scripted customer can play. If it finds no wish, the customer's first message contains the whole
 * instruction.
 */
export function readInstruction(text: string): UserScenario {
  const instruction = instructionIn(text);
  const identity: Record<string, string> = {};
  const email = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/.exec(instruction)?.[0];
  if (email) identity.email = email;
  const [, first_name, last_name] = /(?:You are|[Yy]our name is|You're)\s+(\p{Lu}[\p{L}'-]*)\s+(\p{Lu}[\p{L}'-]*)/u.exec(instruction) ?? [];
  if (first_name && last_name) Object.assign(identity, { first_name, last_name });
  const zip = /\bzip(?: ?code)?(?: is)?:? (\d{5})\b/i.exec(instruction)?.[1];
  if (zip) identity.zip = zip;
  const wishes = [...instruction.matchAll(/\b(?:want|would like|wish) to (.+?)(?=\.\s|\.$|$)/gs)].flatMap(
    ([, clause]) => readWish(clause!) ?? [],
  );
  const spoken = instruction
    .replace(/\byou are\b/gi, 'I am')
    .replace(/\byour\b/gi, 'my')
    .replace(/\byou\b/gi, 'I');
  return { persona: personaOf(instruction), identity, wishes, instruction: spoken };
}

function personaOf(text: string): Persona {
  if (/\basks whether you want anything else\b/i.test(text)) return 'reserved';
  return /\bonly when\b.{0,200}\basks?\b|\bbrief\b|\breactive\b|\bprivate\b/i.test(text) ? 'on_request' : 'upfront';
}

const INTENTS: [RegExp, Intent][] = [
  [/\bexchange\b/i, 'exchange'],
  [/\breturn\b/i, 'return'],
  [/\bcancel\b/i, 'cancel'],
  [/\baddress\b/i, 'modify_address'],
  [/\b(change|modify|replace)\b.{0,200}\bfor one with\b/i, 'modify_items'],
  [/\bpay\b|\bpayment\b/i, 'modify_payment'],
];

function readWish(clause: string): ShopWish | null {
  const intent = INTENTS.find(([test]) => test.test(clause))?.[1];
  if (!intent) return null;
  const slots: ShopWish['slots'] = {};
  const words: ShopWish['words'] = {};
  const order = /#?W\d{4,7}\b/.exec(clause)?.[0];
  if (order) slots.order_id = `#${order.replace('#', '')}`;
  else words.order = [intent === 'modify_address' ? 'my default address' : 'my order'];
  if (intent === 'cancel') slots.reason = /mistake/i.test(clause) ? 'ordered by mistake' : 'no longer needed';
  const swaps = [...clause.matchAll(/\bthe ([\w' -]{1,100}?) for one with (.{1,200}?)(?= and the | in order|,|$)/g)];
  if (swaps.length) {
    words.items = swaps.map(([, item]) => item!);
    words.new_items = swaps.map(([, , option]) => option!);
  } else if (intent === 'return' || intent === 'exchange') {
    const list = /\b(?:return|exchange) (.{1,300}?)(?= (?:of|from|in) (?:your )?order|,|$)/.exec(clause)?.[1];
    if (list) words.items = list.split(/,? and |, /).map((item) => item.replace(/^(the|your|an?) /, ''));
  }
  const payment = /\b(?:to|with|on) (?:your |the )?(original payment method|gift card|paypal|credit card|\w+ card ending in \d{4})/i.exec(
    clause,
  )?.[1];
  if (payment) words.payment = [payment];
  if (intent === 'modify_address') {
    const address = /\bto (\d.{1,300})$/.exec(clause)?.[1];
    if (address) words.address = [address];
  }
  return { intent, slots, words, impossible: false };
}
