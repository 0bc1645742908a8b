/** @file The exact retail domains: that of tau-bench v1 and that of tau2-bench. */
import { makeExactDomain, toolNotFound, unknownAction, type ExactTool, type UnknownTool } from '../exact/make-domain.ts';
import { Refusal } from '../exact/arguments.ts';
import type { Json } from '../../records/json.ts';
import type { ToolSchema } from '../../records/task.ts';
import { decimal, flag, listOf, mapOf, object, oneOf, optional, record, tagged, text, type Reader } from '../exact/model.ts';
import { orderedEntries } from '../exact/ordered-json.ts';
import { fullObservation } from './observations.ts';
import { TAU1, TAU2, type Rules } from './rules.ts';
import type { Product, Variant } from './schema.ts';
import { tau2ToolSchemas, toolSchemas } from './tool-schemas.ts';
import { TOOLS } from './tools.ts';

const address = record({ address1: text, address2: text, city: text, country: text, state: text, zip: text });
const method = { source: text, id: text };
const variantModel = record({ item_id: text, options: mapOf(text), available: flag, price: decimal });

const userModel = record({
  user_id: text,
  name: record({ first_name: text, last_name: text }),
  address,
  email: text,
  payment_methods: mapOf(
    tagged('source', {
      credit_card: record({ ...method, brand: text, last_four: text }),
      paypal: record(method),
      gift_card: record({ ...method, balance: decimal }),
    }),
  ),
  orders: listOf(text),
});

const orderModel = record({
  order_id: text,
  user_id: text,
  address,
  items: listOf(record({ name: text, product_id: text, item_id: text, price: decimal, options: mapOf(text) })),
  status: oneOf('processed', 'pending', 'pending (item modified)', 'delivered', 'cancelled', 'exchange requested', 'return requested'),
  fulfillments: listOf(record({ tracking_id: listOf(text), item_ids: listOf(text) })),
  payment_history: listOf(record({ transaction_type: oneOf('payment', 'refund'), amount: decimal, payment_method_id: text })),
  cancel_reason: optional(oneOf('no longer needed', 'ordered by mistake')),
  exchange_items: optional(listOf(text)),
  exchange_new_items: optional(listOf(text)),
  exchange_payment_method_id: optional(text),
  exchange_price_difference: optional(decimal),
  return_items: optional(listOf(text)),
  return_payment_method_id: optional(text),
});

/** Rows store variants as a list, see `Product`. */
const readProduct =
  (variant: Reader): Reader =>
  (value, path) => {
    const { name, product_id, variants } = object(value, path);
    const list = orderedEntries(variants, `${path}.variants`).map(([id, entry]) => {
      const item = variant(entry, `${path}.variants.${id}`);
      if ((item as unknown as Variant).item_id !== id) throw new Refusal(`${path}.variants.${id}.item_id must be '${id}'`);
      return item;
    });
    return { name: text(name, `${path}.name`), product_id: text(product_id, `${path}.product_id`), variants: list };
  };

function dumpProduct(row: Json): Json {
  const { variants, ...rest } = row as unknown as Product;
  return { ...rest, variants: Object.fromEntries(variants.map((variant) => [variant.item_id, variant])) } as unknown as Json;
}

function retail(unknownTool: UnknownTool, rules: Rules, schemas: ToolSchema[], order: Reader, user: Reader, variant: Reader) {
  return makeExactDomain({
    name: 'retail',
    unknownTool,
    tables: [
      { name: 'orders', read: order },
      { name: 'products', read: readProduct(variant), dump: dumpProduct },
      { name: 'users', read: user },
    ],
    tools: new Map(
      rules.tools.map((name): [string, ExactTool] => {
        const { parameters, run } = TOOLS.get(name)!;
        return [
          name,
          {
            parameters,
            mutates: /^(cancel|exchange|modify|return)_/.test(name),
            run: (rows, args) => fullObservation(run(rows, args, rules)),
          },
        ];
      }),
    ),
    schemas,
  });
}

/** tau1's records are kept as they are in the file. */
export const exactRetail = {
  tau1: retail(unknownAction, TAU1, toolSchemas('full'), object, object, object),
  tau2: retail(toolNotFound, TAU2, tau2ToolSchemas(), orderModel, userModel, variantModel),
};
