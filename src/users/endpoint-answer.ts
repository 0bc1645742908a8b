/** @file The format of chat completions of an OpenAI-compatible server: the messages that are sent, and the answers. */
import type { ToolCall, ToolSchema } from '../records/task.ts';
import { CutAnswer, RequestFailure } from './endpoint-failure.ts';
import type { ToldScenario, UserTools } from './types.ts';

export type Message =
  | { role: 'system' | 'user' | 'assistant'; content: string | null; tool_calls?: RawCall[] }
  | { role: 'tool'; tool_call_id: string; content: string };

export interface ChatRequest {
  model: string;
  messages: Message[];
  tools?: readonly ToolSchema[];
  temperature: number;
  max_tokens: number;
  seed?: number;
  /** Only set for `mua user-server`, because the slots of a scenario are the gold arguments. */
  scenario?: Omit<ToldScenario, 'prompt'>;
}

export interface RawCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

export interface Answer {
  text: string;
  /** The calls as the model wrote them. The next request repeats them unchanged. */
  calls: RawCall[];
}

/** The fields that are used from the only choice of a chat completion. Thoughts in `reasoning_content` or `reasoning` are ignored. */
interface Choice {
  message: { content?: unknown; tool_calls?: unknown };
  finish_reason?: unknown;
}

/** The largest size of a response in bytes. A chat completion usually has some thousands. */
const LONGEST_BODY = 4 * 2 ** 20;

/** The text of a response. If it is too long, the rest is not read. @throws RequestFailure above 4 MiB */
export async function readBody({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  const reader = body?.getReader();
  for (let part = await reader?.read(); part?.value; part = await reader!.read()) {
    bytes += part.value.length;
    if (bytes > LONGEST_BODY) {
      void reader!.cancel().catch(() => {});
      throw new RequestFailure(
        `the user endpoint sent more than ${LONGEST_BODY} bytes: expected a chat completion`,
        'bad_response',
        0,
        true,
      );
    }
    text += decoder.decode(part.value, { stream: true });
  }
  return text + decoder.decode();
}

/** @throws CutAnswer if the answer is incomplete, and RequestFailure if the body contains no answer */
export function readAnswer(body: string, hasTools: boolean): Answer {
  let said: string | null;
  let finish: unknown;
  let calls: RawCall[] = [];
  try {
    const { message, finish_reason } = (JSON.parse(body) as { choices: Choice[] }).choices[0]!;
    finish = finish_reason;
    said = withoutThoughts(textOf(message.content));
    // If the model was given no tools, its calls are dropped.
    if (hasTools && Array.isArray(message.tool_calls)) calls = message.tool_calls.map(readCall);
  } catch {
    // An answer that was cut can contain an incomplete call.
    if (!isCut(finish)) throw new RequestFailure('the user endpoint did not answer with a chat completion', 'bad_response');
    said = null;
  }
  if (isCut(finish)) throw new CutAnswer('the user endpoint cut its answer off (finish_reason "length")');
  if (finish === 'content_filter') throw new RequestFailure('the content filter of the user endpoint cut the answer off', 'bad_response');
  if (said === null) throw new CutAnswer('the user endpoint sent thoughts without an end (<think> is not closed)');
  if (!said && !calls.length) throw new RequestFailure('the user endpoint gave an empty answer', 'bad_response');
  return { text: said, calls };
}

/** The numbers of tokens that an answer reports. */
export function readUsage(body: string): { prompt: number | null; completion: number | null } {
  try {
    const { usage } = JSON.parse(body) as { usage?: { prompt_tokens?: unknown; completion_tokens?: unknown } | null };
    return { prompt: tokens(usage?.prompt_tokens), completion: tokens(usage?.completion_tokens) };
  } catch {
    return { prompt: null, completion: null };
  }
}

const tokens = (value: unknown) => (Number.isInteger(value) && (value as number) >= 0 ? (value as number) : null);

/** Some servers use the name of the limit as the reason. */
const isCut = (finish: unknown) => typeof finish === 'string' && /^(length|max_tokens)$/i.test(finish);

/**
 * The text of a message's content, which is a string or a list of parts. Parts with thoughts are skipped, because they have
 * another type.
 */
function textOf(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : '';
  return (content as { type?: unknown; text?: unknown }[])
    .map(({ type, text }) => (type === 'text' && typeof text === 'string' ? text : ''))
    .join('');
}

/**
 * The words outside of `<think>` blocks. Null if a block is not closed. A chat template can open a block in the prompt, so
 * words before a closing tag without an opening tag are thoughts too.
 */
export function withoutThoughts(text: string): string | null {
  let said = '';
  let open = false;
  for (const part of text.split(/(<\/?think(?:ing)?>)/i)) {
    const isTag = /^<\/?think(?:ing)?>$/i.test(part);
    if (!isTag && !open) said += part;
    if (!isTag) continue;
    const closes = part[1] === '/';
    if (closes && !open) said = '';
    open = !closes;
  }
  return open ? null : said.trim();
}

/** @throws if the value is not a function call */
function readCall(value: unknown, index: number): RawCall {
  const { id, function: called } = value as { id?: unknown; function: { name: unknown; arguments?: unknown } };
  if (typeof called.name !== 'string') throw new Error('a call without a name');
  // Some servers send arguments as an object, and send no id.
  const args = typeof called.arguments === 'string' ? called.arguments : JSON.stringify(called.arguments ?? {});
  return { id: typeof id === 'string' && id ? id : `call_${index}`, type: 'function', function: { name: called.name, arguments: args } };
}

/** Makes the calls whose arguments can be read. Each other call gets an error as its result, so that the model can correct it. */
export async function callTools(tools: UserTools, calls: RawCall[]): Promise<{ text: string }[]> {
  const read = calls.map(({ function: { name, arguments: text } }): ToolCall | null => {
    try {
      const args: unknown = JSON.parse(text || '{}');
      return typeof args === 'object' && args !== null && !Array.isArray(args) ? { name, arguments: args as ToolCall['arguments'] } : null;
    } catch {
      return null;
    }
  });
  const made = read.filter((call) => call !== null);
  const results = made.length ? await tools.call(made) : [];
  return read.map((call) => (call ? results.shift()! : { text: 'Error: the arguments are not a JSON object' }));
}
