/**
 * @file The expert, a programmed agent that plays the conversations for the cold start. It serves customers by rules, calls
 * the real tools, and sees only what an agent sees. Each act is speech or one tool call. The wordings are few and short, so
 * that a small model can learn them.
 *
 * A careful expert proposes each write and waits for a yes. A brisk expert writes as soon as it knows enough. If the write
 * changes items, the brisk expert puts the proposal into a note next to the call. Both are honest. Which one serves better
 * depends on the customers.
 */
import { type Act, ALL_HABITS, type CreateExpert } from '../../agent/acts.ts';
import type { Style } from '../../records/dataset.ts';
import type { ToolCall } from '../../records/task.ts';
import { isConfirmation } from '../../agent/answers.ts';
import { hash32 } from '../../base/random.ts';
import type { Intent } from './schema.ts';
import { LOOKING, readConversationState, type CaseFile, type Request } from './expert-notes.ts';
import { findAddress, findItems, findOrderId, findPayment, findReason, findVariants } from './expert-reading.ts';

const ASK_YES = 'Yes or no?';
const ELSE = 'Anything else?';
const DONE = ['Done.', 'That is done.'];
const IDENTIFY = ['What is your email, or your name and zip?', 'Your email please, or your name and zip?'];
const TOOL: Record<Intent, string> = {
  cancel: 'cancel_pending_order',
  return: 'return_delivered_order_items',
  exchange: 'exchange_delivered_order_items',
  modify_items: 'modify_pending_order_items',
  modify_payment: 'modify_pending_order_payment',
  modify_address: 'modify_pending_order_address',
};
/** Requests for which the expert writes the names and ids of items before it calls a tool. docs/decisions.md gives the reason. */
const NAMES_ITEMS: ReadonlySet<Intent> = new Set(['return', 'exchange', 'modify_items']);
const WANTS: Record<Intent, string> = {
  cancel: 'cancel an order',
  return: 'return items',
  exchange: 'exchange items',
  modify_items: 'change items',
  modify_payment: 'change a payment',
  modify_address: 'change an address',
};

/** Creates the expert for those tools of the shop that `domain` has. */
export const createExpert: CreateExpert = (domain, seed, { style = 'careful', habits = ALL_HABITS } = {}) => {
  const tools = new Set(domain.tools.map((tool) => tool.function.name));
  return {
    act(messages) {
      const pick = (phrasings: readonly string[]): Act => ({ say: phrasings[hash32(seed, messages.length) % phrasings.length]! });
      const file = readConversationState(messages);
      const done = () => pick(habits.has('offers_more') ? DONE.map((text) => `${text} ${ELSE}`) : DONE);
      if (file.timedOut) return habits.has('calls_again') || LOOKING.has(file.timedOut.name) ? { call: file.timedOut } : done();
      return !file.request && file.outcome === 'done' ? done() : nextAct(file, tools, pick, style);
    },
  };
};

type Pick = (phrasings: readonly string[]) => Act;

function nextAct(file: CaseFile, tools: ReadonlySet<string>, pick: Pick, style: Style): Act {
  const { request } = file;
  // At level `glimpse`, no tool finds customers or shows their data.
  if (tools.has('get_user_details')) {
    if (!file.userId) return findCustomer(file, pick);
    if (!file.user) return { call: { name: 'get_user_details', arguments: { user_id: file.userId } } };
  }
  if (!request) {
    if (file.outcome === 'failed' || file.outcome === 'refused') return pick([`Sorry, I cannot do that. ${ELSE}`]);
    return pick(['How can I help you?']);
  }
  const wholeAccount =
    request.intent === 'modify_address' && findOrderId(request) === null && request.said.some((text) => /\bdefault address\b/i.test(text));
  const tool = wholeAccount ? 'modify_user_address' : TOOL[request.intent];
  if (!tools.has(tool))
    return { call: { name: 'transfer_to_human_agents', arguments: { summary: `The customer wants to ${WANTS[request.intent]}.` } } };
  const question = missing(request, wholeAccount);
  if (question) return pick([question]);
  const planned = wholeAccount ? accountAddress(file, request) : plan(file, request, tool, tools.has('get_order_details'));
  if ('propose' in planned) {
    const { propose, call } = planned;
    const proposal = `${propose}. ${ASK_YES}`;
    if (confirmed(file, proposal)) return { call };
    if (style === 'careful') return pick([proposal]);
    return NAMES_ITEMS.has(request.intent) ? { call, note: `${propose}.` } : { call };
  }
  return 'say' in planned ? pick([planned.say]) : planned;
}

function findCustomer({ email, name, zip, searched }: CaseFile, pick: Pick): Act {
  if (email && !searched.has(email)) return { call: { name: 'find_user_id_by_email', arguments: { email } } };
  if (name && zip && !searched.has(`${name.join(' ')} ${zip}`))
    return { call: { name: 'find_user_id_by_name_zip', arguments: { first_name: name[0], last_name: name[1], zip } } };
  return searched.size ? pick(['I cannot find you. What is your name and zip?']) : pick(IDENTIFY);
}

