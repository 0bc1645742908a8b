/** @file What the expert knows. It reads the whole conversation again before each act, so that it can continue any conversation. */
import { callOf } from '../../agent/acts.ts';
import type { ChatMessage } from '../../records/conversation.ts';
import { OUTAGE, TIMEOUT } from '../../environments/faults.ts';
import type { ToolCall } from '../../records/task.ts';
import type { Intent } from './schema.ts';

/** The customer's current request, with all messages about it. */
export interface Request {
  intent: Intent;
  said: string[];
}

export interface Customer {
  orders: string[];
  /** `last_four` and `brand` are known only if the level shows whole records. */
  paymentMethods: { id: string; last_four?: string; brand?: string }[];
}

export interface Order {
  status: string;
  items: { name: string; item_id: string; product_id?: string; options?: Record<string, string> }[];
  /** The payment method with which the order was first paid. */
  original: string;
}

export interface Variant {
  item_id: string;
  options: Record<string, string>;
}

export interface CaseFile {
  email?: string;
  name?: [first: string, last: string];
  zip?: string;
  /** The emails and names for which the expert has searched. */
  searched: Set<string>;
  userId?: string;
  user?: Customer;
  orders: Map<string, Order>;
  /** The order ids that the tools do not know. */
  missing: Set<string>;
  /** The available variants, by product id. */
  products: Map<string, Variant[]>;
  request: Request | null;
  /** How the last request ended. */
  outcome: 'done' | 'failed' | 'refused' | null;
  /** The last call, if it timed out and the expert did nothing since. */
  timedOut: ToolCall | null;
  lastSaid: string;
  lastHeard: string;
}

export function readConversationState(messages: readonly ChatMessage[]): CaseFile {
  const file: CaseFile = {
    searched: new Set(),
    orders: new Map(),
    missing: new Set(),
    products: new Map(),
    request: null,
    outcome: null,
    timedOut: null,
    lastSaid: '',
    lastHeard: '',
  };
  let call: ToolCall | undefined;
  for (const message of messages) {
    const { role, content } = message;
    if (role === 'user') hear(file, content);
    else if (role === 'tool') {
      const repeated = file.timedOut !== null;
      file.timedOut = null;
      if (call && content === TIMEOUT) file.timedOut = call;
      else if (call) readResult(file, call, content);
      // The second call of a write fails if the first call was carried out.
      if (repeated && file.outcome === 'failed') file.outcome = 'done';
      call = undefined;
    } else if (role === 'assistant') {
      const made = callOf(message);
      if (made) call = made;
      else {
        file.timedOut = null;
        file.lastSaid = content;
        if (content.startsWith('Sorry')) close(file, 'refused');
        else if (/^(Done|That is done)\./.test(content)) close(file, 'done');
      }
    }
  }
  return file;
}

function close(file: CaseFile, outcome: CaseFile['outcome']): void {
  file.request = null;
  file.outcome = outcome;
}

