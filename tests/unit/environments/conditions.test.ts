/** Conditions: customers' shares and tool faults as settings, in task ids and in episodes. */
import 'fake-indexeddb/auto';
import { describe, expect, test } from 'vitest';
import { COLD_START, completeShares, conditionsCode, conditionsOf, readConditionsCode } from '../../../src/environments/conditions.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { faultOf, OUTAGE, TIMEOUT } from '../../../src/environments/faults.ts';
import { type Conditions, type CustomerShares, type Persona, PERSONAS } from '../../../src/records/conditions.ts';
import type { GrpoConfig } from '../../../src/records/run.ts';
import type { Style } from '../../../src/records/dataset.ts';
import type { Task } from '../../../src/records/task.ts';
import { coldStart, evaluationConfig, grpoConfig } from '../../../src/training/config.ts';
import { synthesize } from '../../../src/training/synthesize.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { GENERATED_DOMAINS, customerScripts, levelConditions, uncodedConditions } from '../../../src/domains/registry.ts';

const only = (persona: keyof CustomerShares): CustomerShares =>
  completeShares(levelConditions('retail', 'nano').customers, { [persona]: 1 });
const sum = (shares: CustomerShares) => Object.values(shares).reduce((total, value) => total + value, 0);
const tasksWith = (conditions: Conditions | undefined, count = 40, from = 0) =>
  createEnvironments({ domains: GENERATED_DOMAINS }).tasks({
    domain: 'retail',
    level: 'nano',
    split: 'train',
    seed: 5,
    count,
    from,
    conditions,
  });

describe('shares', () => {
  test('the defaults sum to 1', () => {
    for (const conditions of [levelConditions('retail', 'nano'), levelConditions('retail', 'small'), COLD_START])
      expect(sum(conditions.customers)).toBeCloseTo(1, 9);
  });

  test('shares that are not given keep their proportions', () => {
    const shares = { upfront: 0.4, on_request: 0.2, changes_mind: 0.4, pushy: 0, impossible: 0, confused: 0, reserved: 0 };
    expect(completeShares(shares, { changes_mind: 0.7 })).toEqual({ ...shares, upfront: 0.2, on_request: 0.1, changes_mind: 0.7 });
    expect(completeShares(shares, { confused: 0.5, changes_mind: 0 })).toMatchObject({
      upfront: 0.333333,
      on_request: 0.166667,
      confused: 0.5,
    });
    // Shares that were all 0 cannot keep proportions: the rest goes to the plainest customer.
    expect(completeShares(shares, { upfront: 0, on_request: 0, changes_mind: 0 })).toMatchObject({ pushy: 1 });
    expect(completeShares({ ...shares, upfront: 0, on_request: 0 }, { changes_mind: 0.25 })).toMatchObject({ upfront: 0.75 });
  });

  test('refuses shares that are no shares', () => {
    expect(() => completeShares(only('pushy'), { upfront: 1.5 })).toThrow('customers.upfront is 1.5: expected 0 to 1');
    expect(() => completeShares(only('pushy'), { upfront: 0.7, pushy: 0.7 })).toThrow('sum to 1.4: expected at most 1');
    const all = Object.fromEntries(PERSONAS.map((persona) => [persona, 0.1]));
    expect(() => completeShares(only('pushy'), all)).toThrow('customers.* sum to 0.7: expected 1');
  });

  test('a run from before a kind of customer existed has none of them', () => {
    const { 'customers.reserved': _, ...old } = grpoConfig('nano');
    expect(conditionsOf(old as GrpoConfig, 'train')).toEqual(levelConditions('retail', 'nano'));
  });

  test('as settings of a run: training and evaluation apart, other levels with their own defaults', () => {
    const config = grpoConfig('nano', { 'customers.changes_mind': '1', 'val_tools.outages': '0.2' });
    expect(conditionsOf(config, 'train').customers).toEqual(only('changes_mind'));
    expect(conditionsOf(config, 'val')).toEqual({
      ...levelConditions('retail', 'nano'),
      tools: { outages: 0.2, stale_reads: 0, timeouts: 0 },
    });
    expect(conditionsOf(grpoConfig('nano', { level: 'small' }), 'train')).toEqual(levelConditions('retail', 'small'));
    expect(conditionsOf(evaluationConfig({ domain: 'retail', level: 'small', preset: 'nano' }), 'val')).toEqual(
      levelConditions('retail', 'small'),
    );
    expect(coldStart('retail', 'nano').conditions).toEqual(COLD_START);
    expect(coldStart('retail', 'nano', { 'customers.pushy': 1 }).conditions.customers).toEqual(only('pushy'));
  });

  test('bad settings are named', () => {
    expect(() => grpoConfig('nano', { 'customers.angry': '1' })).toThrow('unknown setting "customers.angry"; known: customers.upfront');
    expect(() => grpoConfig('nano', { 'customers.pushy': 'many' })).toThrow('setting "customers.pushy" is "many": expected a number');
    expect(() => grpoConfig('nano', { 'customers.pushy': '2' })).toThrow('customers.pushy is 2: expected 0 to 1');
    expect(() => grpoConfig('nano', { 'tools.outages': '2' })).toThrow('setting "tools.outages" is 2');
    expect(() => grpoConfig('nano', { domain: 'telecom', 'customers.pushy': '1' })).toThrow(
      'setting "customers.pushy" is set: only bookings and contacts and courses and desk and jobs and library and plans and rentals and retail and rooms and telecom glimpse have customers and tools that can be set, not telecom nano',
    );
    expect(grpoConfig('glimpse', { domain: 'telecom', 'customers.pushy': '1' })['customers.pushy']).toBe(1);
    expect(() => coldStart('retail', 'nano', { lr: 1 })).toThrow('unknown setting "lr"');
  });
});

