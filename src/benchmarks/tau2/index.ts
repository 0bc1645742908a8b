/** @file tau2-bench (arXiv 2506.07982). */
import type { BenchmarkDefinition } from '../definition.ts';
import { judgementOf, tau2RewardInfo } from '../tau/reward-info.ts';
import { exactNamed } from '../tau/tables.ts';
import { TAU2_DOMAINS } from './domains.ts';
import { tau2Files } from './files.ts';
import { tau2Results } from './results.ts';
import { tau2Reward } from './reward.ts';
import { TAU2_RULES } from './rules.ts';
import { type Tau2Task, tau2TaskReader } from './task.ts';

export const tau2: BenchmarkDefinition<Tau2Task> = {
  name: 'tau2',
  title: 'tau2-bench',
  version: 'v1.0.1',
  domains: TAU2_DOMAINS,
  rules: TAU2_RULES,
  // A transfer does not end the conversation. The user ends it after the transfer.
  terminalTools: [],
  splits: { train: ['train'], heldout: ['test', 'base'] },
  files: tau2Files,
  tasks: tau2TaskReader,
  async judge({ domain, world, task, conversation, met }) {
    const judge = met && (() => Promise.resolve([...met]));
    return judgementOf(tau2RewardInfo(task, await tau2Reward(exactNamed(TAU2_DOMAINS, domain), world, task, conversation, judge)));
  },
  results: tau2Results,
};
