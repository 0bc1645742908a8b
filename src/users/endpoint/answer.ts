/** @file The format of chat completions of an OpenAI-compatible server: the messages that are sent, and the answers. */
import { isObject } from '../../base/json.ts';
import type { ToolCall, ToolSchema } from '../../records/task.ts';
import type { ToldScenario, UserTools } from '../types.ts';
import { CLEAN_ENDINGS, CUT_ENDINGS, THOUGHT_PARTS, WORD_PARTS } from './behaviours.ts';
import { parseBody } from './body.ts';
import { CutAnswer, RequestFailure } from './failure.ts';
import { joinThoughts, separateThoughts, unknownMark, type Words } from './words.ts';

export type Message =
  | { role: 'system' | 'user'; content: string | null }
  | { role: 'assistant'; content: string | null; tool_calls?: RawCall[] }
  | { role: 'tool'; tool_call_id: string; content: string };

export interface ChatRequest {
  model: string;
  messages: Message[];
  tools?: readonly ToolSchema[];
  temperature: number;
  max_tokens: number;
  seed?: number;
  /** The JSON schema of the answer. It is left out for servers that refuse it. */
  response_format?: { type: 'json_schema'; json_schema: { name: string; schema: object } };
  /** Only set for `mua user-server`, because the slots of a scenario are the gold arguments. */
  scenario?: Omit<ToldScenario, 'prompt'>;
}

/** A call as the model wrote it. It may have more fields, such as Gemini's signature; the next request repeats all of them. */
export interface RawCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

export interface Answer {
  text: string;
  /** An id is '' if the server sent none. */
  calls: RawCall[];
  /** The thoughts in fields of their own. Some servers refuse the results of calls without them. */
  thoughts?: Record<string, unknown>;
}

/** The fields that are used from the only choice of a chat completion. */
interface Choice {
  message: Record<string, unknown>;
  finish_reason?: unknown;
}

/** The fields of a message with thoughts that are sent back together with its calls. */
const THOUGHT_FIELDS = ['reasoning_content', 'reasoning', 'reasoning_details', 'extra_content'];

const unusable = (message: string) => new RequestFailure(message, 'bad_response');

/**
 * @param hasTools whether the model was given tools. If not, its calls are dropped.
 * @param keepMarks whether marks that are no thoughts may stand in the text, for readers that search for JSON in it
 * @throws CutAnswer if the answer is incomplete, and RequestFailure if the body contains no answer, or marks instead of words
 */
export function readAnswer(body: string, hasTools: boolean, { keepMarks = false } = {}): Answer {
  const message = messageOf(body);
  if (typeof message.refusal === 'string' && message.refusal)
    throw unusable(`the model refused to answer: ${message.refusal.replace(/\s+/g, ' ').slice(0, 200)}`);
  const { said: text } = wordsOf(message);
  const calls = hasTools ? callsOf(message) : [];
  if (!text && !calls.length) throw unusable('the user endpoint gave an empty answer');
  const mark = keepMarks ? null : unknownMark(text);
  if (mark) throw unusable(`the user endpoint sent the mark "${mark.slice(0, 40)}" in its answer: expected words`);
  const thoughts = thoughtFields(message);
  return { text, calls, ...(calls.length > 0 && Object.keys(thoughts).length > 0 && { thoughts }) };
}

/** An answer of a model that plays the agent. It may be empty, and have marks and refusals: all of this is the agent's own act. */
export interface AgentAnswer {
  text: string;
  /** An id is '' if the server sent none. */
  calls: RawCall[];
  thoughts: string;
  /** The thoughts in fields of their own, as `Answer.thoughts`. */
  fields: Record<string, unknown>;
}

/** @throws CutAnswer if the answer is incomplete, and RequestFailure if the body contains no answer */
export function readAgentAnswer(body: string): AgentAnswer {
  const message = messageOf(body);
  const { said, thoughts } = wordsOf(message);
  const fields = thoughtFields(message);
  const own = [message.reasoning_content ?? message.reasoning].filter((text) => typeof text === 'string');
  const refusal = typeof message.refusal === 'string' ? message.refusal.trim() : '';
  return { text: said || refusal, calls: callsOf(message), thoughts: joinThoughts([...own, thoughts]), fields };
}

/** The message of a complete answer. @throws CutAnswer, RequestFailure */
function messageOf(body: string): Record<string, unknown> {
  let choice: Choice;
  try {
    choice = (parseBody(body) as { choices: [Choice] }).choices[0];
    if (typeof choice.message !== 'object' || choice.message === null) throw new Error('no message');
  } catch {
    throw unusable('the user endpoint did not answer with a chat completion');
  }
  checkEnding(choice.finish_reason);
  return choice.message;
}

