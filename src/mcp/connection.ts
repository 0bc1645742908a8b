/** @file A connection to a server whose tools are pinned. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import { equalJson } from '../base/json.ts';
import type { Json } from '../records/json.ts';
import { asData, cutText } from './text.ts';
import { quoted } from './errors.ts';
import { Link, type Reach } from './link.ts';
import { readLimits } from './limits.ts';
import { readResult } from './result.ts';
import { changeOf, listTools, pinOf, withWarnings } from './tools.ts';
import { type McpConnection, McpError, type McpLimits, type McpResult, type McpServer } from './types.ts';

/** A tool that does not know its arguments or fails answers with these codes in some servers, and with a result in others. */
const TOOL_FAILED = new Set<number>([ProtocolErrorCode.InvalidParams, ProtocolErrorCode.InternalError]);
const LONGEST_NAME = 200;
const OLDER_HEADERS =
  'The server lets this page send only the headers of older versions of the protocol. For version 2026-07-28, it must also list mcp-method and mcp-name in Access-Control-Allow-Headers.';

/** @throws InputError for a wrong limit @throws McpError, or the reason of the signal */
export async function connectTo(reach: Reach, given?: Partial<McpLimits>, signal?: AbortSignal): Promise<McpConnection> {
  const limits = readLimits(given);
  const link = await Link.open(reach, limits, signal);
  try {
    return await pin(link, reach, limits, signal);
  } catch (error) {
    await link.close();
    throw error;
  }
}

async function pin(link: Link, reach: Reach, limits: McpLimits, signal?: AbortSignal): Promise<McpConnection> {
  let changed = false;
  link.client.setNotificationHandler('notifications/tools/list_changed', () => void (changed = true));
  const pinned = await listTools(link, limits, signal);
  const { name = reach.name, version = '' } = link.client.getServerVersion() ?? {};
  const short = (text: string) => cutText(asData(text), LONGEST_NAME).text;
  const server: McpServer = {
    name: short(name),
    version: short(version),
    protocol: link.client.getNegotiatedProtocolVersion() ?? '',
    era: link.client.getProtocolEra() ?? 'legacy',
    tools: withWarnings(pinned, limits),
    tools_sha256: pinOf(pinned),
    ...(link.refusedHeaders && { note: OLDER_HEADERS }),
  };

  async function check(signal?: AbortSignal): Promise<void> {
    const now = await listTools(link, limits, signal);
    if (pinOf(now) !== server.tools_sha256)
      throw new McpError(
        quoted(`the tools of ${server.name} are not those of the start: ${changeOf(pinned, now)}`, reach.secrets),
        'changed',
        withWarnings(now, limits),
      );
    changed = false;
  }

  async function call(tool: string, args: Readonly<Record<string, Json>>, signal?: AbortSignal): Promise<McpResult> {
    if (changed) await check(signal);
    const what = `tools/call ${tool}`;
    const start = { at: 0 };
    const answer = await link.request(what, signal, async (client, options) => {
      start.at = performance.now();
      try {
        return await client.request({ method: 'tools/call', params: { name: tool, arguments: { ...args } } }, options);
      } catch (error) {
        if (error instanceof ProtocolError && TOOL_FAILED.has(error.code))
          return { content: [{ type: 'text' as const, text: error.message }], isError: true };
        throw error;
      }
    });
    return readResult(answer, { limits, secrets: reach.secrets, seconds: (performance.now() - start.at) / 1000 });
  }

  return { server, call, check, files: () => link.files(), close: () => link.close() };
}

/** Whether two results say the same. The time is not compared. */
export const sameResult = (a: McpResult, b: McpResult): boolean =>
  a.text === b.text && a.error === b.error && (a.cut ?? 0) === (b.cut ?? 0) && equalJson(a.structured, b.structured);
