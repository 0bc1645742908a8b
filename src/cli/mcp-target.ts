/** @file Opens the MCP server that the flags name. */
import { didYouMean } from '../base/did-you-mean.ts';
import type { McpConnection, McpError, McpTarget } from '../mcp/types.ts';
import { type Flags, readPairs, type Values } from './args.ts';
import { ownPaths, splitCommand } from './command-line.ts';
import { CommandError, errorOfWork, UsageError } from './errors.ts';
import { onInterrupt } from './files.ts';
import type { ProgressBar } from './progress.ts';

export const TARGET_FLAGS = {
  command: {
    type: 'string',
    value: "'CMD ARGS'",
    help: 'start this server, without a shell, in a temporary folder of its own, which {folder} stands for; paths of files here stay valid',
  },
  env: { type: 'list', value: 'KEY=VALUE', help: 'a variable for the command, which gets few others; may be repeated' },
  url: { type: 'string', value: 'URL', help: 'the address of a server (Streamable HTTP)' },
  header: {
    type: 'list',
    value: "'NAME: VALUE'",
    help: 'a header for the address; may be repeated; MUA_MCP_KEY keeps a bearer token out of the process list',
  },
  timeout: { type: 'number', value: 'S', help: 'seconds that one answer may take', default: 30, min: 0.1, max: 86_400 },
} as const satisfies Flags;

type TargetValues = Values<typeof TARGET_FLAGS>;

/** @throws UsageError */
function readTarget({ command, env, url, header }: TargetValues): McpTarget {
  if ((command === undefined) === (url === undefined))
    throw new UsageError(`--command and --url are ${url ? 'both given' : 'missing'}: expected one of them`);
  if (url !== undefined) {
    if (env.length > 0) throw new UsageError('--env is for --command: expected no --env with --url');
    const own = header.map(readHeader);
    const key = own.some(([name]) => /^authorization$/i.test(name)) ? undefined : process.env.MUA_MCP_KEY;
    return { kind: 'url', url, headers: { ...(key && { Authorization: `Bearer ${key}` }), ...Object.fromEntries(own) } };
  }
  if (header.length > 0) throw new UsageError('--header is for --url: expected no --header with --command');
  const [program, ...args] = ownPaths(splitCommand('--command', command!));
  return { kind: 'command', command: program!, args, env: readPairs('env', env) };
}

function readHeader(text: string): [string, string] {
  const [, name, value] = /^([!#$%&'*+.^`|~\w-]+):\s*(.*)$/.exec(text) ?? [];
  // The text may be a key.
  if (!name || !value) throw new UsageError("--header is not a header: expected 'NAME: VALUE'");
  return [name, value];
}

/** Does the work with a connection, which is closed at the end, and also if the command is stopped. @throws UsageError, CommandError */
export async function withServer<T>(
  flags: TargetValues,
  progress: ProgressBar,
  work: (connect: () => Promise<McpConnection>) => Promise<T>,
): Promise<T> {
  const target = readTarget(flags);
  const { connect } = await import('../mcp/node/index.ts');
  const open = new Set<McpConnection>();
  const stop = new AbortController();
  const close = async () => {
    stop.abort(new Error('the command was stopped'));
    await Promise.all([...open].map((connection) => connection.close()));
  };
  const forget = onInterrupt(close);
  progress.phase(`connecting to ${target.kind === 'command' ? target.command : 'the MCP server'}`);
  try {
    return await work(async () => {
      const connection = await connect(target, { timeout: flags.timeout }, stop.signal);
      open.add(connection);
      return connection;
    });
  } catch (error) {
    throw errorOfServer(error as Error);
  } finally {
    forget();
    progress.phase('closing the connection');
    await close();
  }
}

function errorOfServer(error: Error): Error {
  if (error.name === 'McpError') return new CommandError(`${error.message} (${(error as McpError).kind})`);
  return error.name === 'InputError' ? errorOfWork(error) : error;
}

/** The tool of this name. @throws UsageError */
export function toolOf({ server: { tools } }: McpConnection, name: string) {
  const names = tools.map((tool) => tool.name);
  const found = tools.filter((tool) => tool.name === name);
  if (found.length === 0)
    throw new UsageError(
      `the server has no tool "${name}"${didYouMean(name, names)}: expected ${names.join(', ') || 'none, as it has no tools'}`,
    );
  if (found.length > 1) throw new UsageError(`the server has ${found.length} tools "${name}": expected one`);
  return found[0]!;
}
