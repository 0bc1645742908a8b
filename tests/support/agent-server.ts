/** A local OpenAI-compatible server whose “model” is a function of the request. It counts requests and reports usage. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ChatMessage } from '../../src/records/conversation.ts';
import type { ToolCall } from '../../src/records/task.ts';

export interface AgentRequest {
  model: string;
  messages: {
    role: 'system' | 'user' | 'assistant' | 'tool';
    content: string | null;
    tool_calls?: { id: string; function: { name: string; arguments: string } }[];
    tool_call_id?: string;
    reasoning_content?: string;
  }[];
  tools?: { type: 'function'; function: { name: string; parameters: object } }[];
  temperature?: number;
  max_tokens?: number;
  seed?: number;
  [field: string]: unknown;
}

/** A message of the model, or an HTTP answer. */
export type AgentReply = { content?: unknown; tool_calls?: unknown[]; [field: string]: unknown } | { status: number; body: unknown };

const USAGE = { prompt_tokens: 100, completion_tokens: 10 };

/** @param port 0: any free port */
export async function startAgentServer(reply: (request: AgentRequest, before: number) => AgentReply | Promise<AgentReply>, port = 0) {
  const requests: AgentRequest[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer(async (request, response) => {
    const cors = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': 'Authorization, Content-Type' };
    if (request.method === 'OPTIONS') return void response.writeHead(204, cors).end();
    let text = '';
    for await (const part of request) text += String(part);
    const sent = (text === '' ? {} : JSON.parse(text)) as AgentRequest;
    headers.push(request.headers);
    const answered = await reply(sent, requests.push(sent) - 1);
    const isHttp = 'status' in answered;
    response.writeHead(isHttp ? (answered.status as number) : 200, { 'Content-Type': 'application/json', ...cors }).end(
      JSON.stringify(
        isHttp
          ? answered.body
          : {
              choices: [{ index: 0, message: { role: 'assistant', content: null, ...answered }, finish_reason: 'stop' }],
              usage: USAGE,
            },
      ),
    );
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    headers,
    close: () => void (server.close(), server.closeAllConnections()),
  };
}

/** The fields of a message with calls. */
export const calling = (calls: readonly ToolCall[], id = 'c') => ({
  tool_calls: calls.map(({ name, arguments: args, exact = JSON.stringify(args) }, i) => ({
    id: `${id}-${i}`,
    type: 'function',
    function: { name, arguments: exact },
  })),
});

/** The conversation as a demonstrator gets it. */
export const forExpert = ({ messages }: AgentRequest): ChatMessage[] =>
  messages
    .filter(({ role }) => role !== 'system')
    .map(({ role, content, tool_calls: calls }) => ({
      role,
      content: content ?? '',
      ...(calls && { tool_calls: calls.map((call) => ({ type: 'function' as const, function: call.function })) }),
    }));