const NAME = /(?:\b[Ii] am|\b[Ii]'m|\bname is|\b[Tt]his is)\s+(\p{Lu}[\p{L}'-]*)\s+(\p{Lu}[\p{L}'-]*)/u;
const CHANGES = /^\W*(no|actually|wait|sorry)\b|\binstead\b|changed my mind/i;

function hear(file: CaseFile, text: string): void {
  file.lastHeard = text;
  const email = /[\w.+-]+@[\w-]+(\.[\w-]+)+/.exec(text)?.[0];
  if (email) file.email = email;
  const [, first, last] = NAME.exec(text) ?? [];
  if (first && last) file.name = [first, last];
  const zip = /\bzip(?: code)?(?: is)?:? (\d{5})\b/i.exec(text)?.[1];
  if (zip) file.zip = zip;
  const intent = readIntent(text);
  if (intent && (!file.request || intent !== file.request.intent || CHANGES.test(text))) {
    file.request = { intent, said: [text] };
    file.outcome = null;
  } else file.request?.said.push(text);
}

function readIntent(text: string): Intent | null {
  const said = text.toLowerCase().replace(/e-?mail address/g, 'email');
  if (/\bexchange\b/.test(said)) return 'exchange';
  if (/\breturn\b/.test(said)) return 'return';
  if (/\bcancel\b/.test(said)) return 'cancel';
  if (/\baddress\b/.test(said)) return 'modify_address';
  if (/\b(change|swap|replace|modify)\b.*( for one with |\bitems?\b)/.test(said)) return 'modify_items';
  if (/\bpay\b|\b(change|switch|update|move)\b.*\bpayment\b/.test(said)) return 'modify_payment';
  return null;
}

/** The tools that only read. */
export const LOOKING = new Set([
  'find_user_id_by_email',
  'find_user_id_by_name_zip',
  'get_user_details',
  'get_order_details',
  'get_product_details',
]);

function readResult(file: CaseFile, call: ToolCall, text: string): void {
  if (text === OUTAGE) return; // ignore the call, so that the expert makes it again
  const failed = text.startsWith('Error') || text.startsWith('Unknown action');
  const args = call.arguments as Record<string, string>;
  switch (call.name) {
    case 'find_user_id_by_email':
      file.searched.add(args.email!);
      break;
    case 'find_user_id_by_name_zip':
      file.searched.add(`${args.first_name} ${args.last_name} ${args.zip}`);
      break;
    case 'get_order_details':
      if (failed) file.missing.add(args.order_id!);
  }
  if (!LOOKING.has(call.name)) {
    // The stored record may be out of date now. The request is finished, even if the call failed.
    if (args.order_id) file.orders.delete(args.order_id);
    close(file, failed ? 'failed' : 'done');
  } else if (!failed) readRecord(file, call.name, args, text.trim());
}

/* What a record shows depends on the level: whole rows as in tau-bench, or only a few fields. */
type Methods = string[] | Record<string, { id: string; last_four?: string; brand?: string }>;
type Options = string | Record<string, string>;
type OrderRecord = {
  status: string;
  items: { name: string; item_id: string; product_id?: string; options?: Options }[];
  payment_method_id?: string;
  payment_history?: { payment_method_id: string }[];
};
/** At level `small`: the item id, by the text of the options. At level `full`: the whole variant, by item id. */
type VariantRecords = Record<string, string | { item_id: string; available: boolean; options: Record<string, string> }>;

function readRecord(file: CaseFile, tool: string, args: Record<string, string>, text: string): void {
  if (tool.startsWith('find_user_id')) {
    file.userId ??= text;
    return;
  }
  const record = JSON.parse(text) as unknown;
  if (tool === 'get_user_details') {
    const { orders, payment_methods } = record as { orders: string[]; payment_methods: Methods };
    file.user = {
      orders,
      paymentMethods: Array.isArray(payment_methods) ? payment_methods.map((id) => ({ id })) : Object.values(payment_methods),
    };
  } else if (tool === 'get_order_details') {
    const { status, items, payment_method_id, payment_history } = record as OrderRecord;
    file.orders.set(args.order_id!, {
      status,
      items: items.map((item) => ({ ...item, options: readOptions(item.options ?? {}) })),
      original: payment_method_id ?? payment_history?.[0]?.payment_method_id ?? '',
    });
  } else {
    const { variants } = record as { variants: VariantRecords };
    file.products.set(
      args.product_id!,
      Object.entries(variants).flatMap(([key, variant]) => {
        if (typeof variant === 'string') return [{ item_id: variant, options: readOptions(key) }];
        return variant.available ? [{ item_id: variant.item_id, options: variant.options }] : [];
      }),
    );
  }
}

/** Reads options such as `color red, size large`. */
function readOptions(options: Options): Record<string, string> {
  if (typeof options !== 'string') return options;
  return Object.fromEntries(options.split(', ').map((option) => [option.split(' ', 1)[0]!, option.slice(option.indexOf(' ') + 1)]));
}
