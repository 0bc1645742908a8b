/** @file tau-bench v1 (arXiv 2406.12045). */
import type { BenchmarkDefinition } from '../definition.ts';
import { judgementOf, tau1RewardInfo } from '../tau/reward-info.ts';
import { exactNamed } from '../tau/tables.ts';
import { TAU1_DOMAINS } from './domains.ts';
import { tau1Files } from './files.ts';
import { tau1Results } from './results.ts';
import { tau1Reward } from './reward.ts';
import { TAU1_RULES } from './rules.ts';
import { type Tau1Task, tau1TaskReader } from './task.ts';

export const tau1: BenchmarkDefinition<Tau1Task> = {
  name: 'tau1',
  title: 'tau-bench',
  version: 'v1, commit 59a200c',
  domains: TAU1_DOMAINS,
  rules: TAU1_RULES,
  terminalTools: ['transfer_to_human_agents'],
  splits: { train: ['train'], heldout: ['test', 'base'] },
  files: tau1Files,
  tasks: tau1TaskReader,
  judge: ({ domain, world, task, conversation }) =>
    judgementOf(tau1RewardInfo(tau1Reward(exactNamed(TAU1_DOMAINS, domain), world, task, conversation))),
  results: tau1Results,
};
