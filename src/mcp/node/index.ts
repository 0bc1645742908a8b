/** @file Connects to MCP servers from Node, which may also start commands. Code of the page must not import this folder. */
import { connectTo } from '../connection.ts';
import { connect as connectElsewhere } from '../index.ts';
import type { McpConnection, McpLimits, McpTarget } from '../types.ts';
import { reachCommand } from './stdio.ts';

/** As `connect` of the room, also for commands. @throws InputError if the target or a limit is wrong @throws McpError, or the reason of the signal */
export const connect = (target: McpTarget, limits?: Partial<McpLimits>, signal?: AbortSignal): Promise<McpConnection> =>
  target.kind === 'command' ? connectTo(reachCommand(target), limits, signal) : connectElsewhere(target, limits, signal);
