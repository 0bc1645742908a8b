/**
 * @file Customers played by a language model behind an OpenAI-compatible `/chat/completions`. The roles are mirrored: to the
 * model the agent is `user`, and the customer is `assistant`.
 */
import { historyFor } from '../environments/exact/history.ts';
import type { UserScenario } from '../records/task.ts';
import type { EndpointConfig, UserRequest } from '../records/user.ts';
import { callTools, readAnswer, type Message, type RawCall } from './endpoint-answer.ts';
import { EndpointClient, type EndpointOptions } from './endpoint-client.ts';
import { RequestFailure } from './endpoint-failure.ts';
import { JUDGE_PROMPT, readJudgement, writeCase } from './judge.ts';
import { GREETING, systemPrompt } from './prompt.ts';
import type { UserSession, UserSimulator, UserTools, Utterance } from './types.ts';

/** MUA-RL's limit for the customer. It leaves room for the thoughts of a reasoning model, and for a judge's reasons. */
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

  session(scenario: UserScenario, seed: number, tools?: UserTools): UserSession {
    const { model, temperature = 0, maxTokens = MAX_TOKENS } = this.config;
    const schemas = tools?.schemas ?? [];
    const hasTools = schemas.length > 0;
    const requests: UserRequest[] = [];
    const messages: Message[] = [{ role: 'system', content: systemPrompt(scenario, hasTools) }];
    // A message joins the history together with its answer, so that a failed request can be made again.
    const hear = async (content: string, signal?: AbortSignal): Promise<string> => {
      for (let heard: Message[] = [{ role: 'user', content }]; ;) {
        const request = {
          model,
          messages: [...messages, ...heard],
          ...(hasTools && { tools: schemas }),
          temperature,
          max_tokens: maxTokens,
          seed,
          ...((await this.client.playsScenario(signal)) && { scenario }),
        };
        const { text, calls } = await this.client.complete(request, (body) => readAnswer(body, hasTools), signal, requests);
        messages.push(...heard, { role: 'assistant', content: text || null, ...(calls.length > 0 && { tool_calls: calls }) });
        if (!calls.length) return text;
        const results = await callTools(tools!, calls);
        heard = results.map((result, i) => ({ role: 'tool', tool_call_id: calls[i]!.id, content: result.text }));
      }
    };
    const [past, last] = begun(scenario);
    messages.push(...past);
    return { open: (signal) => hear(last, signal), reply: hear, requests };
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
      const met = readJudgement(readAnswer(body, false).text, statements.length);
      if (!met)
        throw new RequestFailure(`the judge "${model}" did not answer with a verdict on ${statements.length} statements`, 'bad_response');
      return met;
    };
    return this.client.complete({ model, messages, temperature: 0, max_tokens: MAX_TOKENS }, read, signal, requests);
  }
}

/** What was said before the customer's first answer, with mirrored roles, and the message to answer. */
function begun({ history }: UserScenario): [Message[], string] {
  const past = historyFor('user', history ?? [{ role: 'assistant', content: GREETING }]);
  const last = past.pop()!.content;
  return [
    past.map(({ role, id, content, calls }): Message => {
      if (role === 'tool') return { role, tool_call_id: id ?? '', content };
      const raw = calls.map((call): RawCall => ({
        id: call.id,
        type: 'function',
        function: { name: call.name, arguments: JSON.stringify(call.arguments) },
      }));
      return { role: role === 'user' ? 'assistant' : 'user', content, ...(raw.length > 0 && { tool_calls: raw }) };
    }),
    last,
  ];
}