/** @throws CutAnswer, RequestFailure */
function wordsOf({ content }: Record<string, unknown>): Words {
  const parts = partsOf(content);
  const words = separateThoughts(parts.said);
  if (words === null) throw new CutAnswer('the user endpoint sent thoughts without an end (<think> is not closed)');
  return { said: words.said, thoughts: joinThoughts([parts.thoughts, words.thoughts]) };
}

const thoughtFields = (message: Record<string, unknown>) =>
  Object.fromEntries(THOUGHT_FIELDS.filter((name) => message[name]).map((name) => [name, message[name]]));

/** @throws if the ending is not one of a complete answer. Some servers send no ending. */
function checkEnding(finish: unknown): void {
  if (finish === undefined || finish === null || finish === '') return;
  const ending = String(finish).toLowerCase();
  if (CLEAN_ENDINGS.has(ending)) return;
  if (CUT_ENDINGS.has(ending)) throw new CutAnswer(`the user endpoint cut its answer off (finish_reason "${ending}")`);
  if (ending === 'content_filter') throw unusable('the content filter of the user endpoint cut the answer off');
  throw unusable(`the user endpoint ended its answer with finish_reason "${String(finish).slice(0, 40)}": expected "stop" or "tool_calls"`);
}

/** The numbers of tokens that an answer reports. */
export function readUsage(body: string): { prompt: number | null; completion: number | null } {
  try {
    const { usage } = parseBody(body) as { usage?: { prompt_tokens?: unknown; completion_tokens?: unknown } | null };
    return { prompt: tokens(usage?.prompt_tokens), completion: tokens(usage?.completion_tokens) };
  } catch {
    return { prompt: null, completion: null };
  }
}

const tokens = (value: unknown) => (Number.isInteger(value) && (value as number) >= 0 ? (value as number) : null);

/** The texts of a message's content, which is a text or a list of parts. @throws RequestFailure if a part is neither words nor thoughts */
function partsOf(content: unknown): Words {
  const parts = (Array.isArray(content) ? content : [content ?? '']) as unknown[];
  const thoughts: string[] = [];
  const said = parts.map((part) => {
    if (typeof part === 'string') return part;
    const { type, text, ...other } = (part ?? {}) as Record<string, unknown>;
    if (THOUGHT_PARTS.has(type)) {
      thoughts.push(textsIn([text, other.thinking, other.summary]));
      return '';
    }
    if ((type === undefined || WORD_PARTS.has(type)) && typeof text === 'string') return text;
    throw unusable(`the user endpoint sent a part of type "${String(type).slice(0, 40)}" in its answer: expected text`);
  });
  return { said: said.join(''), thoughts: joinThoughts(thoughts) };
}

/** The texts in parts that may have parts. */
const textsIn = (value: unknown): string =>
  typeof value === 'string' ? value : Array.isArray(value) ? value.map((part) => textsIn(isObject(part) ? part.text : part)).join('') : '';

/** @throws RequestFailure if a value is not a function call */
function callsOf({ tool_calls: calls, function_call: only }: Record<string, unknown>): RawCall[] {
  const values = Array.isArray(calls) && calls.length > 0 ? (calls as unknown[]) : only ? [{ function: only }] : [];
  return values.map((value) => {
    const { index: _, id, function: called, ...more } = (value ?? {}) as Record<string, unknown>;
    const { name, arguments: args, ...rest } = (called ?? {}) as Record<string, unknown>;
    if (typeof name !== 'string' || !name) throw unusable('the user endpoint sent a call without a name: expected the name of a tool');
    // Some servers send arguments as an object, and none as an empty text.
    const text = typeof args !== 'string' ? JSON.stringify(args ?? {}) : args.trim() === '' ? '{}' : args;
    return { ...more, id: typeof id === 'string' ? id : '', type: 'function', function: { ...rest, name, arguments: text } };
  });
}

/** The calls with ids that no earlier call of the conversation has. Mistral accepts only ids of nine letters and digits. */
export function withIds(calls: readonly RawCall[], used: Set<string>): RawCall[] {
  return calls.map((call) => {
    let { id } = call;
    for (let number = used.size; !id || used.has(id); number++) id = `call${String(number).padStart(5, '0')}`;
    used.add(id);
    return { ...call, id };
  });
}

/** Makes the calls whose arguments can be read. Each other call gets an error as its result, so that the model can correct it. */
export async function callTools(tools: UserTools, calls: RawCall[]): Promise<{ text: string }[]> {
  const read = calls.map(({ function: { name, arguments: text } }): ToolCall | null => {
    try {
      const args: unknown = JSON.parse(text);
      return typeof args === 'object' && args !== null && !Array.isArray(args) ? { name, arguments: args as ToolCall['arguments'] } : null;
    } catch {
      return null;
    }
  });
  const made = read.filter((call) => call !== null);
  const results = made.length ? await tools.call(made) : [];
  return read.map((call) => (call ? results.shift()! : { text: 'Error: the arguments are not a JSON object' }));
}
