/** @file The tasks of ACEBench Agent. All of them are imported. */
import type { DomainModule } from '../types.ts';

export const agent: DomainModule = {
  name: 'agent',
  title: 'Agent',
  levels: [],
  transfers: [],
  sameCall: async () => (await import('./same-call.ts')).sameCall,
  customers: async () => (await import('../multiturn/customer.ts')).spokenTurns,
};
