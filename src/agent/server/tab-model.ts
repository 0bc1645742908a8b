/** @file The model of transformers.js in the tab that plays an agent. */
import { Dice } from '../../base/dice.ts';
import type { TabAgent } from '../../records/agent-server.ts';
import type { UserRequest } from '../../records/user.ts';
import type { AgentAnswer, AgentModel, AgentQuestion } from '../../users/agent-model.ts';
import { separateThoughts } from '../../users/endpoint/words.ts';
import { toChat } from '../../users/local-chat.ts';
import type { Generated, LocalModels } from '../../users/local-hosts.ts';
import { UserError } from '../../users/types.ts';

/** The most tokens of a message, without and with thoughts. */
const MAX_TOKENS = { plain: 1024, thinking: 4096 };
/** The time limit of a message. The prompt of a benchmark takes minutes on a processor. */
const TIMEOUT_MS = 600_000;

export class TabModel implements AgentModel {
  readonly callsInText = true;

  constructor(
    private readonly agent: TabAgent,
    private readonly models: LocalModels,
  ) {}

  /** A message is asked for once: with the same seed, the model would write the same words again. */
  async ask<T>(
    { conversation, messages, tools, temperature, seed }: AgentQuestion,
    read: (answer: AgentAnswer) => T,
    signal?: AbortSignal,
    requests: UserRequest[] = [],
  ): Promise<T> {
    const { thinks = false, maxTokens = thinks ? MAX_TOKENS.thinking : MAX_TOKENS.plain, timeoutMs = TIMEOUT_MS } = this.agent;
    const request = {
      conversation,
      messages: messages.map(toChat),
      tools,
      maxTokens,
      temperature,
      thinks,
      seed: new Dice(seed, requests.length).int(0, 2 ** 31 - 1),
    };
    const made: UserRequest = { seconds: null, prompt: null, completion: null, retry: false };
    requests.push(made);
    const start = performance.now();
    const generated = await this.models.generate(this.agent, request, signal, timeoutMs);
    const { promptTokens: prompt, tokens: completion } = generated;
    Object.assign(made, { seconds: (performance.now() - start) / 1000, prompt, completion });
    return read(answerOf(generated));
  }
}

/** @throws UserError (`bad_response`) if the message or its thoughts have no end */
function answerOf({ text, isCut, tokens }: Generated): AgentAnswer {
  if (isCut)
    throw new UserError(
      `the agent’s model did not end its message within ${tokens} tokens: raise the most tokens of a message`,
      'bad_response',
    );
  const words = separateThoughts(text);
  if (words === null) throw new UserError('the agent’s model did not end its thoughts (<think> is not closed)', 'bad_response');
  return { text: words.said, calls: [], thoughts: words.thoughts, fields: {} };
}
