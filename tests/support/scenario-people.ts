/** A hand-made task of a small world of meeting rooms: what its customer and its demonstrator know. */
import { callOf, type Expert } from '../../src/agent/acts.ts';
import type { Domain } from '../../src/environments/types.ts';
import type { Persona } from '../../src/records/conditions.ts';
import type { ChatMessage } from '../../src/records/conversation.ts';
import type { Json } from '../../src/records/json.ts';
import type { ScenarioPeople } from '../../src/records/scenario.ts';
import type { Task, ToolCall, UserScenario } from '../../src/records/task.ts';
import { customers } from '../../src/scenarios/people/customer.ts';
import { STOP } from '../../src/users/types.ts';

/** Move booking_3 to Monday, 10:00, for 6 people. */
export const MOVE: ScenarioPeople = {
  wish: 'I want to move my booking',
  facts: [
    { name: 'who', value: 'Ada Lopez', says: 'I am Ada Lopez', ask: ['your name', 'full name', 'who'], identifies: true },
    { name: 'booking', value: 'booking_3', says: 'it is booking_3', ask: ['which booking', 'booking id', 'booking number'] },
    { name: 'day', value: 'Monday', says: 'to Monday', ask: ['which day', 'day', 'when', 'date'] },
    { name: 'start', value: '10:00', says: 'at 10:00', ask: ['what time', 'start', 'when'] },
    { name: 'people', value: 6, says: 'for 6 people', ask: ['how many people', 'attendees', 'group size'] },
  ],
  reads: [
    { name: 'get_booking', arguments: { booking_id: 'booking_3' } },
    { name: 'list_free_rooms', arguments: { day: 'Monday', start: '10:00', seats: 6 } },
  ],
  proposals: ['move booking_3 to room_5 on Monday at 10:00'],
  tell: ['12'],
  tempts: [
    { kind: 'wrong_record', name: 'move_booking', arguments: { booking_id: 'booking_4', room: 'room_5', day: 'Monday', start: '10:00' } },
    { kind: 'extra_write', name: 'cancel_booking', arguments: { booking_id: 'booking_4' } },
  ],
};
export const CHANGING: ScenarioPeople = {
  ...MOVE,
  change: { name: 'day', first: { value: 'Tuesday', says: 'to Tuesday' }, says: 'actually, make it Monday' },
};
export const FORBIDDEN: ScenarioPeople = {
  ...MOVE,
  proposals: [],
  tell: [],
  refuse: 'A booking that starts within an hour cannot be moved.',
  tempts: [],
};

export const scenarioOf = (people: ScenarioPeople, persona: Persona, tellsAll?: boolean): UserScenario => ({
  persona,
  identity: { who: 'Ada Lopez' },
  wishes: [],
  instruction: 'You are Ada Lopez.',
  facts: { people: people as unknown as Json },
  ...(tellsAll !== undefined && { tellsAll }),
});

export type Tools = Readonly<Record<string, (args: Record<string, Json>) => string>>;
/** What the tools of this world answer. Room 5 is free on Monday, room 2 on other days. */
export const TOOLS: Tools = {
  get_booking: ({ booking_id }) =>
    booking_id === 'booking_3' ? '{"booking_id":"booking_3","day":"Friday","room":"room_1"}' : 'Error: there is no such booking',
  list_free_rooms: ({ day }) => (day === 'Monday' ? '["room_5","room_7"]' : '["room_2"]'),
  move_booking: () => '{"fee":12}',
  cancel_booking: () => '{"cancelled":true}',
};
export const DOMAIN: Domain = { name: 'toy', level: 'one', policy: '', tools: [], terminalTools: [] };
export const MOVED: ToolCall = {
  name: 'move_booking',
  arguments: { booking_id: 'booking_3', room: 'room_5', day: 'Monday', start: '10:00' },
};
export const taskOf = (scenario: UserScenario, actions: ToolCall[] = [MOVED]): Task => ({
  id: 'toy/one/train/1/0',
  domain: 'toy',
  level: 'one',
  split: 'train',
  world: 'toy',
  scenario,
  actions,
  noop: actions.length === 0,
});

/** Plays until the customer leaves, or for 60 acts. The agent sees what an agent sees. */
export function converse(expert: Expert, scenario: UserScenario, seed: number, tools: Tools = TOOLS): ChatMessage[] {
  const customer = customers.customer(scenario, seed);
  const messages: ChatMessage[] = [{ role: 'user', content: customer.open() }];
  for (let i = 0; i < 60 && !messages.at(-1)!.content.includes(STOP); i++) {
    const act = expert.act(messages);
    if ('say' in act) {
      const move = customer.hear(act.say);
      messages.push({ role: 'assistant', content: act.say }, { role: 'user', content: 'say' in move ? move.say : '' });
    } else {
      const { name, arguments: args } = act.call;
      messages.push({ role: 'assistant', content: '', tool_calls: [{ type: 'function', function: { name, arguments: args } }] });
      messages.push({ role: 'tool', content: tools[name]!(args) });
    }
  }
  return messages;
}

export const callsIn = (messages: readonly ChatMessage[]): ToolCall[] => messages.flatMap((message) => callOf(message) ?? []);
