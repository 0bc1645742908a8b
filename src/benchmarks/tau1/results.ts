/** @file Recognises the results files of tau-bench, and scores them again. */
import { compareRewards } from '../compare-rewards.ts';
import type { BenchmarkResults } from '../definition.ts';
import { exactNamed } from '../tau/tables.ts';
import { TAU1_DOMAINS } from './domains.ts';
import { MUA_RL_EMPTY_OUTPUT, TAU_BENCH, tau1Reward } from './reward.ts';
import { type Tau1Task, tau1TaskReader } from './task.ts';

const EMPTY_OUTPUT = 'empty-output';

export const tau1Results: BenchmarkResults<Tau1Task> = {
  isFile: (value) => Array.isArray(value) && typeof value[0] === 'object' && value[0] !== null && 'traj' in value[0],
  read: async (file, value) => (await import('./recorded-results.ts')).readTau1Results(file, value),
  /** The results contain a task's index in a split, but not the split. The instruction shows which split it is. */
  taskOf(tasks, { task, instruction }) {
    const named = tasks.filter(({ id }) => id.endsWith(`/${task}`));
    return (
      (instruction === undefined ? undefined : named.find((entry) => entry.instruction === instruction)) ??
      named.find(({ id }) => id === `test/${task}`) ??
      named[0]
    );
  },
  score(run, { domain, world, task, conversation }, { variant }) {
    const rules = variant === EMPTY_OUTPUT ? MUA_RL_EMPTY_OUTPUT : TAU_BENCH;
    const { reward, asked_again, r_actions, outputs, ended, rows, replay } = tau1Reward(
      exactNamed(TAU1_DOMAINS, domain),
      world,
      task,
      conversation,
      rules,
    );
    const parts = {
      r_actions: Number(r_actions),
      ...(outputs && { r_outputs: Number(Object.values(outputs).every(Boolean)) }),
      ...(rules.requireEnd && { ended: Number(ended) }),
    };
    const { observations, differences } = replay;
    const gold = tau1TaskReader.gold(task);
    return { ...compareRewards(run, { reward, parts, observations, differences, rows, gold }), reward_asked_again: asked_again };
  },
  variants: { [EMPTY_OUTPUT]: 'reward by the database alone, as MUA-RL trains' },
};
