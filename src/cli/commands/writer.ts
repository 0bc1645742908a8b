/** @file The flags of `mua synthesize` for language models that play the agent or the customer. */
import type { Writers } from '../../training/write-places.ts';
import type { Flags, Values } from '../args.ts';
import { UsageError } from '../errors.ts';
import { AGENT_FLAGS, readAgent } from './agent.ts';
import { checkAddress } from './server.ts';
import { COST_FLAGS, readUser, USER_FLAGS } from './shared.ts';

const { user, 'user-device': _device, 'judge-model': _model, 'judge-customer': _customer, ...SERVER_FLAGS } = USER_FLAGS;

export const WRITER_FLAGS = {
  ...AGENT_FLAGS,
  agent: { ...AGENT_FLAGS.agent, help: 'OpenAI-compatible server whose model plays the agent, instead of a demonstrator' },
  'agent-temperature': { ...AGENT_FLAGS['agent-temperature'], help: 'sampling temperature of the agent’s model (default 1)' },
  'agent-budget': { ...AGENT_FLAGS['agent-budget'], help: 'stop when the agent has cost this much; --resume with a higher budget goes on' },
  hint: {
    type: 'boolean',
    help: 'show the agent’s model the right calls; the rows do not have them, and rows that give them away are refused',
  },
  tries: {
    type: 'integer',
    value: 'N',
    help: 'most conversations to play for each one to keep, if a model writes (default 4)',
    min: 1,
    max: 1000,
  },
  user: { ...user, help: 'simulated customer: scripted, or the URL of an OpenAI-compatible server' },
  ...SERVER_FLAGS,
  ...COST_FLAGS,
  'user-budget': { ...COST_FLAGS['user-budget'], help: 'stop before the next conversation when the customer has cost this much' },
} as const satisfies Flags;

type WriterValues = Values<typeof WRITER_FLAGS>;

/** The flags that only demonstrators have. */
interface Alone {
  side: string;
  nearMiss?: number | undefined;
  threads?: number | undefined;
}

/** Null: no language model writes. @throws UsageError */
export async function readWriters(values: WriterValues & Alone): Promise<Writers | null> {
  checkAddress('--agent', values.agent ?? '', 'MUA_AGENT_KEY');
  checkAddress('--user', values.user, 'MUA_USER_KEY');
  const found = await readAgent(values);
  if (!found && values.hint) throw new UsageError('--hint is given: expected --agent URL with it');
  const { user: customer, userEndpoint } = await readUser(values);
  if (customer.mode === 'local') throw new UsageError(`--user is "${values.user}": expected scripted or an http(s) URL`);
  if (!found && customer.mode === 'scripted') {
    if (values.tries !== undefined) throw new UsageError('--tries is given: expected --agent URL or --user URL with it');
    return null;
  }
  const { side, nearMiss, threads } = values;
  const other = side !== 'agent' ? 'side' : nearMiss !== undefined ? 'near-miss' : threads !== undefined ? 'threads' : undefined;
  if (other) throw new UsageError(`--${other} is given: expected no --${other} where a language model writes`);
  const key = userEndpoint?.apiKey;
  return {
    ...(found && {
      agent: {
        server: { ...found.server, ...(found.agentKey !== undefined && { apiKey: found.agentKey }) },
        temperature: values.agentTemperature ?? 1,
        hint: values.hint ?? false,
      },
    }),
    ...(customer.mode === 'endpoint' && { customer: { ...withoutMode(customer), ...(key !== undefined && { apiKey: key }) } }),
    tries: values.tries ?? 4,
  };
}

function withoutMode<T extends { mode: string }>({ mode: _, ...others }: T): Omit<T, 'mode'> {
  return others;
}
