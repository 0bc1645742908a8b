/** Generated retail tasks: the gold solves them, nothing else does, and the splits share nothing. */
import 'fake-indexeddb/auto';
import { describe, expect, test } from 'vitest';
import { GENERATED_DOMAINS, uncodedConditions } from '../../../src/domains/registry.ts';
import { completeShares, RELIABLE } from '../../../src/environments/conditions.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { Overlay, World } from '../../../src/environments/overlay.ts';
import { retail } from '../../../src/domains/retail/definition.ts';
import type { Intent, Order, User } from '../../../src/domains/retail/schema.ts';
import { makeTasks } from '../../../src/domains/retail/tasks.ts';
import { toolSchemas } from '../../../src/domains/retail/tool-schemas.ts';
import type { Task, ToolCall } from '../../../src/records/task.ts';
import { compareOverlays, replayGold } from '../../../src/environments/verifier.ts';

const LEVELS = ['glimpse', 'nano', 'small', 'full'] as const;
const COUNT = 500;
const tasksOf = (level: string, split: 'train' | 'heldout', count = COUNT, seed = 0, from = 0) =>
  makeTasks({ domain: 'retail', level, split, seed, count, from });
const isWrite = ({ name }: ToolCall) => /^(cancel|modify|return|exchange)/.test(name);

const worlds = new Map<string, World>();
function worldOf({ world }: Task): World {
  if (!worlds.has(world)) worlds.set(world, new World(world, retail.world(world)));
  return worlds.get(world)!;
}

