/** The scripted customer of scenarios, with agents whose words are written by hand. */
import { describe, expect, it } from 'vitest';
import { isConfirmation } from '../../../src/agent/answers.ts';
import { type Persona, PERSONAS } from '../../../src/records/conditions.ts';
import type { ScenarioPeople } from '../../../src/records/scenario.ts';
import { customers } from '../../../src/scenarios/people/customer.ts';
import { CHANGING, FORBIDDEN, MOVE, scenarioOf } from '../../support/scenario-people.ts';

const play = (people: ScenarioPeople, persona: Persona, messages: readonly string[], tellsAll?: boolean): string[] => {
  const customer = customers.customer(scenarioOf(people, persona, tellsAll), 7);
  const say = (message: string) => {
    const move = customer.hear(message);
    return 'say' in move ? move.say : '';
  };
  return [customer.open(), ...messages.map(say)];
};
const reply = (message: string, people = MOVE, persona: Persona = 'upfront') => play(people, persona, [message])[1]!;

describe('the first message', () => {
  it('tells everything, or only the wish', () => {
    const [all] = play(MOVE, 'upfront', []);
    for (const fact of ['Ada Lopez', 'booking_3', 'Monday', '10:00', '6 people']) expect(all).toContain(fact);
    expect(play(MOVE, 'on_request', [])[0]).toMatch(/^(Hi|Hello)\. I want to move my booking\.$/);
  });

  it('says the first value of a fact that the customer changes later', () => {
    const [text] = play(CHANGING, 'changes_mind', [], true);
    expect(text).toContain('Tuesday');
    expect(text).not.toContain('Monday');
  });
});

