/** Which generated tasks an evaluation plays. */
import { expect, test } from 'vitest';
import { customerOf } from '../../../src/evaluation/trial-result.ts';
import { GENERATED_DOMAINS } from '../../../src/domains/registry.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { evaluationTasks } from '../../../src/environments/task-order.ts';
import { trainingTasks } from '../../../src/training/training-tasks.ts';
import { grpoConfig } from '../../../src/training/config.ts';

const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
const place = async (domain: string, level: string) => ({ environments, domain: await environments.domain(domain, level) });
const query = { split: 'heldout', seed: 42, count: 200 } as const;

test.each([
  ['retail', 'glimpse'],
  ['retail', 'nano'],
  ['telecom', 'nano'],
  ['telecom', 'glimpse'],
])('every held-out task of %s at %s is from a world of its own, with a customer of its own', async (domain, level) => {
  const tasks = await evaluationTasks(await place(domain, level), { domain, level, ...query });
  expect(tasks).toHaveLength(200);
  expect(tasks[0]!.id).toBe(`${domain}/${level}/heldout/42/0`);
  for (const of of [tasks.map(({ id }) => id), tasks.map(({ world }) => world), tasks.map(customerOf)]) expect(new Set(of).size).toBe(200);
  // More tasks begin with the same ones.
  const few = await evaluationTasks(await place(domain, level), { domain, level, ...query, count: 5 });
  expect(few).toEqual(tasks.slice(0, 5));
});

test('tasks of `train` are those that a training plays first, as before', async () => {
  const stage = await place('retail', 'nano');
  const config = grpoConfig('nano', { seed: 42, train_batch_size: 6 });
  const steps = await Promise.all([1, 2].map((step) => trainingTasks(stage, config, step)));
  const evaluated = await evaluationTasks(stage, {
    domain: 'retail',
    level: 'nano',
    split: 'train',
    seed: 42,
    count: 12,
    conditions: undefined,
  });
  const numbers = [0, 64, 128, 192, 256, 320, 384, 448, 1, 65, 129, 193];
  const number = ({ id }: { id: string }) => Number(id.split('/').at(-1));
  expect(steps.flat().map(number)).toEqual(numbers);
  expect(evaluated.map(number)).toEqual(numbers);
});

test('a training on held-out tasks plays those of the evaluation', async () => {
  const stage = await place('retail', 'nano');
  const config = grpoConfig('nano', { seed: 42, train_split: 'heldout', val_tasks: 6, train_batch_size: 6, filter_noop_tasks: false });
  const trained = await trainingTasks(stage, config, 1);
  const numbers = trained.map(({ id }) => Number(id.split('/').at(-1))).sort((a, b) => a - b);
  expect(numbers).toEqual([0, 67, 134, 201, 268, 335]);
});

test('of a finite set, the first tasks are played', async () => {
  const asked: unknown[] = [];
  const finite = {
    domain: { finite: true as const },
    environments: { tasks: async (given: object) => (asked.push(given), []) },
  };
  await evaluationTasks(finite, { domain: 'tau1-retail', level: 'full', ...query, count: 7 });
  expect(asked).toEqual([{ domain: 'tau1-retail', level: 'full', ...query, count: 7 }]);
});

test('a customer is known by the facts that name them, whatever else a task tells', () => {
  const of = (identity: Record<string, string>, world = 'w0', benchmark?: { user_id: string }) =>
    customerOf({ id: 'task 1', world, scenario: { identity }, benchmark } as unknown as Parameters<typeof customerOf>[0]);
  const name = { first_name: 'Mei', last_name: 'Li', zip: '10001' };
  expect(of({ email: 'mei@example.com', ...name })).toBe(of(name));
  expect(of(name)).not.toBe(of({ ...name, first_name: 'Ana' }));
  expect(of(name)).not.toBe(of(name, 'w1'));
  expect(of({ email: 'a' })).not.toBe(of({ email: 'b' }));
  expect(of({})).toBe('task 1');
  expect(of({}, 'w0', { user_id: 'mei_li_1' })).toBe(of({}, 'w0', { user_id: 'mei_li_1' }));
});
