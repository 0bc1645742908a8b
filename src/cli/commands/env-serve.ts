/** @file `mua env-serve`: serves a domain over OpenEnv's protocol, for engines that train on clusters. */
import cluster from 'node:cluster';
import { once } from 'node:events';
import type { ConversationLog } from '../../serve/conversation-log.ts';
import type { EnvServer, EnvServerOptions } from '../../serve/server.ts';
import type { ServedPlace } from '../../serve/index.ts';
import { ANSWER_FLAGS, answerWorld } from '../answer.ts';
import { type Flags, readPairs, SEED, type Values } from '../args.ts';
import { findPlaceData, PLACE_FLAGS } from '../benchmark-data.ts';
import { command } from '../command.ts';
import { CommandError, printableJson, UsageError } from '../errors.ts';
import { onInterrupt, reason } from '../files.ts';
import { withKey } from '../backend-job.ts';
import { modelInPage } from '../model-page.ts';
import type { ProgressBar } from '../progress.ts';
import { checkLevel, openWorld, WORLD_FLAGS } from '../world.ts';
import { DEFAULT_DOMAIN, JSON_FLAG, readUser, SET, USER_FLAGS, type UserValues } from './shared.ts';

const LOOPBACK = ['127.0.0.1', 'localhost', '::1'];

/** The flags that say what is served. */
export const STAGE_FLAGS = {
  ...PLACE_FLAGS,
  level: { ...PLACE_FLAGS.level, choices: undefined },
  ...WORLD_FLAGS,
  preset: { type: 'string', value: 'NAME', help: 'preset with the settings of the episodes (default: the one for the domain and level)' },
  set: { ...SET, help: 'a setting of the episodes or customers, e.g. max_turns=20 or customers.pushy=1; may be repeated' },
  seed: { ...SEED, help: 'seed of the generated tasks, for resets that name no task' },
} as const satisfies Flags;

