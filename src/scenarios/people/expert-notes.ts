/** @file What the demonstrator knows of a conversation. It reads the whole conversation again before each act, and nothing else. */
import { callOf } from '../../agent/acts.ts';
import { meaningOf } from '../../agent/answers.ts';
import { canonicalJson } from '../../base/json.ts';
import { OUTAGE, TIMEOUT } from '../../environments/faults.ts';
import type { ChatMessage } from '../../records/conversation.ts';
import type { PersonFact, PlannedCall, ScenarioPeople } from '../../records/scenario.ts';
import type { ToolCall } from '../../records/task.ts';
import { factsBefore } from './told.ts';
import { contains, plain, prefixOf, tells } from './values.ts';

export interface Notes {
  /** What the customer said, and what tools showed. */
  heard: string;
  shown: readonly string[];
  /** The facts as the customer last stated them, and those that they have not told yet. */
  facts: readonly PersonFact[];
  missing: readonly PersonFact[];
  /** Whether the customer will still change a fact. The demonstrator must not act on the later value. */
  unchanged: boolean;
  /** How each call ended that was answered last. */
  results: ReadonlyMap<string, Outcome>;
  /** The last call, if its answer was the last message. */
  last: { call: ToolCall; outcome: Outcome; repeated: number } | null;
  /** What the agent said, in order, with the customer's answer. */
  exchanges: readonly { said: string; answer: string }[];
  /** The number of exchanges since the last call of a tool. */
  since: number;
}

export type Outcome = 'ok' | 'error' | 'outage' | 'timeout';

export const keyOf = ({ name, arguments: args }: PlannedCall): string => canonicalJson([name, args]);

const outcomeOf = (text: string): Outcome =>
  text === OUTAGE ? 'outage' : text === TIMEOUT ? 'timeout' : /^(?:Error|Unknown action)\b/.test(text) ? 'error' : 'ok';

export function takeNotes(messages: readonly ChatMessage[], people: ScenarioPeople): Notes {
  const results = new Map<string, Outcome>();
  const heard: string[] = [];
  const shown: string[] = [];
  const exchanges: { said: string; answer: string }[] = [];
  let call: ToolCall | undefined;
  let last: Notes['last'] = null;
  let [changed, since] = [false, 0];
  for (const message of messages) {
    const { role, content } = message;
    if (role === 'user') {
      heard.push(content);
      if (exchanges.length > 0) exchanges.at(-1)!.answer = content;
      changed ||= people.change !== undefined && changes(content, people);
      last = null;
    } else if (role === 'assistant') {
      const made = callOf(message);
      if (made) call = made;
      else {
        exchanges.push({ said: content, answer: '' });
        since += 1;
      }
    } else if (role === 'tool' && call) {
      since = 0;
      const repeated: number = last && keyOf(last.call) === keyOf(call) ? last.repeated + 1 : 0;
      const outcome = outcomeOf(content);
      // The second call of a write fails if the first one was carried out after all.
      const done = outcome === 'error' && results.get(keyOf(call)) === 'timeout' ? 'ok' : outcome;
      results.set(keyOf(call), done);
      last = { call, outcome: done, repeated };
      if (outcome === 'ok') shown.push(content);
      call = undefined;
    }
  }
  const facts = changed ? people.facts : factsBefore(people);
  const all = heard.join('\n');
  const isTold = (fact: PersonFact) => (changed && fact.name === people.change!.name) || heard.some((text) => tells(text, fact));
  const missing = facts.filter((fact) => !isTold(fact));
  return {
    heard: all,
    shown,
    facts,
    missing,
    unchanged: people.change !== undefined && !changed,
    results,
    last,
    exchanges,
    since,
  };
}

/** Whether the customer now says the later value of a fact. */
function changes(text: string, { facts, change }: ScenarioPeople): boolean {
  const { name, first, says } = change!;
  const fact = facts.find((one) => one.name === name)!;
  return plain(text).includes(plain(says).replace(/[.!?]$/, '')) || (tells(text, fact) && !tells(text, { ...fact, ...first }));
}

/** Whether the customer said yes to a message with this text. */
export const agreedTo = ({ exchanges }: Notes, text: string): boolean =>
  exchanges.some(({ said, answer }) => plain(said).includes(plain(text)) && meaningOf(answer, said) === 'yes');

/** The call with ids that a tool has shown in the place of ids that nobody has told. Null: no such id was shown. */
export function withShownIds(call: PlannedCall, { shown, heard }: Pick<Notes, 'shown' | 'heard'>): ToolCall | null {
  const args: ToolCall['arguments'] = {};
  const results = shown.join('\n');
  const latest = (id: RegExp) => id.exec(shown.findLast((text) => id.test(text)) ?? '')?.[0];
  for (const [name, value] of Object.entries(call.arguments)) {
    const prefix = prefixOf(value);
    const isKnown = prefix === undefined || contains(results, value as string) || contains(heard, value as string);
    const other = isKnown ? value : latest(new RegExp(`\\b${prefix}\\d+\\b`));
    if (other === undefined) return null;
    args[name] = other;
  }
  return { name: call.name, arguments: args };
}
