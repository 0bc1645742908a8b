/** @file The words of a scenario's customers: plain ones, and varied ones for the same facts. */
import type { Dice } from '../../base/dice.ts';
import type { PersonFact } from '../../records/scenario.ts';
import { STOP } from '../../users/types.ts';

/** Makes a sentence: adds a capital letter and a full stop. */
export function sentence(text: string): string {
  const said = text.trim();
  return said === '' ? '' : `${said[0]!.toUpperCase()}${said.slice(1)}${/[.!?]$/.test(said) ? '' : '.'}`;
}

/** Words that say the same, from which the dice choose. */
interface Bank {
  greeting: readonly string[];
  yes: readonly string[];
  no: readonly string[];
  unknown: readonly string[];
  agreed: readonly string[];
  lost: readonly string[];
  sorry: readonly string[];
  insist: readonly string[];
  goodbye: readonly string[];
  giveUp: readonly string[];
  /** Before facts that answer a question. */
  answer: readonly string[];
}

export const PLAIN: Bank = {
  greeting: ['Hi.', 'Hello.'],
  yes: ['Yes.', 'Yes, please.'],
  no: ['No,', 'No, that is wrong:'],
  unknown: ["I don't know.", "I don't know that."],
  agreed: ['All right.', 'Okay, thank you.'],
  lost: ['I do not understand.', 'Sorry, what do you need from me?'],
  sorry: ['Sorry, I mixed that up:', 'Sorry, that was wrong:'],
  insist: ['Please make an exception.', 'Please, just this once.'],
  goodbye: ['No, thanks.', 'Thanks, bye.'],
  giveUp: ['This does not help me. Bye.', 'I give up. Bye.'],
  answer: [''],
};

export const VARIED: Bank = {
  greeting: ['Hi.', 'Hello.', 'Hi there.', 'Good morning.', 'Hello there.', 'Hey.', 'Good evening.', 'Hi. I hope you can help me.', 'Hello. I am in a bit of a hurry.', 'Hi. Sorry to bother you.'], // prettier-ignore
  yes: ['Yes.', 'Yes, please.', 'Yes, go ahead.', 'Yes, that is right.', 'Yes, do that.', 'Yes, please do.'],
  no: ['No,', 'No, that is wrong:', 'No, not that:', 'No, you got that wrong:'],
  unknown: ["I don't know.", "I don't know that.", "Sorry, I don't know that.", 'I am not sure.'],
  agreed: ['All right.', 'Okay, thank you.', 'Fine.', 'Okay, I will wait.'],
  lost: ['I do not understand.', 'Sorry, what do you need from me?', 'I am not sure what you mean.', 'Sorry, I cannot follow you.'],
  sorry: ['Sorry, I mixed that up:', 'Sorry, that was wrong:', 'My mistake:', 'Oh, I read the wrong line:'],
  insist: ['Please make an exception.', 'Please, just this once.', 'I really need this. Please make an exception.', 'Can you not do it anyway, please?'], // prettier-ignore
  goodbye: ['No, thanks.', 'Thanks, bye.', 'No, that is all.', 'That is all, thank you.', 'No, thank you. Bye.'],
  giveUp: ['This does not help me. Bye.', 'I give up. Bye.', 'This leads nowhere. Bye.'],
  answer: ['', '', 'Sure.', 'Of course.', 'Let me see.'],
};

export class Wording {
  constructor(
    private readonly dice: Dice,
    private readonly bank: Bank,
  ) {}

  say(kind: Exclude<keyof Bank, 'goodbye' | 'giveUp'>): string {
    return this.dice.pick(this.bank[kind]);
  }

  /** The last words of a conversation. */
  leave(kind: 'goodbye' | 'giveUp'): string {
    return `${this.dice.pick(this.bank[kind])} ${STOP}`;
  }

  /** Facts as sentences. */
  facts(facts: readonly PersonFact[]): string {
    return facts.map(({ says }) => sentence(says)).join(' ');
  }
}