export const envServe = command({
  summary: 'serve a domain over OpenEnv’s WebSocket protocol and over MCP, for TRL, verifiers, verl and others',
  flags: {
    port: { type: 'integer', value: 'P', help: 'port to listen on', default: 8019, min: 0, max: 65_535 },
    host: {
      type: 'string',
      value: 'ADDRESS',
      help: 'address to listen on; if other computers can reach it, --token is required',
      default: '127.0.0.1',
    },
    ...STAGE_FLAGS,
    ...ANSWER_FLAGS,
    'max-sessions': {
      type: 'integer',
      value: 'N',
      help: 'largest number of open connections, in all processes together',
      default: 256,
      min: 1,
    },
    workers: { type: 'integer', value: 'N', help: 'number of processes', default: 1, min: 1, max: 64 },
    token: {
      type: 'string',
      value: 'TOKEN',
      help: 'bearer token that clients must send; MUA_ENV_TOKEN keeps it out of the process list',
    },
    'max-frame-kib': {
      type: 'integer',
      value: 'N',
      help: 'largest frame that a client may send, in KiB',
      default: 1024,
      min: 1,
      max: 102_400,
    },
    'session-seconds': {
      type: 'integer',
      value: 'N',
      help: 'end a session whose newest episode is older than this many seconds',
      default: 3600,
      min: 1,
    },
    'idle-seconds': {
      type: 'integer',
      value: 'N',
      help: 'end a session that has sent no frame for this many seconds',
      default: 600,
      min: 1,
    },
    'grace-seconds': { type: 'integer', value: 'N', help: 'how many seconds Ctrl-C waits for open episodes', default: 30, min: 0 },
    audit: {
      type: 'string',
      value: 'DIR',
      help: 'folder for every conversation with the audit log of its tool calls, one file for each process; mua verify-log checks them',
    },
    quiet: { type: 'boolean', help: 'write no log (default: one line of JSON on stderr for each event, without texts of conversations)' },
    ...USER_FLAGS,
    json: JSON_FLAG,
  },
  async run(flags, progress) {
    const { port, host, workers, maxSessions, quiet, json } = flags;
    const token = flags.token ?? process.env.MUA_ENV_TOKEN;
    if (!LOOPBACK.includes(host) && !token)
      throw new UsageError(`--host is "${host}": expected also --token (or MUA_ENV_TOKEN), because other computers can connect`);
    const place = await readPlace(flags, progress);
    // Each process of several opens its own answerer.
    if (flags.cassette !== undefined && workers > 1)
      throw new UsageError(`--workers is ${workers}: expected 1 with --cassette, which one process writes`);
    await answerWorld(place.domain, undefined, flags);
    const { ConversationLog, serve, serveInProcess, startProcesses } = await import('../../serve/index.ts');
    const log = (event: Record<string, string | number | null>) => {
      if (!quiet) process.stderr.write(`${printableJson({ time: new Date().toISOString(), pid: process.pid, ...event })}\n`);
    };
    // The log may be a file on a full disk.
    process.stderr.on('error', () => {});
    // With several processes, the first one plays no episodes.
    const files = flags.audit !== undefined && (workers === 1 || cluster.isWorker) ? openAudit(flags.audit, ConversationLog) : {};
    const start = (others?: EnvServerOptions['others']) =>
      serve(place, {
        port,
        host,
        ...(token !== undefined && { token }),
        maxSessions: Math.ceil(maxSessions / workers),
        maxFrameBytes: 1024 * flags.maxFrameKib,
        sessionSeconds: flags.sessionSeconds,
        idleSeconds: flags.idleSeconds,
        graceSeconds: flags.graceSeconds,
        log,
        ...files,
        ...(others && { others }),
      });
    if (cluster.isWorker) {
      // In a worker process, Ctrl-C does nothing, although the process gets the signal too. The first process tells it when to stop.
      onInterrupt(() => new Promise(() => {}));
      await serveInProcess(start);
      await once(process, 'never');
    }
    let server: Pick<EnvServer, 'url' | 'stop'>;
    try {
      server = await (workers > 1 ? startProcesses(workers, log) : start());
    } catch (error) {
      const { code, message, name } = error as NodeJS.ErrnoException;
      if (code === 'EADDRINUSE' || message.includes('EADDRINUSE'))
        throw new CommandError(`port ${port} is in use: choose another with --port`);
      if (['InputError', 'ImportError', 'ConfigError', 'UserError'].includes(name)) throw new UsageError(message);
      throw new CommandError(message);
    }
    const { url, stop } = server;
    progress.clear();
    onInterrupt(async () => {
      progress.phase(`waiting for open episodes, at most ${flags.graceSeconds} s`);
      const complete = await stop();
      if (flags.audit === undefined) return 'the server has stopped (with --audit DIR it keeps every conversation)';
      return `the server has stopped: ${complete ? 'the' : 'not all'} conversations are in ${flags.audit}`;
    });
    console.log(
      json
        ? JSON.stringify({ url })
        : `${place.domain} is served at ${url.replace('http', 'ws')}/ws, and to MCP clients at ${url}/mcp (Ctrl-C ends it)`,
    );
    await once(process, 'never');
  },
  show: () => [],
});

/** The files of this process for conversations. A process that is stopped closes them, so a file that is open shows a killed one. */
function openAudit(folder: string, Log: typeof ConversationLog): Pick<EnvServerOptions, 'record' | 'audit'> {
  let files: ConversationLog;
  try {
    files = new Log(folder);
  } catch (error) {
    throw new UsageError(`--audit is "${folder}": ${reason(error)}`);
  }
  process.once('exit', () => files.close());
  return { record: (trajectory) => files.ended(trajectory), audit: files };
}

export async function readPlace(
  { domain: wanted, level, rules, data, preset, set, seed, world, ...flags }: Values<typeof STAGE_FLAGS> & UserValues,
  progress: ProgressBar,
): Promise<ServedPlace> {
  const domain = (await openWorld({ world, domain: wanted, rules, data }))?.domain ?? wanted;
  const benchmark = await findPlaceData({ domain, level, rules, data });
  if (!benchmark) checkLevel(domain ?? DEFAULT_DOMAIN, level);
  const { user, userEndpoint, folder } = await readUser(flags);
  return {
    domain: benchmark?.domain ?? domain ?? DEFAULT_DOMAIN,
    ...(level !== undefined && { level }),
    ...(benchmark && { benchmark }),
    ...(preset !== undefined && { preset }),
    settings: readPairs('set', set),
    seed,
    user: withKey(user, userEndpoint),
    ...(user.mode === 'local' && { spawnModel: () => modelInPage(progress, folder && [folder]) }),
  };
}
