/** @file Values that an agent says or uses before anybody has told them: it has them from its hint, or it made them up. */
import { equalJson, isObject } from '../base/json.ts';
import type { ChatMessage } from '../records/conversation.ts';
import type { Json } from '../records/json.ts';
import type { Task, ToolSchema } from '../records/task.ts';
import { peopleOf } from '../scenarios/people/told.ts';
import { states } from '../scenarios/people/values.ts';
import { leaves } from './hint.ts';
import { eachRun, runsOf, wordsOf } from '../base/words.ts';

/** The first fault of an agent that knows too much. */
export interface Untold {
  why: string;
  /** The index of the message. */
  message: number;
}

/** So many words in a row of a hint are a quotation. */
const QUOTED = 6;
/** An id, such as room_12 or #W1234567. */
const ID = /(?<![\p{L}\p{N}_])(?:#[A-Z]?\d{3,}|(?:[a-z]+_)+\d+|[A-Z]{1,4}-?\d{3,})(?![\p{L}\p{N}_])/gu;

/**
 * Finds the first value that the agent says or puts into a call although neither the policy nor the customer nor a tool has told it:
 * values of the gold calls and of the customer's facts, and ids of any kind. Also finds quotations of the hint.
 * @param prose what the agent was told in secret, as sentences. Empty: nothing
 */
export function untold(
  messages: readonly ChatMessage[],
  tools: readonly ToolSchema[],
  task: Task,
  prose: readonly string[] = [],
): Untold | null {
  const secrets = secretsOf(task);
  const choices = tools.flatMap((tool) => Object.values(tool.function.parameters.properties).flatMap(choicesOf));
  /** Customers say a choice of several words in words of their own: “I don't need it” for “no longer needed”. */
  const isCategory = (value: string) => / /.test(value) && choices.some((list) => list.includes(value));
  const open = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  const quoted = runsOf(prose, QUOTED);
  for (const run of runsOf(open, QUOTED)) quoted.delete(run);
  const heard: string[] = [];
  const people = peopleOf(task.scenario);
  /** What the agent has to read before it answers. An answer such as a count is in no result: the agent computes it. */
  const unread = [...(people?.reads ?? [])];
  const answers = new Set(unread.length > 0 ? people!.tell : []);
  const isTold = (value: string) => (unread.length === 0 && answers.has(value)) || heard.some((text) => states(text, value));
  for (const [message, { role, content, tool_calls: calls = [] }] of messages.entries()) {
    if (role !== 'assistant') {
      heard.push(content);
      // What somebody has told is no quotation, however long.
      eachRun(wordsOf(content), QUOTED, (run) => void quoted.delete(run));
      continue;
    }
    const said = content.replace(/^\s*\d{1,2}[.)]\s/gm, '');
    const named = [...secrets, ...(said.match(ID) ?? [])].filter((value) => states(said, value) && !isTold(value));
    // A list of choices gives nothing away.
    const isListed = (value: string) =>
      choices.some((list) => list.includes(value) && list.filter((one) => states(said, one) && !isTold(one)).length > 1);
    const wrong = named.find((value) => !isCategory(value) && !isListed(value));
    if (wrong !== undefined) return { why: `the agent says ${JSON.stringify(wrong)}, which nobody has told`, message };
    let quotes = false;
    eachRun(wordsOf(content), QUOTED, (run) => (quotes ||= quoted.has(run)));
    if (quotes) return { why: 'the agent quotes its hint', message };
    for (const { function: call } of calls) {
      const args = argumentsOf(call.arguments);
      const used = leaves(args).filter((value) => secrets.has(value) || value.search(ID) === 0);
      const guessed = used.find((value) => !isTold(value) && !isCategory(value));
      if (guessed !== undefined)
        return { why: `the agent calls ${call.name} with ${JSON.stringify(guessed)}, which nobody has told`, message };
      const read = unread.findIndex((one) => one.name === call.name && equalJson(one.arguments, args));
      if (read >= 0) unread.splice(read, 1);
    }
  }
  return null;
}

/** The values that only the customer and the tools know at first. */
function secretsOf({ scenario, actions }: Task): Set<string> {
  const people = peopleOf(scenario);
  const values: (Json | undefined)[] = [
    ...[...actions, ...(people?.reads ?? [])].map(({ arguments: args }) => args as Json),
    ...(people?.facts ?? []).map(({ value }) => value),
    people?.change?.first.value,
    ...(people?.tell ?? []),
    scenario.identity,
    ...scenario.wishes.map(({ slots }) => slots as Json),
  ];
  return new Set(values.flatMap(leaves).filter((value) => value.length > 1 || /\d/.test(value)));
}

function argumentsOf(given: unknown): Json {
  if (typeof given !== 'string') return given as Json;
  try {
    return JSON.parse(given) as Json;
  } catch {
    return given;
  }
}

/** The lists of choices of a parameter. */
function choicesOf(schema: Json): string[][] {
  const own = isObject(schema) ? schema : {};
  const list = Array.isArray(own.enum) ? [own.enum.map(String)] : [];
  return isObject(own.items) ? [...list, ...choicesOf(own.items as Json)] : list;
}
