/**
 * @file The airline of tau-bench and tau2-bench. All its tasks are imported. Their scenarios are only texts, which the shop's
 * scripted customer can play.
 */
import type { DomainModule } from '../types.ts';

export const airline: DomainModule = {
  name: 'airline',
  title: 'Airline',
  levels: [],
  transfers: ['transfer_to_human_agents'],
  unreported: async () => (await import('./audit.ts')).AUDIT,
  layers: async () => (await import('./layers/index.ts')).LAYERS,
  rewardsTurns: true,
  customers: async () => (await import('../retail/customer/index.ts')).shopCustomers,
};
