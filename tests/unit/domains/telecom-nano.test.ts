/** @file Level `nano` of telecom shows less than the other levels, but enough for every task. */
import { expect, it } from 'vitest';
import { GENERATED_DOMAINS } from '../../../src/domains/registry.ts';
import { makeTelecomTasks } from '../../../src/domains/telecom/generator.ts';
import { createEnvironments } from '../../../src/environments/index.ts';

const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
const query = { domain: 'telecom', split: 'train', seed: 5, count: 1 } as const;

it('shows the fields of records that tasks need', async () => {
  const [task] = await environments.tasks({ ...query, level: 'nano' });
  const { phone_number } = task!.scenario.identity;
  const episode = await environments.start(task!);
  const ask = async (name: string, args: Record<string, string>) =>
    JSON.parse((await environments.call(episode, { name, arguments: args })).text) as Record<string, unknown> & Record<string, unknown>[];
  const customer = await ask('get_customer_by_phone', { phone_number: phone_number! });
  expect(Object.keys(customer)).toEqual(['customer_id', 'full_name', 'phone_number', 'line_ids']);
  expect(customer.full_name).toBe(task!.scenario.identity.name);
  const [id] = customer.line_ids as string[];
  const line = await ask('get_details_by_id', { id: id! });
  expect(line).toMatchObject({ line_id: id, status: expect.any(String) as string, roaming_enabled: expect.any(Boolean) as boolean });
  expect(line).not.toHaveProperty('device_id');
  const plan = await ask('get_details_by_id', { id: line.plan_id as string });
  expect(Object.keys(plan)).toEqual(['plan_id', 'data_limit_gb', 'data_refueling_price_per_gb']);
  const bills = await ask('get_bills_for_customer', { customer_id: customer.customer_id as string });
  expect(bills.length).toBeGreaterThanOrEqual(2);
  for (const bill of bills) expect(Object.keys(bill)).toEqual(['bill_id', 'customer_id', 'total_due', 'status']);
  await environments.close(episode);
});

it('refuses the tools that it does not show', async () => {
  const results = await Promise.all(
    ['nano', 'full'].map(async (level) => {
      const [task] = await environments.tasks({ ...query, level });
      const episode = await environments.start(task!);
      const { name } = task!.scenario.identity;
      return environments.call(episode, { name: 'get_customer_by_name', arguments: { full_name: name!, dob: '1900-01-01' } });
    }),
  );
  expect(results).toMatchObject([
    { text: "Error: Tool 'get_customer_by_name' not found.", error: true },
    { text: '[]', error: false },
  ]);
});

it('shows every tool of the agent, and names every tool of the customer, that a solution needs', async () => {
  const { tools, policy } = await environments.domain('telecom', 'nano');
  const shown = tools.map((tool) => tool.function.name);
  const needed = makeTelecomTasks({ level: 'nano', split: 'train', seed: 3, count: 300 }).flatMap(
    ({ evaluation_criteria }) => evaluation_criteria.actions,
  );
  expect(new Set(needed.map(({ name }) => name)).size).toBeGreaterThan(15);
  for (const { requestor, name, arguments: args } of needed) {
    if (requestor === 'user') expect(policy).toContain(name);
    else expect(shown).toContain(name);
    const required = tools.find((tool) => tool.function.name === name)?.function.parameters.required;
    if (required) expect(required).toEqual(Object.keys(args));
  }
});
