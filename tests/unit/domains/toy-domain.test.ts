/** A new domain is one folder and one line: the toy's folder is tests/support/toy-domain, and its line is the mock below. */
import { expect, it, vi } from 'vitest';
import { runEpisode } from '../../../src/agent/episode.ts';
import { rulesFor } from '../../../src/benchmarks/rules.ts';
import { customerScripts, demonstrated, GENERATED_DOMAINS, isAudited, LEVELS, usualLevel } from '../../../src/domains/registry.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { openStage } from '../../../src/serve/index.ts';
import { synthesize } from '../../../src/training/synthesize.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { generatedDomains } from '../../../src/worlds/open-world.ts';
import { nanoTokenizer } from '../../support/tokenizers.ts';
import type { Act } from '../../../src/agent/acts.ts';

vi.mock('../../../src/domains/index.ts', async (original) => ({
  ...(await original<object>()),
  ...(await import('../../support/toy-domain/index.ts')),
}));

const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
const users = new ScriptedUsers(customerScripts);

async function play(acts: Act[]) {
  const domain = await environments.domain('toy', 'one');
  const [task] = await environments.tasks({ domain: 'toy', level: 'one', split: 'train', seed: 0, count: 1, from: 1 });
  return runEpisode({
    task: task!,
    domain,
    environments,
    users,
    tokenizer: nanoTokenizer(),
    rules: rulesFor(domain, 'domain'),
    limits: { max_turns: 8, response_length_one_turn: 64, max_model_len: 2048, malformed_policy: 'feedback', require_done: true },
    sampling: { temperature: 1, top_p: 1, top_k: 0 },
    seed: 1,
    stream: 0,
    group: 'toy',
    index: 0,
    agent: async () => acts.shift()!,
  });
}
const switchLamp = (state: string): Act => ({ call: { name: 'switch_lamp', arguments: { state } } });

it('is played: reward 1 for the right state, 0 for the wrong one, and the audit sees a write without a yes', async () => {
  const right = await play([{ say: 'Switch the lamp on?' }, switchLamp('on'), { say: 'Done.' }]);
  expect(right).toMatchObject({ reward: 1, termination: 'user_stop', violations: [] });
  expect(right.nodes.filter(({ role }) => role === 'user').map(({ text }) => text)).toEqual([
    'Please switch the lamp on.',
    'Yes.',
    'Thanks. ###STOP###',
  ]);
  const wrong = await play([switchLamp('off'), { say: 'Done.' }]);
  expect(wrong).toMatchObject({ reward: 0, termination: 'user_stop' });
  const unasked = await play([switchLamp('on'), { say: 'Done.' }]);
  expect(unasked.violations.map(({ rule }) => rule)).toEqual(['unconfirmed_write']);
});

it('has demonstrations: both styles solve its tasks', async () => {
  const { conversations, solved, tried } = await synthesize({ environments, users }, { domain: 'toy', level: 'one', count: 8, seed: 3 });
  expect(solved).toBe(tried);
  expect(new Set(conversations.map(({ demonstrator }) => demonstrator))).toEqual(new Set(['careful', 'brisk']));
  expect(conversations[0]!.intent).toBe('switch');
});

it('is in every list, and is served', async () => {
  expect(GENERATED_DOMAINS.map(({ name }) => name)).toEqual([
    'bookings',
    'chat',
    'contacts',
    'courses',
    'desk',
    'jobs',
    'library',
    'multiturn',
    'plans',
    'rentals',
    'retail',
    'rooms',
    'telecom',
    'toy',
  ]);
  expect(demonstrated().map(({ name }) => name)).toContain('toy');
  expect([isAudited('toy'), usualLevel('toy'), LEVELS.includes('one')]).toEqual([true, 'one', true]);
  expect((await generatedDomains()).map(({ title }) => title)).toContain('Toy lamps');
  const { stage, tasks } = await openStage({ domain: 'toy', settings: {}, seed: 1, user: { mode: 'scripted' } });
  expect(stage.domain).toMatchObject({ name: 'toy', level: 'one' });
  expect(tasks).toBeDefined();
});
