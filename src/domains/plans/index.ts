/** @file Plans whose tasks the user approves: the tools of the MCP server `mcp-taskmanager`, in the tab or process. */
import { scenarioModule } from '../../scenarios/module.ts';
import type { DomainModule } from '../types.ts';

const NANO = ['finish_task', 'finish_unseen', 'approve_task', 'approve_open', 'ask_open'];

export const plans: DomainModule = scenarioModule({
  name: 'plans',
  title: 'Plans',
  levels: [
    { name: 'nano', intents: NANO },
    { name: 'small', intents: [...NANO, 'add_task', 'delete_task'] },
  ],
  transfers: ['transfer_to_human'],
  load: async () => (await import('./scenario.json', { with: { type: 'json' } })).default,
});
