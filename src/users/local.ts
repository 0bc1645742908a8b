/**
 * @file Customers that are played by a text-generation model in the tab (transformers.js). The prompt is the same as for
 * customers behind an endpoint.
 */
import { Dice } from '../base/dice.ts';
import type { Generated } from '../local/api.ts';
import type { LocalConfig, UserRequest } from '../records/user.ts';
import { chatSession } from './chat-session.ts';
import type { Answer, Message, RawCall } from './endpoint/answer.ts';
import { unknownMark, withoutThoughts } from './endpoint/words.ts';
import { JUDGE_PROMPT, readJudgement, writeCase } from './judge.ts';
import { toChat } from './local-chat.ts';
import type { LocalModels } from './local-hosts.ts';
import { type ToldScenario, UserError, type UserSession, type UserSimulator, type UserTools, type Utterance } from './types.ts';

const MAX_TOKENS = 512;

export class LocalUsers implements UserSimulator {
  constructor(
    private readonly config: LocalConfig,
    private readonly models: LocalModels,
  ) {}

  /** Loads the model. So a model that cannot play ends a run before its first step. @throws UserError */
  ready(): Promise<void> {
    return this.models.load(this.config);
  }

  session(scenario: ToldScenario, seed: number, tools?: UserTools): UserSession {
    const requests: UserRequest[] = [];
    const schemas = tools?.schemas ?? [];
    const conversation = crypto.randomUUID();
    const ask = async (messages: Message[], signal?: AbortSignal): Promise<Answer> => {
      const generated = await this.#ask(conversation, messages, schemas, new Dice(seed, requests.length), requests, signal);
      return readGenerated(generated, schemas.length > 0);
    };
    return { ...chatSession(scenario, tools, ask), requests };
  }

  async judge(
    statements: readonly string[],
    conversation: readonly Utterance[],
    signal?: AbortSignal,
    requests: UserRequest[] = [],
  ): Promise<boolean[] | null> {
    const messages: Message[] = [
      { role: 'system', content: JUDGE_PROMPT },
      { role: 'user', content: writeCase(statements, conversation) },
    ];
    const generated = await this.#ask(crypto.randomUUID(), messages, [], new Dice(0), requests, signal);
    return readJudgement(readGenerated(generated, false).text, statements.length);
  }

  async #ask(
    conversation: string,
    messages: Message[],
    tools: UserTools['schemas'],
    dice: Dice,
    requests: UserRequest[],
    signal?: AbortSignal,
  ): Promise<Generated> {
    const { maxTokens = MAX_TOKENS, temperature = null, timeoutMs } = this.config;
    const made: UserRequest = { seconds: null, prompt: null, completion: null, retry: false };
    requests.push(made);
    const start = performance.now();
    const request = { conversation, messages: messages.map(toChat), tools, maxTokens, temperature, seed: dice.int(0, 2 ** 31 - 1) };
    const generated = await this.models.generate(this.config, request, signal, timeoutMs);
    Object.assign(made, {
      seconds: (performance.now() - start) / 1000,
      prompt: generated.promptTokens,
      completion: generated.tokens,
    });
    return generated;
  }
}

/**
 * Reads a generated message. Calls are marked as in Qwen's and Hermes' chat templates.
 * @throws UserError (`bad_response`) if the message has no end or no words
 */
export function readGenerated({ text, isCut, tokens }: Generated, hasTools: boolean): Answer {
  if (isCut) throw new UserError(`the customer’s model did not end its message within ${tokens} tokens`, 'bad_response');
  const said = withoutThoughts(text);
  if (said === null) throw new UserError('the customer’s model did not end its thoughts (<think> is not closed)', 'bad_response');
  const calls: RawCall[] = [];
  const words = !hasTools
    ? said
    : said.replace(/<tool_call>\s*(\{.*?\})\s*<\/tool_call>/gs, (marked, json: string) => {
        const call = readCall(json);
        if (!call) return marked;
        calls.push(call);
        return '';
      });
  if (!words.trim() && calls.length === 0) throw new UserError('the customer’s model gave an empty answer', 'bad_response');
  // A call that cannot be read stays in the words, so that the audit sees it.
  const mark = unknownMark(words.replace(/<\/?tool_call>/g, ''));
  if (mark) throw new UserError(`the customer’s model wrote the mark "${mark.slice(0, 40)}": expected words`, 'bad_response');
  return { text: words.trim(), calls };
}

function readCall(json: string): RawCall | null {
  try {
    const { name, arguments: args = {} } = JSON.parse(json) as { name?: unknown; arguments?: unknown };
    if (typeof name !== 'string' || typeof args !== 'object') return null;
    return { id: '', type: 'function', function: { name, arguments: JSON.stringify(args) } };
  } catch {
    return null;
  }
}
