/** @file A public library: lend and renew books. */
import { scenarioModule } from '../../scenarios/module.ts';
import type { DomainModule } from '../types.ts';

const NANO = ['lend_book', 'renew_loan', 'renew_two', 'lend_namesake', 'renew_too_often', 'lend_with_fees', 'lend_above_limit', 'ask_due'];

export const library: DomainModule = scenarioModule({
  name: 'library',
  title: 'Library',
  levels: [
    { name: 'nano', intents: NANO },
    { name: 'small', intents: [...NANO, 'pay_and_lend', 'return_book', 'reserve_book'] },
  ],
  transfers: ['transfer_to_human'],
  load: async () => (await import('./scenario.json', { with: { type: 'json' } })).default,
});
