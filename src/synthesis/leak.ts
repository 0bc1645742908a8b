/** @file Whether the words of a conversation have something that only its makers may know: the prompt, a hint, or marks of the format. */
import type { RuleGrade } from '../records/grades.ts';
import { STOP_WORDS } from '../users/types.ts';
import { bad } from './rule-grade.ts';
import type { GradedRow } from './types.ts';
import { eachRun, runsOf, wordsOf } from '../base/words.ts';

/** An agent that explains its policy says up to 21 words in a row of it (gpt-4o in 200 conversations of tau-bench). */
const OF_POLICY = 25;
/** The agent cannot know the customer's instruction. */
const OF_WISH = 12;

/** What a writer says that follows a hidden plan. */
const HINTS =
  /\b(?:gold(?:en)? (?:actions?|answers?|calls?|path|trajectory|standard)|ground[- ]truth|the blueprint|reference (?:answer|solution|trajectory)|expected (?:actions?|calls?)|hidden (?:hint|plan|instructions?)|(?:the|my) hints? (?:says?|tells?)|(?:according to|as per|per|as) (?:the|my) (?:hints?|script|scenario|persona|instructions?))\b/i;

/** Marks of chat templates and of calls as text. */
const MARKS = /<\/?(?:tool_call|tool_response|think)>|<\|[a-z_]+\|>/i;

/** The first leak of a row. Null if there is none. */
export function leak(row: GradedRow): RuleGrade | null {
  const system = row.messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  // A policy quotes the sentences that the agent has to say.
  const policy = runsOf(
    system.flatMap((text) => text.split(/“[^”]*”|"[^"]*"|‘[^’]*’|«[^»]*»/)),
    OF_POLICY,
  );
  const wish = runsOf(row.instruction === undefined ? [] : [row.instruction], OF_WISH);
  const names = (row.tools ?? []).flatMap((tool) => {
    const { name } = (tool as { function?: { name?: unknown } }).function ?? {};
    return typeof name === 'string' && name.includes('_') ? [name] : [];
  });
  for (const [message, { role, content }] of row.messages.entries()) {
    if (role !== 'user' && role !== 'assistant') continue;
    const at = (why: string) => bad(why, message);
    const hint = HINTS.exec(content) ?? MARKS.exec(content);
    if (hint) return at(`the words show the making of the conversation: ${hint[0]}`);
    const words = wordsOf(content);
    if (role === 'assistant' && has(words, policy, OF_POLICY)) return at(`the agent says ${OF_POLICY} words in a row of its prompt`);
    if (role === 'assistant' && has(words, wish, OF_WISH))
      return at(`the agent says ${OF_WISH} words in a row of the customer's instruction`);
    if (role === 'assistant' && STOP_WORDS.some((word) => content.includes(word)))
      return at('the agent says the stop word of the customer');
    const name = role === 'user' ? names.find((one) => content.includes(one)) : undefined;
    if (name !== undefined) return at(`the customer names the tool ${name}`);
  }
  return null;
}

function has(words: readonly string[], runs: ReadonlySet<string>, length: number): boolean {
  if (runs.size === 0) return false;
  let found = false;
  eachRun(words, length, (run) => (found ||= runs.has(run)));
  return found;
}
