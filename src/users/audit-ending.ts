/** @file The audit of a conversation's end: the customer leaves before its wish was heard or settled, or never leaves. */
import type { UserScenario, Wish } from '../records/task.ts';
import type { TerminationReason } from '../records/trajectory.ts';
import type { Report } from './audit-facts.ts';
import { withoutStops } from './audit-words.ts';
import { hearable } from './hearable.ts';
import { saysStop } from './stop.ts';
import { type CustomerLanguage, STOP_WORDS } from './types.ts';

/** A part of a conversation that the customer sees or that decides it. */
export type Event = { by: 'customer' | 'agent'; text: string } | { by: 'write' };

/** A customer may leave after this many answers, if it says that they do not help; and without a word after more of them. */
const PATIENCE = 3;
const MORE_PATIENCE = 8;
const GIVES_UP =
  /\b(give up|giving up|(does not|doesn't|doesn’t|not|isn't|isn’t) (really )?help(ing|ful)?|useless|waste of|frustrat\w{0,6}|not working|isn't working|never ?mind|another time|call back|a human|a manager|supervisor|going in circles|enough of this|pointless)\b/i;

/** What the customer has heard since it began, or since the last wish was settled. */
interface State {
  outcomes: number;
  refused: boolean;
  transferred: boolean;
  /** Answers since the last outcome, and whether the last two are equal. */
  answers: number;
  loops: boolean;
}

function stateAt(events: readonly Event[], language: CustomerLanguage): State {
  const state: State = { outcomes: 0, refused: false, transferred: false, answers: 0, loops: false };
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
    last = event.text;
  }
  return state;
}

/** Why a customer that leaves after these events leaves too early; null if it may leave. `goodbye`: its last message. */
function tooEarly(events: readonly Event[], goodbye: string, { wishes }: UserScenario, language: CustomerLanguage): string | null {
  const { outcomes, refused, transferred, answers, loops } = stateAt(events, language);
  const spoken = events.filter(({ by }) => by === 'agent').length;
  const goodReason =
    transferred || refused || answers >= MORE_PATIENCE || (answers >= PATIENCE && loops) || (spoken >= PATIENCE && GIVES_UP.test(goodbye));
  if (goodReason) return null;
  if (outcomes === 0) return 'The customer ends the conversation, and the agent has neither done nor refused anything.';
  const untold = wishes.filter((wish) => !isTold(wish, events, wishes, language));
  return untold.length > 0 ? `The customer ends the conversation without its wish to ${untold[0]!.intent.replaceAll('_', ' ')}.` : null;
}

/** Whether somebody named what the wish is about, or the customer asked for this kind of act as often as it wishes it. */
function isTold(wish: Wish, events: readonly Event[], wishes: readonly Wish[], language: CustomerLanguage): boolean {
  const { intent } = wish;
  const texts = events.flatMap((event) => (event.by === 'write' ? [] : [event]));
  if (texts.some(({ text }) => language.names(hearable(text), wish))) return true;
  const asked = texts.filter(({ by, text }) => by === 'customer' && language.requests(hearable(text), intent)).length;
  return asked >= wishes.filter((other) => other.intent === intent).length;
}

/** Reports a customer that leaves too early. `said`: the index of its last message among `events`. */
export function reportEarlyEnd(events: readonly Event[], scenario: UserScenario, language: CustomerLanguage, report: Report): void {
  const last = events.at(-1);
  if (last?.by !== 'customer' || !saysStop(last.text, STOP_WORDS)) return;
  if (!events.some(({ by }) => by === 'agent')) return report('ended_too_early', 'The first message ends the conversation.');
  if (scenario.wishes.length === 0) return;
  const why = tooEarly(events, last.text, scenario, language);
  if (why !== null) report('ended_too_early', why);
}

const plain = (text: string) =>
  withoutStops(text)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
/** A customer that says the same to this many different messages no longer listens. */
const REPEATS = 4;

/** Reports a customer that goes on although the agent has finished, or that only repeats itself, until a limit ends the conversation. */
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
