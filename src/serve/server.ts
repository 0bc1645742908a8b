/**
 * @file The environment server of `mua env-serve`, for Node, with OpenEnv's WebSocket and HTTP routes. Without a token, only this computer
 * may use the server. Requests from other hosts and origins are then refused, so that foreign web pages cannot reach the server (see
 * `src/users/loopback.ts`).
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { stranger } from '../users/loopback.ts';
import type { McpHttp } from './mcp-http.ts';
import { type Counts, type Metrics, prometheus } from './metrics.ts';
import { openApi } from './openapi.ts';
import { type ProtocolError, SCHEMAS } from './protocol.ts';
import type { ServedStage } from './served-episode.ts';
import type { Session } from './session.ts';
import { Sessions, type SessionsOptions } from './sessions.ts';
import type { TaskSource } from './task-source.ts';

export interface EnvServerOptions extends SessionsOptions {
  port: number;
  host: string;
  /** The bearer token that every request except `/health` must have. */
  token?: string | undefined;
  /** Maximum size of a client's frame. */
  maxFrameBytes: number;
  /** A session ends if its newest episode is older than this, even if the client is active. */
  sessionSeconds: number;
  /** A session ends if the client sends no frame for this time. */
  idleSeconds: number;
  /** The time that a stopping server waits for open episodes. */
  graceSeconds: number;
  /** Returns the counts of the other processes of this server. */
  others?: () => Promise<Counts[]>;
}

export interface EnvServer {
  /** `http://HOST:PORT`. */
  url: string;
  metrics: Metrics;
  /** Refuses new sessions, waits for open episodes, then closes all connections. @returns whether the audit log has every conversation; true without an audit log */
  stop(): Promise<boolean>;
}

/** If more unread bytes than this wait for a client, the server closes the connection. */
const MAX_UNREAD_BYTES = 8 * 2 ** 20;
/** Maximum number of frames of one client that wait for an answer. OpenEnv's clients send one at a time. */
const MAX_WAITING = 8;
const SWEEP_MS = 250;
/** How long a refused client may take to read the refusal. */
const REFUSED_MS = 1000;

interface Connection {
  socket: WebSocket;
  session: Session;
  /** When the newest episode began, or the connection. Engines reset a session for hours. */
  begun: number;
  heard: number;
  waiting: number;
}

