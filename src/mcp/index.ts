/** @file Connects to MCP servers by address, and to those inside of this tab or process. Node code can also start commands: `node/index.ts`. */
import { connectTo } from './connection.ts';
import { reachHere } from './here.ts';
import { reachByHttp } from './http.ts';
import { type McpConnection, McpError, type McpLimits, type McpTarget } from './types.ts';

/**
 * Connects, reads the list of tools and pins it.
 * @throws InputError if the target or a limit is wrong @throws McpError, or the reason of the signal
 */
export async function connect(target: McpTarget, limits?: Partial<McpLimits>, signal?: AbortSignal): Promise<McpConnection> {
  if (target.kind === 'command') throw new McpError('commands start only from the command line: expected ./mua mcp … --command', 'blocked');
  return connectTo(target.kind === 'url' ? reachByHttp(target) : reachHere(target), limits, signal);
}
