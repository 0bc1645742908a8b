/** @file The demonstrator's words. There are many, so that a model learns what to say and no fixed sentence. */
import { hash32 } from '../../base/random.ts';
import { participle } from './verbs.ts';
import { sentence } from './wording.ts';

const joined = (parts: readonly string[]): string =>
  parts.length > 1 ? `${parts.slice(0, -1).join(', ')}, and ${parts.at(-1)!}` : (parts[0] ?? '');
const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** The words of one conversation. Each choice depends on the seed and on the number of messages so far. */
export class ExpertWords {
  constructor(
    private readonly seed: number,
    private readonly at: number,
  ) {}

  #pick(list: readonly string[], key = 0): string {
    return list[hash32(this.seed, this.at, key) % list.length]!;
  }

  /** Asks for facts. @param asks how each of them is asked for, for example “which day” */
  ask(asks: readonly string[]): string {
    const what = joined(asks);
    const question = this.#pick([
      `${capital(what)}?`,
      `Please tell me ${what}.`,
      `I need to know ${what}.`,
      `Could you tell me ${what}?`,
      `Can you tell me ${what}, please?`,
      `For that I need to know ${what}.`,
      `${asks.length > 1 ? 'Some questions' : 'One question'}: ${what}?`,
      `May I ask ${what}?`,
      `First I must know ${what}.`,
      `What I still need: ${what}.`,
    ]); // prettier-ignore
    return `${this.#opening()}${question}`;
  }

  /** Asks for a fact again, because no record has it. */
  askAgain(ask: string): string {
    return this.#pick([
      `I cannot find that. Please check and tell me ${ask} again.`,
      `There is no such record. Could you tell me ${ask} once more?`,
      `Nothing is found. Please tell me ${ask} again.`,
    ]);
  }

  /** Repeats the customer's wish. */
  check(wish: string): string {
    return this.#pick([
      `Let me check: ${wish}. Is that right?`,
      `So ${wish}. Is that correct?`,
      `Before I look: ${wish}. Is that right?`,
      `I understand: ${wish}. Is that correct?`,
    ]);
  }

  /** Asks for a yes. @param acts what the agent would do, for example “cancel booking_3” */
  propose(acts: readonly string[]): string {
    const what = joined(acts);
    const question = this.#pick([
      `Shall I ${what}?`,
      `May I ${what}?`,
      `Should I ${what}?`,
      `I can ${what}. Shall I go ahead?`,
      `I will ${what}. Yes or no?`,
      `I would ${what}. Is that okay?`,
      `${capital(what)}. Yes or no?`,
      `Would you like me to ${what}?`,
      `Do you want me to ${what}?`,
      `I am going to ${what}. Do you agree?`,
      `My proposal: ${what}. Do you agree?`,
      `I would now ${what}. Is that right?`,
    ]);
    return `${this.#opening()}${question}`;
  }

  #opening(): string {
    return this.#pick(['', '', '', 'Thank you. ', 'Okay. ', 'All right. ', 'Sure. '], 1);
  }

  /** Reports what was done. @param acts as in `propose` */
  report(acts: readonly string[], more: readonly string[], offersMore: boolean): string {
    return [
      ...(acts.length > 0 ? [this.#did(sentence(`I have ${joined(acts.map(done))}`))] : []),
      ...more,
      ...(offersMore ? [this.#else()] : []),
    ].join(' ');
  }

  /** Reports without saying what. */
  brief(): string {
    return `${this.#pick(['Done.', 'That is done.', 'It is done.'])} ${this.#else()}`;
  }

  #did(did: string): string {
    return this.#pick([
      `Done. ${did}`,
      did,
      'Done.',
      'That is done.',
      `${did} That is all set.`,
      `All set. ${did}`,
      'It is done.',
      `Good news: ${did}`,
    ]);
  }

  refuse(why: string, isFirm: boolean, more: readonly string[], offersMore: boolean): string {
    const no = isFirm
      ? this.#pick([
          'I understand, but I cannot make an exception.',
          'Sorry, I cannot do it, not even once.',
          'I cannot change this rule, sorry.',
        ])
      : this.#pick([
          'Sorry, I cannot do that.',
          'I am sorry, that is not possible.',
          'Unfortunately, I cannot do that.',
          'That is not possible, sorry.',
          'I cannot do that.',
          'I am afraid that is not possible.',
        ]);
    return [no, sentence(why), ...more, ...(offersMore ? [this.#else()] : [])].join(' ');
  }

  /** Says that a tool did not do what it should. */
  failed(): string {
    return this.#pick([
      'Sorry, the system does not work right now, so I cannot do it.',
      'I am sorry, I cannot do it: the system failed.',
      'Sorry, that failed. I cannot do it now.',
    ]);
  }

  /** Ends a conversation with a customer who does not answer. */
  withoutFacts(): string {
    return this.#pick([
      'Sorry, without that I cannot help you.',
      'I am sorry, I cannot do it without that.',
      'Then I cannot help you, sorry.',
    ]);
  }

  close(): string {
    return this.#pick(['You are welcome. Goodbye.', 'Thank you. Goodbye.', 'All right. Goodbye.', 'Then we are done. Anything else?']);
  }

  #else(): string {
    return this.#pick([
      'Anything else?',
      'Is there anything else?',
      'Can I do anything else for you?',
      'Do you need anything else?',
      'What else can I do for you?',
      'Is there anything else that you need?',
    ], 2); // prettier-ignore
  }
}

/** “book room_5” becomes “booked room_5”. */
function done(act: string): string {
  const [verb = '', ...rest] = act.split(' ');
  return [participle(verb), ...rest].join(' ');
}