/** @throws RangeError for options that are not safe, and Node's error if the port is taken */
export async function startEnvServer(
  stage: ServedStage,
  tasks: TaskSource,
  { port, host, token, maxFrameBytes, sessionSeconds, idleSeconds, graceSeconds, others, ...options }: EnvServerOptions,
): Promise<EnvServer> {
  const sessions = new Sessions(stage, tasks, options);
  const { metrics } = sessions;
  const connections = new Set<Connection>();
  let mcp: Promise<McpHttp> | undefined;
  const about = `${stage.domain.name} ${stage.domain.level}`;

  const refusal = (request: IncomingMessage): { status: number; why: string } | null => {
    if (token === undefined) {
      const why = stranger(request.headers);
      return why === null ? null : { status: 403, why };
    }
    return isToken(request.headers.authorization, token)
      ? null
      : {
          status: 401,
          why: 'the Authorization header does not have the token: expected "Bearer TOKEN", or an address http://mua:TOKEN@HOST',
        };
  };

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?')[0]!.replace(/(?<=.)\/+$/, '');
    if (path === '/health') {
      const fault = sessions.stopping ? '' : sessions.fault();
      const status = sessions.stopping ? 'stopping' : fault ? 'unhealthy' : 'healthy';
      return send(response, status === 'healthy' ? 200 : 503, { status, ...(fault && { reason: fault }) });
    }
    const refused = refusal(request);
    if (refused) return send(response, refused.status, { error: refused.why });
    if (request.method === 'POST' && (path === '/reset' || path === '/step'))
      return send(response, 400, { error: `${path} over HTTP has no session: expected the WebSocket /ws` });
    if (path === '/mcp') return (await openMcp()).answer(request, response);
    if (request.method !== 'GET') return send(response, 405, { error: `${request.method} ${path}: expected GET` });
    if (path === '/metadata')
      return send(response, 200, {
        name: `mua-${stage.domain.name}`,
        description: `MUA-RL environment: ${about}. The agent talks to a simulated customer and calls tools over a database.`,
        readme_content: null,
        version: '1',
        author: null,
        documentation_url: null,
      });
    if (path === '/openapi.json') return send(response, 200, openApi(`mua-${stage.domain.name}`));
    if (path === '/schema') return send(response, 200, SCHEMAS);
    if (path === '/state') return send(response, 200, { episode_id: null, step_count: 0 });
    if (path === '/tasks') return send(response, ...(await tasks.listed(new URLSearchParams((request.url ?? '').split('?')[1]))));
    if (path === '/metrics') {
      const text = prometheus([metrics.snapshot(), ...((await others?.()) ?? [])]);
      return void response.writeHead(200, { 'Content-Type': 'text/plain; version=0.0.4' }).end(text);
    }
    send(response, 404, { error: `${path}: expected /ws, /health, /metadata, /openapi.json, /schema, /state, /tasks or /metrics` });
  }

  const openMcp = () =>
    (mcp ??= import('./mcp-http.ts').then(
      ({ McpHttp }) =>
        new McpHttp(sessions, {
          maxBytes: maxFrameBytes,
          sessionSeconds,
          idleSeconds,
          alone: others === undefined,
          open: token === undefined,
        }),
    ));

  const server = createServer(
    { requestTimeout: 10_000, headersTimeout: 10_000, connectionsCheckingInterval: 1000 },
    (request, response) => void route(request, response),
  );
  const sockets = new WebSocketServer({ noServer: true, maxPayload: maxFrameBytes, perMessageDeflate: false });

  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const path = (request.url ?? '/').split('?')[0];
    const refused = path === '/ws' ? refusal(request) : { status: 404, why: `${path}: expected /ws` };
    if (refused) {
      socket.end(`HTTP/1.1 ${refused.status} Refused\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n${refused.why}\n`);
      // A client that does not close its side would hold the descriptor.
      setTimeout(() => socket.destroy(), REFUSED_MS).unref();
      return;
    }
    sockets.handleUpgrade(request, socket, head, (opened) => connect(opened));
  });

  function connect(socket: WebSocket): void {
    socket.on('error', () => {}); // 'close' follows
    let session: Session;
    try {
      session = sessions.open(() => (connection.begun = Date.now()));
    } catch (error) {
      const { message, code, more } = error as ProtocolError;
      socket.send(JSON.stringify({ type: 'error', data: { message, code, ...more } }));
      return socket.close(1013, message);
    }
    const now = Date.now();
    const connection: Connection = { socket, session, begun: now, heard: now, waiting: 0 };
    connections.add(connection);
    let turn: Promise<void> = Promise.resolve();
    socket.on('message', (data, isBinary) => {
      connection.heard = Date.now();
      if (isBinary || connection.waiting >= MAX_WAITING) {
        const message = isBinary
          ? 'the frame is binary: expected text'
          : `${MAX_WAITING} frames wait for an answer: expected one at a time`;
        metrics.failed('SESSION_ERROR');
        return end(connection, 1003, message);
      }
      connection.waiting += 1;
      const frame = textOf(data);
      turn = turn.then(async () => {
        const answer = await session.answer(frame);
        connection.waiting -= 1;
        connection.heard = Date.now();
        if (answer === null) socket.close(1000);
        else if (socket.readyState === socket.OPEN) {
          socket.send(answer);
          if (socket.bufferedAmount > MAX_UNREAD_BYTES) socket.terminate();
        }
      });
    });
    socket.on('close', (code) => {
      connections.delete(connection);
      sessions.close(session, code);
    });
  }

  /** Sends the reason to the client, and closes the connection. */
  function end({ socket }: Connection, code: number, message: string): void {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify({ type: 'error', data: { message, code: 'SESSION_ERROR' } }));
    socket.close(code, message.slice(0, 100));
    // If the client does not answer the close, the connection is ended without its answer.
    setTimeout(() => socket.terminate(), 2000).unref();
  }

  const sweep = setInterval(() => {
    const now = Date.now();
    for (const connection of connections) {
      if (now - connection.begun > 1000 * sessionSeconds)
        end(connection, 1000, `the episode is ${sessionSeconds} seconds old: expected a reset before`);
      else if (connection.waiting === 0 && now - connection.heard > 1000 * idleSeconds)
        end(connection, 1000, `no frame for ${idleSeconds} seconds: expected one before`);
    }
    void mcp?.then((worlds) => worlds.sweep(now));
  }, SWEEP_MS);
  sweep.unref();

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    metrics,
    async stop() {
      sessions.stopping = true;
      const deadline = Date.now() + 1000 * graceSeconds;
      while (sessions.playing && Date.now() < deadline) await pause(50);
      clearInterval(sweep);
      for (const connection of connections) end(connection, 1001, 'the server stops');
      await (await mcp)?.close();
      const closed = new Promise((resolve) => server.close(resolve));
      for (let i = 0; connections.size > 0 && i < 20; i++) await pause(50);
      for (const { socket } of connections) socket.terminate();
      server.closeAllConnections();
      await closed;
      for (let i = 0; sessions.unfinished > 0 && i < 20; i++) await pause(50);
      const fault = sessions.fault();
      if (fault) options.log({ event: 'audit_lost', reason: fault });
      return !fault;
    },
  };
}

/**
 * Whether the header has the token: as `Bearer TOKEN`, or as the password of `Basic`. OpenEnv's client cannot set headers, but it sends
 * `Basic` for a URL with a user name and a password.
 */
function isToken(header: string | undefined, token: string): boolean {
  const [, scheme, value] = /^(Bearer|Basic) (\S+)$/i.exec(header ?? '') ?? [];
  const given =
    scheme?.toLowerCase() === 'basic'
      ? Buffer.from(value!, 'base64')
          .toString('utf8')
          .replace(/^[^:]*:/, '')
      : (value ?? '');
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}

const textOf = (data: RawData): string => (Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer)).toString('utf8');

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }).end(JSON.stringify(body));
}