describe.each(LEVELS)('level %s', (level) => {
  const tasks = tasksOf(level, 'train');
  // At `glimpse` no tool finds customers, and their ids are short.
  const anonymous = level === 'glimpse';

  test('the gold earns 1, no action earns 0 except in no-op tasks, the gold without its last write earns 0', () => {
    for (const task of tasks) {
      const world = worldOf(task);
      const goal = replayGold(retail, world, task);
      expect(compareOverlays(replayGold(retail, world, task), goal).reward).toBe(1);
      expect(goal.length === 0, task.id).toBe(task.noop);
      expect(compareOverlays([], goal).reward, task.id).toBe(task.noop ? 1 : 0);
      const last = task.actions.findLastIndex(isWrite);
      expect(last < 0).toBe(task.noop);
      if (last >= 0)
        expect(
          compareOverlays(replayGold(retail, world, { ...task, actions: task.actions.filter((_, i) => i !== last) }), goal).reward,
          task.id,
        ).toBe(0);
    }
  });

  test('progress is the share of right rows among all rows that the goal or the episode changes', () => {
    const task = tasks.find((candidate) => replayGold(retail, worldOf(candidate), candidate).length > 1)!;
    const goal = replayGold(retail, worldOf(task), task);
    expect(goal.length).toBeGreaterThan(1);
    const progress = (changes: typeof goal, wanted = goal) => compareOverlays(changes, wanted).progress;
    const wrong = (change: (typeof goal)[number]) => ({ ...change, after: { damaged: true } });
    const other = { ...wrong(goal[0]!), key: 'another row' };
    expect(progress(goal)).toBe(1);
    expect(progress(goal.slice(1))).toBe((goal.length - 1) / goal.length);
    expect(progress([wrong(goal[0]!), ...goal.slice(1)])).toBe((goal.length - 1) / goal.length);
    // Damage to other rows, with the goal reached and not reached.
    expect(progress([...goal, other])).toBe(goal.length / (goal.length + 1));
    expect(progress([other])).toBe(0);
    expect(progress([other], [])).toBe(0);
    expect(progress([], [])).toBe(1);
  });

  /** The rows after the gold actions, none of which may fail. */
  const afterGold = (task: Task) => {
    const rows = new Overlay(worldOf(task));
    for (const action of task.actions) {
      const draft = new Overlay(rows);
      expect(retail.execute(draft, action, level), `${task.id} ${action.name}`).toMatchObject({ error: false });
      rows.apply(draft.changes());
    }
    return rows;
  };

  test('no gold action fails, and impossible wishes do', () => {
    const names = new Set(toolSchemas(level).map((schema) => schema.function.name));
    const refusals = new Set<string>();
    for (const task of tasks) {
      const rows = afterGold(task);
      for (const wish of task.scenario.wishes) {
        if (!wish.impossible) continue;
        const call = {
          cancel: 'cancel_pending_order',
          return: 'return_delivered_order_items',
          exchange: 'exchange_delivered_order_items',
          modify_items: 'modify_pending_order_items',
          modify_payment: 'modify_pending_order_payment',
          modify_address: wish.slots.order_id ? 'modify_pending_order_address' : 'modify_user_address',
        }[wish.intent as Intent];
        // Only the policy forbids another customer's order. The tools also refuse all other impossible wishes.
        if (wish.words.owner) expect(task.actions.every((action) => action.arguments.order_id !== wish.slots.order_id)).toBe(true);
        else if (!names.has(call)) expect(task.actions.at(-1)!.name).toBe('transfer_to_human_agents');
        else {
          const { text, error } = retail.execute(rows, { name: call, arguments: wish.slots }, level);
          expect(error, `${task.id} ${call}`).toBe(true);
          refusals.add(text);
        }
      }
    }
    expect([...refusals].every((text) => /^Error: non-(pending|delivered) order cannot be/.test(text))).toBe(true);
    expect(refusals.size).toBeGreaterThanOrEqual({ glimpse: 2, nano: 2, small: 3, full: 3 }[level]);
  });

  test('frequencies: fewer than 10 % no-ops, personas and wishes as designed', () => {
    const noopShare = (of: readonly Task[]) => of.filter(({ noop }) => noop).length / of.length;
    for (const [split, seed] of [
      ['train', 0],
      ['heldout', 0],
      ['train', 7],
    ] as const)
      expect(noopShare(tasksOf(level, split, COUNT, seed))).toBeLessThan(0.1);
    expect(noopShare(tasks)).toBeGreaterThan(0.01);
    const share = (test: (task: Task) => boolean) => tasks.filter(test).length / tasks.length;
    const designed = uncodedConditions('retail', level)!.customers;
    for (const [persona, expected] of Object.entries(designed)) {
      expect(Math.abs(share((task) => task.scenario.persona === persona) - expected)).toBeLessThan(0.05);
    }
    for (const { scenario, actions, noop } of tasks) {
      const { persona, wishes } = scenario;
      expect(wishes.length).toBeLessThanOrEqual(level === 'full' ? 3 : 2);
      if (persona === 'changes_mind') expect(wishes[0]!.insteadOf).toBeDefined();
      if (persona === 'pushy') expect([wishes[0]!.impossible, wishes[1]!.impossible, noop]).toEqual([true, false, false]);
      // Each wish is about another order, so that the agent can serve them in any sequence.
      const orders = wishes.map((wish) => wish.slots.order_id ?? 'own address');
      expect(new Set(orders).size).toBe(orders.length);
      expect(actions.filter(isWrite).length).toBe(wishes.filter((wish) => !wish.impossible).length);
    }
    expect(
      Math.abs(share((task) => task.scenario.wishes.length === 1) - { glimpse: 1, nano: 0.79, small: 0.59, full: 0.5 }[level]),
    ).toBeLessThan(0.08);
  });

  test('a reserved customer has two wishes, and both are possible', () => {
    const customers = completeShares(uncodedConditions('retail', level)!.customers, { reserved: 1 });
    const conditions = { customers, tools: RELIABLE };
    for (const task of makeTasks({ domain: 'retail', level, split: 'train', seed: 3, count: 256, conditions })) {
      expect(task.scenario.wishes.map(({ impossible }) => impossible)).toEqual([false, false]);
      afterGold(task);
    }
  });

  test('slots and words agree with the database', () => {
    for (const task of tasks) {
      const world = worldOf(task);
      const { identity, wishes, instruction } = task.scenario;
      const { email, first_name, last_name, zip } = identity;
      if (anonymous) expect([email, zip]).toEqual([undefined, undefined]);
      else expect(Boolean(email)).toBe(task.actions[0]!.name === 'find_user_id_by_email');
      const userId = world.keys('users').find((id) => id.startsWith(`${first_name}_${last_name}_`.toLowerCase()))!;
      if (!anonymous)
        expect(
          retail.execute(
            new Overlay(world),
            { name: 'find_user_id_by_name_zip', arguments: { first_name: first_name!, last_name: last_name!, zip: zip! } },
            level,
          ).text,
        ).toBe(userId);
      const user = world.get('users', userId) as unknown as User;
      for (const wish of wishes) {
        for (const { slots, words } of [wish, ...(wish.insteadOf ? [wish.insteadOf] : [])]) {
          if (!slots.order_id) continue;
          expect(instruction).toContain(slots.order_id);
          const order = world.get('orders', slots.order_id as string) as unknown as Order;
          expect(order.user_id === userId).toBe(!words.owner);
          if (!slots.item_ids) continue;
          const named = (slots.item_ids as string[]).map((id) => order.items.find((item) => item.item_id === id)!.name.toLowerCase());
          expect(words.items).toEqual(named);
          expect(new Set(order.items.map((item) => item.name)).size).toBe(order.items.length);
        }
        if (wish.slots.payment_method_id && !wish.words.owner)
          expect(Object.keys(user.payment_methods)).toContain(wish.slots.payment_method_id);
      }
    }
  });

  test('splits share no task, no customer, no order, no id', () => {
    const idsOf = (split: 'train' | 'heldout', seed: number) => {
      const ids = new Set<string>();
      for (const world of new Set(tasksOf(level, split, 256, seed).map((task) => task.world))) {
        for (const match of JSON.stringify([...retail.world(world).values()].map((table) => [...table])).matchAll(
          /"[a-z]+_[a-z]+_\d{4}"|#W\d{4,7}|"\d{10}"|(?:credit_card|paypal|gift_card)_\d{7}|[\w.]+@example\.com/g,
        ))
          ids.add(match[0]);
      }
      return ids;
    };
    const train = new Set([0, 1, 2].flatMap((seed) => [...idsOf('train', seed)]));
    const heldout = [0, 1, 2].flatMap((seed) => [...idsOf('heldout', seed)]);
    expect(train.size).toBeGreaterThan(1000);
    expect(heldout.filter((id) => train.has(id))).toEqual([]);
    const said = new Set(tasks.map((task) => task.scenario.instruction));
    expect(tasksOf(level, 'heldout').filter((task) => said.has(task.scenario.instruction))).toEqual([]);
  });

  test('the same arguments give the same tasks and worlds, from any first task', () => {
    expect(tasksOf(level, 'train')).toEqual(tasks);
    expect(tasksOf(level, 'train', 100, 0, 130)).toEqual(tasks.slice(130, 230));
    expect([...retail.world(tasks[0]!.world)]).toEqual([...retail.world(tasks[0]!.world)]);
    expect(tasksOf(level, 'train', 20, 1).map((task) => task.scenario)).not.toEqual(tasks.slice(0, 20).map((task) => task.scenario));
    expect(new Set(tasks.map((task) => task.id)).size).toBe(COUNT);
  });
});

test.each([
  ['glimpse', { words: 15, tools: 2, schemas: 650, result: 90 }],
  ['nano', { words: 60, tools: 8, schemas: 2200, result: 300 }],
])('%s is small: policy, schemas and results', async (level, most) => {
  const { policy, tools } = retail.domain(level);
  expect(policy.split(/\s+/).length).toBeLessThanOrEqual(most.words);
  expect(tools.length).toBeLessThanOrEqual(most.tools);
  expect(JSON.stringify(tools).length).toBeLessThan(most.schemas);
  const environments = createEnvironments({ databaseName: `${level}-size`, domains: GENERATED_DOMAINS });
  for (const task of tasksOf(level, 'train', 64)) {
    const episode = await environments.start(task);
    for (const action of task.actions) expect((await environments.call(episode, action)).text.length).toBeLessThanOrEqual(most.result);
    expect((await environments.verify(episode)).reward).toBe(1);
    await environments.close(episode);
  }
});
