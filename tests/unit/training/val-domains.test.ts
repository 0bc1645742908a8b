/** Evaluations on several domains: which tasks are played, what is reported of each domain, and what is refused. */
import 'fake-indexeddb/auto';
import { beforeAll, describe, expect, test } from 'vitest';
import { rulesFor } from '../../../src/benchmarks/rules.ts';
import { customerScripts, GENERATED_DOMAINS } from '../../../src/domains/registry.ts';
import type { Learner } from '../../../src/engine/types.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import type { Evaluation } from '../../../src/evaluation/evaluate.ts';
import type { GrpoConfig } from '../../../src/records/run.ts';
import { grpoConfig } from '../../../src/training/config.ts';
import { heldOutSettings, heldOutTasks } from '../../../src/training/evaluation-settings.ts';
import { evaluationMetrics, trainRun } from '../../../src/training/run.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { nanoTokenizer } from '../../support/tokenizers.ts';

const SETTINGS = { domain: 'rooms', level: 'nano', max_model_len: 16_384, total_training_steps: 0, val_tasks: 3, val_agent: 'careful' };

/** The first evaluation of a run that a demonstrator plays. */
async function evaluated(config: GrpoConfig): Promise<Evaluation> {
  const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
  const domain = await environments.domain(config.domain, config.level);
  const stage = {
    domain,
    environments,
    users: new ScriptedUsers(customerScripts),
    tokenizer: nanoTokenizer(),
    rules: rulesFor(domain, config.conversation_rules),
  };
  const kept: Evaluation[] = [];
  await trainRun(stage, {} as Learner, config, 4, { onStep: async () => {}, onBaseline: async (first) => void kept.push(first) });
  return kept[0]!;
}

describe('an evaluation on two domains beside that of the training', () => {
  const config = grpoConfig('glimpse', { ...SETTINGS, val_domains: 'library, rentals' });
  let evaluation: Evaluation;
  beforeAll(async () => {
    evaluation = await evaluated(config);
  });

  test('plays so many held-out tasks of each, with the tools and the rules of its domain', () => {
    const played = evaluation.trajectories.map(({ task }) => task.id.replace(/^(\w+)\/nano\/heldout\/\d+\/(\d+)$/, '$1 $2'));
    // Tasks 0, 67 and 134 are from three worlds.
    expect(played).toEqual(['library 0', 'library 67', 'library 134', 'rentals 0', 'rentals 67', 'rentals 134']);
    const tokenizer = nanoTokenizer();
    const prompts = evaluation.trajectories.map(({ nodes }) => tokenizer.decode(nodes[0]!.tokens));
    const [library, rentals] = ['find_member', 'find_tenant'].map((tool) => prompts.map((prompt) => prompt.includes(tool)));
    expect(library).toEqual([true, true, true, false, false, false]);
    expect(rentals).toEqual([false, false, false, true, true, true]);
    expect(evaluation.trajectories.map(({ reward }) => reward)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(heldOutTasks(config)).toBe(6);
  });

  test('gives the success of each domain', () => {
    const [first] = evaluation.trajectories;
    const failed = { ...evaluation, trajectories: [{ ...first!, reward: 0 as const }, ...evaluation.trajectories.slice(1)] };
    const success = Object.entries(evaluationMetrics(failed, config)).filter(([name]) => name.startsWith('val-core/'));
    expect(success).toEqual([
      ['val-core/library-nano/reward/mean@1', 2 / 3],
      ['val-core/rentals-nano/reward/mean@1', 1],
    ]);
  });

  test('a repeated evaluation is on the first domain', () => {
    expect(heldOutSettings(config, { mode: 'scripted' })).toMatchObject({ domain: 'library', tasks: 3 });
  });
});

test('without val_domains, the domain of the training is played', async () => {
  const config = grpoConfig('glimpse', { ...SETTINGS, val_tasks: 1 });
  const { trajectories } = await evaluated(config);
  expect(trajectories.map(({ task }) => task.domain)).toEqual(['rooms']);
  const { val_domains: _, ...old } = config;
  expect(heldOutTasks(old as GrpoConfig)).toBe(1);
});

test.each([
  [{ val_domains: 'library,rental' }, 'setting "val_domains" has "rental": expected some of'],
  // Only retail and telecom have the level glimpse.
  [{ domain: 'retail', level: 'glimpse', val_domains: 'rooms' }, 'expected some of retail, telecom, the domains with level glimpse'],
  [{ domain: 'retail', val_domains: 'retail,telecom', val_split: 'unseen' }, 'setting "val_split" is "unseen": expected'],
  [{ val_domains: 'library', val_intents: 'book_room' }, 'setting "val_intents" has "book_room": expected some of'],
])('%j is refused', (given, message) => {
  expect(() => grpoConfig('nano', { domain: 'rooms', level: 'nano', ...given })).toThrow(message);
});

test('intents are those of the domain that plays them', () => {
  const given = { domain: 'rooms', level: 'nano', intents: 'book_room', val_domains: 'library', val_intents: 'renew_loan' };
  expect(grpoConfig('nano', given)).toMatchObject(given);
});

test('a run on another domain has the customers of that domain, also at the level of the preset', () => {
  // SCENARIO_CUSTOMERS: 18 % change their mind. At nano retail it is 55 %.
  expect(grpoConfig('nano')).toMatchObject({ 'customers.changes_mind': 0.55 });
  const { 'customers.changes_mind': train, 'val_customers.changes_mind': val } = grpoConfig('nano', { domain: 'rooms' });
  expect([train, val]).toEqual([0.18, 0.18]);
  expect(grpoConfig('nano', { domain: 'rooms', 'tools.outages': 0.1 })).toMatchObject({ 'tools.outages': 0.1, 'val_tools.outages': 0 });
});
