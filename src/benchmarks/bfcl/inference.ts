/** @file BFCL's inference loop with given answers: the prompts of each query, and what is executed. */
import { repr, dumps } from '../../python/text.ts';
import { type Dict, dict, PyError, type Value } from '../../python/values.ts';
import { checkResponse, type Response, settingOf, type BfclVerdict } from '../../domains/multiturn/check.ts';
import type { BfclData, Entry } from './data.ts';
import { decodePrompt, decodeQwen, decodeTools, qwenBlocks, splitThoughts } from './decode.ts';
import { functionsOf, openaiTools } from './functions.ts';
import { Instances } from '../../domains/multiturn/instances.ts';
import { type QwenMessage, qwenPrompt } from './qwen.ts';
import { filled } from '../../python/strings.ts';
import type { Prompts } from './read-tables.ts';

export const KINDS = ['qwen_fc', 'qwen_prompt', 'openai_fc', 'openai_prompt'] as const;
/** The handlers: Qwen's template or OpenAI's interface, with native calls or in the prompt mode. */
export type Kind = (typeof KINDS)[number];

/** An assistant message of OpenAI's interface. */
export interface ChatAnswer {
  role: 'assistant';
  content: string | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
}
export type Answer = string | ChatAnswer;

/** One of upstream's handlers. It keeps the conversation. */
interface Handler {
  user(messages: readonly { role: string; content: string }[]): void;
  /** @throws {PyError} if an earlier answer cannot be rendered */
  prompt(): string;
  /** Adds the answer and returns its calls. @throws if it cannot be decoded */
  answer(answer: Answer): string[];
  results(texts: readonly string[]): void;
  /** Adds functions that were withheld. Returns what the user says then. */
  add(functions: Dict[]): string;
}

export interface Inference {
  /** The prompt of each query. For OpenAI's interface, it is the JSON text of the messages and the tools. */
  prompts: string[];
  steps: number[];
  /** The executed calls. Shorter than the entry's turns after a force-quit. */
  response: string[][][];
  /** Why the whole entry failed, if it did. */
  failure?: string;
}

/** Plays an entry. @param script the model's answers: turn, step. The model says nothing where an answer is missing */
export function infer(data: BfclData, entry: Entry, kind: Kind, script: readonly (readonly Answer[])[]): Inference {
  const { prompts } = data;
  if (!prompts)
    throw new Error('the copy of BFCL has no prompts: expected constants/default_prompts.py and utils.py of bfcl_eval, or prompts.json');
  const { first, later } = functionsOf(data, entry, prompts.hint);
  const handler = HANDLERS[kind](first, prompts);
  const silent: Answer = kind.startsWith('openai') ? { role: 'assistant', content: '' } : '';
  const objects = new Instances(settingOf(entry), data.tables);
  const played: Inference = { prompts: [], steps: [], response: [] };
  try {
    for (const [turn, messages] of entry.question.entries()) {
      const added = later.get(turn);
      handler.user(added ? [{ role: 'user', content: handler.add(added) }] : messages);
      const executed: string[][] = [];
      let steps = 0;
      let quits = false;
      for (;;) {
        played.prompts.push(handler.prompt());
        const answer = script[turn]?.[steps] ?? silent;
        steps += 1;
        let calls: string[];
        try {
          calls = handler.answer(answer);
        } catch (cause) {
          if (cause instanceof TypeError) throw cause;
          break;
        }
        if (calls.length === 0) break;
        executed.push(calls);
        handler.results(calls.map((call) => objects.run(call).text));
        quits = executed.length > prompts.stepLimit;
        if (quits) break;
      }
      played.steps.push(steps);
      played.response.push(executed);
      if (quits) break;
    }
  } catch (cause) {
    if (!(cause instanceof PyError)) throw cause;
    return { ...played, failure: cause.message };
  }
  return played;
}

