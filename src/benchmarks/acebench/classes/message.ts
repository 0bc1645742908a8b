/** @file `MessageApi`: the messages of a phone. */
import { add, atMost, contains, dictFor, itemOf, length } from '../../../python/operations.ts';
import { parseTime } from '../../../python/strings.ts';
import { Dict, dict, equal, truth, type Value } from '../../../python/values.ts';
import { type ApiClass, f, hasWord, isOff, status } from './api.ts';

export const messageApi: ApiClass = {
  attributes: ['max_capacity', 'user_list', 'inbox', 'message_id_counter'],
  saved: ['inbox'],
  phone: true,
  signatures: {
    send_message: 'sender_name, receiver_name, message',
    delete_message: 'message_id',
    view_messages_between_users: 'sender_name, receiver_name',
    search_messages: 'user_name, keyword',
    get_all_message_times_with_ids: '',
    get_latest_message_id: '',
    get_earliest_message_id: '',
  },
  create({ own, text }) {
    const inbox = () => dictFor('items', own.inbox!);
    const isUser = (name: Value) => contains(own.user_list!, name);
    const idOf = (name: Value) => itemOf(itemOf(own.user_list!, name), 'user_id');

    /** The message whose time comes first in the order. Of equal times, the first message. */
    function extreme(before: (a: number, b: number) => boolean): Value {
      let found: { id: Value; time: number } | undefined;
      for (const [id, message] of inbox().entries()) {
        const time = parseTime(itemOf(message, 'time'), '%Y-%m-%d');
        if (!found || before(time, found.time)) found = { id, time };
      }
      return found!.id;
    }

    return {
      send_message(sender, receiver, message) {
        if (isOff(own.logged_in!)) return status(false, text('Device not logged in, unable to send message', 'device未登录，无法发送短信'));
        if (isOff(own.wifi!))
          return status(false, text('Wi-Fi is turned off, cannot send messages at this time', 'wifi关闭，此时不能发送信息'));
        if (atMost(own.max_capacity!, length(inbox())))
          return status(
            false,
            text(
              'Inbox capacity is full. You need to ask the user which message to delete.',
              '内存容量不够了，你需要询问user删除哪一条短信。',
            ),
          );
        if (!isUser(sender!) || !isUser(receiver!)) return status(false, text('Sender or receiver does not exist', '发送者或接收者不存在'));
        own.message_id_counter = add(own.message_id_counter!, 1n);
        // Upstream gives a sent message no time.
        inbox().set(own.message_id_counter, dict({ sender_id: idOf(sender!), receiver_id: idOf(receiver!), message: message! }));
        return status(true, text(f`Message successfully sent to ${receiver!}.`, f`短信成功发送给${receiver!}。`));
      },
      delete_message(id) {
        if (isOff(own.logged_in!))
          return status(false, text('Device not logged in, unable to delete message', 'device未登录，无法删除短信'));
        if (!contains(inbox(), id!)) return status(false, text('Message ID does not exist', '短信ID不存在'));
        inbox().delete(id!);
        return status(true, text(f`Message ID ${id!} has been successfully deleted.`, f`短信ID ${id!} 已成功删除。`));
      },
      view_messages_between_users(sender, receiver) {
        if (isOff(own.logged_in!))
          return status(false, text('Device not logged in, unable to view message information', 'device未登录，无法查看短信信息'));
        if (!isUser(sender!)) return status(false, text('Sender does not exist', '发送者不存在'));
        if (!isUser(receiver!)) return status(false, text('Receiver does not exist', '接收者不存在'));
        const [from, to] = [idOf(sender!), idOf(receiver!)];
        const messages = inbox()
          .entries()
          .filter(([, message]) => equal(itemOf(message, 'sender_id'), from) && equal(itemOf(message, 'receiver_id'), to))
          .map(([id, message]) => dict({ id, sender: sender!, receiver: receiver!, message: itemOf(message, 'message') }));
        if (messages.length === 0) return status(false, text('No related message records found', '没有找到相关的短信记录'));
        return dict({ status: true, messages });
      },
      search_messages(user, keyword) {
        if (!isUser(user!)) return status(false, text('User does not exist', '用户不存在'));
        const id = idOf(user!);
        const messages = inbox()
          .entries()
          .filter(
            ([, message]) =>
              (equal(itemOf(message, 'sender_id'), id) || equal(itemOf(message, 'receiver_id'), id)) &&
              hasWord(itemOf(message, 'message'), keyword!),
          )
          .map(([number, message]) => {
            const field = (name: string) => itemOf(message, name);
            return dict({ id: number, sender_id: field('sender_id'), receiver_id: field('receiver_id'), message: field('message') });
          });
        if (messages.length === 0) return status(false, text('No messages found containing the keyword', '没有找到包含关键词的短信'));
        return dict({ status: true, messages });
      },
      get_all_message_times_with_ids() {
        if (isOff(own.logged_in!))
          return status(
            false,
            text(
              'Device not logged in, unable to retrieve all message times and their corresponding message IDs.',
              'device未登录，获取所有短信的时间以及对应的短信编号。',
            ),
          );
        return new Dict(
          inbox()
            .entries()
            .map(([id, message]) => [id, itemOf(message, 'time')] as const),
        );
      },
      get_latest_message_id() {
        if (isOff(own.logged_in!))
          return status(
            false,
            text('Device not logged in, unable to retrieve the latest sent message ID.', 'device未登录，无法获取最新发送的短信ID。'),
          );
        if (!truth(own.inbox!)) return status(false, text('No message records found', '短信记录为空'));
        const id = extreme((a, b) => a > b);
        return status(true, text(f`The latest message ID is ${id}`, f`最新的短信ID是 ${id}`), { message_id: id });
      },
      get_earliest_message_id() {
        if (isOff(own.logged_in!))
          return status(
            false,
            text('Device not logged in, unable to retrieve the earliest sent message ID.', 'device未登录，无法获取最早发送的短信ID'),
          );
        if (!truth(own.inbox!)) return status(false, text('No message records found', '短信记录为空'));
        const id = extreme((a, b) => a < b);
        return status(true, text(f`The earliest message ID is ${id}`, f`最早的短信ID是 ${id}`), { message_id: id });
      },
    };
  },
};
