/** @file What a conversation of a language model will cost, estimated from conversations of demonstrators on the same tasks. */
import type { Conditions } from '../records/conditions.ts';
import type { EndpointConfig } from '../records/user.ts';
import { customerScripts } from '../domains/registry.ts';
import type { Environments } from '../environments/types.ts';
import { hash32 } from '../base/random.ts';
import { hintOf } from '../synthesis/hint.ts';
import { ScriptedUsers } from '../users/scripted.ts';
import { costOf } from '../users/account.ts';
import { messagesOf } from '../agent/players.ts';
import { demonstrators } from './synthesize.ts';

/** Requests and tokens of one side. `cost` is in the unit of the prices; absent without prices. */
export interface Estimate {
  requests: number;
  prompt: number;
  completion: number;
  cost?: number;
}

/** English texts and JSON have about four characters in a token. */
const CHARACTERS = 4;
const PLAYED = 6;

type Prices = Pick<EndpointConfig, 'promptPrice' | 'completionPrice'>;

/**
 * The mean of one conversation at a place, for the agent and for the customer.
 * @param prices those of the models; absent: no model plays this side
 */
export async function estimateConversation(
  environments: Environments,
  { domain, level, seed, conditions, hint }: { domain: string; level: string; seed: number; conditions: Conditions; hint: boolean },
  prices: { agent?: Prices | undefined; customer?: Prices | undefined },
): Promise<{ agent?: Estimate; customer?: Estimate }> {
  const demonstrate = await demonstrators({ environments, users: new ScriptedUsers(customerScripts) }, domain, level, {
    styles: ['careful'],
  });
  const tasks = await environments.tasks({ domain, level, split: 'train', seed, count: PLAYED, from: 0, conditions });
  const sums = { agent: [0, 0, 0], customer: [0, 0, 0] };
  for (const [i, task] of tasks.entries()) {
    const { trajectory, tools } = await demonstrate(task, hash32(seed, i));
    const messages = messagesOf(trajectory.nodes);
    let seen = JSON.stringify(tools).length + (hint ? hintOf(task).text.length : 0);
    let heard = task.scenario.instruction.length;
    for (const { role, content, tool_calls: calls } of messages) {
      const length = content.length + (calls ? JSON.stringify(calls).length : 0);
      if (role === 'assistant') add(sums.agent, seen, length);
      if (role === 'user') add(sums.customer, heard, length);
      seen += length;
      if (role === 'user' || (role === 'assistant' && !calls)) heard += content.length;
    }
  }
  const mean = ([requests, prompt, completion]: number[], own: Prices): Estimate => {
    const tokens = { prompt: prompt! / CHARACTERS / PLAYED, completion: completion! / CHARACTERS / PLAYED };
    const cost = costOf(tokens, own);
    return { requests: requests! / PLAYED, ...tokens, ...(cost !== undefined && { cost }) };
  };
  return {
    ...(prices.agent && { agent: mean(sums.agent, prices.agent) }),
    ...(prices.customer && { customer: mean(sums.customer, prices.customer) }),
  };
}

function add(sum: number[], prompt: number, completion: number): void {
  sum[0]! += 1;
  sum[1]! += prompt;
  sum[2]! += completion;
}
