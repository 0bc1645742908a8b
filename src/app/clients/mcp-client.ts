/** @file The page's connection to the worker that talks to MCP servers. The first question starts the worker. */
import * as comlink from 'comlink';
import type { Desk } from '../../mcp/desk.ts';
import type { OfferedServer } from '../../worlds/mcp-worlds.ts';

export type McpDesk = comlink.Remote<Desk & { offered(): Promise<OfferedServer[]> }>;

let running: { desk: McpDesk; failure: Promise<never> } | null = null;

function start(): { desk: McpDesk; failure: Promise<never> } {
  const worker = new Worker(new URL('../../../workers/mcp.worker.ts', import.meta.url), { type: 'module' });
  const failure = new Promise<never>((_, reject) => {
    worker.addEventListener('error', ({ message }) => {
      running = null; // The next question starts a new worker.
      worker.terminate();
      reject(new Error(`the worker of the MCP servers failed: ${message || 'its script did not load'}`));
    });
  });
  failure.catch(() => {}); // Each open question rejects with this error.
  return { desk: comlink.wrap<Desk & { offered(): Promise<OfferedServer[]> }>(worker), failure };
}

/** Asks the worker. @throws the worker's error, or an error if the worker dies */
export function askMcp<T>(question: (desk: McpDesk) => Promise<T>): Promise<T> {
  running ??= start();
  return Promise.race([question(running.desk), running.failure]);
}
