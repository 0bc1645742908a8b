/** @file `MessageAPI`: the messages of a workspace. */
import { add, contains, dictFor, listFor, removeFirst } from '../../../python/operations.ts';
import { PyRandom } from '../../../python/random.ts';
import { lower } from '../../../python/strings.ts';
import { str } from '../../../python/text.ts';
import { Dict, dict, equal, PyError, PySet, truth, type Value } from '../../../python/values.ts';
import { type ApiClass, attributesFrom, error, f, seedOf } from './api.ts';

const LOGIN_FIRST = 'No user is currently logged in.';

export const messageApi: ApiClass = {
  signatures: {
    list_users: '',
    get_user_id: 'user',
    message_login: 'user_id',
    message_get_login_status: '',
    send_message: 'receiver_id, message',
    delete_message: 'receiver_id',
    view_messages_sent: '',
    add_contact: 'user_name',
    search_messages: 'keyword',
    get_message_stats: '',
  },
  create(context) {
    const random = new PyRandom(seedOf(context, 'MessageAPI', 200191n));
    const own = attributesFrom(context, 'MessageAPI', [
      'generated_ids',
      'user_count',
      'user_map',
      'inbox',
      'message_count',
      'current_user',
    ]);
    const users = () => dictFor('keys', own.user_map!);
    const inbox = () => listFor('append', own.inbox!);

    function newId(): Dict {
      let id = random.randint(10000n, 99999n);
      while (contains(own.generated_ids!, id)) id = random.randint(10000n, 99999n);
      (own.generated_ids as PySet).add(id);
      return dict({ new_id: id });
    }

    /** The receiver and the text of a message. */
    function taken(message: Value): [receiver: Value, text: Value] {
      const [first] = dictFor('items', message).entries();
      if (!first) throw new PyError('IndexError', 'list index out of range');
      return first;
    }

    return {
      attributes: own,
      methods: {
        list_users: () => dict({ user_list: users().keys() }),
        get_user_id(user) {
          const id = users().get(user!);
          return id === undefined ? error(f`User '${user!}' not found in the workspace.`) : dict({ user_id: id });
        },
        message_login(id) {
          if (!contains(users().values(), id!)) return dict({ login_status: false, message: f`User ID '${id!}' not found.` });
          own.current_user = id!;
          return dict({ login_status: true, message: f`User '${id!}' logged in successfully.` });
        },
        message_get_login_status: () => dict({ login_status: truth(own.current_user!) }),
        send_message(receiver, message) {
          if (!truth(own.current_user!)) return error(LOGIN_FIRST);
          if (!contains(users().values(), receiver!)) return error(f`Receiver ID '${receiver!}' not found.`);
          const id = newId();
          inbox().push(new Dict([[receiver!, message!]]));
          own.message_count = add(own.message_count!, 1n);
          return dict({ sent_status: true, message_id: id, message: f`Message sent to '${receiver!}' successfully.` });
        },
        delete_message(receiver) {
          if (!truth(own.current_user!)) return error(LOGIN_FIRST);
          for (const message of inbox().toReversed()) {
            const [found] = taken(message);
            if (equal(found, receiver!)) {
              // Upstream removes the first equal message, although it looks for the last one.
              removeFirst(inbox(), message);
              return dict({
                deleted_status: true,
                receiver_id: found,
                message: f`Receiver ${receiver!}'s latest message deleted successfully.`,
              });
            }
          }
          return error(f`Receiver ID ${receiver!} not found.`);
        },
        view_messages_sent() {
          if (!truth(own.current_user!)) return error(LOGIN_FIRST);
          const sent = new Dict();
          for (const message of inbox()) {
            const [receiver, text] = taken(message);
            const texts = sent.get(receiver);
            if (texts === undefined) sent.set(receiver, [text]);
            else (texts as Value[]).push(text);
          }
          return dict({ messages: sent });
        },
        add_contact(name) {
          if (users().has(name!)) return error(f`User name '${name!}' already exists.`);
          own.user_count = add(own.user_count!, 1n);
          const id = `USR${str(own.user_count).padStart(3, '0')}`;
          if (contains(users().values(), id)) return error(`User ID '${id}' already exists.`);
          users().set(name!, id);
          return dict({ added_status: true, user_id: id, message: f`Contact '${name!}' added successfully.` });
        },
        search_messages(keyword) {
          if (!truth(own.current_user!)) return error(LOGIN_FIRST);
          const wanted = lower(keyword!);
          const results: Value[] = [];
          for (const one of inbox()) {
            const [receiver, message] = taken(one);
            if (lower(message).includes(wanted)) results.push(dict({ receiver_id: receiver, message }));
          }
          return dict({ results });
        },
        get_message_stats() {
          if (!truth(own.current_user!)) return error(LOGIN_FIRST);
          const contacts = new PySet(inbox().map((message) => taken(message)[0]));
          const stats = dict({ received_count: BigInt(inbox().length), total_contacts: BigInt(contacts.items().length) });
          return dict({ stats });
        },
      },
    };
  },
};
