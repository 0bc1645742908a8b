/** A domain with one tool and one kind of task: a lamp that a customer wants to be switched on or off. */
import type { DomainModule } from '../../../src/domains/types.ts';

export const toy: DomainModule = {
  name: 'toy',
  title: 'Toy lamps',
  levels: [{ name: 'one' }],
  transfers: [],
  audit: async () => ({ authenticate: [], details: [], owner: 'owner', thing: 'lamp', writes: ['switch_lamp'] }),
  world: async () => (await import('./world.ts')).world,
  customers: async () => (await import('./people.ts')).customers,
  demonstrator: async () => (await import('./people.ts')).createExpert,
};
