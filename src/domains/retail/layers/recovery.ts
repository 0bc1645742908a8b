/** @file Recovery in the shop: setbacks that must come to a good end. */
import { askingFor } from '../../../agent/layers/recovery-needless.ts';
import { checkRecovery, RECOVERY } from '../../../agent/layers/recovery.ts';
import { textOf } from '../../../agent/layers/readings.ts';
import { RuleLog } from '../../../agent/layers/rule-log.ts';
import { type Made, Talk } from '../../../agent/layers/talk.ts';
import type { LayerCheck } from '../../../agent/layers.ts';
import { ShopRecords } from '../writes/records.ts';
import { ordersIn, TRANSFERS, WISHES } from './acts.ts';
import { namesOption } from './variants.ts';

const EMAIL = /[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+/;
const ZIP = /\b(?:zip(?: code)?\W{0,3}(?:is |it's )?)?(\d{5})\b/i;
/** Says which method to use: `to my PayPal`, `The Visa.` */
const METHOD =
  /(?:\b(?:to|with|on|use|via|using)|^\W*(?:ok|the|my)?) (?:the |my )?(?:(?:original|same) (?:method|payment)|gift ?card|pay ?pal|visa|master ?card|credit card)\b/i;
const ORDER = /#?\bW\d{6,8}\b/i;

export const recovery: LayerCheck = (conversation) => {
  const log = new RuleLog(conversation.policy, { rules: RECOVERY, own: '' });
  checkRecovery(new Talk(conversation), log, {
    acts: WISHES,
    transfers: TRANSFERS,
    families: [/^find_user_id/, /^get_(?:product|item)_details$/],
    identity: /^find_user_id/,
    aside: /^(?:think|calculate)$/,
    facts: [
      { name: 'email address', asks: askingFor('e-?mail'), gives: EMAIL, identity: true },
      { name: 'zip code', asks: askingFor('zip'), gives: ZIP, identity: true },
      {
        name: 'order',
        asks: new RegExp(
          String.raw`\bwhich order\b(?=[^.!]*\?)|\b(?:tell|say|know|need)\b[^.?!]{0,30}\bwhich order\b|${askingFor('(?:order (?:id|number)|(?:id|number) of (?:the|your) order)', false).source}`,
          'i',
        ),
        gives: ORDER,
      },
      {
        name: 'reason',
        asks: /\b(?:what|know|ask|tell|provide|share|give)\b[^.?!]{0,60}\breason\b/i,
        gives: /\bno longer need|\bby mistake\b/i,
      },
      { name: 'payment method', asks: /\b(?:which|what) payment method\b/i, gives: METHOD },
    ],
    values: {
      'email address': EMAIL,
      'zip code': ZIP,
      thing: ORDER,
      name: /\b(?:name is|name's|i am|i'm|it's|it is) ([A-Z][a-z'-]+ [A-Z][a-z'-]+)\b/,
    },
    things: ordersIn,
    matches,
  });
  return log.layer();
};

const KINDS: readonly [RegExp, string][] = [
  [/\bgift[ _]?card/i, 'gift_card'],
  [/\bpay ?pal\b/i, 'paypal'],
  [/\b(?:credit|debit)[ _]?card\b|\bvisa\b|\bmaster ?card\b/i, 'credit_card'],
];

/** Compares the payment method and the options of new items. */
function matches({ name, args }: Made, text: string, talk: Talk, replaced: boolean): boolean | undefined {
  const judged: boolean[] = [];
  const kinds = KINDS.filter(([words]) => words.test(text)).map(([, kind]) => kind);
  const method = textOf(args.payment_method_id);
  if (kinds.length > 0 && method !== '') judged.push(kinds.some((kind) => method.startsWith(kind)));
  if (/modify_pending_order_items|exchange/.test(name) && Array.isArray(args.new_item_ids)) {
    const records = new ShopRecords(talk.calls.map(({ value }) => value));
    const chosen = args.new_item_ids.flatMap((id) => records.items.get(String(id)) ?? []);
    const others = chosen.flatMap(({ product }) => records.variants(product)).flatMap(({ options }) => Object.values(options));
    const own = new Set(chosen.flatMap(({ options }) => Object.values(options)));
    const old = new Set(
      (Array.isArray(args.item_ids) ? args.item_ids : []).flatMap((id) => Object.values(records.items.get(String(id))?.options ?? {})),
    );
    const named = [...new Set(others)].filter((value) => (replaced || own.has(value) || !old.has(value)) && namesOption(text, value));
    if (named.length > 0) judged.push(named.some((value) => own.has(value)));
  }
  return judged.length === 0 ? undefined : judged.every(Boolean);
}
