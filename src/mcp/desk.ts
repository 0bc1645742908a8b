/** @file The page's connection to one MCP server. It runs in a worker. Failures are values, because a worker's error loses its kind. */
import { InputError } from '../base/input-error.ts';
import type { Json } from '../records/json.ts';
import type { McpCall } from './check.ts';
import { connect } from './index.ts';
import { visible } from '../base/visible.ts';
import { cutText } from './text.ts';
import { type McpConnection, McpError, type McpMessage, type McpResult, type McpServer, type McpTarget, type McpTool } from './types.ts';

export interface Failure {
  /** `input`: the visitor's value is wrong, and nothing was sent. `stopped`: the visitor stopped it. */
  kind: McpError['kind'] | 'input' | 'stopped' | 'failed';
  message: string;
  /** The present tools, if the kind is `changed`. */
  tools?: readonly McpTool[];
}
export type Answer<T> = { value: T } | { failure: Failure };

/** A read before and after a call. */
export interface Read {
  call: McpCall;
  before: Answer<McpResult>;
  /** Absent if the visitor stopped the call before it. */
  after?: Answer<McpResult>;
}

export interface Played {
  result: Answer<McpResult>;
  reads: Read[];
}

export interface Heard {
  /** Counts from 1, also the messages that are not kept. */
  number: number;
  sent: boolean;
  /** Seconds since the connection began. */
  at: number;
  /** JSON in one line, cut if it is long. */
  text: string;
}

/** The newest messages are kept. */
const MOST_HEARD = 200;
const LONGEST_HEARD = 20_000;
/** Headers that belong to the protocol, or that the browser sets. */
const RESERVED = /^(mcp-.*|accept|content-type)$/i;

export class Desk {
  #connection: McpConnection | null = null;
  #work = new AbortController();
  #heard: Heard[] = [];
  #count = 0;

  /** Closes the earlier connection, then connects. */
  async connect(target: McpTarget): Promise<Answer<McpServer>> {
    await this.#connection?.close();
    this.#connection = null;
    this.#heard = [];
    this.#count = 0;
    return this.#answer(async (signal) => {
      if (target.kind === 'url') checkHeaders(target.headers ?? {});
      const start = performance.now();
      this.#connection = await connect(target, {}, signal, (message) => this.#hear(message, (performance.now() - start) / 1000));
      return this.#connection.server;
    });
  }

  /** Calls a tool whose arguments fit its schema. The reads are called before and after it, so that they show what it changed. */
  call({ name, arguments: args }: McpCall, reads: readonly McpCall[]): Promise<Answer<Played>> {
    return this.#answer(async (signal) => {
      const connection = this.#connection;
      if (!connection) throw new McpError('there is no connection: connect first', 'closed');
      for (const call of [...reads, { name, arguments: args }]) await checkCall(connection, call);
      await connection.check(signal);
      const read = (call: McpCall) => this.#answer(() => connection.call(call.name, call.arguments, signal), signal);
      const before: Read[] = [];
      for (const call of reads) before.push({ call, before: await read(call) });
      signal.throwIfAborted();
      const result = await read({ name, arguments: args });
      const after: Read[] = [];
      for (const one of before) after.push(signal.aborted ? one : { ...one, after: await read(one.call) });
      return { result, reads: after };
    });
  }

  /** Stops the work in progress. */
  stop(): void {
    this.#work.abort(new DOMException('stopped', 'AbortError'));
  }

  /** The kept messages after the one with this number. */
  heard(after: number): Heard[] {
    return this.#heard.filter(({ number }) => number > after);
  }

  async close(): Promise<void> {
    this.stop();
    await this.#connection?.close();
    this.#connection = null;
  }

  #hear({ sent, message }: McpMessage, at: number): void {
    const { text } = cutText(visible(JSON.stringify(message)), LONGEST_HEARD);
    this.#heard = [...this.#heard, { number: ++this.#count, sent, at, text }].slice(-MOST_HEARD);
  }

  /** @param given the signal of the work that this is a part of. Default: a new work */
  async #answer<T>(work: (signal: AbortSignal) => Promise<T>, given?: AbortSignal): Promise<Answer<T>> {
    const signal = given ?? (this.#work = new AbortController()).signal;
    try {
      return { value: await work(signal) };
    } catch (error) {
      return { failure: failureOf(error, signal) };
    }
  }
}

function failureOf(error: unknown, signal: AbortSignal): Failure {
  if (signal.aborted) return { kind: 'stopped', message: 'It was stopped. The server may still do what it had already received.' };
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof McpError) return { kind: error.kind, message, ...(error.tools && { tools: error.tools }) };
  return { kind: error instanceof InputError ? 'input' : 'failed', message };
}

/** @throws InputError */
async function checkCall({ server }: McpConnection, { name, arguments: args }: McpCall): Promise<void> {
  const found = server.tools.filter((tool) => tool.name === name);
  if (found.length !== 1) throw new InputError(`the server has ${found.length || 'no'} tools named ${JSON.stringify(name)}: expected one`);
  const { checkArguments } = await import('./arguments.ts');
  checkArguments(found[0]!, args as Record<string, Json>);
}

/** A browser leaves out some headers without a word. @throws InputError that names the header */
function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    let kept: boolean;
    try {
      kept = new Request('https://localhost/', { headers: { [name]: value } }).headers.has(name);
    } catch {
      throw new InputError(`the header ${JSON.stringify(name)} is not valid: expected a name without spaces, and a value of one line`);
    }
    if (!kept || RESERVED.test(name))
      throw new InputError(
        `the header ${name} cannot be chosen, because ${kept ? 'the protocol sets it' : 'browsers do not send it'}: expected another one`,
      );
  }
}
