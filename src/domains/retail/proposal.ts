/** @file The guard's question before a write. It says what the write does, in the words that the shop's customers understand. */
import type { Proposal } from '../../agent/players.ts';

const ASK_YES = 'Yes or no?';

/** Items are named by their ids, because a guard sees no names. */
export const proposalOf: Proposal = ({ name, arguments: args }) => {
  const words = sentence(name, args as Record<string, string> & Record<'item_ids' | 'new_item_ids', string[]>);
  return words === null ? null : `${words}. ${ASK_YES}`;
};

function sentence(name: string, args: Record<string, string> & Record<'item_ids' | 'new_item_ids', string[]>): string | null {
  const { order_id, reason, payment_method_id } = args;
  const list = (ids: unknown) => (Array.isArray(ids) ? ids.join(' and ') : String(ids));
  const swapped = () => `${list(args.item_ids)} for ${list(args.new_item_ids)} in order ${order_id}, difference on ${payment_method_id}`;
  const address = () => [args.address1, args.address2, args.city, args.state, args.zip].filter(Boolean).join(', ');
  switch (name) {
    case 'cancel_pending_order':
      return `Cancel order ${order_id}, ${reason}`;
    case 'modify_pending_order_payment':
      return `Pay order ${order_id} with ${payment_method_id}`;
    case 'modify_pending_order_address':
      return `Change the address of order ${order_id} to ${address()}`;
    case 'modify_user_address':
      return `Change your default address to ${address()}`;
    case 'return_delivered_order_items':
      return `Return ${list(args.item_ids)} of order ${order_id}, refund to ${payment_method_id}`;
    case 'exchange_delivered_order_items':
      return `Exchange ${swapped()}`;
    case 'modify_pending_order_items':
      return `Change ${swapped()}`;
    default:
      return null;
  }
}