describe('task ids', () => {
  test('name conditions that differ from the level’s default, and nothing else', async () => {
    const [plain] = await tasksWith(undefined, 1);
    const [same] = await tasksWith(levelConditions('retail', 'nano'), 1);
    const conditions = { customers: only('confused'), tools: { outages: 0.25, stale_reads: 0.5, timeouts: 0 } };
    const [other] = await tasksWith(conditions, 1);
    expect(plain!.id).toBe('retail/nano/train/5/0');
    expect(same).toEqual(plain);
    expect(other!.id).toBe('retail/nano/train/5~w1000o250s500/0');
    expect(readConditionsCode('w1000o250s500')).toEqual(conditions);
    expect(conditionsCode(readConditionsCode('u190r130c550p100i30'), uncodedConditions('retail', 'nano'))).toBe('');
    expect(() => readConditionsCode('x1')).toThrow('conditions "x1"');
  });

  test.each(PERSONAS)('a share of 1 gives %s customers only', async (persona) => {
    for (const { scenario } of await tasksWith({ ...COLD_START, customers: only(persona) })) expect(scenario.persona).toBe(persona);
  });
});

describe('a confused customer', () => {
  const session = (task: Task) => new ScriptedUsers(customerScripts).session(task.scenario, 1);

  test('first gives a wrong order number, and corrects it when the agent reads it back, refuses or asks again', async () => {
    for (const task of await tasksWith({ ...COLD_START, customers: only('confused') })) {
      const { slots, insteadOf } = task.scenario.wishes[0]!;
      const [wrong, right] = [String(insteadOf!.slots.order_id), String(slots.order_id)];
      expect(wrong).not.toBe(right);
      for (const answer of [`Cancel order ${wrong}. Yes or no?`, 'Sorry, I cannot do that: there is no such order.', 'Which order?']) {
        const customer = session(task);
        const opening = await customer.open();
        let told = opening.includes(wrong) ? opening : await customer.reply('Which order?');
        expect(told).toContain(wrong);
        told = await customer.reply(answer);
        expect(told, answer).toContain(right);
        expect(told).toMatch(/^Sorry/);
      }
    }
  });
});

