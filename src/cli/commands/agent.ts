/** @file The flags of `mua evaluate` for an agent whose model is behind a server. */
import { AGENT_FORMATS, type AgentServer } from '../../records/agent-server.ts';
import { camelCase, type Flags, type Values } from '../args.ts';
import { UsageError } from '../errors.ts';
import { readServer } from './server.ts';

export const AGENT_FLAGS = {
  agent: {
    type: 'string',
    value: 'URL',
    help: 'OpenAI-compatible server whose model plays the agent, instead of --model; it needs no GPU',
  },
  'agent-model': {
    type: 'string',
    value: 'NAME',
    help: 'model to use on the agent’s server (default: the first chat model that it lists); set MUA_AGENT_KEY to the server’s API key',
  },
  'agent-format': {
    type: 'string',
    value: 'FORMAT',
    help: 'native (tools and calls in fields of their own; the default) or text (in the texts, as our own models write them)',
    choices: AGENT_FORMATS,
  },
  'agent-temperature': { type: 'number', value: 'T', help: 'the same as --temperature', min: 0 },
  'agent-max-tokens': {
    type: 'integer',
    value: 'N',
    help: 'most tokens in one message of the agent, including thoughts (default 4096)',
    min: 1,
  },
  'agent-body': {
    type: 'string',
    value: 'JSON',
    help: 'more fields of each request to the agent’s server; null removes a field; stored with the results',
  },
  'agent-prompt-price': { type: 'number', value: 'X', help: 'price of a million prompt tokens of the agent, in any unit of money', min: 0 },
  'agent-completion-price': {
    type: 'number',
    value: 'X',
    help: 'price of a million completion tokens of the agent, in the same unit',
    min: 0,
  },
  'agent-budget': { type: 'number', value: 'X', help: 'ask the agent no more after it has cost this much', min: 0 },
} as const satisfies Flags;

type AgentValues = Partial<Values<typeof AGENT_FLAGS>>;

/** The agent's server, without its key. Null if the flags name none. */
export async function readAgent(values: AgentValues): Promise<{ server: AgentServer; agentKey: string | undefined } | null> {
  const { agent, agentModel: model, agentFormat: format, agentBody: body, agentMaxTokens: maxTokens } = values;
  const { agentPromptPrice: promptPrice, agentCompletionPrice: completionPrice, agentBudget: budget } = values;
  if (agent === undefined) {
    const extra = Object.keys(AGENT_FLAGS).find((name) => values[camelCase(name) as keyof AgentValues] !== undefined);
    if (extra) throw new UsageError(`--${extra} is given: expected --agent URL with it`);
    return null;
  }
  const settings = { maxTokens, promptPrice, completionPrice, budget };
  const names = { flag: '--agent', prefix: 'agent', key: 'MUA_AGENT_KEY' } as const;
  const { config, apiKey } = await readServer(names, { address: agent, model, body, settings }, 'an http(s) URL');
  return { server: { ...config, ...(format && { format }) }, agentKey: apiKey };
}

/**
 * @param values the flags that say who plays the agent
 * @throws UsageError if nobody plays the agent, or if flags are given that only weights have
 */
export function checkPlayer(
  values: Pick<AgentValues, 'agent' | 'agentTemperature'> & { [Name in 'model' | 'lora' | 'precision' | 'on']?: string | undefined } & {
    temperature?: number | undefined;
  },
): void {
  const { agent, model, lora, precision, on, temperature, agentTemperature } = values;
  if (agent === undefined && model === undefined) throw new UsageError(`--model is missing: expected --model DIR, or --agent URL`);
  if (agent === undefined) return;
  const [other] = Object.entries({ model, lora, precision, on }).find(([, value]) => value !== undefined) ?? [];
  if (other) throw new UsageError(`--${other} is given: expected no --${other} with --agent, whose model is behind a server`);
  if (agentTemperature !== undefined && temperature !== undefined)
    throw new UsageError('--temperature and --agent-temperature are given: expected one of them');
}
