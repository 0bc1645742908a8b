/**
 * @file The local server of the page. It serves the built site from memory, so that a new build cannot change a page that is
 * open. Under a random path it exchanges files with the page, and forwards requests to the simulated customer's endpoint.
 */
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { extname, join, relative, sep } from 'node:path';
import { Transform } from 'node:stream';
import { UNREACHABLE } from '../records/user.ts';
import { CommandError } from './errors.ts';
import { KeyFilter, withoutKey } from '../base/redact.ts';
import { HEADERS } from './headers.ts';
import type { UserEndpoint } from './backend-job.ts';
import { JobFiles } from './job-files.ts';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.webmanifest': 'application/manifest+json',
};
/** The headers of an endpoint that the page needs: the form of the body, and how long to wait. */
const PASSED = /^(content-type|content-length|retry-after(-ms)?|x-should-retry|(x-|anthropic-)?ratelimit.*)$/;
/** The accepted host names. Any other name could belong to another site that resolves to this machine (DNS rebinding). */
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

export interface SiteServer {
  origin: string;
  /** The path of the exchanged files, which contains a random token. The page may GET offered files and PUT accepted files. */
  exchange: string;
  /** From now on, forwards requests to an endpoint. Returns the base URL that the page uses for them. */
  proxyUser(target: UserEndpoint): string;
  close(): Promise<void>;
}

/**
 * @param directory the folder of the built site
 * @param options port 0 (default) means any free port
 * @throws CommandError if the port is in use
 */
export async function serveSite(
  directory: string,
  { port = 0, files = new JobFiles() }: { port?: number; files?: JobFiles } = {},
): Promise<SiteServer> {
  const site = await readSite(directory);
  const exchange = `/${randomBytes(16).toString('hex')}/`;
  let user: UserEndpoint | null = null;

  const server = createServer(async (request, response) => {
    const answer = (status: number, body: string | Uint8Array = '', type = 'text/plain') =>
      response.writeHead(status, { ...HEADERS, 'Content-Type': type, 'Cache-Control': 'no-cache' }).end(body);
    const { hostname } = URL.canParse(`http://${request.headers.host}`) ? new URL(`http://${request.headers.host}`) : { hostname: '' };
    if (!LOOPBACK.has(hostname)) return answer(403, `the host is "${request.headers.host}": expected ${[...LOOPBACK].join(', ')}`);
    const path = pathOf(request.url);
    if (path === null) return answer(400, `no such address: ${request.url}`);
    if (!path.startsWith(exchange)) {
      if (request.method !== 'GET' && request.method !== 'HEAD')
        return answer(405, `the method is ${request.method}: expected GET or HEAD`);
      const name = path === '/' ? '/index.html' : path;
      const body = site.get(name);
      return body ? answer(200, body, TYPES[extname(name)] ?? 'application/octet-stream') : answer(404, `no such file: ${name}`);
    }
    const name = path.slice(exchange.length);
    if (user && name.startsWith('user/')) return forward(request, response, user, name.slice('user/'.length));
    const offer = request.method === 'GET' ? files.offered(name) : undefined;
    if (offer) {
      if ('data' in offer) return answer(200, offer.data, 'application/octet-stream');
      return sendFile(offer.file, request.headers.range, response);
    }
    const receive = files.receiver(name);
    if (request.method !== 'PUT' || !receive) return answer(404, 'no such exchange');
    try {
      await receive(await readBody(request), name);
      answer(204);
    } catch (error) {
      answer(500, (error as Error).message);
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new CommandError(error.code === 'EADDRINUSE' ? `port ${port} is in use: choose another with --port` : error.message)),
    );
    server.listen(port, '127.0.0.1', resolve);
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    exchange,
    proxyUser(target) {
      user = target;
      return `${origin}${exchange}user`;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Sends a file, or only the requested range. */
async function sendFile(file: string, range: string | undefined, response: ServerResponse): Promise<void> {
  const type = { 'Content-Type': 'application/octet-stream', ...HEADERS };
  const broken = (error: Error) => void response.destroy(error);
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
  if (first === undefined) {
    response.writeHead(200, type);
    createReadStream(file).on('error', broken).pipe(response);
    return;
  }
  const { size } = await stat(file);
  const [start, end] = [Number(first), Math.min(Number(last), size - 1)];
  if (start > end) return void response.writeHead(416, { ...type, 'Content-Range': `bytes */${size}` }).end();
  response.writeHead(206, { ...type, 'Content-Range': `bytes ${start}-${end}/${size}`, 'Content-Length': end - start + 1 });
  createReadStream(file, { start, end }).on('error', broken).pipe(response);
}

/** The decoded path. Null if the URL is invalid (such as `/%` or `//`). */
function pathOf(url = '/'): string | null {
  try {
    return decodeURIComponent(new URL(url, 'http://localhost').pathname);
  } catch {
    return null;
  }
}

async function readSite(directory: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    await Promise.all(paths.map(async (path) => [`/${relative(directory, path).split(sep).join('/')}`, await readFile(path)] as const)),
  );
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Appends a path to the path of a base URL. The query of the base URL (such as `?api-version=…`) is kept. */
function below(baseUrl: string, path: string): URL {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path}`;
  return url;
}

/** Removes the key from a body. The bytes of other characters stay. */
function withoutKeyIn(apiKey: string | undefined): Transform {
  const filter = new KeyFilter(apiKey, Buffer.from('…').toString('latin1'));
  return new Transform({
    transform: (chunk: Buffer, _, done) => done(null, Buffer.from(filter.write(chunk.toString('latin1')), 'latin1')),
    flush: (done) => done(null, Buffer.from(filter.end(), 'latin1')),
  });
}

/**
 * Forwards a request of the page to the endpoint, so that the endpoint's CORS rules do not apply. The API key is added here,
 * so the page never sees it. If the endpoint cannot be reached, a header says so with the endpoint's address.
 */
function forward(request: IncomingMessage, response: ServerResponse, { baseUrl, apiKey }: UserEndpoint, path: string): void {
  const url = below(baseUrl, path);
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const headers: Record<string, string> = {
    'Content-Type': request.headers['content-type'] ?? 'application/json',
    Accept: 'application/json',
  };
  if (request.headers['content-length']) headers['Content-Length'] = request.headers['content-length'];
  if (apiKey) headers.Authorization = `Bearer ${apiKey}`;
  const upstream = send(url, { method: request.method, headers }, (reply) => {
    const passed = Object.entries(reply.headers).filter(([name]) => PASSED.test(name) && name !== 'content-length');
    response.writeHead(reply.statusCode ?? 502, {
      ...Object.fromEntries(passed.map(([name, value]) => [name, withoutKey(String(value), apiKey)])),
      ...HEADERS,
    });
    reply.on('error', () => response.destroy());
    // The answer may repeat the key, also in two parts.
    reply.pipe(withoutKeyIn(apiKey)).pipe(response);
  });
  upstream.on('error', () => {
    if (response.headersSent) response.destroy();
    else response.writeHead(502, { [UNREACHABLE]: `${url.origin}${url.pathname}`, ...HEADERS }).end();
  });
  response.on('close', () => upstream.destroy());
  request.pipe(upstream);
}
