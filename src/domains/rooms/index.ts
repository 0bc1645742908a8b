/** @file Meeting rooms of a company: book, move and cancel. */
import { scenarioModule } from '../../scenarios/module.ts';
import type { DomainModule } from '../types.ts';

const NANO = ['ask_fee', 'book_room', 'cancel_booking', 'cancel_namesake', 'cancel_today', 'move_booking', 'move_of_other'];

export const rooms: DomainModule = scenarioModule({
  name: 'rooms',
  title: 'Meeting rooms',
  levels: [
    { name: 'nano', intents: NANO },
    { name: 'small', intents: [...NANO, 'cancel_both', 'need_projector'] },
  ],
  transfers: ['transfer_to_human'],
  load: async () => (await import('./scenario.json', { with: { type: 'json' } })).default,
});
