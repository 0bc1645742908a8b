/** @file How this process connects to the server of a scenario. Only the command line starts commands, so only it gives its own way. */
import type { McpConnection, McpTarget } from '../../mcp/types.ts';

export type Connect = (target: McpTarget) => Promise<McpConnection>;

let own: Connect = async (target) => (await import('../../mcp/index.ts')).connect(target);

/** Connects to all later servers so. */
export function connectWith(connect: Connect): void {
  own = connect;
}

export const connect: Connect = (target) => own(target);
