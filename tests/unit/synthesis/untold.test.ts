/** What an agent says before anybody has told it, in conversations that were written by hand. */
import { expect, it } from 'vitest';
import { escapeRegExp } from '../../../src/base/escape-reg-exp.ts';
import type { ChatMessage } from '../../../src/records/conversation.ts';
import type { Task, ToolSchema } from '../../../src/records/task.ts';
import { hinted, hintOf } from '../../../src/synthesis/hint.ts';
import { untold } from '../../../src/synthesis/untold.ts';

const tools: ToolSchema[] = [
  {
    type: 'function',
    function: {
      name: 'book_room',
      description: '',
      parameters: {
        type: 'object',
        properties: { room: { type: 'string' }, day: { type: 'string', enum: ['Monday', 'Tuesday', 'Friday'] }, why: { type: 'string', enum: ['team talk', 'guest visit'] }, start: { type: 'string' }, people: { type: 'integer' } },
        required: [],
      },
    },
  },
]; // prettier-ignore
const task: Task = {
  id: 'x/1', domain: 'x', level: 'nano', split: 'train', world: 'w', noop: false,
  scenario: { persona: 'upfront', identity: { name: 'Ada-Lee' }, wishes: [], instruction: '' },
  actions: [{ name: 'book_room', arguments: { room: 'room_12', day: 'Friday', start: '10:00', people: 6, why: 'team talk' } }],
}; // prettier-ignore

const system: ChatMessage = { role: 'system', content: 'Today is Monday. Book rooms.' };
const user = (content: string): ChatMessage => ({ role: 'user', content });
const agent = (content: string, args?: object): ChatMessage => ({
  role: 'assistant',
  content,
  ...(args && { tool_calls: [{ type: 'function', function: { name: 'book_room', arguments: args as Record<string, never> } }] }),
});
const tool = (content: string): ChatMessage => ({ role: 'tool', name: 'book_room', content });
const find = (...messages: ChatMessage[]) => untold([system, ...messages], tools, task, hintOf(task).prose);

it.each<[string, ChatMessage[], string | null]>([
  ['told by the customer', [user('A room on Friday for 6 people at 10:00.'), agent('Friday, 10:00, 6 people?')], null],
  ['told in other words', [user('A room on Fri for six people at 10 am, I am Ada-Lee.'), agent('Friday, 10:00, 6 people, Ada-Lee?')], null],
  ['told by a tool', [user('A room.'), agent('', {}), tool('["room_12"]'), agent('room_12 is free.')], null],
  ['told by the policy', [user('A room.'), agent('Not today, on Monday?')], null],
  ['a list of choices', [user('A room.'), agent('Which day: Monday, Tuesday or Friday?')], null],
  ['a choice of several words', [user('I want to talk with my team.'), agent('Is it a team talk?', { why: 'team talk' })], null],
  ['an id of the hint', [user('A room.'), agent('Shall I book room_12?')], 'the agent says "room_12"'],
  ['a day of the hint', [user('A room.'), agent('On Friday?')], 'the agent says "Friday"'],
  ['a choice beside one that was told', [user('A room.'), agent('Not on Monday, but on Friday?')], 'the agent says "Friday"'],
  ['a time, in other words', [user('A room.'), agent('At 10 am?')], 'the agent says "10:00"'],
  ['a number as a word', [user('A room.'), agent('For six of you?')], 'the agent says "6"'],
  ['a name', [user('A room.'), agent('Hello Ada-Lee.')], 'the agent says "Ada-Lee"'],
  ['an id that nobody has', [user('A room.'), agent('I take room_77.')], 'the agent says "room_77"'],
  ['a call with a value of the hint', [user('A room on Friday.'), agent('', { room: 'room_12', day: 'Friday' })], 'the agent calls book_room with "room_12"'],
  ['told too late', [user('A room.'), agent('On Friday?'), user('Yes, Friday.')], 'the agent says "Friday"'],
  ['only the agent has said it', [user('A room.'), agent('', { day: 'Friday' }), agent('Friday.')], 'the agent calls book_room with "Friday"'],
  ['a long text of the hint that the customer has told', [user('Please tell them: you do not know their values before the customer speaks.'), agent('I write: you do not know their values before the customer speaks.')], null],
  ['a call of the hint', [user('Ada-Lee, room_12, Friday, 10:00, 6.'), agent('I will use book_room: room room_12, day Friday, start 10:00, people 6.')], 'the agent quotes its hint'],
  ['arguments in the order of the hint', [user('Ada-Lee, room_12, Friday, 10:00, 6.'), agent('So room room_12, day Friday, start 10:00, people 6?')], null],
  ['a quotation of the hint', [user('A room.'), agent('You do not know their values before the customer speaks.')], 'the agent quotes its hint'],
])('%s', (_, messages, why) => {
  const found = find(...messages);
  if (why === null) expect(found).toBeNull();
  else expect(found!.why).toContain(why);
}); // prettier-ignore

it.each<[string, ChatMessage[], string | null]>([
  ['after both reads', [agent('', { day: 'Monday' }), tool('["a"]'), agent('', { day: 'Friday' }), tool('["b","c"]'), agent('3 rooms are free.')], null],
  ['after one of the reads', [agent('', { day: 'Monday' }), tool('["a"]'), agent('3 rooms are free.')], 'the agent says "3 rooms are free"'],
  ['at once', [agent('3 rooms are free.')], 'the agent says "3 rooms are free"'],
])('an answer that the agent computes: %s', (_, messages, why) => {
  const reads = ['Monday', 'Friday'].map((day) => ({ name: 'book_room', arguments: { day } }));
  const people = { wish: 'Tell me how many rooms are free.', facts: [], reads, proposals: [], tell: ['3 rooms are free'], tempts: [] };
  const counting = { ...task, actions: [], scenario: { ...task.scenario, facts: { people } } };
  const found = untold([system, user('How many rooms are free on Monday and Friday?'), ...messages], tools, counting);
  if (why === null) expect(found).toBeNull();
  else expect(found!.why).toContain(why);
}); // prettier-ignore

it('the hint has the calls, and only the system message has the hint', () => {
  const hint = hintOf({ ...task, actions: [...task.actions, { name: 'tap', arguments: {}, requestor: 'user' }] });
  expect(hint.text).toContain('1. book_room {"room":"room_12","day":"Friday","start":"10:00","people":6,"why":"team talk"}');
  expect(hint.text).not.toContain('tap');
  const messages = [
    { role: 'system' as const, content: 'Policy.' },
    { role: 'user' as const, content: 'Hi.' },
  ];
  expect(hinted(messages, hint)).toEqual([{ role: 'system', content: `Policy.\n\n${hint.text}` }, messages[1]]);
  expect(messages[0]!.content).toBe('Policy.');
});

it('a pattern of a text with a hyphen can have the flag u', () => {
  for (const flags of ['', 'u']) expect(new RegExp(`^${escapeRegExp('a-b.c/[d]')}$`, flags).test('a-b.c/[d]')).toBe(true);
  expect(new RegExp(`[${escapeRegExp('a-c')}]`, 'u').test('b')).toBe(false);
});
