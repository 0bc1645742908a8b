/** @file Reaches a server that runs in this tab or process, over a pair of linked ports in memory. */
import { InMemoryTransport, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { didYouMean } from '../base/did-you-mean.ts';
import { InputError } from '../base/input-error.ts';
import { checkFiles, FOLDER, tooManyBytes } from './limits.ts';
import type { Reach } from './link.ts';
import { BUNDLED_TITLES, startBundled } from './servers/index.ts';
import { MemoryFiles } from './servers/memory-files.ts';
import type { McpError, McpTarget } from './types.ts';

/**
 * Starts a new server at the end of a transport: usually `(transport) => createServer().connect(transport)`.
 * @param folder the path of the server's own folder in `files`
 */
export type HereServer = (transport: Transport, files: MemoryFiles, folder: string) => Promise<unknown>;

/** The path of each server's folder in its memory. No other text should contain it. */
const OWN_FOLDER = '/tmp/mua-mcp-folder';

const servers = new Map<string, HereServer>(
  Object.keys(BUNDLED_TITLES).map((name) => [name, (transport, files, folder) => startBundled(name, transport, files, folder)]),
);

/** Offers a server under a name, for targets of the kind `here`. Each connection starts a new one. Returns a function that withdraws it. */
export function offerServer(name: string, start: HereServer): () => void {
  servers.set(name, start);
  return () => void servers.delete(name);
}

/** @throws InputError for an unknown name, or for files outside of the folder */
export function reachHere({ server: name, files = {} }: McpTarget & { kind: 'here' }): Reach {
  checkFiles(files);
  const start = servers.get(name);
  if (!start)
    throw new InputError(
      `there is no MCP server "${name}" here${didYouMean(name, [...servers.keys()])}: expected one of ${[...servers.keys()].join(', ') || 'none'}`,
    );
  return {
    name,
    secrets: [],
    open({ bytes }, broke) {
      const [own, other] = InMemoryTransport.createLinkedPair();
      const memory = new MemoryFiles(OWN_FOLDER, files);
      return {
        transport: new Copying(own, bytes, broke),
        begun: start(other, memory, OWN_FOLDER),
        files: () => memory.texts(OWN_FOLDER),
      };
    },
  };
}

/** Gives both sides copies of messages, as over a wire, so that neither changes the objects of the other. */
class Copying implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;

  constructor(
    private readonly inner: Transport,
    private readonly bytes: number,
    private readonly broke: (error: McpError) => void,
  ) {}

  start(): Promise<void> {
    this.inner.onclose = () => this.onclose?.();
    this.inner.onerror = (error) => this.onerror?.(error);
    this.inner.onmessage = (message) => {
      const text = JSON.stringify(message).replaceAll(OWN_FOLDER, FOLDER);
      if (text.length > this.bytes) this.broke(tooManyBytes(this.bytes));
      else this.onmessage?.(JSON.parse(text) as JSONRPCMessage);
    };
    return this.inner.start();
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.inner.send(JSON.parse(JSON.stringify(message).replaceAll(FOLDER, OWN_FOLDER)) as JSONRPCMessage);
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}