/** One question about everything that the customer has not said yet. Null if nothing is missing. */
function missing(request: Request, wholeAccount: boolean): string | null {
  const order = !wholeAccount && findOrderId(request) === null;
  const ask = (...parts: (string | false)[]) => {
    const open = parts.filter((part): part is string => part !== false);
    if (!open.length) return null;
    const text = open.length > 2 ? `${open.slice(0, -1).join(', ')}, and ${open.at(-1)!}` : open.join(', and ');
    return `${text[0]!.toUpperCase()}${text.slice(1)}?`;
  };
  const has = (test: RegExp) => request.said.some((text) => test.test(text));
  const payment = !has(/original|gift card|paypal|credit card|visa|mastercard|card ending|(credit_card|gift_card)_\d/i);
  const items = !has(/\bthe (?!payment|order|address|original|price)[a-z][a-z -]+|\ball\b|\beverything\b/i);
  switch (request.intent) {
    case 'cancel':
      return ask(order && 'which order', findReason(request) === null && 'why');
    case 'return':
      return ask(order && 'which order', items && 'which items', payment && 'refund to which payment method');
    case 'modify_payment':
      return ask(order && 'which order', payment && 'which payment method');
    case 'exchange':
    case 'modify_items':
      return ask(
        order && 'which order',
        !has(/ for one with /i) && 'which items for which new items',
        payment && 'price difference on which payment method',
      );
    case 'modify_address':
      return ask(order && 'which order', !findAddress(request) && 'which new address');
  }
}

type Planned = { propose: string; call: ToolCall } | Act;

/** Decides the next act for a request: look up the order that the customer named (if a tool can), refuse, ask, or propose the write. */
function plan(file: CaseFile, request: Request, tool: string, looksUp: boolean): Planned {
  const { intent } = request;
  const order_id = findOrderId(request)!;
  const refuse = (why: string): Act => ({ say: `Sorry, I cannot do that: ${why}. ${ELSE}` });
  const order = file.orders.get(order_id);
  if (looksUp) {
    if (!file.user!.orders.includes(order_id)) return refuse('the order is not yours');
    if (!order)
      return file.missing.has(order_id)
        ? refuse('there is no such order')
        : { call: { name: 'get_order_details', arguments: { order_id } } };
    const needed = intent === 'return' || intent === 'exchange' ? 'delivered' : 'pending';
    if (order.status !== needed) return refuse(`the order is ${order.status}`);
  }
  const propose = (text: string, args: ToolCall['arguments']): Planned => ({
    propose: text,
    call: { name: tool, arguments: { order_id, ...args } },
  });
  if (intent === 'cancel') {
    const reason = findReason(request)!;
    return propose(`Cancel order ${order_id}, ${reason}`, { reason });
  }
  if (intent === 'modify_address') {
    const address = findAddress(request)!;
    return propose(`Change the address of order ${order_id} to ${address.text}`, { ...address.fields });
  }
  const payment_method_id = findPayment(request, file.user, order);
  if (!payment_method_id) return { say: 'Which payment method?' };
  if (intent === 'modify_payment') return propose(`Pay order ${order_id} with ${payment_method_id}`, { payment_method_id });
  if (!order) return refuse('I cannot see the order');
  if (intent === 'return') {
    const items = findItems(request, order);
    if (!items.length) return { say: 'Which items?' };
    if (!payment_method_id.startsWith('gift_card') && payment_method_id !== order.original)
      return refuse('refunds go to the original payment method or a gift card');
    return propose(
      `Return ${items.map(({ name, item_id }) => `${name} ${item_id}`).join(' and ')} of order ${order_id}, refund to ${payment_method_id}`,
      { item_ids: items.map((item) => item.item_id), payment_method_id },
    );
  }
  const swaps = findVariants(request, order, file.products);
  if ('lookUp' in swaps) {
    const { name, item_id, product_id } = swaps.lookUp;
    return { call: { name: 'get_product_details', arguments: { product_id } }, note: `${name} ${item_id} ${product_id}` };
  }
  if ('unavailable' in swaps) return refuse(`there is no such ${swaps.unavailable}`);
  if (!swaps.pairs.length) return { say: 'Which items for which new items?' };
  const verb = intent === 'exchange' ? 'Exchange' : 'Change';
  const named = swaps.pairs.map(({ item, variant: { item_id, options } }) => `${item.name} ${item.item_id} for ${options} ${item_id}`);
  return propose(`${verb} ${named.join(' and ')} in order ${order_id}, difference on ${payment_method_id}`, {
    item_ids: swaps.pairs.map(({ item }) => item.item_id),
    new_item_ids: swaps.pairs.map(({ variant }) => variant.item_id),
    payment_method_id,
  });
}

function accountAddress({ userId }: CaseFile, request: Request): Planned {
  const address = findAddress(request)!;
  return {
    propose: `Change your default address to ${address.text}`,
    call: { name: 'modify_user_address', arguments: { user_id: userId!, ...address.fields } },
  };
}

/** Whether the customer's last message is a yes to exactly this proposal. */
function confirmed({ lastSaid, lastHeard }: CaseFile, proposal: string): boolean {
  return lastSaid === proposal && isConfirmation(lastHeard);
}
