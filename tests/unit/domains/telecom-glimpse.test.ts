/** Level `glimpse` of telecom: short conversations, in which it pays to ask before a change. */
import 'fake-indexeddb/auto';
import { beforeAll, describe, expect, it } from 'vitest';
import { trainTokenizer } from '../../../src/agent/bpe-trainer.ts';
import { QWEN, renderConversation, renderOpening, renderPieces } from '../../../src/agent/chat-template.ts';
import { loadTokenizer } from '../../support/tokenizers.ts';
import { BenchmarkDatabase } from '../../../src/benchmarks/import/database.ts';
import { auditOf } from '../../../src/domains/customer-audit.ts';
import { customerScripts, GENERATED_DOMAINS } from '../../../src/domains/registry.ts';
import { RELIABLE, shares } from '../../../src/environments/conditions.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { reportOf } from '../../../src/evaluation/report.ts';
import { type Conditions, type Persona, PERSONAS } from '../../../src/records/conditions.ts';
import type { Style } from '../../../src/records/dataset.ts';
import type { Split, Task } from '../../../src/records/task.ts';
import type { Trajectory } from '../../../src/records/trajectory.ts';
import { coldStart, evaluationConfig, grpoConfig } from '../../../src/training/config.ts';
import type { SynthesizedConversation } from '../../../src/records/dataset.ts';
import { demonstrators, synthesize } from '../../../src/training/synthesize.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { WorldBrowser } from '../../../src/worlds/browser.ts';

const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
const stage = { environments, users: new ScriptedUsers(customerScripts) };
const only = (persona: Persona, tools = RELIABLE): Conditions => ({ customers: shares({ [persona]: 1 }), tools });
const tasksOf = (conditions: Conditions | undefined, count: number, split: Split = 'train', from = 0) =>
  environments.tasks({ domain: 'telecom', level: 'glimpse', split, seed: 7, count, from, ...(conditions && { conditions }) });

async function play(style: Style, tasks: readonly Task[]): Promise<Trajectory[]> {
  const demonstrate = await demonstrators(stage, 'telecom', 'glimpse', { styles: [style] });
  const played: Trajectory[] = [];
  for (const [seed, task] of tasks.entries()) played.push((await demonstrate(task, seed)).trajectory);
  return played;
}
const rewards = (played: readonly Trajectory[]) => new Set(played.map(({ reward }) => reward));

describe.each(['train', 'heldout'] as const)('on %s', (split) => {
  const played = new Map<string, Trajectory[]>();
  const of = (style: Style, persona: Persona) => played.get(`${style} ${persona}`)!;
  beforeAll(async () => {
    for (const persona of PERSONAS)
      for (const style of ['careful', 'brisk'] as const)
        played.set(`${style} ${persona}`, await play(style, await tasksOf(only(persona), 48, split)));
  }, 120_000);

  it('the careful expert solves every task', () => {
    for (const persona of PERSONAS) expect(rewards(of('careful', persona)), persona).toEqual(new Set([1]));
  });

  it('the brisk expert fails exactly where the customer changes their mind, or has named another line of theirs', () => {
    for (const persona of ['upfront', 'on_request', 'pushy', 'impossible', 'reserved'] as const)
      expect(rewards(of('brisk', persona)), persona).toEqual(new Set([1]));
    expect(rewards(of('brisk', 'changes_mind'))).toEqual(new Set([0]));
    for (const { task, reward, verdict } of of('brisk', 'confused')) {
      const { insteadOf } = task.scenario.wishes[0]!;
      const wrote = verdict!.changes.some(({ key }) => key === insteadOf!.slots.line_id);
      expect([task.id, reward]).toEqual([task.id, wrote ? 0 : 1]);
    }
  });

  it('the audit counts each write of the careful expert as asked for, and none of the brisk one', () => {
    for (const persona of PERSONAS) {
      const share = (style: Style) => reportOf(of(style, persona), 1, 0).confirmed_writes?.value;
      expect([persona, share('careful'), share('brisk')]).toEqual(
        persona === 'impossible' ? [persona, undefined, undefined] : [persona, 1, 0],
      );
    }
  });

  it('the customers make no mistakes, and the tables say what they want', () => {
    for (const trajectory of [...played.values()].flat()) expect(auditOf(trajectory).faults).toEqual([]);
    expect(Object.keys(reportOf(of('careful', 'upfront'), 1, 0).by_intent)).toEqual(['add_data', 'enable_roaming']);
    expect(Object.keys(reportOf(of('careful', 'impossible'), 1, 0).by_intent)).toEqual([
      'add_data (impossible)',
      'enable_roaming (impossible)',
    ]);
  });
});

