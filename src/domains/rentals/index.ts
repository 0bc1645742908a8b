/** @file Rental homes: find flats and visit them. */
import { scenarioModule } from '../../scenarios/module.ts';
import type { DomainModule } from '../types.ts';

const NANO = [
  'book_visit',
  'find_and_visit',
  'cancel_visit',
  'cancel_namesake',
  'visit_with_pet',
  'visit_taken',
  'cancel_today',
  'ask_rent',
];

export const rentals: DomainModule = scenarioModule({
  name: 'rentals',
  title: 'Rental homes',
  levels: [
    { name: 'nano', intents: NANO },
    { name: 'small', intents: [...NANO, 'move_visit', 'rent_flat', 'rent_too_high', 'withdraw_and_visit'] },
  ],
  transfers: ['transfer_to_human'],
  load: async () => (await import('./scenario.json', { with: { type: 'json' } })).default,
});
