/** The chat of one turn: its prompts, its rule, its customer and its demonstrator. */
import 'fake-indexeddb/auto';
import { expect, test } from 'vitest';
import { runEpisode } from '../../../src/agent/episode.ts';
import { rulesFor } from '../../../src/benchmarks/rules.ts';
import { auditOf } from '../../../src/domains/customer-audit.ts';
import { HELDOUT_PROMPTS } from '../../../src/domains/chat/heldout-prompts.ts';
import { TRAIN_PROMPTS } from '../../../src/domains/chat/train-prompts.ts';
import { endsWithQuestion } from '../../../src/domains/chat/world.ts';
import { customerScripts, GENERATED_DOMAINS } from '../../../src/domains/registry.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { evaluationTasks, trainingIndex } from '../../../src/environments/task-order.ts';
import type { Split } from '../../../src/records/task.ts';
import { grpoConfig } from '../../../src/training/config.ts';
import { synthesize } from '../../../src/training/synthesize.ts';
import { trainingTasks } from '../../../src/training/training-tasks.ts';
import { createUsers } from '../../../src/users/index.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { ReplaySampler } from '../../support/episodes.ts';
import { nanoTokenizer } from '../../support/tokenizers.ts';

const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
const users = new ScriptedUsers(customerScripts);
const query = (split: Split, seed = 7) => ({ domain: 'chat', level: 'question', split, seed });
const prompts = (tasks: { scenario: { instruction: string } }[]) => tasks.map(({ scenario }) => scenario.instruction);

test('no prompt is both in training and held out, and none occurs twice', () => {
  const all = [...TRAIN_PROMPTS.map(([prompt]) => prompt), ...HELDOUT_PROMPTS].map((prompt) => prompt.toLowerCase());
  expect(new Set(all).size).toBe(64 + 48);
});

test('eight steps of eight tasks play each prompt once, in an order that the seed draws', async () => {
  const domain = await environments.domain('chat', 'question');
  const played = async (seed: number, steps: number[]) => {
    const config = grpoConfig('question', { seed, train_batch_size: 8 });
    return prompts((await Promise.all(steps.map((step) => trainingTasks({ domain, environments }, config, step)))).flat());
  };
  const first = await played(3, [1, 2, 3, 4, 5, 6, 7, 8]);
  expect([...first].sort()).toEqual(TRAIN_PROMPTS.map(([prompt]) => prompt).sort());
  const second = await played(3, [9, 10, 11, 12, 13, 14, 15, 16]);
  expect([...second].sort()).toEqual([...first].sort());
  expect(second).not.toEqual(first);
  expect(await played(4, [1])).not.toEqual(first.slice(0, 8));
});

test('an evaluation of 48 tasks plays each held-out prompt once', async () => {
  const domain = await environments.domain('chat', 'question');
  const tasks = await evaluationTasks({ domain, environments }, { ...query('heldout'), count: 48 });
  expect(prompts(tasks).sort()).toEqual([...HELDOUT_PROMPTS].sort());
});

test('task i does not depend on the number of tasks, and tasks with equal ids are equal', async () => {
  const many = await environments.tasks({ ...query('train'), count: 600 });
  const one = await environments.tasks({ ...query('train'), count: 1, from: trainingIndex(70) });
  expect(many[trainingIndex(70)]).toEqual(one[0]);
});

test.each([
  ['Boil it for eight minutes. Do you like it soft?', true],
  ['Do you like it soft?  \n', true],
  ['He asked: “Do you like it soft?”', true],
  ['**Would you like more?**', true],
  ['What’s your favourite colour?', true],
  ['Boil it for eight minutes.', false],
  ['Do you like it soft? Boil it.', false],
  ['Boil it for eight minutes?!', false],
  ['?', false],
  ['Boil it. Why?', false],
  ['Boil it. Right now?', false],
  ['Eight minutes are enough. ???', false],
  ['', false],
])('the rule says of %j: %j', (answer, expected) => {
  expect(endsWithQuestion(answer)).toBe(expected);
});

async function play(answer: string, simulator = users) {
  const [domain, [task]] = await Promise.all([
    environments.domain('chat', 'question'),
    environments.tasks({ ...query('train'), count: 1 }),
  ]);
  return runEpisode({
    task: task!,
    domain,
    environments,
    users: simulator as ScriptedUsers,
    sampler: new ReplaySampler([`${answer}<|im_end|>`]),
    tokenizer: nanoTokenizer(),
    limits: grpoConfig('question'),
    sampling: { temperature: 1, top_p: 1, top_k: 0 },
    rules: rulesFor(domain, 'domain'),
    seed: 1,
    stream: 0,
    group: '1-0',
    index: 0,
  });
}

test('a conversation has one answer of the agent, which the rule scores', async () => {
  const good = await play('It is done. Do you want more?');
  expect([good.reward, good.termination, good.turns]).toEqual([1, 'user_stop', 1]);
  expect(good.nodes.filter(({ role }) => role === 'assistant')).toHaveLength(1);
  expect((await play('It is done.')).reward).toBe(0);
});

test('the customer makes no fault, even if it leaves after an empty answer', async () => {
  expect(auditOf(await play('')).faults).toEqual([]);
});

test('a script plays this customer, even if the run has an endpoint: the endpoint only judges', async () => {
  const nowhere = createUsers({ mode: 'endpoint', baseUrl: 'http://127.0.0.1:9/v1', model: 'm', maxRetries: 0 }, customerScripts);
  expect((await play('It is done.', nowhere as ScriptedUsers)).termination).toBe('user_stop');
});

test('careful demonstrators end with a question, and brisk ones do not', async () => {
  const made = (style: 'careful' | 'brisk') =>
    synthesize({ environments, users }, { domain: 'chat', level: 'question', count: 64, seed: 5, styles: [style] });
  const { conversations, solved, tried } = await made('careful');
  expect([solved, tried]).toEqual([64, 64]);
  for (const { messages } of conversations) expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
  await expect(made('brisk')).rejects.toThrow('solved only 0');
});
