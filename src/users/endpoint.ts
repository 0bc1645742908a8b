/**
 * @file Customers that are played by a language model behind an OpenAI-compatible `/chat/completions`. The roles are mirrored:
 * for the model, the agent is `user` and the customer is `assistant`.
 */
import type { EndpointConfig, UserRequest } from '../records/user.ts';
import { chatSession } from './chat-session.ts';
import { readAnswer, type Message } from './endpoint/answer.ts';
import { EndpointClient, type EndpointOptions } from './endpoint/client.ts';
import { RequestFailure } from './endpoint/failure.ts';
import { JUDGE_PROMPT, readJudgement, writeCase } from './judge.ts';
import type { ToldScenario, UserSession, UserSimulator, UserTools, Utterance } from './types.ts';

/**
 * MUA-RL's limit on the tokens of the customer's answer. It is large enough for the thoughts of a reasoning model, and for a
 * judge's reasons.
 */
const MAX_TOKENS = 4096;

export class EndpointUsers implements UserSimulator {
  private readonly client: EndpointClient;

  /** @throws UserError (`bad_response`) if a field of the configuration is invalid. */
  constructor(
    private readonly config: EndpointConfig,
    options: EndpointOptions = {},
  ) {
    this.client = new EndpointClient(config, options);
  }

  session(told: ToldScenario, seed: number, tools?: UserTools): UserSession {
    const { prompt: _, ...scenario } = told;
    const { model, temperature = 0, maxTokens = MAX_TOKENS } = this.config;
    const schemas = tools?.schemas ?? [];
    const hasTools = schemas.length > 0;
    const requests: UserRequest[] = [];
    const ask = async (messages: Message[], signal?: AbortSignal) => {
      const request = {
        model,
        messages,
        ...(hasTools && { tools: schemas }),
        temperature,
        max_tokens: maxTokens,
        seed,
        ...((await this.client.playsScenario(signal)) && { scenario }),
      };
      return this.client.complete(request, (body) => readAnswer(body, hasTools), signal, requests);
    };
    return { ...chatSession(told, tools, ask), requests };
  }

  /** Sentences about the fields of a request that the server refused so far. */
  get changes(): string[] {
    return this.client.changes(this.config.model);
  }

  get customerJudge(): string | undefined {
    const { judgeCustomer, judgeModel, model } = this.config;
    return judgeCustomer ? (judgeModel ?? model) : undefined;
  }

  judge(
    statements: readonly string[],
    conversation: readonly Utterance[],
    signal?: AbortSignal,
    requests?: UserRequest[],
  ): Promise<boolean[]> {
    const { model: userModel, judgeModel: model = userModel } = this.config;
    const messages: Message[] = [
      { role: 'system', content: JUDGE_PROMPT },
      { role: 'user', content: writeCase(statements, conversation) },
    ];
    const read = (body: string) => {
      const met = readJudgement(readAnswer(body, false, { keepMarks: true }).text, statements.length);
      if (!met)
        throw new RequestFailure(`the judge "${model}" did not answer with a verdict on ${statements.length} statements`, 'bad_response');
      return met;
    };
    return this.client.complete({ model, messages, temperature: 0, max_tokens: MAX_TOKENS }, read, signal, requests);
  }
}
