/** Generated tasks of BFCL's eight classes. */
import { describe, expect, it, test } from 'vitest';
import type { ToolCall } from '../../../src/records/task.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { callsAsked, generatedTask } from '../../../src/domains/multiturn/generated/tasks.ts';
import { TOPICS } from '../../../src/domains/multiturn/generated/more-topics.ts';
import { dumps } from '../../../src/python/text.ts';
import type { Dict } from '../../../src/python/values.ts';
import { toolCallOf } from '../../../src/domains/multiturn/tool-call.ts';
import { customerScripts, GENERATED_DOMAINS, importedLevels } from '../../../src/domains/registry.ts';
import { multiturn } from '../../../src/domains/multiturn/index.ts';
import { auditOf } from '../../../src/domains/customer-audit.ts';
import { demonstrators, synthesize } from '../../../src/training/synthesize.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { bfclFolder, hasBfcl, readFolder } from '../../support/bfcl-data.ts';

const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
const LEVELS = multiturn.levels.map(({ name }) => name);
const COUNT = 120;
const tasksOf = (level: string, split: 'train' | 'heldout', seed = 1) =>
  environments.tasks({ domain: 'multiturn', level, split, seed, count: COUNT });

async function rewardOf(task: Awaited<ReturnType<typeof tasksOf>>[number], calls: readonly ToolCall[]): Promise<number> {
  const episode = await environments.start(task);
  await environments.turn!(episode, 0);
  for (const call of calls) await environments.call(episode, call);
  const { reward } = await environments.verify(episode);
  await environments.close(episode);
  return reward;
}

it('has a level for each of the eight classes', () => {
  expect(LEVELS.toSorted()).toEqual(Object.keys(TOPICS).toSorted());
  expect(new Set(Object.values(TOPICS).map(({ className }) => className)).size).toBe(8);
  expect(importedLevels('bfcl-multiturn')).toEqual(['full', 'compact']);
});

describe.each(LEVELS)('%s', (level) => {
  it('tasks have one to four calls, which pass; none of them can be left out, and doing nothing fails', async () => {
    const tasks = await tasksOf(level, 'train');
    expect(new Set(tasks.map(({ actions }) => actions.length))).toEqual(new Set([1, 2, 3, 4]));
    for (const task of tasks) {
      expect(await rewardOf(task, task.actions)).toBe(1);
      expect(await rewardOf(task, [])).toBe(0);
      for (const i of task.actions.keys()) expect(await rewardOf(task, task.actions.toSpliced(i, 1))).toBe(0);
    }
  });

  it('an instruction says all calls, and no instruction is both trained on and held out', async () => {
    const [train, heldout] = [await tasksOf(level, 'train'), await tasksOf(level, 'heldout')];
    for (const { scenario, actions } of [...train, ...heldout]) expect(callsAsked(level, scenario.instruction)).toEqual(actions);
    const trained = new Set(train.map(({ scenario }) => scenario.instruction));
    expect(heldout.filter(({ scenario }) => trained.has(scenario.instruction))).toEqual([]);
    expect(trained.size).toBeGreaterThan(COUNT / 2);
    expect(callsAsked(level, `${train[0]!.scenario.instruction} Sing.`)).toBeNull();
  });

  it('the same seed gives the same tasks, and another seed gives others', async () => {
    expect(await tasksOf(level, 'train')).toEqual(await tasksOf(level, 'train'));
    const texts = async (seed: number) => (await tasksOf(level, 'train', seed)).map(({ scenario }) => scenario.instruction);
    expect(await texts(1)).not.toEqual(await texts(2));
  });

  it('the demonstrator solves all tasks', async () => {
    const stage = { environments, users: new ScriptedUsers(customerScripts) };
    const { tried, solved, conversations } = await synthesize(stage, { domain: 'multiturn', level, count: 64, seed: 1 });
    expect(solved).toBe(tried);
    expect(conversations[0]!.messages[0]).toMatchObject({
      role: 'system',
      content: expect.stringContaining(TOPICS[level]!.signatures[0]!) as string,
    });
  });

  it('shows functions with the parameters that they have', () => {
    for (const { name, text, fixed } of TOPICS[level]!.sentences) {
      const signature = TOPICS[level]!.signatures.find((one) => one.startsWith(`${name}(`))!;
      for (const own of Object.keys(fixed ?? {})) expect(signature).toContain(own);
      expect(signature, text).toBeDefined();
    }
  });
});

test('a customer whose script is the instruction makes no fault', async () => {
  const stage = { environments, users: new ScriptedUsers(customerScripts) };
  const play = await demonstrators(stage, 'multiturn', 'tickets');
  const tasks = (await tasksOf('tickets', 'train')).filter(({ scenario }) => scenario.instruction.includes('see you at noon'));
  expect(tasks.length).toBeGreaterThan(3);
  for (const task of tasks) expect(auditOf((await play(task, 1)).trajectory).faults).toEqual([]);
});

if (!hasBfcl) console.warn(`SKIPPED: generated tasks beside the entries of BFCL: ${bfclFolder} does not exist`);
test.skipIf(!hasBfcl)(
  'no generated task has the instruction, or the config and the calls, of an entry of BFCL',
  { timeout: 60_000 },
  async () => {
    const { entries } = await readFolder(bfclFolder);
    expect(entries.size).toBe(800);
    const key = (className: string, config: Dict, gold: readonly string[]) =>
      JSON.stringify([
        className,
        dumps(config.get(className) ?? null),
        gold.map((text) => toolCallOf(text)).map((call) => call && [call.name, Object.entries(call.arguments).sort()]),
      ]);
    const instructions = new Set([...entries.values()].flatMap(({ question }) => question.flat().map(({ content }) => content)));
    const gold = new Set(
      [...entries.values()].flatMap(({ involved, config, gold: turns }) =>
        involved.flatMap((name) => [turns.flat(), ...turns].map((calls) => key(name, config, calls))),
      ),
    );
    const found: string[] = [];
    for (const level of LEVELS)
      for (const split of ['train', 'heldout'] as const)
        for (let index = 0; index < COUNT; index++) {
          const { instruction, solved } = generatedTask(level, split, 1, index);
          if (instructions.has(instruction) || gold.has(key(solved.involved[0]!, solved.config, solved.gold[0]!)))
            found.push(`${level}/${split}/${index}`);
        }
    expect(found).toEqual([]);
  },
);
