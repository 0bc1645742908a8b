/** @file tau2's mock domain: a list of tasks for the assistant, and the user's notifications. */
import { type Arguments, key, Refusal } from '../exact/arguments.ts';
import { databaseOf, makeExactDomain, toolNotFound, type ExactTool, type ToolSet } from '../exact/make-domain.ts';
import type { Requestor } from '../../records/benchmark-task.ts';
import type { Json } from '../../records/json.ts';
import { cloneJson } from '../../base/json.ts';
import { listOf, oneOf, optional, record, text } from '../exact/model.ts';
import type { Rows } from '../../environments/overlay.ts';
import { pythonStr, type Printable } from '../exact/python.ts';
import { tau2Schema, type ToolText } from '../../environments/tool-schema.ts';

const STATUSES = ['pending', 'completed'] as const;
const taskModel = record({ task_id: text, title: text, description: optional(text), status: oneOf(...STATUSES) });
const userModel = record({ user_id: text, name: text, tasks: listOf(text) });
const notificationModel = record({
  notification_id: text,
  message: text,
  status: optional(oneOf('unread', 'read'), 'unread'),
  task_id: optional(text),
});

type Row = Record<string, Json>;

function find(rows: Rows, side: Requestor, what: 'user' | 'task' | 'notification', id: Json): Row {
  mustOwn(rows, side);
  const row = rows.get(`${what}s`, key(id, `${what}_id`));
  if (row === undefined) throw new Refusal(`${what.charAt(0).toUpperCase()}${what.slice(1)} ${pythonStr(id)} not found`);
  return cloneJson(row) as Row;
}

/**
 * Checks that a side can use its own tables. After a task's `initialization_data`, both sides share one database, and the
 * tables of the other database cannot be reached.
 */
function mustOwn(rows: Rows, side: Requestor): void {
  if (databaseOf(rows, side) !== side) throw new Refusal(`the database of the ${side} is not there`);
}

function all(rows: Rows, side: Requestor, table: string): Printable {
  mustOwn(rows, side);
  return rows.keys(table).map((name) => rows.get(table, name) as Printable);
}

function createTask(rows: Rows, { user_id, title, description = null }: Arguments): Printable {
  const user = find(rows, 'assistant', 'user', user_id!);
  const id = `task_${rows.keys('tasks').length + 1}`;
  const task = taskModel({ task_id: id, title: title!, description, status: 'pending' }, '');
  rows.put('tasks', id, task);
  rows.put('users', user_id as string, { ...user, tasks: [...(user.tasks as Json[]), id] });
  return task as Printable;
}

/** Quirk: the tool accepts any status. */
function updateTaskStatus(rows: Rows, { task_id, status }: Arguments): Printable {
  const task = { ...find(rows, 'assistant', 'task', task_id!), status: status! };
  rows.put('tasks', task_id as string, task);
  return task as Printable;
}

function dismissNotification(rows: Rows, { notification_id: id }: Arguments): Printable {
  rows.put('notifications', id as string, { ...find(rows, 'user', 'notification', id!), status: 'read' });
  return `Notification ${id as string} dismissed`;
}

function addNotification(rows: Rows, { notification_id, message, task_id = null }: Arguments): Printable {
  mustOwn(rows, 'user');
  const notification = notificationModel({ notification_id: notification_id!, message: message!, task_id }, '');
  rows.put('notifications', notification_id as string, notification);
  return notification as Printable;
}

const set = (tools: Record<string, ExactTool>): ToolSet => new Map(Object.entries(tools));

const tools = set({
  create_task: { parameters: ['user_id', 'title', 'description'], optional: ['description'], mutates: true, run: createTask },
  get_users: { parameters: [], run: (rows) => all(rows, 'assistant', 'users') },
  update_task_status: { parameters: ['task_id', 'status'], mutates: true, run: updateTaskStatus },
  transfer_to_human_agents: { parameters: ['summary'], run: () => 'Transfer successful' },
});

const userTools = set({
  check_notifications: { parameters: [], run: (rows) => all(rows, 'user', 'notifications') },
  dismiss_notification: { parameters: ['notification_id'], mutates: true, run: dismissNotification },
});

const functions = {
  assistant: set({
    assert_number_of_tasks: {
      parameters: ['user_id', 'expected_number'],
      run: (rows, { user_id, expected_number }) => (find(rows, 'assistant', 'user', user_id!).tasks as Json[]).length === expected_number,
    },
    assert_task_status: {
      parameters: ['task_id', 'expected_status'],
      run: (rows, { task_id, expected_status }) => find(rows, 'assistant', 'task', task_id!).status === expected_status,
    },
  }),
  user: set({
    add_notification: { parameters: ['notification_id', 'message', 'task_id'], optional: ['task_id'], run: addNotification },
    assert_notification_status: {
      parameters: ['notification_id', 'expected_status'],
      run: (rows, { notification_id, expected_status }) => find(rows, 'user', 'notification', notification_id!).status === expected_status,
    },
  }),
};

const texts: ToolText[] = [
  {
    name: 'create_task',
    description: "Add a task to a user's list.",
    parameters: [
      { name: 'user_id', type: 'string', description: 'Whose task it is' },
      { name: 'title', type: 'string', description: 'What the task is called' },
      { name: 'description', type: 'string', description: 'More about the task, if there is more to say', optional: true },
    ],
  },
  { name: 'get_users', description: 'List all users.', parameters: [] },
  {
    name: 'update_task_status',
    description: 'Set the status of a task.',
    parameters: [
      { name: 'task_id', type: 'string', description: 'Which task' },
      { name: 'status', type: { choice: STATUSES }, description: 'Its new status' },
    ],
  },
  {
    name: 'transfer_to_human_agents',
    description: 'Hand over to a human, when the user asks for one or policy and tools leave no way to help.',
    parameters: [{ name: 'summary', type: 'string', description: 'What the user wants.' }],
  },
];

const userTexts: ToolText[] = [
  { name: 'check_notifications', description: 'Show all of your notifications.', parameters: [] },
  {
    name: 'dismiss_notification',
    description: 'Mark a notification as read.',
    parameters: [{ name: 'notification_id', type: 'string', description: 'Which notification.' }],
  },
];

export const exactMock = makeExactDomain({
  name: 'mock',
  unknownTool: toolNotFound,
  tables: [
    { name: 'tasks', read: taskModel },
    { name: 'users', read: userModel },
  ],
  userTables: [{ name: 'notifications', read: notificationModel }],
  tools,
  schemas: texts.map(tau2Schema),
  userTools,
  userSchemas: userTexts.map(tau2Schema),
  functions,
});
