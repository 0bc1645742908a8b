/** The demonstrator of scenarios, in a hand-made world. */
import { describe, expect, it } from 'vitest';
import { planBefore } from '../../../src/scenarios/people/told.ts';
import type { ExpertOptions } from '../../../src/agent/acts.ts';
import { OUTAGE, TIMEOUT } from '../../../src/environments/faults.ts';
import type { Persona } from '../../../src/records/conditions.ts';
import type { ChatMessage } from '../../../src/records/conversation.ts';
import type { Habit } from '../../../src/records/dataset.ts';
import type { ScenarioPeople } from '../../../src/records/scenario.ts';
import type { ToolCall } from '../../../src/records/task.ts';
import { createExpert } from '../../../src/scenarios/people/expert.ts';
import {
  callsIn,
  CHANGING,
  converse,
  DOMAIN,
  FORBIDDEN,
  MOVE,
  MOVED,
  scenarioOf,
  taskOf,
  type Tools,
  TOOLS,
} from '../../support/scenario-people.ts';

interface Played {
  people?: ScenarioPeople;
  persona?: Persona;
  seed?: number;
  tools?: Tools;
  actions?: ToolCall[];
  options?: ExpertOptions;
}

function play({ people = MOVE, persona = 'upfront', seed = 1, tools = TOOLS, actions, options }: Played = {}): ChatMessage[] {
  const scenario = scenarioOf(people, persona);
  const task = taskOf(scenario, actions ?? (people.refuse === undefined ? [MOVED] : []));
  return converse(createExpert(DOMAIN, seed, { ...options, task }), scenario, seed, tools);
}
const writesOf = (messages: ChatMessage[]) => callsIn(messages).filter(({ name }) => /^(?:move|cancel|book)_/.test(name));
const saidBy = (messages: ChatMessage[]) =>
  messages.filter(({ role, tool_calls }) => role === 'assistant' && !tool_calls).map(({ content }) => content);
const SEEDS = Array.from({ length: 40 }, (_, seed) => seed);

describe.each(['careful', 'brisk'] as const)('a %s demonstrator', (style) => {
  it.each(['upfront', 'on_request', 'reserved'] as const)('serves %s customers, for all seeds', (persona) => {
    for (const seed of SEEDS) {
      const messages = play({ persona, seed, options: { style } });
      expect(writesOf(messages)).toEqual([MOVED]);
      expect(messages.at(-1)!.content).toContain('###STOP###');
      expect(saidBy(messages).at(-1)).toContain('The fee is 12.');
    }
  });

  it('says nothing that neither the customer nor a tool has told', () => {
    for (const seed of SEEDS)
      for (const people of [MOVE, CHANGING]) {
        const messages = play({ people, persona: 'on_request', seed, options: { style } });
        messages.forEach((message, i) => {
          if (message.role !== 'assistant') return;
          const before = messages.slice(0, i).filter(({ role }) => role !== 'assistant').map(({ content }) => content).join('\n'); // prettier-ignore
          const text = `${message.content} ${JSON.stringify(message.tool_calls?.[0]?.function.arguments ?? '')}`;
          for (const fact of ['Ada', 'booking_3', 'Monday', 'Tuesday', '10:00', 'room_5', '12', ' 6 '])
            if (text.includes(fact)) expect(before).toContain(fact.trim());
        });
      }
  });
});

it('proposes the write, and makes it only after the yes, if it is careful', () => {
  for (const seed of SEEDS) {
    const messages = play({ seed });
    const at = messages.findIndex(({ tool_calls }) => tool_calls?.[0]?.function.name === 'move_booking');
    expect(messages[at - 2]!.content).toMatch(/move booking_3 to room_5 on Monday at 10:00/i);
    expect(messages[at - 1]!.content).toMatch(/^Yes/);
    const brisk = play({ seed, options: { style: 'brisk' } });
    expect(brisk.filter(({ content, role }) => role === 'assistant' && content.includes('?')).every(({ content }) => !/move booking_3/i.test(content) || / else|have moved/.test(content))).toBe(true); // prettier-ignore
  }
});

it('follows a change of mind, and reads again what depends on it', () => {
  for (const seed of SEEDS)
    for (const persona of ['changes_mind', 'confused'] as const) {
      const messages = play({ people: CHANGING, persona, seed });
      expect(writesOf(messages)).toEqual([MOVED]);
      const days = callsIn(messages).flatMap(({ arguments: { day }, name }) => (name === 'list_free_rooms' ? day : []));
      expect(days).toEqual(['Tuesday', 'Monday']);
    }
});

it('asks again if a confused customer named a thing that does not exist', () => {
  const people: ScenarioPeople = {
    ...MOVE,
    change: { name: 'booking', first: { value: 'booking_8', says: 'it is booking_8' }, says: 'I meant booking_3' },
  };
  for (const seed of SEEDS) expect(writesOf(play({ people, persona: 'confused', seed }))).toEqual([MOVED]);
});

it('refuses what the policy forbids, also if the customer insists', () => {
  for (const persona of ['impossible', 'pushy'] as const)
    for (const seed of SEEDS) {
      const messages = play({ people: FORBIDDEN, persona, seed });
      expect(writesOf(messages)).toEqual([]);
      expect(saidBy(messages).at(-1)).toContain('A booking that starts within an hour cannot be moved.');
      expect(messages.at(-1)!.content).toContain('###STOP###');
    }
});

