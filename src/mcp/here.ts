/** @file Reaches a server that runs in this tab or process, over a pair of linked ports in memory. */
import { InMemoryTransport, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { didYouMean } from '../base/did-you-mean.ts';
import { InputError } from '../base/input-error.ts';
import { tooManyBytes } from './limits.ts';
import type { Reach } from './link.ts';
import type { McpError } from './types.ts';

/** Starts a new server at the end of a transport: usually `(transport) => createServer().connect(transport)`. */
export type HereServer = (transport: Transport) => Promise<unknown>;

const servers = new Map<string, HereServer>();

/** Offers a server under a name, for targets of the kind `here`. Each connection starts a new one. Returns a function that withdraws it. */
export function offerServer(name: string, start: HereServer): () => void {
  servers.set(name, start);
  return () => void servers.delete(name);
}

/** @throws InputError for an unknown name */
export function reachHere(name: string): Reach {
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
      return { transport: new Copying(own, bytes, broke), begun: start(other) };
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
      const text = JSON.stringify(message);
      if (text.length > this.bytes) this.broke(tooManyBytes(this.bytes));
      else this.onmessage?.(JSON.parse(text) as JSONRPCMessage);
    };
    return this.inner.start();
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.inner.send(JSON.parse(JSON.stringify(message)) as JSONRPCMessage);
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}
