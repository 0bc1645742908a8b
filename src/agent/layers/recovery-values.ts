/** @file Values of a write, such as a color or an amount: the last ones on which customer and agent agreed must count. */
import { meaningOf } from '../answers.ts';
import { asks } from '../questions.ts';
import { sentences } from '../sentences.ts';
import type { RuleLog } from './rule-log.ts';
import type { Made, Said, Talk } from './talk.ts';

export interface ValueRules {
  /** Finds the ids of orders, reservations, lines and bills in a text. */
  things: (text: string) => string[];
  /**
   * Whether a write has a value that a text names: an option, an amount, a date. Undefined: the text names none of its kind.
   * @param text what is wanted, without what is ruled out
   * @param replaced whether values count that the write replaces, such as the color that the customer has
   */
  matches: (write: Made, text: string, talk: Talk, replaced: boolean) => boolean | undefined;
}

/** What a text rules out: `not 9`, `instead of olive`, `2 GB is too much`. */
const RULED_OUT =
  /\b(?:not|n't|instead of|rather than|in place of|without|forget|no longer|no more|never ?mind)\b[^,.;:!?\n]{0,60}|[^,.;:!?\n]*\btoo (?:much|many|expensive|big|large|small|little)\b/gi;
const wantedIn = (text: string): string => text.replace(RULED_OUT, ' ');

const isOfThing = ({ args }: Made, text: string, { things }: ValueRules): boolean | undefined => {
  const named = things(text);
  const own = Object.entries(args).flatMap(([key, value]) => (/^(?:order|reservation|line|bill)_id$/.test(key) ? [value] : []));
  return named.length > 0 && own.length > 0 ? own.some((id) => named.includes(String(id))) : undefined;
};

/** Whether a write is as a message wants it: its thing and its values. Undefined: the message does not say. */
export function fits(write: Made, text: string, talk: Talk, rules: ValueRules): boolean | undefined {
  const wanted = wantedIn(text);
  const judged = [isOfThing(write, wanted, rules), rules.matches(write, wanted, talk, true)].filter((one) => one !== undefined);
  return judged.length === 0 ? undefined : judged.every(Boolean);
}

/** A question for a fact is no wish. */
const withoutQuestions = (text: string): string =>
  sentences(text)
    .filter((sentence) => !sentence.endsWith('?') || /\b(?:can|could|would|will) (?:you|i|we)\b|\bplease\b/i.test(sentence))
    .join('\n');

/** What customer and agent wanted before a write: messages of the customer, and offers of the agent that got a yes. */
function* wishesBefore(place: number, talk: Talk): Generator<Said> {
  for (const message of talk.heardIn(-1, place)) {
    const offer = talk.saidIn(talk.lastHeard(message.place), message.place);
    const text = offer.map((said) => said.text).join('\n');
    if (asks(text) && meaningOf(message.text, text) === 'yes') yield { place: message.place, text };
    else yield { place: message.place, text: withoutQuestions(message.text) };
  }
}

/** Checks that no write has a value that was wanted before, and then replaced. */
export function checkValues(talk: Talk, log: RuleLog, rules: ValueRules): void {
  for (const write of talk.writes) {
    const judged = [...wishesBefore(write.place, talk)].flatMap(({ text }) => {
      const wanted = wantedIn(text);
      const matches = isOfThing(write, wanted, rules) === false ? undefined : rules.matches(write, wanted, talk, false);
      return matches === undefined ? [] : [{ text, matches }];
    });
    // A change of mind that was lost is one fault.
    if (judged.length < 2 || log.findings.some(({ message }) => message === write.place)) continue;
    const last = judged.at(-1)!;
    const isOld = !last.matches && judged.some(({ matches }) => matches);
    log.check('old_value', write.place, isOld ? `${write.name} has an older value than “${last.text.slice(0, 100)}”` : null);
  }
}