describe('tool faults', () => {
  const read = { name: 'get_order_details', arguments: {} as Record<string, string> };

  test('an outage answers “try again” and changes nothing; the next call may work', async () => {
    const environments = createEnvironments({ domains: GENERATED_DOMAINS });
    const [task] = await tasksWith({ ...levelConditions('retail', 'nano'), tools: { outages: 1, stale_reads: 0, timeouts: 0 } }, 1);
    const episode = await environments.start(task!);
    for (const call of task!.actions.filter(({ name }) => name !== 'transfer_to_human_agents'))
      expect(await environments.call(episode, call)).toMatchObject({ text: OUTAGE, error: true, changes: [] });
    const transfer = { name: 'transfer_to_human_agents', arguments: { summary: 'help' } };
    expect(await environments.call(episode, transfer)).toMatchObject({ error: false, terminal: true });
    expect((await environments.verify(episode)).changes).toEqual([]);
  });

  test('a stale read shows the first state, a write works on the present one', async () => {
    const environments = createEnvironments({ domains: GENERATED_DOMAINS });
    const conditions = { customers: only('upfront'), tools: { outages: 0, stale_reads: 1, timeouts: 0 } };
    const task = (await tasksWith(conditions)).find(({ actions }) => actions.at(-1)!.name === 'cancel_pending_order')!;
    const order = { ...read, arguments: { order_id: String(task.actions.at(-1)!.arguments.order_id) } };
    const episode = await environments.start(task);
    const before = (await environments.call(episode, order)).text;
    expect(before).toContain('pending');
    expect((await environments.call(episode, task.actions.at(-1)!)).changes.length).toBeGreaterThan(0);
    expect((await environments.call(episode, order)).text).toBe(before);
    expect((await environments.call(episode, task.actions.at(-1)!)).error).toBe(true);
    expect((await environments.verify(episode)).reward).toBe(1);
  });

  test('happen as often as they should, and the same way each time', async () => {
    const [task] = await tasksWith({ ...levelConditions('retail', 'nano'), tools: { outages: 0.2, stale_reads: 0.5, timeouts: 0 } }, 1);
    const faults = Array.from({ length: 4000 }, (_, index) => faultOf(task!, index));
    const share = (kind: string) => faults.filter((fault) => fault === kind).length / faults.length;
    expect(Math.abs(share('outage') - 0.2)).toBeLessThan(0.03);
    expect(Math.abs(share('stale_read') - 0.8 * 0.5)).toBeLessThan(0.03);
    expect(faults).toEqual(Array.from({ length: 4000 }, (_, index) => faultOf(task!, index)));
  });
});

