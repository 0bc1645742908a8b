/** @file tau2-bench's mock domain. Its tasks are imported, and its customers use their tools as those of telecom do. */
import { shopLanguage } from '../retail/customer/language.ts';
import type { DomainModule } from '../types.ts';

export const mock: DomainModule = {
  name: 'mock',
  title: 'Mock',
  levels: [],
  transfers: ['transfer_to_human_agents'],
  language: shopLanguage,
  customers: async () => (await import('../telecom/customer.ts')).phoneCustomers,
};
