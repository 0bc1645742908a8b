/** @file A task of ACEBench Agent, as an import stores it, and its reader. */
import { callOf } from '../../python/call-tree.ts';
import { readExpression } from '../../python/source.ts';
import { dumps, repr } from '../../python/text.ts';
import { Dict } from '../../python/values.ts';
import type { Json } from '../../records/json.ts';
import type { Task, ToolCall, ToolSchema } from '../../records/task.ts';
import { callText } from '../../domains/multiturn/tool-call.ts';
import { openaiTools } from '../bfcl/functions.ts';
import type { TaskReader } from '../definition.ts';
import { verdictOf } from './check.ts';
import type { AceData, Entry } from './data.ts';
import { decode, isReadable } from './decode.ts';
import { infer, UNREADABLE, USUAL_USER } from './inference.ts';
import type { Kind } from './instances.ts';
import { toJson } from './plain.ts';
import { customerPrompt, systemPrompt } from './prompts.ts';

export interface AceTask {
  /** The language and the id of the entry, such as `en_agent_multi_turn_0`. */
  id: string;
  kind: Kind;
  question: string;
  /** The messages of the agent that solve the task, or the first list of milestones if none of the lists does. */
  gold: string[];
  tools: ToolSchema[];
  /** The system prompts of the agent and, in a multi-turn task, of the simulated user. */
  policy: string;
  userPrompt: string;
  greeting: string;
}

export const taskId = ({ language, id }: Pick<Entry, 'language' | 'id'>): string => `${language}_${id}`;

export function aceTask({ states, prompts }: AceData, entry: Entry): AceTask {
  const { kind, involved, question, functions } = entry;
  return {
    id: taskId(entry),
    kind,
    question,
    gold: goldOf(entry, states),
    tools: openaiTools(functions as Dict[]).map((tool) => toJson(tool) as unknown as ToolSchema),
    policy: prompts ? systemPrompt(prompts, kind, involved) : '',
    userPrompt: prompts && kind === 'multi_turn' ? customerPrompt(prompts, involved, question) : question,
    greeting: prompts?.greeting ?? '',
  };
}

/** The first list of milestones that reaches the expected state, with its quotation marks repaired. */
function goldOf(entry: Entry, states: AceData['states']): string[] {
  const { milestones } = entry;
  const lists = (Array.isArray(milestones[0]) ? milestones : [milestones]) as string[][];
  const repaired = lists.map((list) => list.map(withQuotes));
  const solves = (agent: string[]) => {
    const { result, process } = infer(entry, states, { agent });
    return verdictOf(entry, result, process).end_to_end === 1;
  };
  return repaired.find(solves) ?? repaired[0] ?? [];
}

const QUOTED = /([=:]\s*)'(.*?)'(?=\s*(?:[,)}]\s*(?:\w+\s*=|'\w+'\s*:|[,)\]}]|$)))/g;

/** Many milestones have apostrophes inside single quotation marks, which Python cannot read. */
function withQuotes(message: string): string {
  const text = message.trim();
  return isReadable(text) ? text : text.replace(QUOTED, (_, before: string, value: string) => before + repr(value));
}

/** The calls of a message. The first one has the message. */
export function messageCalls(message: string): ToolCall[] {
  const texts = decode(message);
  // Upstream executes a message without calls, such as `[OK]`, too.
  if (texts.length === 0) return [{ name: 'no_call', arguments: {}, message }];
  return texts.map((text, i) => {
    const node = readExpression(text);
    const [[name, args] = ['', null]] = node.kind === 'call' ? callOf(node).entries() : [];
    const own = args instanceof Dict ? args : new Dict();
    return { ...exactCall(String(name), own), message: i === 0 ? message : '' };
  });
}

/** A call that keeps Python's arguments. */
export function exactCall(name: string, args: Dict): ToolCall {
  const json = toJson(args) as Record<string, Json>;
  try {
    return { name, arguments: json, exact: dumps(args) };
  } catch {
    return { name, arguments: json };
  }
}

/** The text of calls as ACEBench writes them. */
export const messageOf = (calls: readonly { name: string; args: Dict }[]): string =>
  `[${calls.map(({ name, args }) => callText(name, args, ', ')).join(', ')}]`;

const goldCalls = ({ gold }: AceTask): ToolCall[] => gold.flatMap((message) => (isReadable(message) ? messageCalls(message) : []));

export const aceTaskReader: TaskReader<AceTask> = {
  gold: goldCalls,
  instruction: ({ userPrompt }) => userPrompt,
  wants: ({ question }) => question,
  outputs: () => [],
  withoutOutputs: (task) => task,
  criteria: () => ({}),
  find: (tasks, id) => tasks.find((task) => [`en_${id}`, `en_agent_${id}`, id.replace('_', '_agent_')].includes(task.id)),
};

/** The customer, the tools, the policy, and the group by which reports count the task. */
export function storedParts({ id, kind, question, tools, policy, userPrompt, greeting }: AceTask): Partial<Task> {
  const language = id.startsWith('zh_') ? 'zh' : 'en';
  return {
    tools,
    policy,
    scenario: {
      persona: 'upfront',
      identity: {},
      wishes: [{ intent: groupOf(language, kind), slots: {}, words: {}, impossible: false }],
      instruction: userPrompt,
      benchmark: 'acebench',
      ...(kind === 'multi_step' ? { scripted: true } : { greeting }),
      facts: { turns: [question], rest: kind === 'multi_step' ? UNREADABLE : USUAL_USER[language][2] },
    },
  };
}

/** The group of a task in reports. */
export const groupOf = (language: string, kind: Kind): string => `${language} ${kind}`;
