/** What the audit and the layers of a scenario find in conversations that are written by hand, with the tools of the meeting rooms. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../../src/records/conversation.ts';
import { checkRules, domainRules, type DomainRules } from '../../../src/synthesis/rules.ts';

let rooms: DomainRules | null;
let library: DomainRules | null;
let plans: DomainRules | null;
let bookings: DomainRules | null;
beforeAll(
  async () => void ([rooms, library, plans, bookings] = await Promise.all(['rooms', 'library', 'plans', 'bookings'].map(domainRules))),
);

type Line = string | [name: string, args: object, result: unknown];

/** `U: ` and `A: ` begin what customer and agent say. A list is a call with its result. */
const messages = (lines: readonly Line[]): ChatMessage[] => [
  { role: 'system', content: 'Before you change something, say exactly what you will do and wait for a yes.' },
  ...lines.flatMap((line): ChatMessage[] => {
    if (typeof line === 'string') return [{ role: line.startsWith('U') ? 'user' : 'assistant', content: line.slice(3) }];
    const [name, args, result] = line;
    const content = typeof result === 'string' ? result : JSON.stringify(result);
    return [
      { role: 'assistant', content: '', tool_calls: [{ type: 'function', function: { name, arguments: args as never } }] },
      { role: 'tool', name, content },
    ];
  }),
];

function found(...lines: Line[]): string[] {
  const { audit, communication, policy } = checkRules({ id: 'x', messages: messages(lines), domain: 'rooms' }, rooms);
  return [audit, communication, policy].flatMap((grade) => grade.found ?? []);
}

const ASK = 'U: Please cancel my bookings book_7 and book_8. I am Ada from Legal.';
const FIND: Line = ['find_user', { name: 'Ada', team: 'Legal' }, [{ id: 'user_1', name: 'Ada', team: 'Legal' }]];
const cancel = (booking: string, result: unknown = { cancelled: booking, fee: 5 }): Line => ['cancel_booking', { booking }, result];
const BOTH = 'A: Shall I cancel book_7, and cancel book_8?';
const BYE = 'U: No, thanks. Bye. ###STOP###';

describe('after a yes, the write must be tried', () => {
  it('finds nothing if both writes are made', () => {
    expect(found(ASK, FIND, BOTH, 'U: Yes.', cancel('book_7'), cancel('book_8'), 'A: Both are cancelled. Anything else?', BYE)).toEqual([]);
  });

  it.each([
    ['an agent that says goodbye', ['A: You are welcome. Goodbye.']],
    ['an agent that claims one', ['A: I have cancelled book_8. Anything else?']],
    ['an agent that made the other write', [cancel('book_8'), 'A: Done. Anything else?']],
    ['an agent that made it for another booking', [cancel('book_8'), cancel('book_9'), 'A: Done. Anything else?']],
    ['an agent that blames the system for its own error', [cancel('book_9', 'Error: no booking book_9'), 'A: Sorry, I cannot do it.']],
  ])('finds %s', (_, lines) => {
    expect(found(ASK, FIND, BOTH, 'U: Yes.', ...(lines as Line[]), BYE)).toContain('promise');
  });

  it.each([
    'A: I would cancel book_7 and book_8. Is that okay?',
    'A: These bookings would be cancelled:\n- book_7\n- book_8\nShall I go ahead and cancel them?',
    'A: Do you want me to delete book_7 and then remove book_8?',
  ])('understands %j', (question) => {
    expect(found(ASK, FIND, question, 'U: Yes, please.', cancel('book_8'), 'A: That is done. Anything else?', BYE)).toContain('promise');
    expect(found(ASK, FIND, question, 'U: Yes, please.', cancel('book_7'), cancel('book_8'), 'A: That is done.', BYE)).not.toContain(
      'promise',
    );
  });

  it.each([
    ['a customer who says no', ['U: No, leave them.', 'A: All right. Anything else?', BYE]],
    [
      'a customer who takes the yes back',
      ['U: Yes.', FIND, 'A: One moment, I look.', 'U: Wait, stop, I changed my mind.', 'A: All right.', BYE],
    ],
    [
      'a reason',
      [
        'U: Yes.',
        ['get_booking', { booking: 'book_7' }, { id: 'book_7', day: 'Monday' }],
        'A: Sorry, I cannot cancel it, because it is today.',
        BYE,
      ],
    ],
    ['an outage', ['U: Yes.', cancel('book_7', 'Error: the service is busy, please try again'), 'A: Sorry, the system failed.', BYE]],
    ['a conversation that was cut', ['U: Yes.', FIND]],
  ])('excuses %s', (_, lines) => {
    expect(found(ASK, FIND, BOTH, ...(lines as Line[]))).toEqual([]);
  });

  it('asks for no write after a yes to facts', () => {
    expect(
      found('U: Move book_7 to Friday, 10:00.', 'A: So booking book_7, day Friday. Is that right?', 'U: Yes.', 'A: Which start time?', BYE),
    ).toEqual([]);
  });
});

