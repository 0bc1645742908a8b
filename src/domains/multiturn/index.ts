/** @file The eight classes of BFCL Multi Turn: the imported tasks of the benchmark, and generated tasks of one class to train on. */
import type { DomainModule } from '../types.ts';

/** A level for each class. */
const LEVELS = ['tickets', 'files', 'math', 'messages', 'posts', 'trading', 'travel', 'vehicle'];

export const multiturn: DomainModule = {
  name: 'multiturn',
  title: 'Multi turn',
  levels: LEVELS.map((name) => ({ name })),
  derived: { compact: 'BFCL-derived, compact', ...Object.fromEntries(LEVELS.map((name) => [name, 'BFCL-derived, generated'])) },
  transfers: [],
  sameCall: async () => (await import('./tool-call.ts')).sameCall,
  world: async () => (await import('./generated/world.ts')).world,
  demonstrator: async () => (await import('./generated/world.ts')).createExpert,
  customers: async () => (await import('./customer.ts')).spokenTurns,
};
