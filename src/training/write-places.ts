/** @file Language models write at several places, one after another, from one purse. */
import { customerScripts, GENERATED_DOMAINS } from '../domains/registry.ts';
import { createEnvironments } from '../environments/index.ts';
import type { AgentServer, AgentUsage } from '../records/agent-server.ts';
import type { EndpointConfig } from '../records/user.ts';
import type { Spent } from '../records/written.ts';
import { ServerModel } from '../users/agent-model.ts';
import { createUsers } from '../users/index.ts';
import { coldStart } from './config.ts';
import type { WritingStage } from './model-attempt.ts';
import { type AttemptLog, type Purse, writeByModel, type Written } from './model-writer.ts';
import type { PlaceOrder } from './synthesize-place.ts';
import { type Estimate, estimateConversation } from './writer-estimate.ts';

export interface Writers {
  /** The server of the agent, with its key. Absent: demonstrators play the agent. */
  agent?: { server: AgentServer; temperature: number; hint: boolean } | undefined;
  /** The server of the customer, with its key. Absent: a script plays the customer. */
  customer?: EndpointConfig | undefined;
  /** The most tasks to play for each conversation to keep. */
  tries: number;
}

export type WrittenPlace = Pick<PlaceOrder, 'domain' | 'level' | 'count' | 'seed' | 'styles' | 'settings'>;

/** What all attempts used. Null: no request was made. */
class Account implements Purse {
  readonly spent: Spent = { agent: null, customer: null };

  constructor(private readonly writers: Writers) {}

  add(spent: Spent): void {
    for (const side of ['agent', 'customer'] as const) this.spent[side] = sumOf(this.spent[side], spent[side]);
  }

  over(more: Spent = { agent: null, customer: null }): string | null {
    const budgets = { agent: this.writers.agent?.server.budget, customer: this.writers.customer?.budget };
    for (const side of ['agent', 'customer'] as const) {
      const [budget, cost] = [budgets[side], (this.spent[side]?.cost ?? 0) + (more[side]?.cost ?? 0)];
      if (budget !== undefined && cost >= budget) return `the ${side} has cost ${Number(cost.toPrecision(4))}, and the budget is ${budget}`;
    }
    return null;
  }
}

function sumOf(a: AgentUsage | null, b: AgentUsage | null): AgentUsage | null {
  if (!a || !b) return a ?? b;
  const sum = { ...a };
  for (const [name, value] of Object.entries(b) as [keyof AgentUsage, number][]) sum[name] = (sum[name] ?? 0) + value;
  return sum;
}

const environmentsOf = () => createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });

/** What all conversations will use if each is kept at its first try. */
export async function estimatePlaces(
  places: readonly WrittenPlace[],
  { agent, customer }: Writers,
): Promise<{ agent?: Estimate; customer?: Estimate }> {
  const environments = environmentsOf();
  const total: { agent?: Estimate; customer?: Estimate } = {};
  for (const { domain, level, seed, count, settings } of places) {
    const { conditions } = coldStart(domain, level, settings);
    const place = { domain, level, seed, conditions, hint: agent?.hint ?? false };
    const one = await estimateConversation(environments, place, { agent: agent?.server, customer });
    for (const side of ['agent', 'customer'] as const) if (one[side]) total[side] = plus(total[side], one[side], count);
  }
  return total;
}

function plus(sum: Estimate | undefined, one: Estimate, count: number): Estimate {
  const value = (of: keyof Estimate) => (sum?.[of] ?? 0) + count * (one[of] ?? 0);
  return {
    requests: value('requests'),
    prompt: value('prompt'),
    completion: value('completion'),
    ...(one.cost !== undefined && { cost: value('cost') }),
  };
}

/**
 * @param logs for each place
 * @param earlier what was spent before the command was stopped
 * @throws UserError if the budget is spent or the servers fail
 */
export async function writePlaces(
  places: readonly WrittenPlace[],
  writers: Writers,
  logs: readonly AttemptLog[],
  earlier: readonly Spent[],
  onProgress: (place: number, kept: number) => void,
): Promise<{ written: Written[]; spent: Spent }> {
  const account = new Account(writers);
  for (const spent of earlier) account.add(spent);
  for (const { done } of logs) for (const { spent } of done.values()) account.add(spent);
  const { agent, customer } = writers;
  const left = agent?.server.budget === undefined ? {} : { budget: Math.max(0, agent.server.budget - (account.spent.agent?.cost ?? 0)) };
  const stage: WritingStage = {
    environments: environmentsOf(),
    users: createUsers(customer ? { mode: 'endpoint', ...customer } : { mode: 'scripted' }, customerScripts),
    ...(agent && {
      writer: { ...agent, model: new ServerModel({ ...agent.server, ...left }), format: agent.server.format },
    }),
    customer,
  };
  const written: Written[] = [];
  for (const [i, { settings, ...place }] of places.entries()) {
    const options = { ...place, ...coldStart(place.domain, place.level, settings), most: place.count * writers.tries };
    written.push(await writeByModel(stage, options, logs[i]!, account, (kept) => onProgress(i, kept)));
  }
  return { written, spent: account.spent };
}
