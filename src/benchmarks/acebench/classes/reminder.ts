/** @file `ReminderApi`: the reminders of a phone. */
import { add, atMost, attributeError, contains, dictFor, itemOf, length, setItem } from '../../../python/operations.ts';
import { dict, equal, truth, type Value } from '../../../python/values.ts';
import { type ApiClass, f, fieldsOf, hasWord, isOff, status } from './api.ts';

const FIELDS = ['title', 'description', 'time', 'notified'];

export const reminderApi: ApiClass = {
  attributes: ['max_capacity', 'reminder_list', 'reminder_id_counter'],
  saved: ['reminder_list'],
  phone: true,
  signatures: {
    view_reminder_by_title: 'title',
    add_reminder: 'title, description, time',
    delete_reminder: 'reminder_id',
    view_all_reminders: '',
    mark_as_notified: 'reminder_id',
    search_reminders: 'keyword',
  },
  create({ language, own, text }) {
    const reminders = () => dictFor('items', own.reminder_list!);
    const missing = () => status(false, text('Reminder ID does not exist.', '提醒ID不存在'));

    return {
      view_reminder_by_title(title) {
        if (isOff(own.logged_in!))
          return status(false, text('The device is not logged in, so you cannot view notifications', 'device未登录，无法查看提醒'));
        const reminder = reminders()
          .values()
          .find((one) => equal(itemOf(one, 'title'), title!));
        if (reminder !== undefined) return dict({ status: true, reminder });
        return status(false, text(f`No reminder found with the title '${title!}'.`, f`没有找到标题为 '${title!}' 的提醒`));
      },
      add_reminder(title, description, time) {
        if (isOff(own.logged_in!))
          return status(false, text('Device not logged in. Unable to add a new reminder.', 'device未登录，无法添加一个新的提醒'));
        if (atMost(own.max_capacity!, length(reminders())))
          return status(false, text('Reminder capacity is full. Unable to add a new reminder.', '提醒容量已满，无法添加新的提醒'));
        const id = add(own.reminder_id_counter!, 1n);
        own.reminder_id_counter = id;
        reminders().set(id, dict({ reminder_id: id, title: title!, description: description!, time: time!, notified: false }));
        return status(true, text(f`Reminder '${title!}' was successfully added.`, f`提醒 '${title!}' 已成功添加`));
      },
      delete_reminder(id) {
        if (isOff(own.logged_in!))
          return status(false, text('Device not logged in. Unable to delete the specified reminder.', 'device未登录，无法删除指定的提醒'));
        if (!contains(reminders(), id!)) return missing();
        reminders().delete(id!);
        return status(true, text(f`Reminder ID ${id!} was successfully deleted.`, f`提醒ID ${id!} 已成功删除`));
      },
      view_all_reminders() {
        if (!truth(own.reminder_list!)) return status(false, text('No reminders found.', '没有任何提醒'));
        const all = reminders()
          .values()
          .map((one) => fieldsOf(one, FIELDS));
        return dict({ status: true, reminders: all });
      },
      ...(language === 'zh' && {
        mark_as_notified(id: Value) {
          if (!contains(reminders(), id)) return missing();
          setItem(reminders().get(id)!, 'notified', true);
          return status(true, f`提醒ID ${id} 已标记为已通知`);
        },
        search_reminders(keyword: Value) {
          const found = reminders()
            .values()
            .find((one) => hasWord(itemOf(one, 'title'), keyword) || hasWord(itemOf(one, 'description'), keyword));
          // Upstream formats the time, which is a text, as a date.
          if (found !== undefined) throw attributeError(itemOf(found, 'time'), 'strftime');
          return status(false, '没有找到包含该关键词的提醒');
        },
      }),
    };
  },
};
