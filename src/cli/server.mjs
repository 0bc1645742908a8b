// @ts-check
/**
 * The local server of the page. It serves the built site from memory, so that a new build cannot change a running page.
 * Under a random path it exchanges files with the page and forwards requests to the simulated customer's endpoint.
 */
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { createServer, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { extname, join, relative, sep } from 'node:path';
import { CommandError } from './errors.mjs';
import { HEADERS } from './headers.mjs';

/** @type {Record<string, string>} */
const TYPES = {
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
/** Other names could be another site's that resolve to this machine (DNS rebinding). */
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * @typedef {object} SiteServer
 * @property {string} origin
 * @property {string} exchange path of the exchanged files, with its random token
 * @property {(name: string, source: { file: string } | { data: string | Uint8Array }) => void} offer lets the page GET `name`
 * @property {(name: string, receive: (body: Buffer, name: string) => void | Promise<void>) => void} accept lets the page PUT `name`; a final `*` in the name matches any text
 * @property {(target: { baseUrl: string, apiKey?: string }) => string} proxyUser forwards requests to an endpoint; returns the base URL for the page
 * @property {() => Promise<void>} close
 */

/**
 * @param {string} directory of the built site
 * @param {{ port?: number }} [options] port 0 (default) is any free one
 * @returns {Promise<SiteServer>}
 */
export async function serveSite(directory, { port = 0 } = {}) {
  const site = await readSite(directory);
  const exchange = `/${randomBytes(16).toString('hex')}/`;
  /** @type {Map<string, { file: string } | { data: string | Uint8Array }>} */
  const offers = new Map();
  /** @type {Map<string, (body: Buffer, name: string) => void | Promise<void>>} */
  const receivers = new Map();
  /** @type {{ baseUrl: string, apiKey?: string } | null} */
  let user = null;

  const server = createServer(async (request, response) => {
    /** @param {number} status @param {string | Uint8Array} [body] @param {string} [type] */
    const answer = (status, body = '', type = 'text/plain') =>
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
    if (request.method === 'GET' && offers.has(name)) {
      const offer = /** @type {{ file?: string, data?: string | Uint8Array }} */ (offers.get(name));
      if (offer.file === undefined) return answer(200, offer.data, 'application/octet-stream');
      return sendFile(offer.file, request.headers.range, response);
    }
    const receive = receivers.get(name) ?? receivers.get(name.replace(/[^/]*$/, '*'));
    if (request.method !== 'PUT' || !receive) return answer(404, 'no such exchange');
    try {
      await receive(await readBody(request), name);
      answer(204);
    } catch (error) {
      answer(500, /** @type {Error} */ (error).message);
    }
  });
  await new Promise((resolve, reject) => {
    server.once('error', (/** @type {NodeJS.ErrnoException} */ error) =>
      reject(new CommandError(error.code === 'EADDRINUSE' ? `port ${port} is in use: choose another with --port` : error.message)),
    );
    server.listen(port, '127.0.0.1', () => resolve(undefined));
  });
  const origin = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`;
  return {
    origin,
    exchange,
    offer: (name, source) => void offers.set(name, source),
    accept: (name, receive) => void receivers.set(name, receive),
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

/**
 * Sends a file, or the range of it that is asked for.
 * @param {string} file
 * @param {string | undefined} range
 * @param {import('node:http').ServerResponse} response
 */
async function sendFile(file, range, response) {
  const type = { 'Content-Type': 'application/octet-stream', ...HEADERS };
  const broken = (/** @type {Error} */ error) => void response.destroy(error);
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

/** The decoded path, or null if the URL is invalid (such as `/%` or `//`). @param {string} [url] */
function pathOf(url = '/') {
  try {
    return decodeURIComponent(new URL(url, 'http://localhost').pathname);
  } catch {
    return null;
  }
}

/** @param {string} directory @returns {Promise<Map<string, Buffer>>} */
async function readSite(directory) {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  return new Map(
    await Promise.all(
      paths.map(
        async (path) => /** @type {[string, Buffer]} */ ([`/${relative(directory, path).split(sep).join('/')}`, await readFile(path)]),
      ),
    ),
  );
}

/** @param {import('node:http').IncomingMessage} request */
async function readBody(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** An address under a base address, whose query (such as `?api-version=…`) stays. @param {string} baseUrl @param {string} path */
export function below(baseUrl, path) {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path}`;
  return url;
}

/**
 * Forwards a request of the page to the endpoint, so that the endpoint's CORS rules do not apply. The key is added here, so
 * the page never sees the key. If the endpoint fails, the connection closes and the page sees a network error.
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 * @param {{ baseUrl: string, apiKey?: string }} target
 * @param {string} path
 */
function forward(request, response, { baseUrl, apiKey }, path) {
  const url = below(baseUrl, path);
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  /** @type {Record<string, string>} */
  const headers = { 'Content-Type': request.headers['content-type'] ?? 'application/json', Accept: 'application/json' };
  if (request.headers['content-length']) headers['Content-Length'] = request.headers['content-length'];
  if (apiKey) headers.Authorization = `Bearer ${apiKey}`;
  const upstream = send(url, { method: request.method, headers }, (reply) => {
    const passed = Object.fromEntries(
      ['content-type', 'content-length', 'retry-after'].flatMap((name) => (reply.headers[name] ? [[name, reply.headers[name]]] : [])),
    );
    response.writeHead(reply.statusCode ?? 502, { ...passed, ...HEADERS });
    reply.on('error', () => response.destroy());
    reply.pipe(response);
  });
  upstream.on('error', () => response.destroy());
  response.on('close', () => upstream.destroy());
  request.pipe(upstream);
}