describe('tasks', () => {
  it('are the same for the same id, from any first task', async () => {
    const tasks = await tasksOf(only('changes_mind'), 80);
    expect(await tasksOf(only('changes_mind'), 80)).toEqual(tasks);
    expect(await tasksOf(only('changes_mind'), 30, 'train', 50)).toEqual(tasks.slice(50));
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(80);
  });

  it('have an id with the shares, from which the worlds’ view finds the task again', async () => {
    const half: Conditions = { customers: shares({ upfront: 0.5, changes_mind: 0.5 }), tools: RELIABLE };
    const [task] = await tasksOf(half, 1, 'heldout', 67);
    expect(task!.id).toBe('telecom/glimpse/heldout/7~u500c500/67');
    expect(task!.world).toBe('telecom/glimpse/heldout/7/w2');
    const browser = new WorldBrowser(new BenchmarkDatabase('glimpse-worlds'), 'glimpse-environments');
    expect((await browser.task({ name: 'telecom-glimpse', split: '', seed: null, number: null, task: task!.id }))?.task).toEqual(task);
    const [usual] = await tasksOf(undefined, 1);
    expect(usual!.id).toBe('telecom/glimpse/train/7/0');
  });

  it('change one active line of the customer, which held-out tasks share with no training', async () => {
    const lines: Record<string, Set<string>> = {};
    for (const split of ['train', 'heldout'] as const) {
      const tasks = await tasksOf(only('changes_mind'), 400, split);
      lines[split] = new Set(tasks.flatMap(({ actions }) => actions.map(({ arguments: args }) => args.line_id as string)));
      for (const { actions, scenario } of tasks) {
        const [wish] = scenario.wishes;
        expect(actions).toHaveLength(1);
        expect(wish!.insteadOf).not.toEqual({ intent: wish!.intent, slots: wish!.slots, words: wish!.words });
        expect(scenario.instruction).toContain(`line ${String(actions[0]!.arguments.line_id)}`);
      }
    }
    for (const id of lines.heldout!) expect(Number(id.slice(1)) % 7).toBe(3);
    for (const id of lines.train!) expect(Number(id.slice(1)) % 7).not.toBe(3);
  });

  it('have only the chosen intents', async () => {
    for (const intent of ['add_data', 'enable_roaming'])
      for (const persona of PERSONAS) {
        const tasks = await tasksOf({ ...only(persona), intents: [intent] }, 40);
        const found = tasks.flatMap(({ scenario }) =>
          scenario.wishes.flatMap(({ insteadOf, ...wish }) => [wish, ...(insteadOf ? [insteadOf] : [])]),
        );
        expect(new Set(found.map((wish) => wish.intent))).toEqual(new Set([intent]));
      }
    await expect(tasksOf({ ...only('upfront'), intents: ['cancel'] }, 1)).rejects.toThrow("intents: 'cancel' is unknown at level glimpse");
  });

  it('have outages, which the experts survive, but no timeouts', async () => {
    const outages = await play('careful', await tasksOf(only('upfront', { ...RELIABLE, outages: 0.5 }), 20));
    expect(outages.some(({ nodes }) => nodes.some(({ text }) => text.includes('the service is busy')))).toBe(true);
    expect(rewards(outages)).toEqual(new Set([1]));
    await expect(tasksOf(only('upfront', { ...RELIABLE, timeouts: 0.8 }), 1)).rejects.toThrow(
      'tools.timeouts is 0.8: expected 0 at telecom glimpse',
    );
  });
});

