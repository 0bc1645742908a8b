/** @file The Model Context Protocol over a session's WebSocket: the JSON-RPC 2.0 requests `initialize`, `tools/list` and `tools/call`. */
import { shown } from '../base/input-error.ts';
import { isObject } from '../base/json.ts';
import type { ToolSchema } from '../records/task.ts';
import { ProtocolError, type StepResult } from './protocol.ts';

const VERSION = '2025-06-18';
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const FAILED = -32000;

/** Answers a request. An error of the episode becomes a JSON-RPC error. */
export async function answerMcp(
  request: Record<string, unknown>,
  tools: readonly ToolSchema[],
  call: (name: string, args: unknown) => Promise<StepResult>,
): Promise<object> {
  const { id = null, method, params = {} } = request;
  const answer = (body: object) => ({ jsonrpc: '2.0', id, ...body });
  const failure = (code: number, message: string) => answer({ error: { code, message } });
  switch (method) {
    case 'initialize':
      return answer({
        result: { protocolVersion: VERSION, capabilities: { tools: {} }, serverInfo: { name: 'mua-env-serve', version: '1' } },
      });
    case 'tools/list':
      return answer({
        result: {
          tools: tools.map(toolOf),
        },
      });
    case 'tools/call': {
      if (!isObject(params) || typeof params.name !== 'string')
        return failure(INVALID_PARAMS, `params is ${shown(params)}: expected a name and arguments`);
      try {
        return answer({ result: toolResult(await call(params.name, params.arguments ?? {})) });
      } catch (error) {
        if (error instanceof ProtocolError) return failure(error.code === 'VALIDATION_ERROR' ? INVALID_PARAMS : FAILED, error.message);
        throw error;
      }
    }
    default:
      return failure(METHOD_NOT_FOUND, `method ${shown(method)}: expected initialize, tools/list or tools/call`);
  }
}

export const toolOf = ({ function: { name, description, parameters } }: ToolSchema) => ({ name, description, inputSchema: parameters });

/** The result of a call. @param text what the model reads, if it is not the observation's content */
export const toolResult = ({ observation, reward, done }: StepResult, text = observation.content) => ({
  content: [{ type: 'text' as const, text }],
  isError: observation.role === 'tool' && observation.content.startsWith('Error'),
  // The model reads `content`. Training also needs these fields.
  structuredContent: { ...observation, reward, done },
});
