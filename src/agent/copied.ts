/** @file Whether the agent copies values into its calls as they stood in the conversation. A model with few examples miscopies ids and words. */
import { isObject } from '../base/json.ts';
import { callsOf } from '../base/message-path.ts';
import type { ToolSchema } from '../records/task.ts';
import type { CopiedArguments, MessageNode, Trajectory } from '../records/trajectory.ts';

/**
 * Counts the texts and numbers in the arguments of the agent's calls, and those that stand in an earlier message of the system,
 * the customer or a tool, or in the schemas of the tools. The agent's own messages do not count: a value that the agent miscopied once
 * and then repeated is no copy.
 * @param nodes the conversation; the parent of each node is the node before it
 * @param tools the tools that the agent has from the start
 */
export function copiedArguments(nodes: readonly MessageNode[], tools: readonly ToolSchema[]): CopiedArguments {
  const copied: CopiedArguments = { found: 0, of: 0 };
  const heard = [JSON.stringify(tools)];
  for (const node of nodes) {
    if (node.role !== 'assistant') heard.push(node.text);
    if (node.tools) heard.push(JSON.stringify(node.tools));
    for (const value of callsOf(node).flatMap((call) => leaves(call.arguments))) {
      copied.of += 1;
      copied.found += Number(heard.some((text) => stands(value, text)));
    }
  }
  return copied;
}

/** The counts of several conversations. Earlier versions stored `found` as `exactly`. */
export function sumCopied(trajectories: readonly Pick<Trajectory, 'copied'>[]): CopiedArguments {
  const counts = trajectories.flatMap(({ copied }) => copied ?? []) as (
    CopiedArguments | { found?: undefined; exactly: number; of: number }
  )[];
  return {
    found: counts.reduce((sum, own) => sum + (own.found ?? own.exactly), 0),
    of: counts.reduce((sum, { of }) => sum + of, 0),
  };
}

function leaves(value: unknown): string[] {
  if (typeof value === 'number') return [String(value)];
  if (typeof value === 'string') return value === '' ? [] : [value];
  return Array.isArray(value) ? value.flatMap(leaves) : isObject(value) ? Object.values(value).flatMap(leaves) : [];
}

/** Tools write words in their own form, as in credit_card. So case does not count, and an underscore equals a space. */
const plain = (text: string): string => text.toLowerCase().replaceAll('_', ' ');

/** Whether the text has the value as whole words. A value with white space around it is another value. JSON texts write it with escapes. */
function stands(value: string, said: string): boolean {
  if (value !== value.trim()) return false;
  const text = plain(said);
  return [value, JSON.stringify(value).slice(1, -1)].map(plain).some((form) => {
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1))
      if (!(WORD.test(form[0]!) && WORD.test(text[at - 1] ?? '')) && !(WORD.test(form.at(-1)!) && WORD.test(text[at + form.length] ?? '')))
        return true;
    return false;
  });
}

const WORD = /[\p{L}\p{N}_]/u;
