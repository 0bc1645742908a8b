/** @file The phone provider: tau2-bench's telecom domain, with generated tasks and with the tasks of the benchmark. */
import { shopLanguage } from '../retail/customer/language.ts';
import type { DomainModule } from '../types.ts';

export const telecom: DomainModule = {
  name: 'telecom',
  title: 'Telecom',
  levels: [{ name: 'nano' }, { name: 'small' }, { name: 'full' }],
  transfers: ['transfer_to_human_agents'],
  language: shopLanguage,
  world: async () => (await import('./definition.ts')).telecomTasks,
  customers: async () => (await import('./customer.ts')).phoneCustomers,
  stranger: 'tools',
  demonstrator: async () => (await import('./expert.ts')).createExpert,
};
