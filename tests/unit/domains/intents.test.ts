/** Tasks that are restricted to some intents, for training and for the evaluation. */
import { expect, test } from 'vitest';
import { GENERATED_DOMAINS, intentsOf } from '../../../src/domains/registry.ts';
import { conditionsOf } from '../../../src/environments/conditions.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { evaluationTasks } from '../../../src/environments/task-order.ts';
import type { Task } from '../../../src/records/task.ts';
import { coldStart, evaluationConfig, grpoConfig } from '../../../src/training/config.ts';
import { trainingTasks } from '../../../src/training/training-tasks.ts';

const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
const WRITES: Record<string, string[]> = {
  cancel: ['cancel_pending_order'],
  return: ['return_delivered_order_items'],
  exchange: ['exchange_delivered_order_items'],
  modify_items: ['modify_pending_order_items'],
  modify_address: ['modify_pending_order_address', 'modify_user_address'],
  modify_payment: ['modify_pending_order_payment'],
};
/** All intents that the customer of a task has at any time. */
const intentsIn = ({ scenario }: Task) =>
  scenario.wishes.flatMap(({ intent, insteadOf }) => [intent, ...(insteadOf ? [insteadOf.intent] : [])]);

async function tasksOf(level: string, intents: string, count = 64) {
  const { conditions } = coldStart('retail', level, { intents, 'customers.changes_mind': '0.5', 'customers.impossible': '0.2' });
  return environments.tasks({ domain: 'retail', level, split: 'train', seed: 9, count, conditions });
}

test('the levels have these intents', () => {
  expect(intentsOf('retail', 'nano')).toEqual(['cancel', 'modify_payment']);
  expect([...intentsOf('retail', 'small')].sort()).toEqual(Object.keys(WRITES).sort());
  expect(intentsOf('telecom', 'nano')).toEqual([]);
  expect(intentsOf('telecom', 'glimpse')).toEqual(['add_data', 'enable_roaming']);
});

test.each(['glimpse', 'nano', 'small', 'full'].flatMap((level) => intentsOf('retail', level).map((intent) => [level, intent] as const)))(
  'at %s: only %s, also before a change of mind and in impossible wishes',
  async (level, intent) => {
    const tasks = await tasksOf(level, intent);
    expect(new Set(tasks.flatMap(intentsIn))).toEqual(new Set([intent]));
    const others = Object.keys(WRITES).filter((other) => other !== intent).flatMap((other) => WRITES[other]!); // prettier-ignore
    expect(tasks.flatMap(({ actions }) => actions.filter(({ name }) => others.includes(name)))).toEqual([]);
    for (const { id } of tasks) expect(id).toContain(`.${intent}/`);
  },
);

test('ids say the intents: equal sets make equal tasks, other sets make tasks with other ids', async () => {
  const [one, same, other, all] = await Promise.all(
    ['return, cancel', 'cancel,return', 'cancel', ''].map((list) => tasksOf('small', list, 8)),
  );
  expect(same).toEqual(one);
  expect(one![0]!.id).toMatch(/^retail\/small\/train\/9~[a-z0-9]+\.cancel\.return\/0$/);
  expect(new Set([one, other, all].flatMap((tasks) => tasks!.map(({ id }) => id))).size).toBe(24);
  expect(new Set(all!.flatMap(intentsIn)).size).toBeGreaterThan(3);
});

test('a run trains on some intents and is tested on the others', async () => {
  const config = grpoConfig('small', { intents: 'cancel,modify_payment', val_intents: 'return,exchange', train_batch_size: 40 });
  const domain = await environments.domain('retail', 'small');
  const trained = await trainingTasks({ domain, environments }, config, 1);
  expect(new Set(trained.flatMap(intentsIn))).toEqual(new Set(['cancel', 'modify_payment']));
  const query = { domain: 'retail', level: 'small', split: 'heldout', seed: 1, count: 40 } as const;
  const tested = await evaluationTasks({ domain, environments }, { ...query, conditions: conditionsOf(config, 'val') });
  expect(new Set(tested.flatMap(intentsIn))).toEqual(new Set(['exchange', 'return']));
});

test('an unknown intent is refused, in runs, evaluations and the cold start', () => {
  const small = 'cancel, return, exchange, modify_items, modify_address, modify_payment';
  expect(() => grpoConfig('small', { intents: 'cancel,refund' })).toThrow(
    `setting "intents" has "refund": expected some of ${small} at retail small`,
  );
  expect(() => evaluationConfig({ domain: 'retail', level: 'nano', settings: { val_intents: 'return' } })).toThrow(
    'setting "val_intents" has "return": expected some of cancel, modify_payment at retail nano',
  );
  expect(() => coldStart('telecom', 'nano', { intents: 'cancel' })).toThrow(
    'setting "intents" has "cancel": expected no value at telecom nano',
  );
});

test('val_split must be a split of the domain', () => {
  expect(grpoConfig('nano', { val_split: 'unseen' }).val_split).toBe('unseen');
  expect(() => grpoConfig('nano', { domain: 'telecom', val_split: 'unseen' })).toThrow(
    'setting "val_split" is "unseen": expected train or heldout, the splits of telecom',
  );
});
