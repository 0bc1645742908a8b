import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { checkPrices, MeteredUsers, usageMetrics } from '../../../src/users/account.ts';
import { EndpointUsers } from '../../../src/users/endpoint.ts';
import { cancelOrder, customer } from '../../support/customers.ts';

const scenario = customer('on_request', [cancelOrder]);
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(cleanups.splice(0).map((close) => close())));

/** A server that answers the requests with these bodies, one after another. For null it answers with status 500. */
async function answering(bodies: (object | null)[]): Promise<string> {
  const server = createServer((_, response) => {
    const body = bodies.shift();
    response.writeHead(body ? 200 : 500).end(JSON.stringify(body ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => new Promise((resolve) => server.close(resolve)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}
const says = (content: string, usage?: object) => ({ choices: [{ message: { content } }], usage });
const users = async (bodies: (object | null)[], prices: object = {}) =>
  new MeteredUsers(new EndpointUsers({ baseUrl: await answering(bodies), model: 'm' }, { backoffMs: 1 }), prices);

describe('the usage of an endpoint', () => {
  it('counts calls, retries and reported tokens, and prices them', async () => {
    const tokens = { prompt_tokens: 1000, completion_tokens: 50 };
    const metered = await users([null, says('hello', tokens), says('bye', tokens)], { promptPrice: 2, completionPrice: 10 });
    const session = metered.session(scenario, 1);
    await session.open();
    await session.reply('hi');
    expect(session.requests).toMatchObject([{ seconds: null }, { retry: true, prompt: 1000 }, { retry: false, completion: 50 }]);
    const metrics = metered.takeMetrics();
    expect(metrics).toMatchObject({ 'user/calls': 3, 'user/retries': 1, 'user/prompt_tokens': 2000, 'user/completion_tokens': 100 });
    expect(metrics['user/cost']).toBeCloseTo(0.005, 12);
    expect(metered.takeMetrics()).toEqual({});
  });

  it('has neither tokens nor cost if the server reports no tokens', async () => {
    const metered = await users([says('hello')], { promptPrice: 2 });
    await metered.session(scenario, 1).open();
    const metrics = metered.takeMetrics();
    expect(metrics).toMatchObject({ 'user/calls': 1, 'user/unreported_calls': 1 });
    expect(Object.keys(metrics).filter((name) => /tokens|cost/.test(name))).toEqual([]);
  });

  it('has nearest-rank percentiles of the latency', () => {
    const requests = Array.from({ length: 20 }, (_, i) => ({ seconds: 20 - i, prompt: null, completion: null, retry: false }));
    expect(usageMetrics(requests, {})).toMatchObject({ 'user/latency_p50_s': 10, 'user/latency_p95_s': 19 });
  });

  it('counts the requests of the judge, and a failed conversation', async () => {
    const metered = await users([says('{"results":[{"met":true}]}', { prompt_tokens: 7, completion_tokens: 1 })]);
    expect(await metered.judge(['polite'], [])).toEqual([true]);
    expect(metered.takeMetrics()).toMatchObject({ 'user/calls': 1, 'user/prompt_tokens': 7 });
  });
});

describe('the budget', () => {
  it('is over when the cost reaches it, and can be raised above the cost only', async () => {
    const metered = await users([], { promptPrice: 1, budget: 0.5 });
    metered.spend(0.4);
    expect(metered.overBudget).toBe('');
    metered.spend(0.2);
    expect(metered.overBudget).toBe('The customer has cost 0.6, and the budget is 0.5');
    expect(() => metered.raiseBudget(0.6)).toThrow(/budget is 0.6: expected a number above 0.6/);
    metered.raiseBudget(1);
    expect(metered.overBudget).toBe('');
  });

  it('needs a price, and numbers from 0 on', () => {
    expect(() => checkPrices({ budget: 5 })).toThrow(/budget is 5: expected a price/);
    expect(() => checkPrices({ promptPrice: -1 })).toThrow('promptPrice is -1: expected a number from 0 on');
    expect(() => checkPrices({ completionPrice: NaN, budget: 1 })).toThrow(/completionPrice is NaN/);
  });
});