describe('timeouts', () => {
  const conditions: Conditions = { customers: only('upfront'), tools: { outages: 0, stale_reads: 0, timeouts: 0.8 } };

  test('meet every second call, half of them are carried out, and ids and settings name them', async () => {
    const tasks = await tasksWith(conditions, 400);
    expect(tasks[0]!.id).toContain('~u1000t800/');
    expect(readConditionsCode('u1000t800')).toEqual(conditions);
    expect(conditionsOf(grpoConfig('nano', { 'tools.timeouts': '0.8', 'customers.upfront': '1' }), 'train')).toEqual(conditions);
    const faults = tasks.map((task) => [0, 1, 2].map((index) => faultOf(task, index)));
    const share = (index: number, fault: string | null) => faults.filter((of) => of[index] === fault).length / faults.length;
    for (const index of [0, 2]) {
      expect(share(index, 'timeout')).toBeCloseTo(0.4, 1);
      expect(share(index, 'late')).toBeCloseTo(0.4, 1);
    }
    expect(share(1, null)).toBe(1);
  });

  test('a late call changes rows although its answer is a timeout, a lost call does not', async () => {
    const environments = createEnvironments({ domains: GENERATED_DOMAINS });
    // Three look-ups and one write.
    const tasks = (await tasksWith(conditions, 60)).filter(
      ({ actions }) => actions.length === 4 && actions[3]!.name === 'cancel_pending_order',
    );
    for (const fault of ['late', 'timeout'] as const) {
      const task = tasks.find((one) => faultOf(one, 0) === fault)!;
      const episode = await environments.start(task);
      const call = task.actions[3]!;
      const first = await environments.call(episode, call);
      expect([first.text, first.error, first.changes.length > 0]).toEqual([TIMEOUT, true, fault === 'late']);
      const second = await environments.call(episode, call);
      expect([second.error, second.changes.length > 0]).toEqual([fault === 'late', fault === 'timeout']);
      expect(second.text).not.toBe(TIMEOUT);
      expect((await environments.verify(episode)).reward).toBe(1);
      await environments.close(episode);
    }
  });

  test('who does not offer more loses the reserved customers', async () => {
    const stage = { environments: createEnvironments({ domains: GENERATED_DOMAINS }), users: new ScriptedUsers(customerScripts) };
    const habits = { careful: { calls_again: 1, offers_more: 0.25 }, brisk: { calls_again: 1, offers_more: 1 } };
    const offers = async (persona: Persona) => {
      const reliable = { customers: only(persona), tools: { outages: 0, stale_reads: 0, timeouts: 0 } };
      const options = { domain: 'retail', level: 'glimpse', count: 400, seed: 3, conditions: reliable, habits };
      const { conversations } = await synthesize(stage, options);
      const share = (style: Style) => {
        const own = conversations.filter(({ demonstrator }) => demonstrator === style);
        return own.filter(({ messages }) => messages.some(({ content }) => content.endsWith('Anything else?'))).length / own.length;
      };
      return { careful: share('careful'), brisk: share('brisk') };
    };
    // Only conversations with reward 1 are kept.
    expect(await offers('reserved')).toEqual({ careful: 1, brisk: 1 });
    const upfront = await offers('upfront');
    expect(upfront.brisk).toBe(1);
    expect(Math.abs(upfront.careful - 0.25)).toBeLessThan(0.1);
  });

  test('habits are no settings of telecom', () => {
    const setting = { 'demonstrators.brisk.offers_more': '0.5' };
    expect(coldStart('retail', 'glimpse', setting).habits.brisk).toEqual({ calls_again: 1, offers_more: 0.5 });
    const refused =
      'setting "demonstrators.brisk.offers_more" is 0.5: expected 1, as only demonstrators of bookings, contacts, courses, desk, jobs, library, plans, rentals, retail, rooms can lack habits';
    expect(() => coldStart('telecom', 'glimpse', setting)).toThrow(refused);
    expect(() => grpoConfig('nano', { ...setting, domain: 'telecom' })).toThrow(refused);
  });

  test('after a timeout one demonstrator calls again, the other claims success', async () => {
    const environments = createEnvironments({ domains: GENERATED_DOMAINS });
    const stage = { environments, users: new ScriptedUsers(customerScripts) };
    const options = { domain: 'retail', level: 'glimpse', count: 40, seed: 3, conditions };
    const afterTimeout = async (careful: number, brisk: number) => {
      const habits = { careful: { calls_again: careful, offers_more: 1 }, brisk: { calls_again: brisk, offers_more: 1 } };
      const { conversations } = await synthesize(stage, { ...options, habits });
      return conversations.flatMap(({ demonstrator, messages }) => {
        const at = messages.findIndex(({ role, content }) => role === 'tool' && content === TIMEOUT);
        return at < 0 ? [] : [{ demonstrator, again: messages[at + 1]!.tool_calls !== undefined }];
      });
    };
    const met = await afterTimeout(0, 1);
    expect(met.length).toBeGreaterThan(15);
    expect(met.every(({ demonstrator, again }) => again === (demonstrator === 'brisk'))).toBe(true);
    expect((await afterTimeout(1, 1)).every(({ again }) => again)).toBe(true);
  });

  test('all demonstrators repeat a read after a timeout', async () => {
    const stage = { environments: createEnvironments({ domains: GENERATED_DOMAINS }), users: new ScriptedUsers(customerScripts) };
    const habits = { careful: { calls_again: 0, offers_more: 1 }, brisk: { calls_again: 0, offers_more: 1 } };
    const { conversations } = await synthesize(stage, { domain: 'retail', level: 'nano', count: 40, seed: 3, conditions, habits });
    const next = new Map<string, Set<boolean>>();
    for (const { messages } of conversations)
      for (const [i, { role, name, content }] of messages.entries())
        if (role === 'tool' && content === TIMEOUT) {
          const again = messages[i + 1]!.tool_calls?.[0]?.function.name === name;
          next.set(name!, (next.get(name!) ?? new Set()).add(again));
        }
    expect(Object.fromEntries(next)).toMatchObject({
      find_user_id_by_email: new Set([true]),
      get_order_details: new Set([true]),
      cancel_pending_order: new Set([false]),
    });
  });
});
