/** Near-misses of the demonstrator of scenarios, in a hand-made world. The good conversation says which message is wrong. */
import { describe, expect, it } from 'vitest';
import type { ExpertOptions } from '../../../src/agent/acts.ts';
import type { Persona } from '../../../src/records/conditions.ts';
import type { ChatMessage } from '../../../src/records/conversation.ts';
import type { NearMissKind, ScenarioPeople } from '../../../src/records/scenario.ts';
import type { ToolCall } from '../../../src/records/task.ts';
import { createExpert } from '../../../src/scenarios/people/expert.ts';
import { nearMisses } from '../../../src/scenarios/people/near-miss.ts';
import { otherRecord, wrongArgument } from '../../../src/scenarios/people/wrong-calls.ts';
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

const CANCELLED: ToolCall = { name: 'cancel_booking', arguments: { booking_id: 'booking_3' } };
const TWO: ScenarioPeople = {
  ...MOVE,
  wish: 'I want to move one booking and cancel another',
  proposals: [...MOVE.proposals, 'cancel booking_3'],
};
const ROOM_2: ToolCall = { name: 'move_booking', arguments: { booking_id: 'booking_3', room: 'room_2', day: 'Tuesday', start: '10:00' } };

interface Spoilt {
  people?: ScenarioPeople;
  persona?: Persona;
  actions?: ToolCall[];
  tools?: () => Tools;
  options?: ExpertOptions;
}

/** The good conversation and its near-miss. */
function play(
  kind: NearMissKind,
  seed: number,
  { people = MOVE, persona = 'upfront', actions = [MOVED], tools = () => TOOLS, options }: Spoilt,
) {
  const scenario = scenarioOf(people, persona);
  const own = { ...options, task: taskOf(scenario, actions) };
  const spoilt = nearMisses.spoil(DOMAIN, seed, kind, own);
  const good = converse(createExpert(DOMAIN, seed, own), scenario, seed, tools());
  return { good, bad: converse(spoilt, scenario, seed, tools()), firstWrong: spoilt.firstWrong };
}

/** The writes that succeeded. */
const writesIn = (messages: ChatMessage[]): ToolCall[] => {
  const results = messages.filter(({ role }) => role === 'tool');
  return callsIn(messages).filter(({ name }, i) => /^(?:move|cancel)_/.test(name) && !results[i]!.content.startsWith('Error'));
};
const SEEDS = Array.from({ length: 25 }, (_, seed) => seed);

/** Plays a kind with many seeds. `check` gets the wrong message and the writes of the near-miss. */
function each(
  kind: NearMissKind,
  options: Spoilt,
  check: (wrong: ChatMessage, writes: ToolCall[], bad: ChatMessage[], good: ChatMessage[]) => void,
) {
  for (const seed of SEEDS) {
    const { good, bad, firstWrong } = play(kind, seed, options);
    const differs = bad.findIndex((message, i) => JSON.stringify(message) !== JSON.stringify(good[i]));
    expect(differs).toBe(firstWrong);
    expect(bad[firstWrong!]!.role).toBe('assistant');
    expect(bad.at(-1)!.content).toContain('###STOP###');
    check(bad[firstWrong!]!, writesIn(bad), bad, good);
  }
}
const isCall = (message: ChatMessage) => message.tool_calls !== undefined;

