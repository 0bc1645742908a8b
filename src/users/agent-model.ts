/** @file The language model of an agent: it answers chat requests, and its requests are counted and paid. */
import type { AgentServer } from '../records/agent-server.ts';
import type { ToolSchema } from '../records/task.ts';
import type { UserRequest } from '../records/user.ts';
import { checkPrices, costOf } from './account.ts';
import { type AgentAnswer, type Message, readAgentAnswer } from './endpoint/answer.ts';
import { EndpointClient, type EndpointOptions } from './endpoint/client.ts';
import { UserError } from './types.ts';

export type { AgentAnswer, Message, RawCall } from './endpoint/answer.ts';

/** The most tokens of an answer, thoughts included. */
const MAX_TOKENS = 4096;
/** How long an answer may take. Thoughts take minutes on a slow computer. */
const TIMEOUT_MS = 300_000;

/** One request to the model of an agent. */
export interface AgentQuestion {
  /** The id of the conversation. A model in the tab keeps its KV cache. */
  conversation: string;
  messages: Message[];
  tools: readonly ToolSchema[];
  temperature: number;
  seed: number;
}

export interface AgentModel {
  /** Whether the calls stand in the text of the answers, in the model's own form. */
  readonly callsInText?: true;
  /**
   * Gets one answer. Every request is added to `requests`.
   * @param read throws a RequestFailure if the answer cannot be used
   * @throws UserError after the retries
   */
  ask<T>(question: AgentQuestion, read: (answer: AgentAnswer) => T, signal?: AbortSignal, requests?: UserRequest[]): Promise<T>;
}

/** A model behind an OpenAI-compatible server. */
export class ServerModel implements AgentModel {
  readonly #client: EndpointClient;
  /** What all answers so far have cost. */
  #spent = 0;

  /** @throws UserError (`bad_response`) if a field of the configuration is invalid */
  constructor(
    private readonly server: AgentServer,
    options: EndpointOptions = {},
  ) {
    checkPrices(server);
    this.#client = new EndpointClient({ timeoutMs: TIMEOUT_MS, ...server }, { who: 'the agent’s server', ...options });
  }

  async ask<T>(
    { tools, conversation: _, ...question }: AgentQuestion,
    read: (answer: AgentAnswer) => T,
    signal?: AbortSignal,
    requests: UserRequest[] = [],
  ): Promise<T> {
    const { model, maxTokens: max_tokens = MAX_TOKENS, budget } = this.server;
    if (budget !== undefined && this.#spent >= budget)
      throw new UserError(`the agent has cost ${Number(this.#spent.toPrecision(4))}, and its budget is ${budget}`, 'budget');
    const made: UserRequest[] = [];
    const request = { model, ...question, ...(tools.length > 0 && { tools }), max_tokens };
    try {
      return await this.#client.complete(request, (body) => read(readAgentAnswer(body)), signal, made);
    } finally {
      for (const one of made) {
        const cost = costOf(one, this.server);
        requests.push(cost === undefined ? one : { ...one, cost });
        this.#spent += cost ?? 0;
      }
    }
  }
}
