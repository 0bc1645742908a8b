/** @file The hidden hint of a language model that writes the agent's side: the calls that reach the goal. No row contains it. */
import type { Message } from '../users/agent-model.ts';
import type { Task } from '../records/task.ts';
import type { Json } from '../records/json.ts';
import { peopleOf } from '../scenarios/people/told.ts';
import { wordsOf } from '../base/words.ts';

const HEAD =
  'PRIVATE NOTES. Only you see them. Never quote them and never mention them. You do not know their values before the customer or a tool has told you: ask, or look them up. Before each call that changes data, say exactly what you will do and wait for a yes.';

/** So many words of a call with its number are its beginning. */
const BEGINNING = 7;

/** The hint of a task, and what the task would let an agent know too early. */
export interface Hint {
  text: string;
  /**
   * The sentences of the hint that the agent has no reason to say. Of a call only the beginning, with its name: an agent that asks back says
   * the arguments alone, often in their order.
   */
  prose: string[];
}

/** What reaches the goal of a task, as notes for the agent. */
export function hintOf(task: Task): Hint {
  const people = peopleOf(task.scenario);
  const calls = [...(people?.reads ?? []), ...task.actions.filter(({ requestor = 'assistant' }) => requestor === 'assistant')].map(
    ({ name, arguments: args }, i) => `${i + 1}. ${name} ${JSON.stringify(args)}`,
  );
  const plan =
    calls.length > 0 ? ['These calls reach the goal, each once and in this order:', ...calls] : ['No call is needed to reach the goal.'];
  const more = [
    ...(people?.change ? [`The customer first says another ${people.change.name.replaceAll('_', ' ')}. Follow the newest word.`] : []),
    ...(people?.refuse !== undefined ? [`The wish cannot be granted. Refuse it: ${people.refuse}`] : []),
    ...(people && people.tell.length > 0 ? [`Before the end the customer must have heard: ${people.tell.join('; ')}`] : []),
  ];
  return {
    text: [HEAD, ...plan, ...more].join('\n'),
    prose: [HEAD, plan[0]!, ...calls.map((call) => wordsOf(call).slice(0, BEGINNING).join(' '))],
  };
}

/** The messages with the hint at the end of the system message. */
export function hinted(messages: readonly Message[], { text }: Hint): Message[] {
  const [first, ...others] = messages;
  return first?.role === 'system'
    ? [{ ...first, content: `${String(first.content)}\n\n${text}` }, ...others]
    : [{ role: 'system', content: text }, ...messages];
}

/** All texts and numbers of a value. Booleans and null are no secrets. */
export function leaves(value: Json | undefined): string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value.trim()];
  if (typeof value === 'number') return [String(value)];
  if (typeof value !== 'object' || value === null) return [];
  return (Array.isArray(value) ? value : Object.values(value)).flatMap(leaves);
}