describe('each kind spoils exactly one decision', () => {
  it('unasked_write: writes without a question', () =>
    each('unasked_write', {}, (wrong, writes, bad) => {
      expect(callsIn([wrong])).toEqual([MOVED]);
      expect(writes).toEqual([MOVED]);
      expect(bad.some(({ role, content }) => role === 'assistant' && /move booking_3 to room_5/i.test(content))).toBe(false);
    }));

  it('wrong_record: writes another record', () =>
    each('wrong_record', {}, (_, writes) =>
      expect(writes).toEqual([{ ...MOVED, arguments: { ...MOVED.arguments, booking_id: 'booking_4' } }]),
    ));

  it('wrong_argument: writes another value', () =>
    each('wrong_argument', {}, (_, [write, ...more]) => {
      expect(more).toEqual([]);
      const other = Object.entries(MOVED.arguments).filter(([name, value]) => write!.arguments[name] !== value);
      expect(other.map(([name]) => name)).toEqual([expect.stringMatching(/^(?:day|start)$/)]);
    }));

  it('stale_value: ignores the change of mind', () =>
    each('stale_value', { people: CHANGING, persona: 'changes_mind' }, (wrong, writes, bad) => {
      expect(bad[bad.indexOf(wrong) - 1]!.content).toBe('Actually, make it Monday.');
      expect(writes).toEqual([ROOM_2]);
    }));

  it('stale_value: takes the plan of the first value', () => {
    const reads = [MOVE.reads[0]!, { name: 'list_free_rooms', arguments: { day: 'Tuesday', start: '10:00', seats: 6 } }];
    const plan = { reads, actions: [ROOM_2], proposals: ['move booking_3 to room_2 on Tuesday at 10:00'] };
    const people = { ...CHANGING, change: { ...CHANGING.change!, first: { ...CHANGING.change!.first, plan } } };
    each('stale_value', { people, persona: 'changes_mind' }, (_, writes) => expect(writes).toEqual([ROOM_2]));
  });

  it('missing_last_write: reports after the first write', () =>
    each('missing_last_write', { people: TWO, actions: [MOVED, CANCELLED] }, (wrong, writes) => {
      expect(isCall(wrong)).toBe(false);
      expect(wrong.content).not.toMatch(/cancelled/);
      expect(writes).toEqual([MOVED]);
    }));

  it('claimed_not_done: reports a write that it did not make', () => {
    each('claimed_not_done', {}, (wrong, writes) => {
      expect(wrong.content).toMatch(/done|moved|all set/i);
      expect(writes).toEqual([]);
    });
    each('claimed_not_done', { people: TWO, actions: [MOVED, CANCELLED] }, (_, writes) => expect(writes).toEqual([MOVED]));
  });

  it('extra_write: makes a write that nobody wants', () =>
    each('extra_write', {}, (_, writes) =>
      expect(writes).toEqual([MOVED, { name: 'cancel_booking', arguments: { booking_id: 'booking_4' } }]),
    ));

  it('forbidden_write: does what the policy forbids, after a yes', () => {
    const tempts = [{ kind: 'forbidden_write' as const, name: MOVED.name, arguments: MOVED.arguments, says: MOVE.proposals[0]! }];
    const people = { ...FORBIDDEN, tempts };
    each('forbidden_write', { people, persona: 'impossible', actions: [] }, (wrong, writes) => {
      expect(wrong.content).toMatch(/move booking_3/i);
      expect(writes).toEqual([MOVED]);
    });
    const direct = {
      people: { ...people, tempts: [{ ...tempts[0]!, says: undefined }] } as ScenarioPeople,
      persona: 'pushy' as const,
      actions: [],
    };
    each('forbidden_write', direct, (wrong, writes) => {
      expect(callsIn([wrong])).toEqual([MOVED]);
      expect(writes).toEqual([MOVED]);
    });
  });

  it('ignored_error: claims success after an error', () => {
    const fussy = (): Tools => ({
      ...TOOLS,
      move_booking: (args) => (Object.keys(args).length === 4 ? '{"fee":12}' : 'Error: start is missing'),
    });
    each('ignored_error', { tools: fussy }, (wrong, writes, bad) => {
      expect(isCall(wrong)).toBe(true);
      expect(writes).toEqual([]);
      expect(bad.at(-2)!.content).toMatch(/done|moved|all set/i);
    });
  });
});

describe('the kinds that a task allows', () => {
  const kinds = (people: ScenarioPeople, actions: ToolCall[], style: 'careful' | 'brisk' = 'careful') =>
    nearMisses.kinds(taskOf(scenarioOf(people, 'upfront'), actions), style);
  it('follow from its writes', () => {
    const one = ['unasked_write', 'wrong_record', 'extra_write', 'claimed_not_done', 'wrong_argument', 'ignored_error'];
    expect(kinds(MOVE, [MOVED])).toEqual(one);
    expect(kinds(MOVE, [MOVED], 'brisk')).toEqual(one.slice(1));
    expect(kinds(CHANGING, [MOVED])).toContain('stale_value');
    expect(kinds(TWO, [MOVED, CANCELLED])).toContain('missing_last_write');
    expect(kinds(FORBIDDEN, [])).toEqual([]);
  });

  it('plays the good conversation if there is no occasion', () => {
    const { good, bad, firstWrong } = play('stale_value', 1, {});
    expect(firstWrong).toBeNull();
    expect(bad).toEqual(good);
  });
});

describe('wrong calls', () => {
  it('name another record that a tool has shown', () => {
    expect(otherRecord(MOVED, '["room_5","room_7"]', 1)).toEqual({ ...MOVED, arguments: { ...MOVED.arguments, room: 'room_7' } });
    expect(otherRecord(MOVED, '["room_5"]', 1)).toBeNull();
  });

  it.each([
    [3, 4],
    [true, false],
    ['Friday', 'Monday'],
    ['23:30', '00:30'],
    ['2026-03-28', '2026-03-01'],
    [['a', 'b'], ['a']],
  ])('have another value than %j', (value, other) => {
    const call = { name: 'x', arguments: { value } };
    expect(wrongArgument(call, { schema: undefined, facts: [], seed: 1 })).toEqual({ name: 'x', arguments: { value: other } });
  });

  it('take another entry of the schema, or another value of the fact', () => {
    const call = { name: 'x', arguments: { color: 'red' } };
    const properties = { color: { type: 'string', enum: ['red', 'blue'] } };
    const schema = {
      type: 'function' as const,
      function: { name: 'x', description: '', parameters: { type: 'object' as const, properties, required: [] } },
    };
    expect(wrongArgument(call, { schema, facts: [], seed: 1 })!.arguments).toEqual({ color: 'blue' });
    const facts = [{ name: 'color', value: 'red', says: 'red', ask: [], others: ['green'] }];
    expect(wrongArgument(call, { schema: undefined, facts, seed: 1 })!.arguments).toEqual({ color: 'green' });
    expect(wrongArgument(call, { schema: undefined, facts: [], seed: 1 })).toBeNull();
  });
});
