/** @file Recognises the results files of tau2-bench, scores them again, and writes them. */
import { isObject } from '../../base/json.ts';
import { compareRewards } from '../compare-rewards.ts';
import type { BenchmarkResults, Judge } from '../definition.ts';
import type { Json } from '../../records/json.ts';
import { exactNamed } from '../tau/tables.ts';
import { TAU2_DOMAINS } from './domains.ts';
import { tau2Reward } from './reward.ts';
import type { Tau2Task } from './task.ts';
import { writeTau2Results } from './write-results.ts';

/** Whether the value is one simulation. In upstream's directory format each simulation has its own file. */
const isSimulation = (value: unknown): value is Record<string, Json> =>
  isObject(value) && typeof value.task_id === 'string' && typeof value.termination_reason === 'string' && 'messages' in value;

export const tau2Results: BenchmarkResults<Tau2Task> = {
  isFile: (value) => (isObject(value) && Array.isArray(value.simulations)) || isSimulation(value),
  read: async (file, value) =>
    (await import('./recorded-results.ts')).readTau2Results(file, isSimulation(value) ? { simulations: [value] } : value),
  async score(run, { domain, world, task, conversation }, { judge }) {
    const asRecorded: Judge = (assertions) => Promise.resolve(assertions.map((assertion) => run.judged.get(assertion) ?? null));
    const { reward, breakdown, rows, action_checks, ended, replay, env_assertions } = await tau2Reward(
      exactNamed(TAU2_DOMAINS, domain),
      world,
      task,
      conversation,
      judge ?? asRecorded,
    );
    const actions = action_checks.flatMap(({ action, match }, index) => {
      const before = run.actionChecks?.[index];
      return before === undefined || before === match ? [] : [{ index, name: action.name, recorded: before, now: match }];
    });
    const failures = env_assertions.flatMap(({ assertion, error }) => (error === undefined ? [] : [`${assertion.func_name}: ${error}`]));
    const gold = (task.evaluation_criteria?.actions ?? []).map(({ name, arguments: args }) => ({ name, arguments: args }));
    const { observations, differences } = replay;
    const parts = { ...breakdown, ended: Number(ended) };
    const made = compareRewards(run, { reward, parts, observations, differences, rows, gold, actions });
    return { ...made, problems: [...made.problems, ...failures] };
  },
  write: writeTau2Results,
};