/** The verdict on a played entry. */
export function verdictOf(data: BfclData, entry: Entry, { response, failure }: Pick<Inference, 'response' | 'failure'>): BfclVerdict {
  if (failure !== undefined)
    return { valid: false, error_type: 'multi_turn:inference_error', error_message: `Error during inference: ${failure}` };
  return checkResponse(data, entry, response as Response).verdict;
}

const system = (functions: readonly Dict[], { system: template }: Prompts): string =>
  filled(template, { functions: dumps(functions as Value[], { indent: 4 }) });

/** What the user says when functions appear and the tools stay as they are. */
const pasted = (functions: Dict[], { addedFunctions }: Prompts): string => filled(addedFunctions, { functions: repr(functions) });

const requestText = (request: Dict) => dumps(request, { ascii: false });

const HANDLERS: Record<Kind, (functions: Dict[], prompts: Prompts) => Handler> = {
  qwen_fc(functions, prompts) {
    const messages: QwenMessage[] = [];
    return {
      user: (said) => messages.push(...(said as QwenMessage[])),
      prompt: () => qwenPrompt(messages, functions),
      answer(given) {
        const { reasoning, text } = splitThoughts(given as string);
        const calls = qwenBlocks(given as string);
        messages.push({ role: 'assistant', content: calls.length > 0 ? '' : text, reasoning, calls });
        return decodeQwen(text);
      },
      results: (texts) => messages.push(...texts.map((content) => ({ role: 'tool' as const, content }))),
      add: (added) => pasted(added, prompts),
    };
  },
  qwen_prompt(functions, prompts) {
    const messages: QwenMessage[] = [{ role: 'system', content: system(functions, prompts) }];
    return {
      user: (said) => messages.push(...(said as QwenMessage[])),
      prompt: () => qwenPrompt(messages),
      answer(given) {
        const { reasoning, text } = splitThoughts(given as string);
        messages.push({ role: 'assistant', content: text, reasoning, calls: [] });
        return decodePrompt(text);
      },
      results: (texts) => messages.push(...texts.map((content) => ({ role: 'tool' as const, content }))),
      add: (added) => pasted(added, prompts),
    };
  },
  openai_fc(functions, prompts) {
    const messages: Value[] = [];
    let ids: string[] = [];
    return {
      user: (said) => messages.push(...said.map((message) => dict(message))),
      prompt: () => requestText(dict({ messages, tools: openaiTools(functions) })),
      answer(given) {
        const { content, tool_calls = [] } = given as ChatAnswer;
        messages.push(chatMessage(content, tool_calls));
        ids = tool_calls.map(({ id }) => id);
        return decodeTools(tool_calls.map((call) => call.function));
      },
      results: (texts) => messages.push(...texts.map((content, i) => dict({ role: 'tool', content, tool_call_id: ids[i]! }))),
      add(added) {
        functions.push(...added);
        return prompts.added;
      },
    };
  },
  openai_prompt(functions, prompts) {
    const messages: Value[] = [dict({ role: 'system', content: system(functions, prompts) })];
    let calls: string[] = [];
    return {
      user: (said) => messages.push(...said.map((message) => dict(message))),
      prompt: () => requestText(dict({ messages })),
      answer(given) {
        const content = (given as ChatAnswer).content ?? '';
        messages.push(chatMessage(content, []));
        calls = decodePrompt(content);
        return calls;
      },
      results(texts) {
        const tools = texts.map((content, i) => dict({ role: 'tool', name: calls[i]!, content }));
        messages.push(dict({ role: 'user', content: repr(tools) }));
      },
      add: (added) => pasted(added, prompts),
    };
  },
};

function chatMessage(content: string | null, calls: NonNullable<ChatAnswer['tool_calls']>): Dict {
  const message = dict({ role: 'assistant', content });
  if (calls.length === 0) return message;
  return message.set(
    'tool_calls',
    calls.map((call) => dict({ id: call.id, function: dict(call.function) })),
  );
}
