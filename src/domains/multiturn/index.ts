/** @file The tasks of BFCL Multi Turn. All of them are imported. */
import type { DomainModule } from '../types.ts';

export const multiturn: DomainModule = {
  name: 'multiturn',
  title: 'Multi turn',
  levels: [],
  derived: { compact: 'BFCL-derived, compact' },
  transfers: [],
  sameCall: async () => (await import('./tool-call.ts')).sameCall,
  customers: async () => (await import('./customer.ts')).spokenTurns,
};