describe('questions', () => {
  it.each([
    ['What is your name?', ['Ada Lopez']],
    ['Sure, I can help with that! Could you please tell me your full name and the booking ID?', ['Ada Lopez', 'booking_3']],
    ['May I have your name, please?', ['Ada Lopez']],
    [
      'To find it, I need:\n1. Your name\n2. The booking number\n3. How many attendees will there be?',
      ['Ada Lopez', 'booking_3', '6 people'],
    ],
    ['Please confirm your name.', ['Ada Lopez']],
    ['On which day, and at what time?', ['Monday', '10:00']],
    ['Which booking do you mean: booking_3 on Friday or booking_4 on Thursday?', ['booking_3']],
    ['Should it be Monday or Tuesday?', ['Monday']],
    ["Thanks! What's the group size?", ['6 people']],
  ])('answers %s', (question, facts) => {
    const said = play(MOVE, 'on_request', [question])[1]!;
    for (const fact of facts) expect(said).toContain(fact);
    for (const other of ['Ada Lopez', 'booking_3', 'Monday', '10:00', '6 people'].filter((fact) => !facts.includes(fact)))
      if (!(facts.includes('10:00') || facts.includes('Monday')) || !['Monday', '10:00'].includes(other)) expect(said).not.toContain(other);
  });

  it('does not tell what it does not know', () => {
    const said = reply('What is your email address?', MOVE, 'on_request');
    expect(said).toMatch(/don't know|not sure/);
  });
});

describe('proposals', () => {
  it.each([
    'Shall I move booking_3 to room_5 on Monday at 10:00?',
    'I will move booking_3 to room_5 on Monday at 10 am for six people. Yes or no?',
    'Here is what I would do:\n- Booking: **booking_3**\n- New room: room_5\n- Day: Monday\n- Start: 10:00 a.m.\n\nDo you want me to proceed?',
    'Move booking_3 from Friday to Monday, 10:00. Is that correct?',
    'Would you like me to reschedule booking_3 to Monday at 10:00?',
    'Do you confirm?',
    'Just to confirm: Monday at 10:00 for 6 people. Okay?',
    'Is it for 6 people?',
    'room_5 is free and costs 12 euros. Should I go ahead with rescheduling booking 3?',
  ])('agrees to %s', (proposal) => {
    expect(isConfirmation(reply(proposal))).toBe(true);
  });

  it.each([
    ['Shall I move booking_3 to room_5 on Tuesday at 10:00?', 'Monday'],
    ['Shall I move booking_4 to room_5 on Monday at 10:00?', 'booking_3'],
    ['Shall I move booking_3 and booking_4 to Monday, 10:00?', 'booking_3'],
    ['I will move booking_3 to room_5 on Monday at 11:00. Yes or no?', '10:00'],
    ['- Booking: booking_3\n- Day: Wednesday\n- Start: 10:00\nShall I proceed?', 'Monday'],
    ['Is it for 8 people?', '6 people'],
    ['So that is Monday at 10 pm, right?', '10:00'],
    ['Shall I cancel booking_3?', 'move my booking'],
    ['Would you like me to cancel booking_3 and book room_5 instead?', 'move my booking'],
    ['Shall I move booking_3 to Monday at 10:00 and also cancel the other one?', 'move my booking'],
  ])('refuses %s, and says what is wrong', (proposal, right) => {
    const said = reply(proposal);
    expect(isConfirmation(said)).toBe(false);
    expect(said).toMatch(/^No/);
    expect(said).toContain(right);
  });

  it('changes its mind at the first proposal, and agrees only to the new value', () => {
    const said = play(CHANGING, 'changes_mind', [
      'Shall I move booking_3 to room_5 on Tuesday at 10:00?',
      'Shall I move booking_3 to room_5 on Tuesday at 10:00?',
      'Shall I move booking_3 to room_5 on Monday at 10:00?',
    ]);
    expect(said[1]).toBe('Actually, make it Monday.');
    expect(said[2]).toContain('Monday');
    expect(isConfirmation(said[2]!)).toBe(false);
    expect(isConfirmation(said[3]!)).toBe(true);
  });

  it('looks again when it is confused and the agent finds nothing', () => {
    const said = play(CHANGING, 'confused', ['Sorry, I cannot find that. Which day is it?'], true);
    expect(said[1]).toContain('make it Monday');
  });
});

describe('the end', () => {
  it.each([
    'Done. Anything else?',
    'I have moved booking_3 to room_5 on Monday at 10:00.',
    'Your booking has been rescheduled to Monday at 10 am. Is there anything else I can help you with?',
    'All set! See you on Monday.',
    'I moved it. The fee is 12 euros.',
    'You are being transferred to a human agent.',
  ])('believes %s', (claim) => {
    expect(play(MOVE, 'upfront', ['Shall I move booking_3 to room_5 on Monday at 10:00?', claim])[2]).toContain('###STOP###');
  });

  it.each([
    ['I have moved booking_3 to Tuesday at 10:00.', 'Monday'],
    ['Done: I have cancelled booking_3.', 'move'],
    ['booking_4 has been moved to Monday.', 'booking_3'],
  ])('does not believe %s', (claim, right) => {
    const said = reply(claim);
    expect(said).not.toContain('###STOP###');
    expect(said).toContain(right);
  });

  it('waits for an agent that is busy', () => {
    for (const message of ['One moment, please. I am checking the rooms.', 'I have found your booking. Next I will look for a room.'])
      expect(reply(message)).not.toContain('###');
  });

  it('accepts a no to a forbidden wish, and insists once if it is pushy', () => {
    const no = 'Unfortunately, a booking that starts within an hour cannot be moved.';
    expect(play(FORBIDDEN, 'impossible', [no])[1]).toContain('###STOP###');
    const said = play(FORBIDDEN, 'pushy', [no, no]);
    expect(said[1]).not.toContain('###STOP###');
    expect(said[2]).toContain('###STOP###');
  });

  it('says everything once more after an unexpected no, and then leaves', () => {
    const said = play(MOVE, 'on_request', ['Sorry, I cannot do that.', 'Sorry, I cannot do that.']);
    expect(said[1]).toContain('booking_3');
    expect(said[2]).toContain('###STOP###');
  });

  it.each([
    '',
    '?',
    'Hello!',
    'What is your name?',
    'Shall I cancel booking_9?',
    'lorem ipsum dolor',
    'How can I help you?',
    'Please wait.',
    'a'.repeat(1e6),
    'shall i '.repeat(1e5),
  ])('leaves an agent that only says %.20s', (message) => {
    for (const persona of PERSONAS) {
      const said = play(
        CHANGING,
        persona,
        Array.from({ length: 20 }, () => message),
      );
      expect(said.findIndex((text) => text.includes('###STOP###'))).toBeGreaterThan(0);
      expect(said.every((text) => text.length < 400)).toBe(true);
    }
  });
});

it('plays the same conversation again, and other words for other seeds and for varied customers', () => {
  const opened = (seed: number, varied: boolean) => customers.customer(scenarioOf(MOVE, 'upfront'), seed, { varied }).open();
  expect(opened(1, false)).toBe(opened(1, false));
  const count = (varied: boolean) => new Set(Array.from({ length: 50 }, (_, seed) => opened(seed, varied))).size;
  expect(count(true)).toBeGreaterThan(count(false));
});

it('suggests sentences for a visitor', () => {
  const said = customers.suggestions!({ level: 'nano', scenario: scenarioOf(CHANGING, 'changes_mind') });
  expect(said[0]).toContain('Tuesday');
  expect(said).toContain('Actually, make it Monday.');
});
