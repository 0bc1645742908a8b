/** @file The interface of a connection to an MCP server (modelcontextprotocol.io). */
import type { Json } from '../records/json.ts';

/** Where a server is. Commands are accepted from the command line only, never from the page. */
export type McpTarget =
  | { kind: 'url'; url: string; headers?: Readonly<Record<string, string>> }
  /**
   * The command runs without a shell, in a temporary folder of its own, with few variables of this process and those of `env`.
   * `{folder}` stands for that folder in arguments, variables, calls and results, so that two processes answer alike.
   */
  | { kind: 'command'; command: string; args: readonly string[]; env?: Readonly<Record<string, string>>; files?: McpFiles }
  /** A server that runs inside this tab or process, with a folder in memory. `{folder}` stands for the folder in calls and results. */
  | { kind: 'here'; server: string; files?: McpFiles };

/** Texts by their paths in the server's folder. A target's are written before the server starts. */
export type McpFiles = Readonly<Record<string, string>>;

export interface McpTool {
  name: string;
  /** As the server wrote it. It is untrusted: show it as plain text. */
  description: string;
  /** JSON Schema of the arguments. */
  inputSchema: Json;
  outputSchema?: Json;
  /** Hints of the server, which are untrusted: `readOnlyHint`, `destructiveHint`, … */
  annotations?: Readonly<Record<string, Json>>;
  /** What a person should know before a model sees this tool: hidden characters, instructions to the model, a description that was cut, … */
  warnings: readonly string[];
}

export interface McpServer {
  name: string;
  version: string;
  /** The protocol's version, such as `2025-11-25`. `modern` is 2026-07-28 and later, which has no sessions. */
  protocol: string;
  era: 'legacy' | 'modern';
  tools: readonly McpTool[];
  /** SHA-256 of the canonical list of tools. A change means that the server's tools changed. */
  tools_sha256: string;
  /** What would make the connection better, in a sentence. */
  note?: string;
}

export interface McpResult {
  /** The text parts, joined by newlines. Parts of other types are named, such as `[image/png, 3,211 bytes]`. */
  text: string;
  /** `structuredContent`, if the server sent it. */
  structured?: Json;
  /** Whether the server says that the call failed. */
  error: boolean;
  /** The number of characters that were cut from the text. Absent: none. */
  cut?: number;
  seconds: number;
}

/** All limits have defaults. A server that breaks one gets an `McpError`, and the connection stays usable if possible. */
export interface McpLimits {
  /** Seconds for one request. */
  timeout: number;
  /** Bytes of one answer of the server. */
  bytes: number;
  /** Characters of a result's text. */
  characters: number;
  tools: number;
  /** Levels of nesting in a schema or a result. */
  depth: number;
}

/** A message of the protocol, without the secrets of the target. */
export interface McpMessage {
  sent: boolean;
  message: Json;
}

export interface McpConnection {
  readonly server: McpServer;
  /**
   * Calls a tool. Calls of one connection run one after another, because some servers lose parallel writes.
   * @throws {McpError} if the server does not answer properly; a failed tool is a result
   */
  call(name: string, args: Readonly<Record<string, Json>>, signal?: AbortSignal): Promise<McpResult>;
  /** Reads the list of tools again. @throws {McpError} `changed` if it is not the list of the start */
  check(signal?: AbortSignal): Promise<void>;
  /** All files of the server's folder now, in the order of their paths. @throws {McpError} if the server has no folder here */
  files(): Promise<McpFiles>;
  close(): Promise<void>;
}

/** A failure of the server or of the way to it, never of the model. An episode with such a failure is not scored. */
export class McpError extends Error {
  override name = 'McpError';
  constructor(
    message: string,
    readonly kind: 'unreachable' | 'timeout' | 'protocol' | 'limit' | 'changed' | 'auth' | 'blocked' | 'closed',
    /** The present tools, if the kind is `changed`. */
    readonly tools?: readonly McpTool[],
  ) {
    super(message);
  }
}