describe('what the customer named must not be left out', () => {
  const first = (...more: Line[]) => [FIND, 'A: Shall I cancel book_7?', 'U: Yes.', cancel('book_7'), 'A: I have cancelled book_7. Anything else?', ...more, BYE]; // prettier-ignore

  it('finds a booking that the agent only repeated or looked at', () => {
    const look: Line = ['get_booking', { booking: 'book_8' }, { id: 'book_8' }];
    expect(found(ASK, ...first())).toEqual(['unanswered']);
    expect(found(ASK, 'A: So book_7 and book_8. Is that correct?', 'U: Yes.', look, ...first())).toEqual(['unanswered']);
  });

  it('excuses a refusal, a corrected id, and a customer who only asks', () => {
    expect(found(ASK, ...first('U: And book_8?', 'A: Sorry, book_8 cannot be cancelled, because it is today.'))).toEqual([]);
    expect(found('U: Cancel book_8.', 'A: Your name?', 'U: Ada. Sorry, I meant book_7, not book_8.', ...first())).toEqual([]);
    expect(
      found('U: When is book_8?', ['list_bookings', { user: 'user_1' }, [{ id: 'book_8', start: '10:00' }]], 'A: At 10:00.', BYE),
    ).toEqual([]);
  });
});

describe('an id by which the agent finds what it changes', () => {
  const list: Line = ['list_bookings', { user: 'user_1' }, [{ id: 'book_7', room: 'room_2' }]];
  const rest = [list, 'A: Shall I cancel book_7?', 'U: Yes.', cancel('book_7'), 'A: Done. Anything else?', BYE];

  it('is answered by the change', () => {
    expect(found('U: I am user_1. Please cancel my booking.', ...rest)).toEqual([]);
    expect(found('U: I am user_1. Please cancel book_7.', ...rest)).toEqual([]);
  });

  it('does not answer another id, nor one whose look-up found nothing that is changed', () => {
    expect(found('U: I am user_1. Please cancel my bookings, also book_8.', ...rest)).toEqual(['unanswered']);
    const look: Line = ['get_booking', { booking: 'book_8' }, { id: 'book_8', user: 'user_1', room: 'room_3' }];
    expect(found('U: I am user_1. Please cancel my bookings, also book_8.', look, ...rest)).toEqual(['unanswered']);
  });
});

describe('a claim must be true', () => {
  it.each([['Done. Anything else?'], ['I have cancelled book_7.'], ['It is done. The amount is 5.']])(
    'finds %j after an error',
    (claim) => {
      const call = cancel('book_7', 'Error: bookings of today cannot be cancelled');
      expect(found('U: Cancel book_7.', 'A: Shall I cancel book_7?', 'U: Yes.', call, `A: ${claim}`, BYE)).toEqual(['false_claim']);
    },
  );
});

