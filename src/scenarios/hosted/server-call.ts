/** @file One call of the agent: one of the scenario's flat tools, run by a tool of the server. */
import { Overlay, type World } from '../../environments/overlay.ts';
import { FOLDER } from '../../mcp/limits.ts';
import { cutText } from '../../mcp/text.ts';
import type { McpConnection, McpResult } from '../../mcp/types.ts';
import type { Json } from '../../records/json.ts';
import type { ScenarioTool, ServerTool } from '../../records/scenario.ts';
import type { ToolCall } from '../../records/task.ts';
import type { Scope } from '../cel.ts';
import { beginTool, errorText, execute, pathOf, resultText, toolOf } from '../execute.ts';
import { toNative } from '../native.ts';
import type { Hosted } from './state.ts';

const MOST_CHARACTERS = 4000;
/** Servers name temporary files at random, and some errors show the name. */
const RANDOM = /[0-9a-f]{16,}/g;

export interface Answer {
  text: string;
  error: boolean;
}

/**
 * Runs a call. A tool without a `server` reads the rows, as in a scenario without a host.
 * @param rows the rows before the call  @throws McpError if the server fails @throws InputError if the file is wrong
 */
export async function callServer(own: Hosted, connection: McpConnection, rows: World, call: ToolCall, level: string): Promise<Answer> {
  const tool = toolOf(own, call, level);
  if (typeof tool === 'string') return { text: errorText(tool), error: true };
  if (!tool.server) return execute(own, new Overlay(rows), call, level);
  const begun = beginTool(own, rows, tool, call);
  if ('error' in begun) return { text: errorText(begun.error), error: true };
  const [{ scope }, path] = [begun, pathOf(own, tool)];
  const answer = await connection.call(tool.server.tool, serverArguments(own, tool.server, scope, path));
  return shownAnswer(own, tool, answer, scope, path);
}

function serverArguments({ cel }: Hosted, server: ServerTool, scope: Scope, path: string): Record<string, Json> {
  const args = Object.entries(server.arguments).map(([name, value]) => [name, cel.json(value, scope, `${path}.server.arguments.${name}`)]);
  return Object.fromEntries(args.filter(([, value]) => value !== null)) as Record<string, Json>;
}

/** The observation. Paths begin at the server's folder. */
function shownAnswer(own: Hosted, tool: ScenarioTool, { text, structured, error }: McpResult, scope: Scope, path: string): Answer {
  const seen = { text, structured: toNative(structured === undefined ? jsonOf(text) : structured) };
  const { failed } = own.scenario.host;
  const bad = error || (failed !== undefined && own.cel.true(failed, seen, 'host.failed'));
  const words = bad
    ? errorText(text.replace(/^Error: /, '').replace(RANDOM, '…'))
    : tool.result === undefined
      ? text
      : resultText(own.cel.json(tool.result, { ...scope, ...seen }, `${path}.result`));
  const plain = words.replaceAll(`${FOLDER}/`, '').replaceAll(FOLDER, '.');
  return { text: cutText(plain, tool.server!.characters ?? MOST_CHARACTERS).text, error: bad };
}

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}
