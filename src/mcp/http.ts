/** @file Reaches a server over Streamable HTTP. The bytes of an answer are counted while it is read, so that it may be endless. */
import { type FetchLike, isJSONRPCRequest, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { InputError } from '../base/input-error.ts';
import { isLoopback } from '../base/unreachable.ts';
import { tooManyBytes } from './limits.ts';
import type { Reach } from './link.ts';
import { McpError, type McpLimits, type McpTarget } from './types.ts';

/** Names of headers and of parameters of addresses whose values are secret. */
const SECRET = /auth|cookie|key|token|secret|password|session|signature/i;
/** How long a server may take to end a session. */
const END_MS = 2000;

/** @throws InputError if the address or a header is not valid @throws McpError `blocked` if a secret would go unencrypted to another computer */
export function reachByHttp({ url, headers = {} }: McpTarget & { kind: 'url' }): Reach {
  const address = URL.canParse(url) ? new URL(url) : null;
  if (!address || !/^https?:$/.test(address.protocol))
    throw new InputError(`the address of the MCP server is not valid: expected http(s)://HOST/PATH`);
  if (address.username || address.password)
    throw new InputError(
      'the address of the MCP server has a user name or a password: expected them in a header, such as Authorization: Basic …',
    );
  const named = [...Object.entries(headers), ...address.searchParams].filter(([name]) => SECRET.test(name));
  const secrets = named.flatMap(([, value]) => [value, value.replace(/^(Bearer|Basic|Token) +/i, '')]);
  let checked: Headers;
  try {
    checked = new Headers(headers);
  } catch {
    throw new InputError(
      `a header for the MCP server is not valid: expected names and values without line breaks (${Object.keys(headers).join(', ')})`,
    );
  }
  if (secrets.length > 0 && address.protocol === 'http:' && !isLoopback(address.hostname))
    throw new McpError(`a secret is not sent to ${address.host} without encryption: expected https`, 'blocked');
  return {
    name: `${address.origin}${address.pathname}`,
    secrets,
    open(limits, broke) {
      const transport = new StreamableHTTPClientTransport(address, {
        requestInit: { headers: checked },
        fetch: boundedFetch(limits, broke),
      });
      return {
        transport,
        async end() {
          let timer: ReturnType<typeof setTimeout> | undefined;
          const late = new Promise<void>((done) => (timer = setTimeout(done, END_MS)));
          await Promise.race([transport.terminateSession().catch(() => {}), late]);
          clearTimeout(timer);
        },
      };
    },
  };
}

/** `fetch` with the limits on time and bytes of one answer. `broke` hears which limit the server broke. */
function boundedFetch(limits: McpLimits, broke: (error: McpError) => void, inner: FetchLike = fetch): FetchLike {
  return async (url, init = {}) => {
    // Servers announce changes on a separate stream without end. Nothing here needs it, as `check` reads the list of tools again.
    if (init.method === 'GET' && !new Headers(init.headers).has('last-event-id')) return new Response(null, { status: 405 });
    const controller = new AbortController();
    const late = new McpError(`the server did not finish its answer in ${limits.timeout} s`, 'timeout');
    const timer = setTimeout(() => controller.abort(late), 1000 * limits.timeout);
    const done = () => {
      clearTimeout(timer);
      init.signal?.removeEventListener('abort', abort);
    };
    const abort = () => {
      done();
      controller.abort(init.signal?.reason);
    };
    init.signal?.addEventListener('abort', abort, { once: true });
    if (init.signal?.aborted) abort();
    try {
      const response = await inner(url, { ...init, credentials: 'omit', referrerPolicy: 'no-referrer', signal: controller.signal });
      // The SDK would wait for an answer, which cannot come after HTTP 202.
      if (response.status === 202 && isRequest(init.body)) {
        controller.abort();
        throw new McpError('the server takes a request with HTTP 202 and does not answer it: expected HTTP 200 with a result', 'protocol');
      }
      if (!response.body) {
        done();
        return response;
      }
      let bytes = 0;
      const counted = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, stream) {
          bytes += chunk.byteLength;
          if (bytes <= limits.bytes) return stream.enqueue(chunk);
          const error = tooManyBytes(limits.bytes);
          broke(error);
          controller.abort(error);
          stream.error(error);
        },
        flush: done,
      });
      return new Response(response.body.pipeThrough(counted), response);
    } catch (error) {
      done();
      throw error;
    }
  };
}

const isRequest = (body: unknown): boolean => typeof body === 'string' && isJSONRPCRequest(JSON.parse(body));
