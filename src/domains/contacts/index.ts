/** @file Contacts: the tools of the MCP server `server-memory`, in the tab or process. */
import { scenarioModule } from '../../scenarios/module.ts';
import type { DomainModule } from '../types.ts';

const NANO = ['note_fact', 'forget_fact', 'join_group', 'leave_group', 'remove_person', 'remove_member', 'join_full_group', 'ask_city'];

export const contacts: DomainModule = scenarioModule({
  name: 'contacts',
  title: 'Contacts',
  levels: [
    { name: 'nano', intents: NANO },
    { name: 'small', intents: [...NANO, 'moved', 'swap_groups'] },
  ],
  transfers: ['transfer_to_human'],
  load: async () => (await import('./scenario.json', { with: { type: 'json' } })).default,
});
