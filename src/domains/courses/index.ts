/** @file Course registration: enrol, drop and change courses. */
import { scenarioModule } from '../../scenarios/module.ts';
import type { DomainModule } from '../types.ts';

const NANO = [
  'enrol_course',
  'find_and_enrol',
  'drop_course',
  'swap_courses',
  'drop_namesake',
  'enrol_without_basis',
  'enrol_full',
  'drop_last_year',
  'ask_seats',
];

export const courses: DomainModule = scenarioModule({
  name: 'courses',
  title: 'Course registration',
  levels: [
    { name: 'nano', intents: NANO },
    { name: 'small', intents: [...NANO, 'join_waitlist', 'leave_and_wait'] },
  ],
  transfers: ['transfer_to_human'],
  load: async () => (await import('./scenario.json', { with: { type: 'json' } })).default,
});