it('does not name what it refuses before the customer does, although a tool has shown it', () => {
  const people = { ...FORBIDDEN, refuse: 'I cannot move booking_3.', reads: [{ name: 'list_bookings', arguments: {} }] };
  const tools: Tools = { ...TOOLS, list_bookings: () => '["booking_2","booking_3"]' };
  for (const seed of SEEDS) {
    const messages = play({ people, persona: 'impossible', seed, tools });
    const [customers, ours] = ['user', 'assistant'].map((side) =>
      messages.findIndex(({ role, content }) => role === side && content.includes('booking_3')),
    );
    expect(customers).toBeGreaterThanOrEqual(0);
    expect(ours).toBeGreaterThan(customers!);
  }
});

it('makes several writes, each after a yes', () => {
  const cancel: ToolCall = { name: 'cancel_booking', arguments: { booking_id: 'booking_3' } };
  const people = { ...MOVE, wish: 'I want to move one booking and cancel another one', proposals: [...MOVE.proposals, 'cancel booking_3'] };
  const questions = SEEDS.map((seed) => {
    const messages = play({ people, seed, actions: [MOVED, cancel] });
    expect(writesOf(messages)).toEqual([MOVED, cancel]);
    return saidBy(messages).filter((text) => /cancel booking_3/i.test(text) && /\?/.test(text) && !/\belse\b/.test(text)).length;
  });
  expect(Math.min(...questions)).toBe(1);
});

describe('faults of tools', () => {
  /** Tools whose call number `at` of a name is answered with `text`. */
  const failing = (name: string, text: string, times: number): Tools => {
    let calls = 0;
    return { ...TOOLS, [name]: (args) => (calls++ < times ? text : TOOLS[name]!(args)) };
  };
  it('tries again during an outage', () => {
    for (const name of ['get_booking', 'list_free_rooms', 'move_booking']) {
      const messages = play({ tools: failing(name, OUTAGE, 2) });
      expect(callsIn(messages).filter((call) => call.name === name)).toHaveLength(3);
      expect(saidBy(messages).at(-1)).toContain('12');
    }
  });

  it('tells the truth after a long outage', () => {
    const messages = play({ tools: failing('move_booking', OUTAGE, 99) });
    expect(callsIn(messages).length).toBeLessThan(20);
    expect(saidBy(messages).every((text) => !/\bdone\b|have moved/i.test(text))).toBe(true);
    expect(messages.at(-1)!.content).toContain('###STOP###');
  });

  it('tells the truth after an error', () => {
    const messages = play({ tools: { ...TOOLS, move_booking: () => 'Error: the room is taken' } });
    expect(writesOf(messages)).toHaveLength(1);
    expect(saidBy(messages).every((text) => !/\bdone\b|have moved/i.test(text))).toBe(true);
    expect(messages.at(-1)!.content).toContain('###STOP###');
  });

  it('calls again after a timeout, or claims success without the habit', () => {
    const timed = (habits: Habit[]) => writesOf(play({ tools: failing('move_booking', TIMEOUT, 1), options: { habits: new Set(habits) } }));
    expect(timed(['calls_again'])).toEqual([MOVED, MOVED]);
    expect(timed([])).toEqual([MOVED]);
    const read = play({ tools: failing('get_booking', TIMEOUT, 1), options: { habits: new Set() } });
    expect(callsIn(read).filter(({ name }) => name === 'get_booking')).toHaveLength(2);
  });

  it('takes the error of a second call as a sign that the first one was carried out', () => {
    let calls = 0;
    const messages = play({ tools: { ...TOOLS, move_booking: () => (calls++ === 0 ? TIMEOUT : 'Error: the booking is there already') } });
    expect(saidBy(messages).at(-1)).toMatch(/done|moved|all set/i);
  });
});

it('offers more by habit', () => {
  const last = (habits: Habit[]) => SEEDS.map((seed) => saidBy(play({ seed, options: { habits: new Set(habits) } })).at(-1)!);
  expect(last(['offers_more']).every((text) => text.endsWith('?'))).toBe(true);
  expect(last([]).some((text) => text.includes('?'))).toBe(false);
});

it('needs a task with people', () => {
  expect(() => createExpert(DOMAIN, 1, {})).toThrow("task: the demonstrator of 'toy' needs a task");
  const bare = taskOf({ persona: 'upfront', identity: {}, wishes: [], instruction: '', facts: { people: { wish: 'x' } } });
  expect(() => createExpert(DOMAIN, 1, { task: bare })).toThrow('scenario.facts.people: expected wish, facts');
});

it('uses many words, and the same ones for the same seed', () => {
  const texts = (seed: number) => saidBy(play({ persona: 'on_request', seed })).map((text) => text.replace(/\d+/g, '#'));
  expect(texts(5)).toEqual(texts(5));
  expect(new Set(Array.from({ length: 100 }, (_, seed) => texts(seed)).flat()).size).toBeGreaterThan(80);
});

it('proposes the first value of a list in the words of the scenario', () => {
  const tags = { name: 'tags', value: ['red', 'blue'], says: 'in red, blue', ask: ['which colours'] };
  const change = { name: 'tags', first: { value: ['green', 'grey'], says: 'in green, grey' }, says: 'In red, blue, please.' };
  const people = { wish: 'Paint it.', facts: [tags], change, reads: [], proposals: ['paint it red, blue'], tell: [], tempts: [] };
  expect(planBefore(people, []).proposals).toEqual(['paint it green, grey']);
});
