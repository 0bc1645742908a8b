/** @file The answerer that asks a language model behind an OpenAI-compatible server. */
import { hash32 } from '../../base/random.ts';
import { sha256 } from '../../base/sha256.ts';
import { SimulatorFault } from '../../environments/simulator-fault.ts';
import type { AgentUsage } from '../../records/agent-server.ts';
import type { EndpointConfig, UserRequest } from '../../records/user.ts';
import { checkPrices, costOf, usageOf } from '../../users/account.ts';
import { type Message, readAnswer } from '../../users/endpoint/answer.ts';
import { EndpointClient, type EndpointOptions } from '../../users/endpoint/client.ts';
import { UserError } from '../../users/types.ts';
import { FORM, FORM_SCHEMA } from './proposal.ts';
import { PROMPT, question } from './prompt.ts';
import type { Answer, Answers, Asked } from './types.ts';

const MAX_TOKENS = 4096;
const TIMEOUT_MS = 300_000;
const RESPONSE_FORMAT = { type: 'json_schema', json_schema: { name: 'answer', schema: FORM_SCHEMA } } as const;
/** Failures after which all further requests would fail too. */
const FINAL: readonly UserError['kind'][] = ['auth', 'budget', 'aborted'];

const PROMPT_HASH = sha256(PROMPT);

export class ModelAnswers implements Answers {
  readonly #client: EndpointClient;
  readonly #requests: UserRequest[] = [];
  #spent = 0;

  /** @throws UserError (`bad_response`) if a field of the configuration is invalid */
  constructor(
    private readonly config: EndpointConfig,
    options: EndpointOptions = {},
  ) {
    checkPrices(config);
    this.#client = new EndpointClient({ timeoutMs: TIMEOUT_MS, ...config }, { who: 'the server of the tools', ...options });
  }

  /** What the requests used. Null if there were none. */
  get usage(): AgentUsage | null {
    return usageOf(this.#requests);
  }

  /** A reply that is no JSON is repaired once: the model gets it back. @throws SimulatorFault */
  async answer(asked: Asked, signal?: AbortSignal): Promise<Answer> {
    const messages: Message[] = [
      { role: 'system', content: PROMPT },
      { role: 'user', content: question(asked) },
    ];
    const about = { model: this.config.model, prompt: PROMPT_HASH };
    const seed = hash32(asked.attempt, Number.parseInt(asked.key.slice(0, 8), 16)) >>> 1;
    const reply = await this.#ask(messages, seed, signal);
    const value = parsed(reply);
    if (value !== undefined) return { value, ...about };
    messages.push(
      { role: 'assistant', content: reply.slice(0, 4000) },
      { role: 'user', content: `This is no JSON. Answer with ${FORM} and nothing else.` },
    );
    const again = await this.#ask(messages, seed, signal);
    return { value: parsed(again) ?? again, ...about };
  }

  async #ask(messages: Message[], seed: number, signal: AbortSignal | undefined): Promise<string> {
    const { model, budget, maxTokens: max_tokens = MAX_TOKENS, temperature = 0 } = this.config;
    if (budget !== undefined && this.#spent >= budget)
      throw new SimulatorFault(`the tools have cost ${Number(this.#spent.toPrecision(4))}, and their budget is ${budget}`, true);
    const made: UserRequest[] = [];
    const request = { model, messages, temperature, max_tokens, seed, response_format: RESPONSE_FORMAT };
    try {
      return await this.#client.complete(request, (body) => readAnswer(body, false, { keepMarks: true }).text, signal, made);
    } catch (cause) {
      if (!(cause instanceof UserError)) throw cause;
      throw new SimulatorFault(cause.message, FINAL.includes(cause.kind));
    } finally {
      for (const one of made) {
        const cost = costOf(one, this.config);
        this.#requests.push(cost === undefined ? one : { ...one, cost });
        this.#spent += cost ?? 0;
      }
    }
  }
}

/** The JSON object of a reply, perhaps with words or a fence around it. Undefined if there is none. */
function parsed(reply: string): unknown {
  for (const text of [reply, reply.slice(reply.indexOf('{'), reply.lastIndexOf('}') + 1)])
    try {
      return JSON.parse(text) as unknown;
    } catch {}
  return undefined;
}
