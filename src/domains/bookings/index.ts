/** @file Bookings of boats: tables of SQLite, in the tab or process. */
import { scenarioModule } from '../../scenarios/module.ts';
import type { DomainModule } from '../types.ts';

const NANO = ['book_boat', 'move_booking', 'cancel_booking', 'cancel_paid', 'book_third', 'ask_price'];

export const bookings: DomainModule = scenarioModule({
  name: 'bookings',
  title: 'Boat bookings',
  levels: [
    { name: 'nano', intents: NANO },
    { name: 'small', intents: [...NANO, 'change_people', 'change_boat', 'move_and_resize', 'ask_total'] },
  ],
  transfers: ['transfer_to_human'],
  load: async () => (await import('./scenario.json', { with: { type: 'json' } })).default,
});
