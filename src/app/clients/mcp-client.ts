/** @file The page's connection to the worker that talks to MCP servers. */
import type { Remote } from 'comlink';
import type { Desk } from '../../mcp/desk.ts';
import type { OfferedServer } from '../../worlds/mcp-worlds.ts';
import { KeptWorker } from './kept-worker.ts';

type McpApi = Desk & { offered(): Promise<OfferedServer[]> };
export type McpDesk = Remote<McpApi>;

const mcp = new KeptWorker<McpApi>(
  'the worker of the MCP servers',
  () => new Worker(new URL('../../../workers/mcp.worker.ts', import.meta.url), { type: 'module' }),
);

/** Asks the worker. @throws the worker's error, or an error if the worker dies */
export const askMcp = <T>(question: (desk: McpDesk) => Promise<T>): Promise<T> => mcp.ask(question);
