/** @file Connects to MCP servers by address, and to those inside of this tab or process. Node code can also start commands: `node/index.ts`. */
import { connectTo } from './connection.ts';
import { whyHidden } from './cors.ts';
import { inBrowser } from './errors.ts';
import { heard } from './hear.ts';
import { reachHere } from './here.ts';
import { reachByHttp } from './http.ts';
import { type McpConnection, McpError, type McpLimits, type McpMessage, type McpTarget } from './types.ts';

/**
 * Connects, reads the list of tools and pins it.
 * @param hear gets each message that is sent or comes
 * @throws InputError if the target or a limit is wrong @throws McpError, or the reason of the signal
 */
export async function connect(
  target: McpTarget,
  limits?: Partial<McpLimits>,
  signal?: AbortSignal,
  hear?: (message: McpMessage) => void,
): Promise<McpConnection> {
  if (target.kind === 'command') throw new McpError('commands start only from the command line: expected ./mua mcp … --command', 'blocked');
  const reach = target.kind === 'url' ? reachByHttp(target) : reachHere(target);
  return connectTo(hear ? heard(reach, hear) : reach, limits, signal).catch(async (error: unknown) => {
    const isHidden = target.kind === 'url' && inBrowser() && error instanceof McpError && error.kind === 'unreachable';
    throw isHidden ? await whyHidden(target) : error;
  });
}
