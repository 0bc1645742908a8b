/** @file `TicketAPI`: support tickets. */
import { add, dictFor, itemOf, less, listFor, setItem } from '../../../python/operations.ts';
import { lower } from '../../../python/strings.ts';
import { str } from '../../../python/text.ts';
import { type Dict, dict, equal, truth, type Value } from '../../../python/values.ts';
import { type ApiClass, attributesFrom, error, f } from './api.ts';

const EDITABLE = ['title', 'description', 'status', 'priority'];

export const ticketApi: ApiClass = {
  signatures: {
    create_ticket: "title, description='', priority=1",
    get_ticket: 'ticket_id',
    close_ticket: 'ticket_id',
    resolve_ticket: 'ticket_id, resolution',
    edit_ticket: 'ticket_id, updates',
    ticket_login: 'username, password',
    ticket_get_login_status: '',
    logout: '',
    get_user_tickets: 'status=None',
  },
  create(context) {
    const own = attributesFrom(context, 'TicketAPI', ['ticket_queue', 'ticket_counter', 'current_user']);
    const queue = () => listFor('append', own.ticket_queue!);

    /** Runs `use` with the ticket, if there is one. */
    const withTicket = (id: Value, use: (ticket: Value) => Value): Value => {
      const ticket = queue().find((one) => equal(itemOf(one, 'id'), id));
      return ticket === undefined || !truth(ticket) ? error(f`Ticket with ID ${id} not found.`) : use(ticket);
    };

    return {
      attributes: own,
      methods: {
        create_ticket(title, description, priority) {
          if (!truth(own.current_user!)) return error('User not authenticated. Please log in to create a ticket.');
          if (less(priority!, 1n) || less(5n, priority!)) return error('Invalid priority. Priority must be between 1 and 5.');
          const ticket = dict({
            id: own.ticket_counter!,
            title: title!,
            description: description!,
            status: 'Open',
            priority: priority!,
            created_by: own.current_user!,
          });
          queue().push(ticket);
          own.ticket_counter = add(own.ticket_counter!, 1n);
          return ticket;
        },
        get_ticket: (id) => withTicket(id!, (ticket) => ticket),
        close_ticket: (id) =>
          withTicket(id!, (ticket) => {
            if (equal(itemOf(ticket, 'status'), 'Closed')) return error(f`Ticket with ID ${id!} is already closed.`);
            setItem(ticket, 'status', 'Closed');
            return dict({ status: f`Ticket ${id!} has been closed successfully.` });
          }),
        resolve_ticket: (id, resolution) =>
          withTicket(id!, (ticket) => {
            if (equal(itemOf(ticket, 'status'), 'Resolved')) return error(f`Ticket with ID ${id!} is already resolved.`);
            setItem(ticket, 'status', 'Resolved');
            setItem(ticket, 'resolution', resolution!);
            return dict({ status: f`Ticket ${id!} has been resolved successfully.` });
          }),
        edit_ticket: (id, updates) =>
          withTicket(id!, (ticket) => {
            const fields: Dict = dictFor('keys', updates!);
            const invalid = fields.keys().filter((field) => !EDITABLE.some((name) => equal(name, field)));
            // Upstream lists them in the order of their hashes, which differs from run to run.
            if (invalid.length > 0) return error(`Invalid fields for update: ${invalid.map(str).join(', ')}`);
            for (const [field, value] of fields.entries()) if (value !== null) setItem(ticket, field, value);
            return dict({ status: f`Ticket ${id!} has been updated successfully.` });
          }),
        ticket_login(username, password) {
          const success = truth(username!) && truth(password!);
          if (success) own.current_user = username!;
          return dict({ success });
        },
        ticket_get_login_status: () => dict({ login_status: truth(own.current_user!) }),
        logout() {
          const success = truth(own.current_user!);
          if (success) own.current_user = null;
          return dict({ success });
        },
        get_user_tickets(status) {
          if (!truth(own.current_user!)) return [error('User not authenticated. Please log in to view tickets.')];
          const tickets = queue().filter((ticket) => equal(itemOf(ticket, 'created_by'), own.current_user!));
          if (!truth(status!)) return tickets;
          return tickets.filter((ticket) => lower(itemOf(ticket, 'status')) === lower(status!));
        },
      },
    };
  },
};
