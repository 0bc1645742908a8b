/** An MCP server of the official SDK over HTTP that keeps notes, with chosen headers of CORS. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';

export const HEADERS_2025 = 'content-type, mcp-protocol-version, mcp-session-id';
export const ALL_HEADERS = `${HEADERS_2025}, mcp-method, mcp-name, authorization`;

export interface NotesServer {
  url: string;
  notes: string[];
  /** The methods and headers of the requests. */
  requests: { method: string; authorization: string | undefined }[];
  /** The description of `add_note` in later lists. */
  describe(text: string): void;
  close(): Promise<void>;
}

/** @param cors the value of Access-Control-Allow-Headers; null sends no header of CORS */
export async function startNotes(cors: string | null): Promise<NotesServer> {
  const notes: string[] = [];
  const requests: NotesServer['requests'] = [];
  let description = 'Adds a note.\u200b It is kept until the server stops.';
  const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });
  const handler = createMcpHandler(
    () => {
      const server = new McpServer({ name: 'notes', version: '1.2' }, { capabilities: { tools: {} } });
      const inputSchema = z.object({
        text: z.string().describe('What to remember.'),
        priority: z.enum(['low', 'high']).default('low'),
        copies: z.number().int().optional(),
        tags: z.array(z.string()).optional(),
      });
      server.registerTool('add_note', { description, inputSchema }, ({ text: words, copies = 1 }) => {
        for (let i = 0; i < copies; i++) notes.push(words);
        return text(`There are ${notes.length} notes.`);
      });
      server.registerTool('list_notes', { description: 'Lists the notes.', annotations: { readOnlyHint: true } }, () => ({
        ...text(JSON.stringify({ notes })),
        structuredContent: { notes },
      }));
      server.registerTool('think', { description: 'Never answers.', annotations: { readOnlyHint: true } }, () => new Promise(() => {}));
      return server;
    },
    { legacy: 'stateless' },
  );
  const http = createServer((request, response) => {
    requests.push({ method: request.method!, authorization: request.headers.authorization });
    if (cors !== null) {
      response.setHeader('Access-Control-Allow-Origin', request.headers.origin ?? '*');
      response.setHeader('Access-Control-Allow-Headers', cors);
      response.setHeader('Access-Control-Expose-Headers', 'Mcp-Session-Id');
    }
    if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = new Headers(Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]));
      const body = chunks.length > 0 && { body: Buffer.concat(chunks) };
      const asked = new Request('http://localhost/mcp', { method: request.method!, headers, ...body });
      void handler.fetch(asked).then(async (answer) => {
        response.writeHead(answer.status, Object.fromEntries(answer.headers));
        for await (const chunk of answer.body ?? []) response.write(chunk);
        response.end();
      });
    });
  });
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    notes,
    requests,
    describe: (words) => (description = words),
    close: () =>
      new Promise((done) => {
        http.close(() => done());
        http.closeAllConnections();
      }),
  };
}
