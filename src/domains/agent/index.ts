/** @file The tasks of ACEBench Agent. All of them are imported. */
import type { DomainModule } from '../types.ts';

export const agent: DomainModule = {
  name: 'agent',
  title: 'Agent',
  levels: [],
  transfers: [],
  customers: async () => (await import('../multiturn/customer.ts')).spokenTurns,
};