describe('a write is about the record that the words of the customer mean', () => {
  const people = [
    { id: 'user_1', name: 'Ada', team: 'Sales' },
    { id: 'user_2', name: 'Ada', team: 'Legal' },
  ];
  const book = (user: string, shown: unknown = people, said = 'Ada from Legal') =>
    found(`U: I am ${said}. Book room_5 on Friday from 10:00 to 11:00.`, ['find_user', { name: 'Ada' }, shown], 'A: Shall I book room_5 on Friday from 10:00 to 11:00?', 'U: Yes.', ['book_room', { user, room: 'room_5', day: 'Friday', start: '10:00', end: '11:00' }, { id: 'book_9' }], 'A: I have booked room_5.', BYE); // prettier-ignore

  it('finds a namesake, and an id that nobody said and no tool showed', () => {
    expect(book('user_2')).toEqual([]);
    expect(book('user_1')).toEqual(['wrong_record']);
    expect(book('user_7')).toEqual(['wrong_record']);
  });

  it('does not guess between records that fit equally well', () => {
    expect(book('user_1', people, 'Ada')).toEqual([]);
    expect(book('user_1', [people[0]])).toEqual([]);
  });
});

describe('the audit knows a write by its verb and by whole values', () => {
  const move = (question: string, args: object = {}) =>
    found('U: Move my booking book_7 to Friday at 13:00.', `A: ${question}`, 'U: Yes.', ['move_booking', { booking: 'book_7', day: 'Friday', start: '13:00', ...args }, { id: 'book_7' }], 'A: It is moved.', BYE); // prettier-ignore

  it('takes no question about the booking for one about its end', () => {
    expect(move('Shall I move book_7 to Friday at 13:00?')).toEqual([]);
    const more = ['A: Booking book_7, day Friday. Is that right?', 'U: Yes.', cancel('book_7'), 'A: Done.', BYE];
    expect(found('U: Move my booking book_7 to Friday.', ...(more as Line[]))).toContain('unconfirmed_write');
  });

  it('knows other words for the act, and the usual ways to write a value', () => {
    expect(move('May I reschedule book_7 to Friday at 1 pm?')).toEqual([]);
    expect(move('Should I shift booking `book_7` to **Fri**, 13:00?')).toEqual([]);
  });

  it('does not find an id in a longer one, nor another value', () => {
    expect(move('Shall I move book_77 to Friday at 13:00?')).toContain('unconfirmed_write');
    expect(move('Shall I move book_7 to Friday at 13:30?')).toContain('unconfirmed_write');
    expect(move('Shall I move book_7 to Thursday at 13:00?')).toContain('unconfirmed_write');
  });
});

