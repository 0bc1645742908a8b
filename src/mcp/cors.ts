/** @file Finds out which CORS headers a server lacks. For this, it sends small requests without secrets. */
import { type Reason, whyUnreachable } from '../base/unreachable.ts';
import { McpError, type McpTarget } from './types.ts';

/** The headers that a page sends to servers of all versions, and those of version 2026-07-28 only. */
const ALWAYS = ['content-type', 'mcp-protocol-version', 'mcp-session-id'];
const NEWER = ['mcp-method', 'mcp-name'];
const PROBE_MS = 5_000;
const ELSEWHERE = 'If the server is not yours, “./mua mcp” reaches it without CORS.';

/** The reason why a page gets no answer of the server, and what helps. */
export async function whyHidden({ url, headers = {} }: McpTarget & { kind: 'url' }): Promise<McpError> {
  const own = Object.keys(headers).map((name) => name.toLowerCase());
  const { kind, message } = await whyUnreachable(url, {
    start: 'Start the server, or correct the address.',
    cors: (origin) => remedy(url, origin, own),
  });
  const isForbidden = (['policy', 'mixed_content', 'local_network'] as Reason['kind'][]).includes(kind);
  return new McpError(message, isForbidden ? 'blocked' : 'unreachable');
}

async function remedy(url: string, origin: string, own: readonly string[]): Promise<string> {
  const asked = [...new Set([...ALWAYS, ...own])];
  if (!(await isReadable(url, 'text/plain')))
    return `It sends no Access-Control-Allow-Origin for this page. Expected with each answer, also with those to OPTIONS: Access-Control-Allow-Origin: ${origin}; Access-Control-Allow-Headers: ${[...asked, ...NEWER].join(', ')}; Access-Control-Expose-Headers: mcp-session-id. ${
      own.includes('authorization') ? '' : 'If it needs a key, enter the key: many servers refuse without these headers. '
    }${ELSEWHERE}`;
  const allowed = await Promise.all(
    asked.map((name) => (name === 'content-type' ? isReadable(url, 'application/json') : isReadable(url, 'text/plain', name))),
  );
  const missing = asked.filter((_, i) => !allowed[i]);
  return missing.length > 0
    ? `It allows this page, but not the header${missing.length > 1 ? 's' : ''} ${missing.join(', ')}: add ${missing.length > 1 ? 'them' : 'it'} to its Access-Control-Allow-Headers. ${ELSEWHERE}`
    : `It allows this page and its headers, but some answers lack Access-Control-Allow-Origin, or the connection broke. ${ELSEWHERE}`;
}

/** Whether the page may read the answer to a request with this header. The header has a value of our own, not the visitor's. */
async function isReadable(url: string, type: string, header?: string): Promise<boolean> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), PROBE_MS);
  try {
    const headers = { 'content-type': type, ...(header !== undefined && { [header]: '1' }) };
    await fetch(url, {
      method: 'POST',
      body: '{}',
      headers,
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      signal: controller.signal,
    });
    return true;
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
    controller.abort();
  }
}
