/** @file The phone provider: tau2-bench's telecom domain, with generated tasks and with the tasks of the benchmark. */
import { GLIMPSE_CUSTOMERS } from '../retail/levels.ts';
import type { DomainModule } from '../types.ts';
import { LINE_INTENTS } from './glimpse/requests.ts';

export const telecom: DomainModule = {
  name: 'telecom',
  title: 'Telecom',
  levels: [{ name: 'nano' }, { name: 'small' }, { name: 'full' }, { name: 'glimpse', customers: GLIMPSE_CUSTOMERS, intents: LINE_INTENTS }],
  attacks: ['small', 'full'],
  transfers: ['transfer_to_human_agents'],
  audit: async () => (await import('./audit.ts')).AUDIT,
  layers: async () => (await import('./layers/index.ts')).LAYERS,
  world: async () => (await import('./definition.ts')).telecomTasks,
  customers: async () => (await import('./customer.ts')).phoneCustomers,
  stranger: 'tools',
  demonstrator: async () => (await import('./expert.ts')).createExpert,
};
