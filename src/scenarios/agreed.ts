/** @file Whether the agent does what it has to do: each write to which the customer said yes, and something about each thing that they named. */
import { meaningOf } from '../agent/answers.ts';
import { ASKS_MORE, refusalsIn, tellsTrouble } from '../agent/layers/communication-claims.ts';
import type { RuleLog } from '../agent/layers/rule-log.ts';
import { isTransient, type Said, type Talk } from '../agent/layers/talk.ts';
import { asks, asksFor } from '../agent/questions.ts';
import { sentences } from '../agent/sentences.ts';
import { idsIn, plain } from './people/values.ts';
import { namesAct } from './people/verbs.ts';

/** A tool that changes data, and the verbs that name what it does. */
export interface WriteVerbs {
  tool: string;
  verbs: readonly string[];
}

/** A part of a question that names a write. Verbs of several tools can mean the same. */
interface Proposed {
  tools: readonly string[];
  /** The first id of the part. Undefined: it names none. */
  id: string | undefined;
  text: string;
}

const PARTS = /[.?!;:\n]+\s+|,\s*(?:and\s+|then\s+)*|\s+and\s+(?:then\s+|also\s+)*/;

/** The writes for which a message asks for a yes. A part without a verb goes on with the write before: “cancel book_1 and book_2”. */
function proposedIn(message: string, writes: readonly WriteVerbs[]): Proposed[] {
  const asked = writes.filter(({ verbs }) => {
    const heard = (text: string) => (namesAct(plain(text), verbs) ? 'named' : 'absent');
    return heard(message) === 'named' && asksFor(message, { act: { name: '', heard } });
  });
  const found: Proposed[] = [];
  for (const text of withoutNouns(plain(message)).split(PARTS)) {
    const own = asked.filter(({ verbs }) => namesAct(text, verbs)).map(({ tool }) => tool);
    const [id] = idsIn(text);
    const tools = own.length > 0 ? own : id === undefined ? [] : (found.at(-1)?.tools ?? []);
    if (tools.length > 0) found.push({ tools, id, text: text.trim() });
  }
  return found;
}

/** “loan loan_7” names a thing, and no act. */
const withoutNouns = (text: string): string =>
  text.replace(/\b([a-z]+) (?=([a-z]+)_\d)/g, (own, word: string, prefix: string) => (word.startsWith(prefix) ? '' : own));

/** What the agent asked before a message of the customer. */
const questionBefore = ({ place }: Said, talk: Talk): string => talk.saidIn(talk.lastHeard(place), place).map(({ text }) => text).join('\n'); // prettier-ignore

/** After a yes, the agent must try the write. Whether the call succeeds is another matter. */
export function checkAgreed(talk: Talk, log: RuleLog, writes: readonly WriteVerbs[]): void {
  for (const answer of talk.heard) {
    const question = questionBefore(answer, talk);
    if (meaningOf(answer.text, question) !== 'yes') continue;
    const calls = talk.callsIn(answer.place);
    const excused = isExcused(answer, talk, writes);
    for (const { tools, id, text } of proposedIn(question, writes)) {
      const isTried = calls.some(
        ({ name, args }) => tools.includes(name) && (id === undefined || idsIn(plain(JSON.stringify(args))).includes(id)),
      );
      log.check(
        'promise',
        talk.nextOwn(answer.place),
        isTried || excused ? null : `the customer said yes to “${text}”, and no call tried it`,
      );
    }
  }
}

/** The customer wanted something else after the yes, or the agent said why it is not possible. A conversation can also have been cut. */
function isExcused(answer: Said, talk: Talk, writes: readonly WriteVerbs[]): boolean {
  const said = talk.saidIn(answer.place);
  const failed = talk.callsIn(answer.place).filter((call) => call.failed);
  // An outage is a reason. Another error of a call that was not agreed to is the agent's own.
  const isReason = failed.every(isTransient);
  if (said.length === 0 || (isReason && said.some(({ text }) => refusalsIn(text).length > 0 || (failed.length > 0 && tellsTrouble(text)))))
    return true;
  return talk.heardIn(answer.place).some((later) => {
    const question = questionBefore(later, talk);
    const meaning = meaningOf(later.text, question);
    return meaning === 'changed' || (meaning === 'no' && proposedIn(question, writes).length > 0);
  });
}

/**
 * An id that the customer gave, and that neither a write nor a statement of the agent took up, although the agent did something else. That
 * the agent looked at the thing, or repeated the id in a question, is not enough.
 */
export function checkNamed(talk: Talk, log: RuleLog, writes: readonly WriteVerbs[]): void {
  const failed = talk.calls.some((call) => call.failed);
  const refused = talk.said.some(({ text }) => refusalsIn(text).length > 0 || (failed && tellsTrouble(text) && !asks(withoutMore(text))));
  if (refused || talk.writes.length === 0) return;
  const heard = talk.heard.map(({ text }) => plain(text));
  const withdrawn = new Set(heard.flatMap((text) => [...text.matchAll(WITHDRAWN)].map(([, id]) => id!)));
  const stated = talk.said.map(({ text }) => text).filter((text) => !asks(withoutMore(text)) || proposedIn(text, writes).length > 0);
  const written = new Set(talk.writes.flatMap(({ args }) => idsOf(args)));
  const named = new Set(heard.flatMap(idsIn));
  const used = new Set([...stated.flatMap((text) => idsIn(plain(text))), ...written, ...foundBy(talk, written)]);
  for (const id of named)
    if (!withdrawn.has(id))
      log.check('unanswered', talk.nextOwn(talk.end), used.has(id) ? null : `the customer named ${id}, and the agent did nothing about it`);
}

const idsOf = (value: unknown): string[] => idsIn(plain(JSON.stringify(value) ?? ''));

/** The ids with which the agent looked, such as the customer's own, and was first shown what it then wrote. */
function foundBy({ calls }: Talk, written: ReadonlySet<string>): string[] {
  const known = new Set<string>();
  return calls.flatMap(({ args, value, write }) => {
    const asked = idsOf(args);
    const found = idsOf(value).filter((id) => !known.has(id));
    for (const id of [...asked, ...found]) known.add(id);
    return !write && found.some((id) => written.has(id)) ? asked : [];
  });
}

/** The text without the question for another wish. */
const withoutMore = (text: string): string => sentences(text).filter((sentence) => !ASKS_MORE.test(sentence)).join('\n'); // prettier-ignore

const WITHDRAWN = /\b(?:not|instead of|rather than) ([a-z]+(?:_[a-z]+)*_\d+)\b/g;
