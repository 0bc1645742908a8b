/** @file Job applications: apply and withdraw. */
import { scenarioModule } from '../../scenarios/module.ts';
import type { DomainModule } from '../types.ts';

const NANO = [
  'apply_job',
  'find_and_apply',
  'withdraw_application',
  'withdraw_namesake',
  'apply_closed',
  'apply_unskilled',
  'withdraw_offer',
  'ask_pay',
];

export const jobs: DomainModule = scenarioModule({
  name: 'jobs',
  title: 'Job applications',
  levels: [
    { name: 'nano', intents: NANO },
    { name: 'small', intents: [...NANO, 'swap_applications', 'learned_skill', 'set_interview'] },
  ],
  transfers: ['transfer_to_human'],
  load: async () => (await import('./scenario.json', { with: { type: 'json' } })).default,
});
