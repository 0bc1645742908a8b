/** @file Builds have the code of @kazuph/mcp-taskmanager in this place (bin/mcp-servers.mjs). */
import type { NodeHost } from './node-host.ts';

/** Starts a new server. */
export default async function start(host: NodeHost): Promise<void> {
  throw new Error(`${host.url}: expected a build with bin/mcp-servers.mjs`);
}
