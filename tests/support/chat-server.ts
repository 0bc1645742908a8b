/** A local OpenAI-compatible endpoint that answers with the given messages and records the requests. Its CORS rules allow pages. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ChatRequest {
  model: string;
  messages: {
    role: string;
    content: string | null;
    tool_calls?: { id: string; function: { name: string; arguments: string } }[];
    tool_call_id?: string;
  }[];
  tools?: { function: { name: string } }[];
}

export async function startChatServer(answers: object[]): Promise<{ url: string; requests: ChatRequest[]; close: () => void }> {
  const requests: ChatRequest[] = [];
  const headers = {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Headers': 'Authorization, Content-Type',
    'Access-Control-Allow-Private-Network': 'true',
    'Cross-Origin-Resource-Policy': 'cross-origin',
  };
  const server = createServer((request, response) => {
    if (request.method === 'OPTIONS') return void response.writeHead(204, headers).end();
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      requests.push(JSON.parse(body) as ChatRequest);
      response
        .writeHead(200, { ...headers, 'Content-Type': 'application/json' })
        .end(JSON.stringify({ choices: [{ message: { role: 'assistant', ...answers.shift() } }] }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    close: () => void (server.close(), server.closeAllConnections()),
  };
}
