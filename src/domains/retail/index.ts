/** @file The shop: tau-bench's retail domain, with generated tasks and with the tasks of the benchmarks. */
import type { DomainModule } from '../types.ts';
import { TRANSFER } from './acts.ts';
import { RETAIL_LEVELS } from './levels.ts';

export const retail: DomainModule = {
  name: 'retail',
  title: 'Retail',
  levels: RETAIL_LEVELS,
  transfers: [TRANSFER],
  unseen: true,
  attacks: ['small', 'full'],
  audit: async () => (await import('./audit.ts')).AUDIT,
  layers: async () => (await import('./layers/index.ts')).LAYERS,
  rewardsTurns: true,
  world: async () => (await import('./definition.ts')).retail,
  customers: async () => (await import('./customer/index.ts')).shopCustomers,
  reworded: async () => (await import('./schema.ts')).withUnseenWords,
  stranger: 'text',
  proposal: async () => (await import('./proposal.ts')).proposalOf,
  demonstrator: async () => (await import('./expert.ts')).createExpert,
  habits: true,
};