describe('a write that the policy forbids is found by what the tools have shown', () => {
  const broken = (rules: DomainRules | null, ...lines: Line[]) =>
    checkRules({ id: 'x', messages: messages(lines), domain: rules!.name }, rules).policy.found ?? [];
  const look = (day: string, user = 'user_1'): Line => ['get_booking', { booking: 'book_7' }, { id: 'book_7', user, day }];
  const away = cancel('book_7');

  it('knows the day and the owner of a booking', () => {
    expect(broken(rooms, FIND, look('Friday'), away)).toEqual([]);
    expect(broken(rooms, FIND, look('Monday'), away)).toEqual(['forbidden_write']);
    expect(broken(rooms, FIND, look('Friday', 'user_2'), away)).toEqual(['forbidden_write']);
    expect(broken(rooms, FIND, ['list_bookings', { user: 'user_1' }, [{ id: 'book_7', day: 'Monday' }]], away)).toEqual([
      'forbidden_write',
    ]);
  });

  it('finds nothing where no tool has shown it, in a result of another form, after an error, and for another booking', () => {
    expect(broken(rooms, look('Friday', 'user_2'), away)).toEqual([]);
    expect(broken(rooms, ASK, FIND, away)).toEqual([]);
    expect(broken(rooms, ASK, FIND, ['get_booking', { booking: 'book_7' }, 'It is on Monday.'], away)).toEqual([]);
    expect(broken(rooms, FIND, look('Monday'), cancel('book_7', 'Error: bookings of today cannot be cancelled'))).toEqual([]);
    expect(broken(rooms, ASK, FIND, look('Monday'), cancel('book_8'))).toEqual([]);
  });

  it('forgets what a later write may have changed, and nothing else', () => {
    const member: Line = ['find_member', { name: 'Ada' }, [{ id: 'member_1', name: 'Ada', card: '1234', limit: 2, fees: 20 }]];
    const loans: Line = [
      'get_loans',
      { member: 'member_1' },
      ['loan_1: book_1, due May 4, renewed 2', 'loan_2: book_2, due May 9, renewed 0'],
    ];
    const lend: Line = ['lend_book', { member: 'member_1', book: 'book_3' }, { id: 'loan_3' }];
    const pay: Line = ['pay_fees', { member: 'member_1' }, { id: 'member_1', fees: 0 }];
    const renew = (loan: string): Line => ['renew_loan', { loan }, { id: loan, renewals: 3 }];
    const talk = ['U: The card is 1234. Renew loan_1 and loan_2, and lend me book_3. I am member_1.', member] as Line[];
    expect(broken(library, ...talk, lend)).toEqual(['forbidden_write']);
    expect(broken(library, ...talk, pay, lend)).toEqual([]);
    expect(broken(library, ...talk, loans, pay, renew('loan_1'))).toEqual(['forbidden_write']);
    expect(broken(library, ...talk, loans, renew('loan_2'))).toEqual([]);
    // The write may have been made all the same, so what the customer owes is no longer known.
    expect(broken(library, ...talk, ['pay_fees', { member: 'member_1' }, 'Error: timed out'], lend)).toEqual([]);
  });

  it('knows which tasks and bookings the agent has looked at, and what is full, taken or paid', () => {
    const tasks = (plan: string, ...list: string[]): Line => ['list_tasks', { plan }, list];
    const approve = (plan: string, task: string): Line => ['approve_task', { plan, task }, 'task_approved'];
    expect(broken(plans, tasks('req-1', 'task-1: buy the drinks, done'), approve('req-1', 'task-1'))).toEqual([]);
    expect(broken(plans, tasks('req-1', 'task-12: buy the drinks, done'), approve('req-1', 'task-1'))).toEqual(['forbidden_write']);
    expect(broken(plans, tasks('req-1', 'task-1: buy the drinks, done'), approve('req-2', 'task-1'))).toEqual(['forbidden_write']);

    const own = (...list: [booking: string, paid: number][]): Line => [
      'find_bookings',
      { guest: 'Ada Ito' },
      list.map(([booking, paid]) => ({ booking, boat: 'Swan', paid })),
    ];
    const away = cancel('booking_1', { affected_rows: 1 });
    expect(broken(bookings, own(['booking_1', 0]), away)).toEqual([]);
    expect(broken(bookings, own(['booking_1', 1]), away)).toEqual(['forbidden_write']);
    expect(broken(bookings, 'U: Cancel booking_1.', own(['booking_2', 0]), away)).toEqual(['forbidden_write']);
    const free = (people: number, ...boats: string[]): Line => [
      'find_boats',
      { day: 'Friday', time: '09:00', people },
      boats.map((boat) => ({ boat })),
    ];
    const trip = { guest: 'Ada Ito', boat: 'Swan', day: 'Friday', time: '09:00', people: 3 };
    const book: Line = ['book_boat', trip, { affected_rows: 1 }];
    expect(broken(bookings, own(['booking_1', 0]), free(3, 'Swan'), book)).toEqual([]);
    expect(broken(bookings, own(['booking_1', 0], ['booking_2', 0]), free(3, 'Swan'), book)).toEqual(['forbidden_write']);
    expect(broken(bookings, own(), free(3, 'Gull'), book)).toEqual(['forbidden_write']);
    expect(broken(bookings, own(), free(4, 'Gull'), book)).toEqual([]);
  });
});
