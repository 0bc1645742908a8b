/**
 * @file MCP servers that run in the tab or in this process, with files in memory: those of other authors, unmodified, and one over SQLite.
 */
import type { Transport } from '@modelcontextprotocol/client';
import path from 'path-browserify';
import type { MemoryFiles } from './memory-files.ts';
import type { NodeHost } from './node-host.ts';
import { Bytes, StringDecoder } from './node-values.ts';

interface Bundled {
  title: string;
  load(): Promise<{ default: (host: NodeHost) => Promise<void> }>;
  /** As on the command line, and in the environment. `folder` is the server's own folder. */
  args: (folder: string) => readonly string[];
  env: (folder: string) => Readonly<Record<string, string>>;
}

const BUNDLED: Readonly<Record<string, Bundled>> = {
  memory: {
    title: 'server-memory of the MCP project',
    load: () => import('./memory.ts'),
    args: () => [],
    env: (folder) => ({ MEMORY_FILE_PATH: `${folder}/memory.jsonl` }),
  },
  filesystem: {
    title: 'server-filesystem of the MCP project',
    load: () => import('./filesystem.ts'),
    args: (folder) => [folder],
    env: () => ({}),
  },
  taskmanager: {
    title: 'mcp-taskmanager of kazuph',
    load: () => import('./taskmanager.ts'),
    args: () => [],
    env: (folder) => ({ TASK_MANAGER_FILE_PATH: `${folder}/tasks.json` }),
  },
};
const SQLITE = 'sqlite';

/** The servers by their names, with titles. */
export const BUNDLED_TITLES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(BUNDLED).map(([name, { title }]) => [name, title])),
  [SQLITE]: 'SQLite, in the package sql.js',
};

/** Starts a new server at the end of a transport. @param folder the path of the server's folder in `files` */
export async function startBundled(name: string, transport: Transport, files: MemoryFiles, folder: string): Promise<void> {
  // Before the server's schemas are made, zod must know that it may not make functions from texts.
  await import('../../base/content-policy.ts');
  if (name === SQLITE) return (await import('./sqlite.ts')).startSqlite(transport, files, folder);
  const { load, args, env } = BUNDLED[name]!;
  const { default: start } = await load();
  // A server may start only if its script is the one that Node runs.
  const script = `${folder}/server.js`;
  const randomBytes = (size: number) => crypto.getRandomValues(Bytes.alloc(size));
  await start({
    modules: {
      path,
      fs: { promises: files, createReadStream: (own: string) => streamOf(files.readFile(own)), realpathSync: (own: string) => own },
      'fs/promises': files,
      os: { homedir: () => '/home' },
      url: { fileURLToPath: (url: string) => new URL(url).pathname, pathToFileURL: (own: string) => new URL(`file://${encodeURI(own)}`) },
      crypto: { randomBytes },
      string_decoder: { StringDecoder },
      // A constructor may return another object.
      stdio: { StdioServerTransport: function StdioServerTransport() { return transport; } }, // prettier-ignore
    },
    globals: {
      process: { argv: ['node', script, ...args(folder)], env: env(folder), platform: 'linux', cwd: () => folder, exit },
      Buffer: Bytes,
      console: { ...console, error() {}, log() {} },
    },
    url: `file://${script}`,
  });
}

function exit(code: number): never {
  throw new Error(`the server ended itself with code ${code}`);
}

/** A stream that gives all bytes at once. */
function streamOf(bytes: Promise<unknown>) {
  const stream = {
    on(event: string, hear: (value?: unknown) => void) {
      if (event === 'data') bytes.then(hear, () => {});
      if (event === 'end') bytes.then(() => hear(), () => {}); // prettier-ignore
      if (event === 'error') bytes.catch(hear);
      return stream;
    },
  };
  return stream;
}
