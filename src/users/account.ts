/** @file Counts what a customer or an agent behind an endpoint uses (requests, tokens, latency and cost), and checks the budget of a run. */
import type { AgentUsage } from '../records/agent-server.ts';
import type { EndpointConfig, UserRequest } from '../records/user.ts';
import { UserError, type UserSession, type UserSimulator } from './types.ts';

type Prices = Pick<EndpointConfig, 'promptPrice' | 'completionPrice' | 'budget'>;

/** @throws UserError (`bad_response`) if a price or the budget is negative or not a number, or if a budget has no price */
export function checkPrices({ promptPrice, completionPrice, budget }: Prices): void {
  for (const [name, value] of Object.entries({ promptPrice, completionPrice, budget }))
    if (value !== undefined && !(Number.isFinite(value) && value >= 0))
      throw new UserError(`${name} is ${value}: expected a number from 0 on`, 'bad_response');
  if (budget !== undefined && !promptPrice && !completionPrice)
    throw new UserError(`budget is ${budget}: expected a price above 0 of prompt or completion tokens with it`, 'bad_response');
}

const sum = (values: readonly (number | null)[]) => values.reduce<number>((total, value) => total + (value ?? 0), 0);

/** The p-quantile of sorted values: the smallest value for which at least the share p of all values is smaller or equal. */
const quantile = (sorted: readonly number[], p: number) => sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)]!;

const isReported = ({ prompt, completion }: Pick<UserRequest, 'prompt' | 'completion'>) => prompt !== null && completion !== null;

/** What an answer cost, in the unit of the prices. Undefined without prices, or if the answer reports no tokens. */
export function costOf(request: Pick<UserRequest, 'prompt' | 'completion'>, { promptPrice, completionPrice }: Prices): number | undefined {
  if ((promptPrice === undefined && completionPrice === undefined) || !isReported(request)) return undefined;
  return (request.prompt! * (promptPrice ?? 0) + request.completion! * (completionPrice ?? 0)) / 1e6;
}

/**
 * What the requests used: counts, tokens, seconds of answered requests, and the cost. Tokens and cost are sums over the answers that
 * report them. Null if there were no requests.
 */
export function usageOf(requests: readonly UserRequest[]): AgentUsage | null {
  if (requests.length === 0) return null;
  const answered = requests.filter(({ seconds }) => seconds !== null);
  const reported = answered.filter(isReported);
  return {
    calls: requests.length,
    retries: requests.filter(({ retry }) => retry).length,
    unreported: answered.length - reported.length,
    prompt_tokens: sum(reported.map(({ prompt }) => prompt)),
    completion_tokens: sum(reported.map(({ completion }) => completion)),
    seconds: sum(answered.map(({ seconds }) => seconds)),
    ...(requests.some(({ cost }) => cost !== undefined) && { cost: sum(requests.map(({ cost = 0 }) => cost)) }),
  };
}

/** The metrics of a step's requests to the customer's model, as `usageOf`, and the median and the 95 % quantile of the seconds. */
export function usageMetrics(requests: readonly UserRequest[], prices: Prices): Record<string, number> {
  const usage = usageOf(requests);
  if (!usage) return {};
  const latencies = requests.flatMap(({ seconds }) => seconds ?? []).sort((a, b) => a - b);
  // The cost of all tokens is rounded once.
  const cost = costOf({ prompt: usage.prompt_tokens, completion: usage.completion_tokens }, prices);
  return {
    'user/calls': usage.calls,
    'user/retries': usage.retries,
    ...(usage.unreported > 0 && { 'user/unreported_calls': usage.unreported }),
    ...(usage.unreported < latencies.length && {
      'user/prompt_tokens': usage.prompt_tokens,
      'user/completion_tokens': usage.completion_tokens,
    }),
    ...(latencies.length > 0 && { 'user/latency_p50_s': quantile(latencies, 0.5), 'user/latency_p95_s': quantile(latencies, 0.95) }),
    ...(cost !== undefined && usage.unreported < latencies.length && { 'user/cost': cost }),
  };
}

/** Simulated users whose requests are counted. This includes requests of dropped conversations and of the judge. */
export class MeteredUsers implements UserSimulator {
  private readonly requests: UserRequest[] = [];
  private budget: number | undefined;
  private spent = 0;

  /** @throws UserError (`bad_response`) if a price or the budget is invalid */
  constructor(
    private readonly users: UserSimulator,
    private readonly prices: Prices,
  ) {
    checkPrices(prices);
    this.budget = prices.budget;
  }

  session(...given: Parameters<UserSimulator['session']>): UserSession {
    const session = this.users.session(...given);
    let seen = 0;
    const counted = async (said: Promise<string>) => {
      try {
        return await said;
      } finally {
        const made = session.requests ?? [];
        this.requests.push(...made.slice(seen));
        seen = made.length;
      }
    };
    return {
      open: (signal) => counted(session.open(signal)),
      reply: (text, signal) => counted(session.reply(text, signal)),
      close: () => session.close?.(),
      requests: session.requests,
    };
  }

  get customerJudge(): string | undefined {
    return this.users.customerJudge;
  }

  async judge(...[statements, conversation, signal]: Parameters<NonNullable<UserSimulator['judge']>>): Promise<boolean[] | null> {
    return (await this.users.judge?.(statements, conversation, signal, this.requests)) ?? null;
  }

  /** The metrics of the requests since the last call. Their cost is added to the money spent so far. */
  takeMetrics(): Record<string, number> {
    const metrics = usageMetrics(this.requests.splice(0), this.prices);
    this.spend(metrics['user/cost'] ?? 0);
    return metrics;
  }

  /** Adds a cost to the money spent so far, for example that of a run's earlier steps. */
  spend(cost: number): void {
    this.spent += cost;
  }

  /** @throws UserError (`bad_response`) if the budget is not above the money spent so far */
  raiseBudget(budget: number): void {
    if (!(Number.isFinite(budget) && budget > this.spent))
      throw new UserError(`budget is ${budget}: expected a number above ${round(this.spent)}, which is spent`, 'bad_response');
    this.budget = budget;
  }

  /** A sentence, without its full stop, which says that the budget is spent. '' while it is not spent. */
  get overBudget(): string {
    if (this.budget === undefined || this.spent < this.budget) return '';
    return `The customer has cost ${round(this.spent)}, and the budget is ${this.budget}`;
  }
}

const round = (cost: number) => String(Number(cost.toPrecision(4)));
