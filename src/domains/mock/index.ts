/** @file tau2-bench's mock domain. All its tasks are imported. Its customers use their tools in the same way as those of telecom. */
import type { DomainModule } from '../types.ts';

export const mock: DomainModule = {
  name: 'mock',
  title: 'Mock',
  levels: [],
  transfers: ['transfer_to_human_agents'],
  customers: async () => (await import('../telecom/customer.ts')).phoneCustomers,
};
