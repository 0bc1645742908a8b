/** @file Papers on a desk: the tools of the MCP server `server-filesystem`, in the tab or process. */
import { scenarioModule } from '../../scenarios/module.ts';
import type { DomainModule } from '../types.ts';

const NANO = ['file_paper', 'file_same_name', 'set_paid', 'rename_paper', 'archive_open', 'archive_paid', 'ask_amount'];

export const desk: DomainModule = scenarioModule({
  name: 'desk',
  title: 'Papers on a desk',
  levels: [
    { name: 'nano', intents: NANO },
    { name: 'small', intents: [...NANO, 'overwrite', 'pay_and_archive', 'write_note'] },
  ],
  transfers: ['transfer_to_human'],
  load: async () => (await import('./scenario.json', { with: { type: 'json' } })).default,
});
