/** The bundled scenarios: their modules agree with their files, all checks hold, and a careful demonstrator solves their tasks. */
import { expect, it } from 'vitest';
import * as domains from '../../../src/domains/index.ts';
import { customerScripts, GENERATED_DOMAINS } from '../../../src/domains/registry.ts';
import { RELIABLE } from '../../../src/environments/conditions.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { checkScenarioTasks } from '../../../src/scenarios/check.ts';
import { SCENARIO_CUSTOMERS } from '../../../src/scenarios/customer-mix.ts';
import { checkScenario } from '../../../src/scenarios/read.ts';
import { blueprintsAt } from '../../../src/scenarios/tasks.ts';
import { checkRules, domainRules } from '../../../src/synthesis/rules.ts';
import { makeWorld } from '../../../src/scenarios/world.ts';
import { synthesize } from '../../../src/training/synthesize.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import bookings from '../../../src/domains/bookings/scenario.json';
import contacts from '../../../src/domains/contacts/scenario.json';
import courses from '../../../src/domains/courses/scenario.json';
import desk from '../../../src/domains/desk/scenario.json';
import jobs from '../../../src/domains/jobs/scenario.json';
import library from '../../../src/domains/library/scenario.json';
import plans from '../../../src/domains/plans/scenario.json';
import rentals from '../../../src/domains/rentals/scenario.json';

const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
const users = new ScriptedUsers(customerScripts);

it.each(Object.entries({ bookings, contacts, courses, desk, jobs, library, plans, rentals }))('%s', async (name, file) => {
  const own = checkScenario(file, `${name}/scenario.json`);
  const module = domains[name as keyof typeof domains];
  expect([module.name, module.title, module.transfers]).toEqual([own.scenario.name, own.scenario.title, ['transfer_to_human']]);
  expect(module.levels.map((level) => [level.name, [...level.intents!].sort()])).toEqual(
    own.scenario.levels.map((level) => [level, blueprintsAt(own, level).map((blueprint) => blueprint.name).sort()]), // prettier-ignore
  );
  const { findings, levels } = await checkScenarioTasks(own, 11);
  expect(findings).toEqual([]);
  for (const { name: level } of module.levels)
    for (const split of ['heldout', 'unseen'] as const)
      expect(makeWorld(own, { level, split, seed: 1, number: 0 }).size).toBeGreaterThan(0);
  for (const { tools } of levels) expect(tools).toBeLessThanOrEqual(12);
  expect(Math.max(...levels[0]!.blueprints.map(({ longest_result: longest }) => longest))).toBeLessThanOrEqual(300);
  for (const { name: level } of module.levels) {
    const conditions = { customers: SCENARIO_CUSTOMERS, tools: RELIABLE };
    const made = await synthesize({ environments, users }, { domain: name, level, count: 64, seed: 1, styles: ['careful'], conditions });
    expect([level, made.solved, made.tried]).toEqual([level, 64, 64]);
    expect(made.conversations.every(({ unconfirmed_writes: writes }) => writes === 0)).toBe(true);
  }
});

it('plans: a near-miss approves what the user has not approved, and the rules find it without the reward', async () => {
  const conditions = { customers: { upfront: 1 }, tools: RELIABLE, intents: ['finish_unseen'] } as never;
  const options = { domain: 'plans', level: 'nano', count: 16, seed: 2, styles: ['careful'], conditions, near_misses: 1 } as const;
  const { conversations } = await synthesize({ environments, users }, options);
  const extra = conversations.filter(({ near_miss: label }) => label?.kind === 'extra_write');
  expect(extra.length).toBeGreaterThan(0);
  const rules = await domainRules('plans');
  for (const { reward, ...row } of extra) {
    expect([reward, row.messages[row.near_miss!.first_wrong]!.tool_calls![0]!.function.name]).toEqual([0, 'approve_task']);
    expect(checkRules({ ...row, domain: 'plans' }, rules).audit.found).toEqual(['unconfirmed_write']);
  }
});