describe('the tools', () => {
  const call = async (name: string, args: Record<string, string | number>) => {
    const [task] = await tasksOf(only('upfront'), 1);
    const line_id = task!.scenario.wishes[0]!.slots.line_id as string;
    const episode = await environments.start(task!);
    const { text, error, changes } = await environments.call(episode, { name, arguments: { line_id, ...args } });
    await environments.close(episode);
    return [
      text,
      error,
      changes
        .map(({ table }) => table)
        .sort()
        .join(),
    ];
  };
  it('change the line, and the customer’s bill', async () => {
    // A customer without an open bill gets one.
    const tables = expect.stringMatching(/^bills,(customers,)?lines$/) as string;
    expect(await call('refuel_data', { gb_amount: 3 })).toEqual(['Successfully added 3.0 GB of data', false, tables]);
    expect(await call('enable_roaming', {})).toEqual(['Roaming enabled successfully', false, 'lines']);
  });
  it.each([
    ['get_details_by_id', {}, "Error: Tool 'get_details_by_id' not found."],
    ['enable_roaming', { line_id: 'L1' }, 'Error: Line not found'],
    ['refuel_data', { gb_amount: 0 }, 'Error: Refuel amount must be positive'],
    ['enable_roaming', { customer_id: 'C1' }, expect.stringContaining('customer_id') as string],
    ['refuel_data', {}, expect.stringContaining('gb_amount') as string],
  ])('refuse %s with %o', async (name, args, text) => {
    expect(await call(name, args)).toEqual([text, true, '']);
  });
});

it('presets, evaluations and the cold start know the level', () => {
  expect(grpoConfig('glimpse', { domain: 'telecom' })).toMatchObject({
    domain: 'telecom',
    level: 'glimpse',
    'customers.changes_mind': 0.95,
  });
  expect(grpoConfig('nano', { domain: 'telecom', level: 'glimpse' })['customers.changes_mind']).toBe(0.95);
  const evaluation = evaluationConfig({ domain: 'telecom', level: 'glimpse', preset: 'glimpse' });
  expect(evaluation).toMatchObject({ domain: 'telecom', max_turns: 10, max_model_len: 384 });
  expect(coldStart('telecom', 'glimpse', { 'customers.changes_mind': '1' }).conditions.customers.changes_mind).toBe(1);
});

it('conversations are short, for the tokenizer of the protocol', async () => {
  const { conversations, tried, solved } = await synthesize(stage, { domain: 'telecom', level: 'glimpse', count: 160, seed: 3 });
  expect(solved / tried).toBeGreaterThan(0.85);
  const pieces = conversations.flatMap((conversation) => renderPieces(QWEN, conversation).map(({ text }) => text));
  const tokenizer = loadTokenizer(trainTokenizer(pieces, { vocabSize: 1024, digits: 2, splitCapitals: false, minFrequency: 2 }).files);
  const [{ messages, tools }] = conversations as [SynthesizedConversation];
  const prompt = tokenizer.encode(renderOpening(QWEN, messages[0]!.content, tools)).length;
  expect(prompt).toBeLessThan(150);
  const lengths = conversations.map((conversation) => renderConversation(tokenizer, conversation).tokens.length).sort((a, b) => a - b);
  expect(lengths[80]! - prompt).toBeLessThan(130);
  expect(lengths.at(-1)).toBeLessThan(384);
  for (const { intent } of conversations) expect(intent).toMatch(/^(add_data|enable_roaming)\b/);
});
