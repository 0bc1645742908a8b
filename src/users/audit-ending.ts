/** @file Audits the end of a conversation: does the customer leave before its wish was heard or settled, or does it never leave? */
import type { UserScenario, Wish } from '../records/task.ts';
import type { TerminationReason } from '../records/trajectory.ts';
import type { Report } from './audit-facts.ts';
import { withoutStops } from './audit-words.ts';
import { hearable } from './hearable.ts';
import { saysStop } from './stop.ts';
import { type CustomerLanguage, STOP_WORDS } from './types.ts';

/** An event of a conversation: a message that the customer sees or writes, or a write, which the customer does not see. */
export type Event = { by: 'customer' | 'agent'; text: string } | { by: 'write' };

/**
 * A customer may leave after `PATIENCE` answers if it says that they do not help, or if the agent repeats itself. It may leave
 * without such a reason after `MORE_PATIENCE` answers.
 */
const PATIENCE = 3;
const MORE_PATIENCE = 8;
const GIVES_UP =
  /\b(give up|giving up|(does not|doesn't|doesn’t|not|isn't|isn’t) (really )?help(ing|ful)?|useless|waste of|frustrat\w{0,6}|not working|isn't working|never ?mind|another time|call back|a human|a manager|supervisor|going in circles|enough of this|pointless)\b/i;

/** What has happened in the conversation, from the customer's view. */
interface State {
  outcomes: number;
  refused: boolean;
  transferred: boolean;
  /** `answers`: the number of answers since the last outcome. `loops`: whether the last two answers are equal. */
  answers: number;
  loops: boolean;
  /** Whether the agent's last message asks for more wishes. */
  offers: boolean;
}

function stateAt(events: readonly Event[], language: CustomerLanguage): State {
  const state: State = { outcomes: 0, refused: false, transferred: false, answers: 0, loops: false, offers: false };
  let last = '';
  for (const event of events) {
    if (event.by === 'customer') continue;
    if (event.by === 'write') {
      state.outcomes += 1;
      state.answers = 0;
      continue;
    }
    const heard = language.listen(hearable(event.text));
    const settles = heard.claims !== '' || heard.refused || heard.transferred;
    state.answers = settles ? 0 : state.answers + 1;
    state.outcomes += Number(settles);
    state.refused = heard.refused;
    state.transferred ||= heard.transferred;
    state.loops = event.text === last;
    state.offers = heard.open;
    last = event.text;
  }
  return state;
}

/** The reason why a customer that leaves after these events leaves too early. Null if it may leave. `goodbye` is its last message. */
function tooEarly(events: readonly Event[], goodbye: string, { persona, wishes }: UserScenario, language: CustomerLanguage): string | null {
  const { outcomes, refused, transferred, answers, loops, offers } = stateAt(events, language);
  const spoken = events.filter(({ by }) => by === 'agent').length;
  const goodReason =
    transferred || refused || answers >= MORE_PATIENCE || (answers >= PATIENCE && loops) || (spoken >= PATIENCE && GIVES_UP.test(goodbye));
  if (goodReason) return null;
  if (outcomes === 0) return 'The customer ends the conversation, and the agent has neither done nor refused anything.';
  if (persona === 'reserved' && !offers) return null;
  const untold = wishes.filter((wish) => !isTold(wish, events, wishes, language));
  return untold.length > 0 ? `The customer ends the conversation without its wish to ${untold[0]!.intent.replaceAll('_', ' ')}.` : null;
}

/** Whether someone named the object of the wish, or the customer asked for this kind of act as often as it has such wishes. */
function isTold(wish: Wish, events: readonly Event[], wishes: readonly Wish[], language: CustomerLanguage): boolean {
  const { intent } = wish;
  const texts = events.flatMap((event) => (event.by === 'write' ? [] : [event]));
  if (texts.some(({ text }) => language.names(hearable(text), wish))) return true;
  const asked = texts.filter(({ by, text }) => by === 'customer' && language.requests(hearable(text), intent)).length;
  return asked >= wishes.filter((other) => other.intent === intent).length;
}

/** Reports a customer that leaves too early. The events must end with its last message. @param language absent if no rules understand the agent */
export function reportEarlyEnd(
  events: readonly Event[],
  scenario: UserScenario,
  language: CustomerLanguage | undefined,
  report: Report,
): void {
  const last = events.at(-1);
  // A customer of one turn leaves after each answer, also after an empty one.
  if (scenario.scripted || last?.by !== 'customer' || !saysStop(last.text, STOP_WORDS)) return;
  if (!events.some(({ by }) => by === 'agent')) return report('ended_too_early', 'The first message ends the conversation.');
  if (scenario.wishes.length === 0 || !language) return;
  const why = tooEarly(events, last.text, scenario, language);
  if (why !== null) report('ended_too_early', why);
}

const plain = (text: string) =>
  withoutStops(text)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
/** A customer that gives the same answer to this many different messages is no longer listening. */
const REPEATS = 4;

/** Reports a customer that continues, until a limit ends the conversation, although the agent has finished, or that only repeats itself. */
export function reportNoEnd(events: readonly Event[], termination: TerminationReason, language: CustomerLanguage, report: Report): void {
  if (termination !== 'max_turns' && termination !== 'context_full') return;
  const said = events.filter((event) => event.by !== 'write');
  const own = said.filter(({ by }) => by === 'customer').map(({ text }) => plain(hearable(text)));
  const heard = said.filter(({ by }) => by === 'agent').map(({ text }) => plain(hearable(text)));
  const repeated = own.slice(-REPEATS);
  if (own.length > REPEATS && new Set(repeated).size === 1 && new Set(heard.slice(-REPEATS)).size === REPEATS)
    return report('never_ended', `The customer answers ${REPEATS} different messages with the same words until the limit.`);
  const finished = said.findLastIndex(({ by, text }) => by === 'agent' && settles(text, language));
  if (finished < 0) return;
  const after = said.slice(finished + 1).filter(({ by }) => by === 'customer');
  // A customer with a further request, or with a question, has a reason to stay.
  if (after.length >= 2 && !after.some(({ text }) => language.requests(hearable(text)) || text.includes('?')))
    report('never_ended', `The customer writes ${after.length} more messages after the agent has finished, and does not leave.`);
}

function settles(text: string, language: CustomerLanguage): boolean {
  const heard = language.listen(hearable(text));
  return heard.claims !== '' || heard.refused;
}
